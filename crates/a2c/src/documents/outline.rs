//! The pages of a document and the elements of a page, as lists.

use a2c_document_worker::DocumentOutline;
use a2c_documents::model::render::element_text;
use a2c_documents::model::{ReadElement, ReadPage};

use crate::output;

/// How much of an element is shown.
const WORDS: usize = 80;

/// Prints what is known of a document, and its pages.
pub(super) fn of_document(document: &DocumentOutline) {
    let properties = &document.properties;
    let facts = [
        ("title", Some(document.title.clone())),
        ("type", Some(document.file_type.clone())),
        ("author", properties.author.clone()),
        ("subject", properties.subject.clone()),
        ("keywords", Some(properties.keywords.join(", ")).filter(|words| !words.is_empty())),
        ("created", properties.created.clone()),
        ("modified", properties.modified.clone()),
        ("pages", Some(document.pages.len().to_string())),
    ];
    let known = facts.into_iter().filter_map(|(name, value)| Some(vec![format!("{name}:"), value?]));
    output::table(&known.map(|row| row.iter().map(|cell| output::one_line(cell)).collect()).collect::<Vec<_>>());
    output::line("");
    let mut rows = vec![["PAGE", "TITLE", ""].map(str::to_owned).to_vec()];
    rows.extend(document.pages.iter().enumerate().map(|(index, page)| {
        let hidden = if page.hidden { "hidden" } else { "" };
        vec![index.to_string(), output::one_line(page.title.as_deref().unwrap_or_default()), hidden.to_owned()]
    }));
    output::fitted_table(&rows, &[1]);
}

/// Prints the elements of a page.
pub(super) fn of_page(page: &ReadPage) {
    let mut rows = vec![["ELEMENT", "CATEGORY", "CONTENT"].map(str::to_owned).to_vec()];
    rows.extend(page.elements.iter().map(|element| {
        vec![element.element_id.clone(), element.content.category().as_str().to_owned(), words(element)]
    }));
    output::fitted_table(&rows, &[2]);
}

fn words(element: &ReadElement) -> String {
    output::cut(&output::one_line(&element_text(element)), WORDS)
}
