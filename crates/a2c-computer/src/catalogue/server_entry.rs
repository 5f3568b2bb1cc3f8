//! The resources of one server, apart from the documents that the Finder shows.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::listing::HiddenCounts;
use super::read_queue::ReadQueue;

/// How many warnings about single resources one listing may cause.
const MAX_WARNINGS: u32 = 20;

/// The resources of one server.
#[derive(Debug, Default)]
pub(super) struct ServerEntry {
    /// In the order of its list.
    pub(super) windows: Vec<Arc<CataloguedWindow>>,
    /// Resources that are neither windows nor documents.
    pub(super) others: HashSet<Box<str>>,
    pub(super) hosts: BTreeSet<String>,
    pub(super) reads: ReadQueue,
    pub(super) hidden: HiddenCounts,
    /// The URI of the level 0 of each host, if it is listed.
    pub(super) levels_zero: BTreeMap<String, String>,
    /// The subscriptions that the server has accepted over this connection.
    pub(super) subscribed: HashSet<Box<str>>,
    /// Whether the running listing has changed documents and the Finder was not notified yet. The listing may fail.
    pub(super) documents_differ: bool,
    /// Warnings since the last listing.
    warned: u32,
}

/// A window as its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CataloguedWindow {
    pub(crate) server: Arc<str>,
    /// As listed: the URI that is read.
    pub(crate) listed_uri: String,
    /// Normalized: without what is not part of its identity.
    pub(crate) uri: String,
    pub(crate) priority: f64,
    pub(crate) fullscreen: bool,
}

impl ServerEntry {
    /// Whether another warning may be logged.
    pub(super) fn may_warn(&mut self) -> bool {
        self.warned = self.warned.saturating_add(1);
        self.warned <= MAX_WARNINGS
    }

    pub(super) fn reset_warnings(&mut self) {
        self.warned = 0;
    }
}
