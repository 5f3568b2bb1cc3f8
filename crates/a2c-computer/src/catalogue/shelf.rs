//! What is kept of one server's resources, apart from the documents that the Finder shows.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::listing::Hidden;
use super::reads::Reads;

/// How many warnings about single resources one listing may cause; the rest is for who debugs.
const WARNINGS: u32 = 20;

/// What is kept of one server.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// In the order of its list.
    pub(super) windows: Vec<Arc<CataloguedWindow>>,
    /// What can be read besides.
    pub(super) others: HashSet<Box<str>>,
    pub(super) hosts: BTreeSet<String>,
    pub(super) reads: Reads,
    pub(super) hidden: Hidden,
    /// The URI of the level 0 of each host, where it is listed.
    pub(super) levels_zero: BTreeMap<String, String>,
    /// What it tells us about, over this connection: the subscriptions that it took.
    pub(super) followed: HashSet<Box<str>>,
    /// Whether its list has shown other documents of which nobody was told yet: it may break off before its end.
    pub(super) documents_differ: bool,
    /// Warnings since the last listing.
    warned: u32,
}

/// A window as its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CataloguedWindow {
    pub(crate) server: Arc<str>,
    /// As listed: what the server is asked for.
    pub(crate) listed_uri: String,
    /// Without what does not belong to its identity.
    pub(crate) uri: String,
    pub(crate) priority: f64,
    pub(crate) fullscreen: bool,
}

impl Shelf {
    /// Whether there is something to say still.
    pub(super) fn may_warn(&mut self) -> bool {
        self.warned = self.warned.saturating_add(1);
        self.warned <= WARNINGS
    }

    pub(super) fn listed_anew(&mut self) {
        self.warned = 0;
    }
}
