//! The documents of all servers, kept in the order in which they are shown.
//!
//! ```text
//! FinderIndex ── by URI, for the writer ───────────────────────────────────┐
//!      │                                                                   ▼
//!      └── server ── ServerDocuments ── rows ── chunks ── up to 128 Arc<IndexedDocument>
//!                                                 └── folded text and file types of the same documents, side by side
//! ```
//!
//! *Searching* reads only the chunks' folded text and file types, which lie together in memory, and marks hits in one
//! 128-bit mask per chunk; the documents themselves are touched only where they are on the page, and a chunk whose
//! `signature` rules a keyword out is not searched for it. *Changing* a document rewrites one chunk, found by binary
//! search. Everything below a server is shared by `Arc` and copied when it is
//! written to while a [`FinderView`] still holds it: readers and the writer never wait for each other, and a view never
//! changes.

mod chunk;
mod indexed_document;
mod search;
mod server_documents;
mod signature;
mod sorted_piece;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use a2c_protocol::context::DpeDocumentSummary;

use self::indexed_document::{ByUri, IndexedDocument, folded_text};
use self::server_documents::ServerDocuments;
use super::doc_ref_of;
use super::query::DocumentQuery;
use crate::server_order::servers_by_use;

type Servers = BTreeMap<Arc<str>, ServerDocuments>;

/// All documents that a Finder can show. One writer keeps it; any number of readers search its views.
#[derive(Default)]
pub struct FinderIndex {
    servers: Arc<Servers>,
    /// The same documents by server and URI. Both maps have the same servers.
    by_uri: HashMap<Arc<str>, HashSet<ByUri>>,
}

impl FinderIndex {
    /// An index without documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts a document, or replaces the one with the same server and URI. Says whether anything changed.
    ///
    /// Ignores a document whose URI is not a `dpe://` of level 1, as the Finder would not show it. A document with
    /// more than 256 MiB of text is not stored; one that it would replace is removed.
    pub fn put(&mut self, summary: &DpeDocumentSummary) -> bool {
        if doc_ref_of(&summary.uri).is_none() {
            return false;
        }
        let Some(document) = IndexedDocument::new(summary).map(Arc::new) else {
            return self.remove(&summary.server, &summary.uri);
        };
        let server = match self.servers.get_key_value(summary.server.as_str()) {
            Some((server, _)) => Arc::clone(server),
            None => Arc::from(summary.server.as_str()),
        };
        let by_uri = self.by_uri.entry(Arc::clone(&server)).or_default();
        let old = by_uri.get(document.uri());
        if old.is_some_and(|old| *old.0 == *document) {
            return false;
        }
        let documents = Arc::make_mut(&mut self.servers).entry(server).or_default();
        if let Some(old) = old {
            documents.remove(&old.0);
        }
        by_uri.replace(ByUri(Arc::clone(&document)));
        documents.insert(&document, &folded_text(summary));
        true
    }

    /// Removes a document. Says whether it was there.
    pub fn remove(&mut self, server: &str, uri: &str) -> bool {
        let Some(by_uri) = self.by_uri.get_mut(server) else {
            return false;
        };
        let Some(ByUri(document)) = by_uri.take(uri.as_bytes()) else {
            return false;
        };
        if by_uri.is_empty() {
            self.remove_server(server);
        } else {
            let documents = Arc::make_mut(&mut self.servers).get_mut(server);
            documents.expect("both maps have the same servers").remove(&document);
        }
        true
    }

    /// Removes all documents of a server. Says how many there were.
    pub fn remove_server(&mut self, server: &str) -> usize {
        let Some(by_uri) = self.by_uri.remove(server) else {
            return 0;
        };
        Arc::make_mut(&mut self.servers).remove(server);
        by_uri.len()
    }

    /// The document of a server with this URI.
    pub fn get(&self, server: &str, uri: &str) -> Option<DpeDocumentSummary> {
        let (server, by_uri) = self.by_uri.get_key_value(server)?;
        Some(by_uri.get(uri.as_bytes())?.0.summary(server))
    }

    /// Whether there is a document of a server with this URI.
    pub fn contains(&self, server: &str, uri: &str) -> bool {
        self.by_uri.get(server).is_some_and(|by_uri| by_uri.contains(uri.as_bytes()))
    }

    /// The URIs of a server's documents, in no particular order.
    pub fn uris<'a>(&'a self, server: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        self.by_uri.get(server).into_iter().flatten().map(|ByUri(document)| document.uri_text())
    }

    /// How many documents of a server there are.
    pub fn count(&self, server: &str) -> usize {
        self.by_uri.get(server).map_or(0, HashSet::len)
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.by_uri.values().map(HashSet::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_uri.is_empty()
    }

    /// All documents as they are now. Cheap: nothing is copied until something changes, and then only what changes.
    pub fn view(&self) -> FinderView {
        FinderView { servers: Arc::clone(&self.servers) }
    }
}

/// All documents of a [`FinderIndex`] as they were when it was taken.
#[derive(Clone)]
pub struct FinderView {
    servers: Arc<Servers>,
}

impl FinderView {
    /// A page of documents, and how many there are after filtering: what [`organize_finder`](super::organize_finder)
    /// gives for the same documents.
    ///
    /// With keywords this takes processor time in proportion to the text of all documents, tens of milliseconds for a
    /// million, and uses more than one thread where there is much of it: asynchronous code calls it where it may block.
    pub fn page(&self, query: &DocumentQuery, recent: &[impl AsRef<str>]) -> (Vec<DpeDocumentSummary>, u64) {
        let order = servers_by_use(self.servers.keys().map(AsRef::as_ref), recent);
        let servers: Vec<(&str, &ServerDocuments)> =
            order.into_iter().map(|server| (server, &self.servers[server])).collect();
        search::page(&servers, query)
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.servers.values().map(ServerDocuments::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }
}

impl fmt::Debug for FinderIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FinderIndex({} documents of {} servers)", self.len(), self.servers.len())
    }
}

impl fmt::Debug for FinderView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FinderView({} documents of {} servers)", self.len(), self.servers.len())
    }
}
