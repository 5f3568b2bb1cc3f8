//! What the browser loads: queries, their numbers, and their failures.

use a2c_agent::RequestError;
use a2c_protocol::uri::DpeUriError;

/// Numbers one query, so that a late answer is not mistaken for that of a later query.
pub(super) type QueryId = u64;

/// Something to load.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Query {
    /// The Computers of the office.
    Computers,
    /// Some documents of a Computer.
    Documents { computer: String, keywords: Vec<String>, file_type: Option<String>, offset: u64, limit: u64 },
    /// Some pages of a document.
    Pages { computer: String, uri: String, offset: u64 },
    /// The elements of a page.
    Elements { computer: String, uri: String, index: u64 },
    /// A page as text.
    Page { computer: String, uri: String, index: u64 },
    /// An element as text.
    Element { computer: String, uri: String, id: String },
}

/// Why a query loaded nothing; its text is for the status line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum LoadError {
    /// The hub or the Computer did not answer with it.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The URI of the document, or of a part of it, breaks a rule.
    #[error(transparent)]
    Uri(#[from] DpeUriError),
    #[error("{0} is no document")]
    NotADocument(String),
    #[error("there is no text at {0}")]
    NoText(String),
    /// The document server sent something else than the document model.
    #[error("the document's answer is no JSON: {0}")]
    NotJson(String),
}

/// A query, and the number under which it is answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NumberedQuery {
    pub(super) id: QueryId,
    pub(super) query: Query,
}
