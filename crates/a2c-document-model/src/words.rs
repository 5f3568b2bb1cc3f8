//! The words of a page, with how much they count: what summaries and keywords are made of. Pure.

use crate::content::{ElementContent, ListEntry};
use crate::page::ReadPage;

/// How deep the items of a list are looked at.
const LEVELS: usize = 8;

/// A piece of text and how much its words count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightedText<'a> {
    /// The text.
    pub text: &'a str,
    /// How often each of its words counts.
    pub weight: u32,
}

/// The pieces of text of a page. A heading counts more than a paragraph; code, notes, headers and footers do not count.
pub fn weighted_texts(page: &ReadPage) -> Vec<WeightedText<'_>> {
    let mut texts = Vec::new();
    let mut add = |text, weight| texts.push(WeightedText { text, weight });
    for element in page.elements.iter().filter(|element| !element.metadata.hidden) {
        match &element.content {
            ElementContent::Heading { text, .. } => add(text, 3),
            ElementContent::Text { text, .. } | ElementContent::Link { text, .. } => add(text, 1),
            ElementContent::List { items, .. } | ElementContent::Diagram { items } => {
                add_items(items, 0, &mut |text| add(text, 1));
            }
            ElementContent::Table(table) => {
                table.headers.iter().for_each(|cell| add(cell, 2));
                table.rows.iter().flatten().for_each(|cell| add(cell, 1));
            }
            ElementContent::Chart { title, .. } => add(title, 2),
            ElementContent::PivotTable { name, .. } => add(name, 1),
            ElementContent::Image { alt: Some(alt), .. } => add(alt, 1),
            _ => {}
        }
    }
    texts
}

fn add_items<'a>(items: &'a [ListEntry], level: usize, add: &mut impl FnMut(&'a str)) {
    for item in items {
        add(item.text());
        if level < LEVELS {
            add_items(item.items(), level + 1, add);
        }
    }
}
