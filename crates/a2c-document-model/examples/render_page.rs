//! Makes a page by hand and shows it as Markdown.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use a2c_document_model::{ElementContent, IdAssigner, ListEntry, PageDraft, TableContent, render};

fn main() {
    let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
    let elements = vec![
        ElementContent::Heading { level: 1, text: "Stock".into() }.into(),
        ElementContent::Table(TableContent::whole(row(["fruit", "kg"]), vec![row(["apples", "12"])])).into(),
        ElementContent::List { ordered: false, items: vec![ListEntry::Plain("order pears".into())] }.into(),
    ];
    let page = IdAssigner::default().page(0, PageDraft { title: "Stock".into(), elements, ..PageDraft::default() });
    println!("{}", render::markdown(&page));
}
