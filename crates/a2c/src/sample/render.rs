//! The handbook as Markdown and as plain text, out of its JSON.

use a2c_protocol::uri::DpeLevel;
use serde_json::Value;

/// What a level says as Markdown.
pub(super) fn markdown(level: &DpeLevel, value: &Value) -> String {
    match level {
        DpeLevel::Catalogue => {
            let line = |document: &Value| format!("- [{}]({})\n", text_of(document, "title"), text_of(document, "uri"));
            list(value, "documents").iter().map(line).collect()
        }
        DpeLevel::Document { .. } => document(value, "# ", "- "),
        DpeLevel::Page { .. } => blocks(list(value, "elements").iter().map(|element| block(element, "# "))),
        DpeLevel::Element { .. } => blocks(std::iter::once(block(value, "# "))),
    }
}

/// What a level says without markup.
pub(super) fn text(level: &DpeLevel, value: &Value) -> String {
    match level {
        DpeLevel::Catalogue => {
            let line = |document: &Value| format!("{}\t{}\n", text_of(document, "title"), text_of(document, "uri"));
            list(value, "documents").iter().map(line).collect()
        }
        DpeLevel::Document { .. } => document(value, "", ""),
        DpeLevel::Page { .. } => blocks(list(value, "elements").iter().map(|element| block(element, ""))),
        DpeLevel::Element { .. } => blocks(std::iter::once(block(value, ""))),
    }
}

/// Its title, what is known of it, and its pages where they were asked for.
fn document(value: &Value, heading: &str, bullet: &str) -> String {
    let known = ["file_type", "page_count", "keywords", "summary"].map(|key| {
        let fact = match &value[key] {
            Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        format!("{bullet}{key}: {fact}")
    });
    let page = |page: &Value| format!("{bullet}page {}: {}", page["page_index"], text_of(page, "title"));
    let pages: Vec<String> = list(value, "pages").iter().map(page).collect();
    blocks([format!("{heading}{}", text_of(value, "title")), known.join("\n"), pages.join("\n")].into_iter())
}

/// An element; the handbook has headings of the first level, and text.
fn block(element: &Value, heading: &str) -> String {
    let mark = if element["category"] == "heading" { heading } else { "" };
    format!("{mark}{}", text_of(&element["content"], "text"))
}

/// Blocks with an empty line between them.
fn blocks(blocks: impl Iterator<Item = String>) -> String {
    let blocks: Vec<String> = blocks.filter(|block| !block.is_empty()).collect();
    if blocks.is_empty() { String::new() } else { format!("{}\n", blocks.join("\n\n")) }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}
