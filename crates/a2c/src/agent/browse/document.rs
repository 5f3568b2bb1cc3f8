//! What the browser knows of documents, pages and elements, read leniently: a field that is missing or of another kind
//! costs that field only.

use a2c_protocol::context::DpeDocumentSummary;
use a2c_protocol::uri::{Depth, DpeLevel, DpeQuery, DpeUri, Format};
use serde_json::Value;

use super::super::show;
use super::query::LoadError;
use crate::output;

/// How many pages of a document are listed at a time.
pub(super) const PAGES_AT_ONCE: u8 = 100;

/// A row of a document's list of pages.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PageItem {
    pub(super) index: u64,
    pub(super) title: String,
    /// How many elements are on it, where that is known.
    pub(super) elements: Option<u64>,
}

/// What is on a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ElementItem {
    pub(super) id: String,
    pub(super) category: String,
    pub(super) summary: String,
    /// Its content, as text.
    pub(super) text: String,
}

/// A piece of the list of pages.
pub(super) fn pages_uri(document: &str, offset: u64) -> Result<String, LoadError> {
    let query =
        DpeQuery { depth: Some(Depth::Pages), offset: Some(offset), limit: Some(PAGES_AT_ONCE), ..DpeQuery::default() };
    below(document, query, |doc_ref| DpeLevel::Document { doc_ref })
}

/// A page: as Markdown, or the elements on it.
pub(super) fn page_uri(document: &str, index: u64, format: Option<Format>) -> Result<String, LoadError> {
    below(document, DpeQuery { format, ..DpeQuery::default() }, |doc_ref| DpeLevel::Page { doc_ref, index })
}

/// An element, as Markdown.
pub(super) fn element_uri(document: &str, id: &str) -> Result<String, LoadError> {
    let query = DpeQuery { format: Some(Format::Markdown), ..DpeQuery::default() };
    below(document, query, |doc_ref| DpeLevel::Element { doc_ref, id: id.to_owned() })
}

fn below(document: &str, query: DpeQuery, level: impl FnOnce(String) -> DpeLevel) -> Result<String, LoadError> {
    let parsed = DpeUri::parse(document)?.uri;
    let Some(doc_ref) = parsed.doc_ref() else { return Err(LoadError::NotADocument(document.to_owned())) };
    Ok(DpeUri::new(parsed.host().clone(), level(doc_ref.to_owned()), query)?.to_string())
}

/// The pages that a document lists, and how many there are in all. Where it lists none, they are counted.
pub(super) fn pages(document: &Value, offset: u64) -> (Vec<PageItem>, u64) {
    let listed = document["pages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let total = document["page_total"].as_u64().or_else(|| document["page_count"].as_u64());
    let mut pages: Vec<PageItem> = (offset..).zip(listed).map(|(position, page)| summary(position, page)).collect();
    if pages.is_empty() {
        let end = total.unwrap_or(0).min(offset.saturating_add(PAGES_AT_ONCE.into()));
        pages = (offset..end).map(|index| PageItem { index, title: String::new(), elements: None }).collect();
    }
    let seen = offset.saturating_add(pages.len() as u64);
    // A document that lists all of its pages at once need not count them.
    let total = total.unwrap_or(seen).max(seen);
    (pages, total)
}

fn summary(position: u64, page: &Value) -> PageItem {
    PageItem {
        index: page["page_index"].as_u64().unwrap_or(position),
        title: text_of(&page["title"]),
        elements: page["element_count"].as_u64(),
    }
}

/// The elements on a page.
pub(super) fn elements(page: &Value) -> Vec<ElementItem> {
    let listed = page["elements"].as_array().map(Vec::as_slice).unwrap_or_default();
    let element = |element: &Value| ElementItem {
        id: text_of(&element["element_id"]),
        category: text_of(&element["category"]),
        summary: text_of(&element["summary"]),
        text: content(&element["content"]),
    };
    listed.iter().map(element).collect()
}

/// A rendering. Servers that know no Markdown answer with JSON all the same: then the text of the elements is it.
pub(in super::super) fn rendering(text: String) -> String {
    let Ok(json @ Value::Object(_)) = serde_json::from_str::<Value>(&text) else { return text };
    for key in ["content_markdown", "markdown", "text"] {
        if let Some(rendered) = json[key].as_str() {
            return rendered.to_owned();
        }
    }
    if json["elements"].is_array() {
        let text = |element: ElementItem| if element.text.is_empty() { element.summary } else { element.text };
        return elements(&json).into_iter().map(text).collect::<Vec<_>>().join("\n\n");
    }
    match &json["content"] {
        Value::Null => pretty(&json),
        found => content(found),
    }
}

/// The content of an element: its text, its table, or whatever it is as JSON.
fn content(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        content if content["text"].is_string() => text_of(&content["text"]),
        content if content["rows"].is_array() => table(content),
        content if content["items"].is_array() => {
            let items = content["items"].as_array().map(Vec::as_slice).unwrap_or_default();
            items.iter().map(|item| format!("- {}", text_of(item))).collect::<Vec<_>>().join("\n")
        }
        content => pretty(content),
    }
}

