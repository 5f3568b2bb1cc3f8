//! The state of the catalogue, and its changes. It is behind one lock; nothing in here waits.

use std::collections::BTreeMap;
use std::sync::Arc;

use a2c_finder::desktop::ListedWindow;
use a2c_finder::finder::{FinderIndex, ListedDocument};
use a2c_protocol::context::Resource;
use serde_json::Value;

use super::hosts::HostOwners;
use super::listing::Listing;
use super::read_queue::{DocumentRead, Reason};
use super::server_entry::{CataloguedWindow, ServerEntry};
use super::{ReadFailure, summary};

/// The resources of all servers, and the documents of the Finder.
#[derive(Default)]
pub(super) struct CatalogueState {
    pub(super) servers: BTreeMap<Arc<str>, ServerEntry>,
    pub(super) hosts: HostOwners,
    pub(super) finder: FinderIndex,
}

impl CatalogueState {
    /// A document was listed: shows it, or requests a read first.
    pub(super) fn document_listed(&mut self, server: &Arc<str>, listing: &Listing, declared: ListedDocument) {
        let entry = self.servers.entry(server.clone()).or_default();
        if declared.is_complete() {
            if let Ok(summary) = declared.complete() {
                entry.documents_differ |= self.finder.put(&summary::bounded(summary));
            }
            return;
        }
        let (uri, declared) = (declared.uri().to_owned(), Box::new(declared));
        match self.finder.get(server, &uri) {
            // It was read already; the list entry may be new.
            Some(shown) if !listing.is_first() => {
                if let Ok(summary) = declared.with_metadata(&summary::as_level_one(&shown)) {
                    entry.documents_differ |= self.finder.put(&summary::bounded(summary));
                }
            }
            None if entry.reads.knows(&uri) && !listing.is_first() => {
                if !entry.reads.has_failed(&uri) {
                    entry.reads.declared(&uri, declared);
                }
            }
            _ => entry.reads.request(&uri, Reason::Undeclared(declared)),
        }
    }

    /// A document changed. Returns whether it has to be read.
    pub(super) fn document_changed(&mut self, server: &Arc<str>, uri: &str) -> bool {
        let is_shown = self.finder.contains(server, uri);
        let Some(entry) = self.servers.get_mut(server) else { return false };
        if is_shown {
            entry.reads.request(uri, Reason::Changed);
            return true;
        }
        entry.reads.changed(uri)
    }

    /// A read is done. Returns whether the Finder has changed.
    pub(super) fn document_read(
        &mut self,
        server: &Arc<str>,
        read: &DocumentRead,
        outcome: Result<Value, ReadFailure>,
    ) -> bool {
        let Some(entry) = self.servers.get_mut(server) else { return false };
        let Some(reason) = entry.reads.done(read) else { return false };
        let uri = &*read.uri;
        let problem = match (reason, outcome) {
            (Reason::Undeclared(declared), Ok(level_one)) => match declared.clone().with_metadata(&level_one) {
                Ok(summary) => return self.finder.put(&summary::bounded(summary)),
                Err(incomplete) => {
                    entry.reads.failed(uri, declared);
                    incomplete.to_string()
                }
            },
            (Reason::Undeclared(declared), Err(ReadFailure::Missing(problem) | ReadFailure::Failed(problem))) => {
                entry.reads.failed(uri, declared);
                problem
            }
            (Reason::Changed, Ok(level_one)) => {
                let Some(shown) = self.finder.get(server, uri) else { return false };
                return self.finder.put(&summary::bounded(summary::refreshed(shown, &level_one)));
            }
            (Reason::Changed, Err(ReadFailure::Missing(_))) => return self.finder.remove(server, uri),
            (Reason::Changed, Err(ReadFailure::Failed(problem))) => {
                if entry.may_warn() {
                    tracing::warn!(
                        server = &**server,
                        uri,
                        problem,
                        "a changed document cannot be read; it is shown as it was"
                    );
                }
                return false;
            }
        };
        if entry.may_warn() {
            tracing::warn!(
                server = &**server,
                uri,
                problem,
                "a document is left out of the Finder: its metadata cannot be read"
            );
        }
        // It may be shown from an earlier connection.
        self.finder.remove(server, uri)
    }
}

/// The windows of a list. Logs what is wrong with them.
pub(super) fn windows(server: &Arc<str>, listed: &[Resource], entry: &mut ServerEntry) -> Vec<Arc<CataloguedWindow>> {
    entry.reset_warnings();
    let mut windows = Vec::with_capacity(listed.len());
    for resource in listed {
        let Ok(window) = ListedWindow::of(resource) else { continue };
        for warning in &window.warnings {
            if entry.may_warn() {
                tracing::warn!(server = &**server, uri = resource.uri, "a window {warning}");
            }
        }
        windows.push(Arc::new(CataloguedWindow {
            server: server.clone(),
            listed_uri: resource.uri.clone(),
            uri: window.uri,
            priority: window.priority,
            fullscreen: window.fullscreen,
        }));
    }
    windows
}
