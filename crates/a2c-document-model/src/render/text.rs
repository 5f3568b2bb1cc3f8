//! Plain text: the rules of Markdown without its marks; the cells of a table stand between tabs.

use std::slice::Iter;

use super::{BULLET, CHART, IMAGE, rows_here, summary};
use crate::content::{ElementContent, ListEntry};
use crate::element::ReadElement;
use crate::page::ReadPage;

/// A page as plain text.
pub fn text(page: &ReadPage) -> String {
    let parts: Vec<String> = page.elements.iter().map(element_text).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// An element as plain text.
pub fn element_text(element: &ReadElement) -> String {
    match &element.content {
        ElementContent::Heading { text, .. }
        | ElementContent::Text { text, .. }
        | ElementContent::Code { text, .. } => text.trim_end().to_owned(),
        ElementContent::List { ordered, items } => {
            let mut lines = Vec::new();
            list(items, *ordered, 0, &mut element.metadata.labels.iter(), &mut lines);
            lines.join("\n")
        }
        ElementContent::Table(table) => {
            let row = |cells: &Vec<String>| {
                let cells = cells.iter().map(|cell| cell.replace(['\t', '\n', '\r'], " "));
                cells.collect::<Vec<_>>().join("\t")
            };
            let headers = Some(&table.headers).filter(|headers| !headers.is_empty());
            let mut lines: Vec<String> = headers.into_iter().chain(&table.rows).map(row).collect();
            lines.extend(rows_here(table).map(|rows| format!("({rows})")));
            lines.join("\n")
        }
        ElementContent::Chart { title, data_summary, .. } => {
            format!("{CHART}: {title} {data_summary}").trim_end().to_owned()
        }
        ElementContent::Image { alt, description, url, .. } => {
            let words = alt.as_ref().or(description.as_ref()).or(url.as_ref());
            format!("{IMAGE}: {}", words.map_or("", |words| words)).trim_end().to_owned()
        }
        ElementContent::Link { text, url } => match text == url {
            true => url.clone(),
            false => format!("{text} ({url})"),
        },
        ElementContent::Formula { expression, .. } => expression.clone(),
        ElementContent::Separator {} => "-----".to_owned(),
        other => format!("{}: {}", other.category(), summary(element)),
    }
}

fn list(items: &[ListEntry], ordered: bool, depth: usize, labels: &mut Iter<'_, String>, lines: &mut Vec<String>) {
    for (number, item) in items.iter().enumerate() {
        let mark = match labels.next() {
            None if ordered => format!("{}. ", number + 1),
            Some(label) if label != BULLET && !label.is_empty() => format!("{label} "),
            _ => "- ".to_owned(),
        };
        lines.push(format!("{}{mark}{}", "  ".repeat(depth), item.text()));
        list(item.items(), ordered, depth + 1, labels, lines);
    }
}
