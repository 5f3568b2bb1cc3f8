//! The entries of the browser's lists.

use a2c_protocol::context::DpeDocumentSummary;

use super::document::{self, ElementItem, PageItem};

/// An entry of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    Computer(String),
    Document(Box<DpeDocumentSummary>),
    Page(PageItem),
    Element(ElementItem),
}

impl Item {
    /// Whether it is the same thing, though it may have changed.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Computer(one), Self::Computer(other)) => one == other,
            (Self::Document(one), Self::Document(other)) => one.uri == other.uri,
            (Self::Page(one), Self::Page(other)) => one.index == other.index,
            // Elements need not have an id: those without are told apart by what they are.
            (Self::Element(one), Self::Element(other)) if one.id.is_empty() => one == other,
            (Self::Element(one), Self::Element(other)) => one.id == other.id,
            _ => false,
        }
    }

    /// What can be shown of it without a query.
    pub(super) fn about(&self) -> String {
        match self {
            Self::Computer(computer) => format!("Enter opens the documents of {computer}."),
            Self::Document(document) => document::about(document),
            Self::Page(page) => page.title.clone(),
            Self::Element(element) if element.text.is_empty() => element.summary.clone(),
            Self::Element(element) => element.text.clone(),
        }
    }
}

/// What a query loaded.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Loaded {
    /// A piece of a list, and how long the whole is.
    Items {
        items: Vec<Item>,
        total: u64,
    },
    Text(String),
}
