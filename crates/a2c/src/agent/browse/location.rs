//! Where the browser is, and where it can go from there.

use super::item::Item;
use super::query::Query;

/// What a list belongs to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Location {
    /// The Computers of the office.
    Office,
    /// The documents of a Computer.
    Finder { computer: String },
    /// The pages of a document.
    Document { computer: String, uri: String, title: String },
    /// What is on a page.
    Page { computer: String, uri: String, index: u64, title: String },
}

impl Location {
    pub(super) fn computer(&self) -> Option<&str> {
        match self {
            Self::Office => None,
            Self::Finder { computer } | Self::Document { computer, .. } | Self::Page { computer, .. } => Some(computer),
        }
    }

    /// Its part of the breadcrumb.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Office => "Computers".to_owned(),
            Self::Finder { computer } => computer.clone(),
            Self::Document { title, .. } => title.clone(),
            Self::Page { index, title, .. } if title.is_empty() => format!("page {index}"),
            Self::Page { index, title, .. } => format!("page {index}: {title}"),
        }
    }

    /// The location that an item opens; an element opens none.
    pub(super) fn inside(&self, item: &Item) -> Option<Self> {
        match (self, item) {
            (Self::Office, Item::Computer(computer)) => Some(Self::Finder { computer: computer.clone() }),
            (Self::Finder { computer }, Item::Document(document)) => Some(Self::Document {
                computer: computer.clone(),
                uri: document.uri.clone(),
                title: document.title.clone(),
            }),
            (Self::Document { computer, uri, .. }, Item::Page(page)) => Some(Self::Page {
                computer: computer.clone(),
                uri: uri.clone(),
                index: page.index,
                title: page.title.clone(),
            }),
            _ => None,
        }
    }

    /// The query for the text of an item, where the list does not carry it.
    pub(super) fn text_of(&self, item: &Item) -> Option<Query> {
        match (self, item) {
            (Self::Document { computer, uri, .. }, Item::Page(page)) => {
                Some(Query::Page { computer: computer.clone(), uri: uri.clone(), index: page.index })
            }
            (Self::Page { computer, uri, .. }, Item::Element(element)) => {
                Some(Query::Element { computer: computer.clone(), uri: uri.clone(), id: element.id.clone() })
            }
            _ => None,
        }
    }
}
