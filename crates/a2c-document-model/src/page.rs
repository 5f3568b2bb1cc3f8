//! A page, and what is known of a document as a whole.

use serde::{Deserialize, Serialize};

use crate::element::{ElementDraft, ReadElement};
use crate::skip::is_false;

/// A page that was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadPage {
    /// Its place, from 0.
    pub page_index: usize,
    /// Its title; empty where it has none.
    pub title: String,
    /// Its elements in reading order.
    pub elements: Vec<ReadElement>,
    /// Whether it is hidden from readers of the file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// Whether only its beginning was read.
    #[serde(default, skip_serializing_if = "is_false")]
    pub partial: bool,
}

/// A page before its elements have ids, as a reader gives it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageDraft {
    /// Its title; empty where it has none.
    pub title: String,
    /// Its elements in reading order.
    pub elements: Vec<ElementDraft>,
    /// What tells it from other pages for good, such as the name of a sheet; empty where pages are only a division of one
    /// text.
    pub key: String,
    /// Whether it is hidden from readers of the file.
    pub hidden: bool,
    /// Whether only its beginning was read.
    pub partial: bool,
}

/// What is known of a page without reading it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageHead {
    /// Its title, where the file's directory has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether it is hidden from readers of the file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden: bool,
}

/// What a file says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentProperties {
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Its keywords.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// When it was made, in ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// When it was changed, in ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// Its language, as a tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}
