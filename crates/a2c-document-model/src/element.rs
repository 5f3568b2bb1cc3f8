//! An element: its content, what is known of it besides, and its id.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::content::ElementContent;
use crate::skip::is_false;

/// An element of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadElement {
    /// Unique within its page, and stable while the element does not change.
    pub element_id: String,
    /// Its category and its content.
    #[serde(flatten)]
    pub content: ElementContent,
    /// What it is about, in a few words; for contents that have no words of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What is known of it besides.
    #[serde(default, skip_serializing_if = "ElementMetadata::is_empty")]
    pub metadata: ElementMetadata,
    /// Where its bytes are in the file, for pictures and media.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<BlobPlace>,
}

/// An element before it has an id, as a reader gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementDraft {
    /// Its category and its content.
    pub content: ElementContent,
    /// What it is about, in a few words.
    pub summary: Option<String>,
    /// What is known of it besides.
    pub metadata: ElementMetadata,
    /// Where its bytes are in the file.
    pub blob: Option<BlobPlace>,
    /// What its id is made of, where that is not its content: the digest of a picture, the name of a chart's part.
    pub identity: Option<String>,
}

impl From<ElementContent> for ElementDraft {
    fn from(content: ElementContent) -> Self {
        Self { content, summary: None, metadata: ElementMetadata::default(), blob: None, identity: None }
    }
}

/// Where bytes are in a file: the name of a part of its archive, or a number that its reader knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobPlace {
    /// The name.
    pub part: String,
    /// What the bytes are.
    pub mime_type: String,
}

/// What is known of an element besides its content.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ElementMetadata {
    /// Links in its text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<InlineLink>,
    /// Formatting of its text, in order and without overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<TextSpan>,
    /// What stands before each item of a list, at all depths and in reading order (`3.`, `b)`, `•`), where the items are not
    /// simply counted from 1 or marked alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The cells that a table stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_range: Option<String>,
    /// Whether there are formulas in a table.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_formulas: bool,
    /// The formulas by cell, of the rows that are here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub formulas: BTreeMap<String, String>,
    /// The merged cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merges: Vec<String>,
    /// Values by cell where they differ from what is shown: numbers, dates, booleans.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, serde_json::Value>,
    /// Whether it is hidden from readers of the file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// Why it could not be read, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl ElementMetadata {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A link within a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InlineLink {
    /// What is shown.
    pub text: String,
    /// Where it leads.
    pub url: String,
    /// The cell that it stands in, in a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
}

/// Formatting of a part of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextSpan {
    /// Where it begins, in bytes of the text.
    pub start: usize,
    /// How many bytes it covers.
    pub length: usize,
    /// Bold.
    #[serde(default, skip_serializing_if = "is_false")]
    pub bold: bool,
    /// Italic.
    #[serde(default, skip_serializing_if = "is_false")]
    pub italic: bool,
    /// Underlined.
    #[serde(default, skip_serializing_if = "is_false")]
    pub underline: bool,
    /// Struck through.
    #[serde(default, skip_serializing_if = "is_false")]
    pub strike: bool,
    /// In a font of fixed width.
    #[serde(default, skip_serializing_if = "is_false")]
    pub code: bool,
    /// A link to this address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::ListEntry;

    #[test]
    fn an_element_is_written_as_clients_expect_it() {
        let content = ElementContent::List {
            ordered: true,
            items: vec![ListEntry::Plain("a".into()), ListEntry::new("b", vec![ListEntry::Plain("c".into())])],
        };
        let element = ReadElement {
            element_id: "lst-1".into(),
            content,
            summary: None,
            metadata: ElementMetadata::default(),
            blob: None,
        };
        let json = serde_json::json!({
            "element_id": "lst-1", "category": "list",
            "content": {"ordered": true, "items": ["a", {"text": "b", "items": ["c"]}]},
        });
        assert_eq!(serde_json::to_value(&element).unwrap(), json);
        assert_eq!(serde_json::from_value::<ReadElement>(json).unwrap(), element);
        let rule = ReadElement { content: ElementContent::Separator {}, ..element };
        assert_eq!(serde_json::to_value(&rule).unwrap()["content"], serde_json::json!({}));
    }
}
