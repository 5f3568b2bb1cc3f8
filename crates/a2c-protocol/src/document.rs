//! The document model: what a `dpe://` read returns at each level, and the JSON of a whole document.
//!
//! Document servers are written by many. What an Agent cannot do without is required (`doc_ref` and `page_count` of a
//! document, `page_index` and `elements` of a page, `element_id` and `category` of an element); everything else may be
//! absent or null, and fields this version does not know are kept in `extra`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::uri::Category;

/// Level 1: what is known about a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentMetadata {
    /// The document's reference within its host.
    pub doc_ref: String,
    /// How many pages it has; they are counted from 0.
    pub page_count: u64,
    /// Its `dpe://` URI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Where the file is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_uri: Option<String>,
    /// What kind of file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_type: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A few sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Vec<String>>,
    /// When it last changed, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Level 1 with `depth=pages`: a document and a part of its page index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentPages {
    /// The pages from `page_offset` on.
    pub pages: Vec<PageSummary>,
    /// How many pages were skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_offset: Option<u64>,
    /// How many pages were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_limit: Option<u64>,
    /// How many there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_total: Option<u64>,
    /// The document.
    #[serde(flatten)]
    pub document: DocumentMetadata,
}

/// One page as the index of its document lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageSummary {
    /// Which page, counted from 0.
    pub page_index: u64,
    /// Its title: the name of a sheet, for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How many elements it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element_count: Option<u64>,
    /// Where it is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Level 2: a page and its elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Which page, counted from 0.
    pub page_index: u64,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc_ref: Option<String>,
    /// Its `dpe://` URI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// What is on it, in reading order.
    pub elements: Vec<Element>,
    /// How many elements it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element_count: Option<u64>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Level 3: a piece of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Element {
    /// Its id within the document.
    pub element_id: String,
    /// What it is, as the server says; see [`Element::kind`].
    pub category: String,
    /// One line about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What it holds; the shape depends on the category.
    #[serde(default)]
    pub content: Value,
    /// Its document; usual where it was read alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc_ref: Option<String>,
    /// Its page; usual where it was read alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_index: Option<u64>,
    /// Its `dpe://` URI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Element {
    /// What it is, where the document model knows its category.
    pub fn kind(&self) -> Option<Category> {
        self.category.parse().ok()
    }
}

/// A whole document, as `get_dpe` makes it available.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Its pages, in order.
    pub pages: Vec<DocumentPage>,
    /// What is known about it.
    #[serde(flatten)]
    pub metadata: DocumentMetadata,
}

/// A page within a whole document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DocumentPage {
    /// Its elements are here.
    Inline(Page),
    /// Its elements are where `uri` says.
    Elsewhere(PageSummary),
}

impl Document {
    /// Reads the JSON of a whole document.
    pub fn parse(json: &[u8]) -> Result<Self, ShapeError> {
        parse(json)
    }
}

/// A text that is not the part of the document model it should be.
#[derive(Debug, thiserror::Error)]
#[error("not the JSON of the document model, at `{path}`: {source}")]
pub struct ShapeError {
    /// Where in the JSON.
    pub path: String,
    /// What is wrong there.
    pub source: serde_json::Error,
}

/// Reads any part of the document model, and says where it is wrong.
pub fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, ShapeError> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| ShapeError { path: error.path().to_string(), source: error.into_inner() })?;
    deserializer.end().map_err(|source| ShapeError { path: ".".into(), source })?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn round_trips<T: DeserializeOwned + Serialize>(json: &Value) -> T {
        let value: T = parse(json.to_string().as_bytes()).unwrap();
        assert_eq!(serde_json::to_value(&value).unwrap(), *json);
        value
    }

    #[test]
    fn each_level_keeps_what_it_does_not_know() {
        round_trips::<DocumentMetadata>(&json!({"doc_ref": "r", "page_count": 2, "title": "T", "author": "me"}));
        let pages: DocumentPages = round_trips(&json!({
            "doc_ref": "r", "page_count": 2, "title": "T", "author": "me",
            "pages": [{"page_index": 0, "title": "概览", "element_count": 8, "uri": "dpe://h/r/pages/0", "doc_ref": "r"}],
            "page_offset": 0, "page_limit": 20, "page_total": 2
        }));
        assert_eq!(pages.document.extra["author"], "me");
        assert_eq!(pages.pages[0].extra["doc_ref"], "r");
        let page: Page = round_trips(&json!({
            "page_index": 0, "title": "概览", "doc_ref": "r", "uri": "dpe://h/r/pages/0", "element_count": 2, "dpi": 300,
            "elements": [
                {"element_id": "h", "category": "heading", "summary": "s", "content": {"level": 1, "text": "t"}},
                {"element_id": "x", "category": "hologram", "content": null, "depth": 3}
            ]
        }));
        let kinds: Vec<_> = page.elements.iter().map(Element::kind).collect();
        assert_eq!(kinds, [Some(Category::Heading), None]);
    }

    #[test]
    fn a_whole_document_has_pages_inline_or_elsewhere() {
        let document: Document = round_trips(&json!({
            "doc_ref": "r", "page_count": 2, "lang": "en",
            "pages": [{"page_index": 0, "elements": []}, {"page_index": 1, "uri": "https://h/1.json"}]
        }));
        assert!(matches!(&document.pages[0], DocumentPage::Inline(page) if page.elements.is_empty()));
        assert!(matches!(&document.pages[1], DocumentPage::Elsewhere(page) if page.page_index == 1));
        assert_eq!(document.metadata.extra["lang"], "en");
    }

    #[test]
    fn absent_and_null_fields_are_the_same() {
        let bare: DocumentMetadata = parse(br#"{"doc_ref": "r", "page_count": 0}"#).unwrap();
        let nulls = br#"{"doc_ref": "r", "page_count": 0, "title": null, "keywords": null, "summary": null}"#;
        assert_eq!(parse::<DocumentMetadata>(nulls).unwrap(), bare);
    }

    #[test]
    fn what_is_wrong_is_located() {
        for (json, said) in [
            (r#"{"page_count": 1}"#, "doc_ref"),
            (r#"{"doc_ref": "r"}"#, "page_count"),
            (r#"{"doc_ref": "r", "page_count": -1}"#, "page_count"),
            (r#"{"doc_ref": "r", "page_count": 1} 2"#, "trailing"),
            ("{", "EOF"),
        ] {
            let error = parse::<DocumentMetadata>(json.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(said), "{json}: {error}");
        }
        let error = parse::<Page>(br#"{"page_index": 0, "elements": [{"element_id": "e"}]}"#).unwrap_err();
        assert_eq!(error.path, "elements[0]");
    }
}
