//! Everything that is known of all servers, and how it changes. One lock is around it; nothing in here waits.

use std::collections::BTreeMap;
use std::sync::Arc;

use a2c_finder::desktop::ListedWindow;
use a2c_finder::finder::{FinderIndex, ListedDocument};
use a2c_protocol::context::Resource;
use serde_json::Value;

use super::hosts::Hosts;
use super::listing::Listing;
use super::reads::{Job, Reason};
use super::shelf::{CataloguedWindow, Shelf};
use super::{Unread, refresh};

/// What is known.
#[derive(Default)]
pub(super) struct State {
    pub(super) shelves: BTreeMap<Arc<str>, Shelf>,
    pub(super) hosts: Hosts,
    pub(super) finder: FinderIndex,
}

impl State {
    /// A document was listed: it is shown, or is to be read first.
    pub(super) fn document_listed(&mut self, server: &Arc<str>, listing: &Listing, declared: ListedDocument) {
        let shelf = self.shelves.entry(server.clone()).or_default();
        if declared.is_complete() {
            if let Ok(summary) = declared.complete() {
                shelf.documents_differ |= self.finder.put(&refresh::bounded(summary));
            }
            return;
        }
        let (uri, declared) = (declared.uri().to_owned(), Box::new(declared));
        match self.finder.get(server, &uri) {
            // It was read already; what the list says about it may be new.
            Some(shown) if !listing.is_first() => {
                if let Ok(summary) = declared.with_metadata(&refresh::as_level_one(&shown)) {
                    shelf.documents_differ |= self.finder.put(&refresh::bounded(summary));
                }
            }
            None if shelf.reads.knows(&uri) && !listing.is_first() => {
                if !shelf.reads.has_failed(&uri) {
                    shelf.reads.declared(&uri, declared);
                }
            }
            _ => shelf.reads.want(&uri, Reason::Undeclared(declared)),
        }
    }

    /// A document changed. Whether it is to be read.
    pub(super) fn document_changed(&mut self, server: &Arc<str>, uri: &str) -> bool {
        let is_shown = self.finder.contains(server, uri);
        let Some(shelf) = self.shelves.get_mut(server) else { return false };
        if is_shown {
            shelf.reads.want(uri, Reason::Changed);
            return true;
        }
        shelf.reads.changed(uri)
    }

    /// Whether what is shown is not what it was.
    pub(super) fn document_read(&mut self, server: &Arc<str>, job: &Job, outcome: Result<Value, Unread>) -> bool {
        let Some(shelf) = self.shelves.get_mut(server) else { return false };
        let Some(reason) = shelf.reads.done(job) else { return false };
        let uri = &*job.uri;
        let problem = match (reason, outcome) {
            (Reason::Undeclared(declared), Ok(level_one)) => match declared.clone().with_metadata(&level_one) {
                Ok(summary) => return self.finder.put(&refresh::bounded(summary)),
                Err(incomplete) => {
                    shelf.reads.failed(uri, declared);
                    incomplete.to_string()
                }
            },
            (Reason::Undeclared(declared), Err(Unread::Missing(problem) | Unread::Failed(problem))) => {
                shelf.reads.failed(uri, declared);
                problem
            }
            (Reason::Changed, Ok(level_one)) => {
                let Some(shown) = self.finder.get(server, uri) else { return false };
                return self.finder.put(&refresh::bounded(refresh::refreshed(shown, &level_one)));
            }
            (Reason::Changed, Err(Unread::Missing(_))) => return self.finder.remove(server, uri),
            (Reason::Changed, Err(Unread::Failed(problem))) => {
                if shelf.may_warn() {
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
        if shelf.may_warn() {
            tracing::warn!(
                server = &**server,
                uri,
                problem,
                "a document is left out of the Finder: its metadata cannot be had"
            );
        }
        // It may have been shown for what it was in an earlier connection.
        self.finder.remove(server, uri)
    }
}

/// The windows of a list, with what is wrong about them told.
pub(super) fn windows(server: &Arc<str>, listed: &[Resource], shelf: &mut Shelf) -> Vec<Arc<CataloguedWindow>> {
    shelf.listed_anew();
    let mut windows = Vec::with_capacity(listed.len());
    for resource in listed {
        let Ok(window) = ListedWindow::of(resource) else { continue };
        for warning in &window.warnings {
            if shelf.may_warn() {
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