fn table(content: &Value) -> String {
    let cells = |row: &Value| match row.as_array() {
        Some(cells) => cells.iter().map(text_of).collect::<Vec<_>>().join(" | "),
        None => text_of(row),
    };
    let rows = content["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let headers = content["headers"].is_array().then(|| cells(&content["headers"]));
    headers.into_iter().chain(rows.iter().map(cells)).collect::<Vec<_>>().join("\n")
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// The metadata of a document, to be read beside the list.
pub(super) fn about(document: &DpeDocumentSummary) -> String {
    let mut text = format!("{}\n\n", document.title);
    if let Some(summary) = document.summary.as_deref().filter(|summary| !summary.is_empty()) {
        text.push_str(&format!("{summary}\n\n"));
    }
    let keywords = document.keywords.as_ref().map(|keywords| keywords.join(", "));
    let facts = [
        ("type", Some(document.file_type.clone())),
        ("length", Some(show::pages(document.page_count))),
        ("changed", document.last_modified.as_deref().map(output::date)),
        ("keywords", keywords.filter(|keywords| !keywords.is_empty())),
        ("server", Some(document.server.clone())),
        ("URI", Some(document.uri.clone())),
        ("file", Some(document.file_uri.clone())),
    ];
    for (what, fact) in facts {
        if let Some(fact) = fact.filter(|fact| !fact.is_empty()) {
            text.push_str(&format!("{what}: {fact}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn uris_are_built_for_any_document() {
        let document = "dpe://h/%E5%B9%B4%2F1";
        assert_eq!(pages_uri(document, 100).unwrap(), format!("{document}?depth=pages&offset=100&limit=100"));
        assert_eq!(page_uri(document, 3, None).unwrap(), format!("{document}/pages/3"));
        assert_eq!(
            page_uri(document, 3, Some(Format::Markdown)).unwrap(),
            format!("{document}/pages/3?format=markdown")
        );
        assert_eq!(element_uri(document, "a/b").unwrap(), format!("{document}/elements/a%2Fb?format=markdown"));
        assert!(page_uri("dpe://h", 0, None).is_err() && page_uri("window://h", 0, None).is_err());
    }

    #[test]
    fn pages_are_listed_or_counted() {
        let page = |index, title: &str, elements| PageItem { index, title: title.to_owned(), elements };
        for (document, offset, expected) in [
            (
                json!({"pages": [{"page_index": 0, "title": "a", "element_count": 2}], "page_total": 9}),
                0,
                (vec![page(0, "a", Some(2))], 9),
            ),
            (json!({"pages": [{"title": 7}, {}]}), 5, (vec![page(5, "7", None), page(6, "", None)], 7)),
            (json!({"page_count": 2}), 0, (vec![page(0, "", None), page(1, "", None)], 2)),
            (json!({"page_count": 2}), 2, (vec![], 2)),
            (json!([]), 0, (vec![], 0)),
        ] {
            assert_eq!(pages(&document, offset), expected, "{document}");
        }
        assert_eq!(pages(&json!({"page_count": u64::MAX}), 0).0.len(), usize::from(PAGES_AT_ONCE));
    }

    #[test]
    fn renderings_are_text() {
        let check = |given: &str, expected: &str| assert_eq!(rendering(given.to_owned()), expected, "{given}");
        check("# Title\n\ntext", "# Title\n\ntext");
        check(r#"{"content_markdown": "x"}"#, "x");
        check(
            r#"{"elements": [{"summary": "s"}, {"content": {"text": "t"}}, {"content": {"headers": ["a"], "rows": [[1], ["b"]]}}]}"#,
            "s\n\nt\n\na\n1\nb",
        );
        check(r#"{"content": {"items": ["a", "b"]}}"#, "- a\n- b");
        check(r#"{"x": 1}"#, "{\n  \"x\": 1\n}");
        check("[1]", "[1]");
    }
}
