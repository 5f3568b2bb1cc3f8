//! The Finder: which documents an Agent finds among the `dpe://` resources of all MCP servers.
//!
//! A resource that a server lists becomes a [`ListedDocument`]: its summary as far as the listing gives it;
//! one read of the document fills in what is missing. Summaries are kept in a [`FinderIndex`], in the order in which
//! they are shown, and a request is answered from a [`FinderView`] of it without asking any server.
//!
//! [`organize_finder`] is the same answer written straight down from the protocol: the reference that the index is
//! tested against, and good enough for a few thousand documents. What "contains a keyword" and "newer" mean is defined
//! once, in `fold` and `last_modified`, for both. Nothing here reads, waits or logs.

mod fold;
mod index;
mod last_modified;
mod listed_document;
mod organise;
mod query;

pub use index::{FinderIndex, FinderView};
pub use listed_document::{Incomplete, ListedDocument};
pub use organise::organize_finder;
pub use query::DocumentQuery;

use a2c_protocol::uri::{DpeLevel, DpeUri};

/// The doc-ref of a URI that names a document: a `dpe://` URI of level 1.
fn doc_ref_of(uri: &str) -> Option<String> {
    match DpeUri::parse(uri).ok()?.uri.level() {
        DpeLevel::Document { doc_ref } => Some(doc_ref.clone()),
        _ => None,
    }
}
