//! Pages as people read them: Markdown, plain text and HTML. Pure.

mod html;
mod inline;
mod markdown;
mod text;

pub use html::{FindPicture, HtmlOptions, PictureBytes, html};
pub use markdown::{element_markdown, markdown};
pub use text::{element_text, text};

use crate::content::ElementContent;
use crate::element::ReadElement;
use crate::table::TableContent;

/// What stands for a chart and for a picture: the words of the protocol.
const CHART: &str = "图表";
const IMAGE: &str = "图片";

/// The sign before an item of a list that is not counted.
const BULLET: &str = "•";

/// The few words that stand for an element which has no rendering of its own.
fn summary(element: &ReadElement) -> String {
    if let Some(summary) = &element.summary {
        return summary.clone();
    }
    match &element.content {
        ElementContent::PivotTable { name, .. } => name.clone(),
        ElementContent::Diagram { items } => {
            items.iter().map(crate::content::ListEntry::text).collect::<Vec<_>>().join(", ")
        }
        ElementContent::Annotation { text, author, .. } => match author {
            Some(author) => format!("{author}: {text}"),
            None => text.clone(),
        },
        ElementContent::Header { text } | ElementContent::Footer { text } | ElementContent::Widget { text, .. } => {
            text.clone()
        }
        ElementContent::Audio { name, .. } | ElementContent::Video { name, .. } => name.clone(),
        ElementContent::Form { fields } => {
            let shown = fields.iter().map(|field| {
                let label = field.label.as_deref().unwrap_or(&field.name);
                format!("{label}: {}", field.value.as_deref().unwrap_or("…"))
            });
            shown.collect::<Vec<_>>().join("; ")
        }
        _ => String::new(),
    }
}

/// Which rows of a table are here, where some are missing.
fn rows_here(table: &TableContent) -> Option<String> {
    if !table.truncated {
        return None;
    }
    let (first, last) = (table.offset + 1, table.offset + table.rows.len());
    Some(match table.total_rows {
        Some(total) => format!("rows {first}–{last} of {total}"),
        None => format!("rows {first}–{last}"),
    })
}
