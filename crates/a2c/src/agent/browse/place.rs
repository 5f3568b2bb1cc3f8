//! Where the browser is, what stands in the lists there, and what can be asked for.

use a2c_protocol::context::DpeDocumentSummary;

use super::document::{self, Element, Page};
use super::list::Ticket;

/// Where a list belongs.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Place {
    /// The Computers of the office.
    Office,
    /// The documents of a Computer.
    Finder { computer: String },
    /// The pages of a document.
    Document { computer: String, uri: String, title: String },
    /// What is on a page.
    Page { computer: String, uri: String, index: u64, title: String },
}

impl Place {
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

    /// Where one gets to from here; nowhere from elements.
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

    /// The text of something that is listed here and has to be asked for.
    pub(super) fn text_of(&self, item: &Item) -> Option<Request> {
        match (self, item) {
            (Self::Document { computer, uri, .. }, Item::Page(page)) => {
                Some(Request::Page { computer: computer.clone(), uri: uri.clone(), index: page.index })
            }
            (Self::Page { computer, uri, .. }, Item::Element(element)) => {
                Some(Request::Element { computer: computer.clone(), uri: uri.clone(), id: element.id.clone() })
            }
            _ => None,
        }
    }
}

/// What stands in a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    Computer(String),
    Document(Box<DpeDocumentSummary>),
    Page(Page),
    Element(Element),
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

    /// What can be told of it without asking.
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

/// Something to be asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Request {
    /// Who is in the office.
    Computers,
    /// Some documents of a Computer.
    Documents { computer: String, keywords: Vec<String>, file_type: Option<String>, offset: u64, limit: u64 },
    /// Some pages of a document.
    Pages { computer: String, uri: String, offset: u64 },
    /// What is on a page.
    Elements { computer: String, uri: String, index: u64 },
    /// A page as text.
    Page { computer: String, uri: String, index: u64 },
    /// An element as text.
    Element { computer: String, uri: String, id: String },
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// A piece of a list, and how long the whole is.
    Items {
        items: Vec<Item>,
        total: u64,
    },
    Text(String),
}

/// A request, with the ticket under which it is answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Order {
    pub(super) ticket: Ticket,
    pub(super) request: Request,
}
