//! One pass over a server's list of resources, sorted by kind.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use a2c_finder::finder::ListedDocument;
use a2c_protocol::context::Resource;
use a2c_protocol::uri::{DpeDocumentUri, DpeLevel, DpeUri, WindowUri};

use super::hosts::key;

/// How many windows of one server are shown.
const MAX_WINDOWS: usize = 1_000;

/// The resources that a server has listed so far.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// In the order of the list, without repetitions.
    pub(super) windows: Vec<Resource>,
    window_uris: HashSet<String>,
    /// The URI of each document, and the host in it.
    documents: HashMap<Box<str>, String>,
    /// The URI of a host's level 0.
    pub(super) levels_zero: BTreeMap<String, String>,
    /// All other resources.
    pub(super) others: HashSet<Box<str>>,
    pub(super) hosts: BTreeSet<String>,
    /// Windows beyond the limit.
    pub(super) too_many: usize,
    /// Windows and documents that are not shown because the server does not announce changes.
    pub(super) hidden: HiddenCounts,
    /// Whether windows and documents of this server are shown.
    shows: bool,
    is_first: bool,
}

/// How much of a server is not shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HiddenCounts {
    pub(crate) windows: usize,
    pub(crate) documents: usize,
}

/// The kind of a resource.
#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    Window {
        host: String,
    },
    Document {
        host: String,
        declared: Box<ListedDocument>,
    },
    /// A document of several segments: `get_dpe` knows it, the Finder does not.
    DeepDocument {
        host: String,
    },
    LevelZero {
        host: String,
    },
    Other {
        host: Option<String>,
    },
}

impl Listing {
    /// Begins a pass. Without `shows`, for a server that does not announce changes, windows and documents are neither shown
    /// nor subscribed to; they can be read.
    pub(crate) fn new(shows: bool, is_first: bool) -> Self {
        Self { shows, is_first, ..Self::default() }
    }

    /// Whether it is the first pass over this connection: then metadata from an earlier connection may be old.
    pub(super) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Adds a resource. Returns a document that is listed for the first time.
    pub(super) fn add(&mut self, resource: Resource, server: &str) -> Option<ListedDocument> {
        let kind = kind_of(&resource, server);
        match &kind {
            Kind::Window { host }
            | Kind::Document { host, .. }
            | Kind::DeepDocument { host }
            | Kind::LevelZero { host } => {
                self.hosts.insert(host.clone());
            }
            Kind::Other { host } => self.hosts.extend(host.clone()),
        }
        match kind {
            Kind::Window { .. } if self.shows => {
                if self.windows.len() >= MAX_WINDOWS {
                    self.too_many += 1;
                    self.others.insert(resource.uri.into());
                } else if self.window_uris.insert(resource.uri.clone()) {
                    self.windows.push(resource);
                }
            }
            Kind::Document { host, declared } if self.shows => {
                let is_new = self.documents.insert(resource.uri.into(), host).is_none();
                return is_new.then_some(*declared);
            }
            Kind::DeepDocument { host } if self.shows => {
                self.documents.insert(resource.uri.into(), host);
            }
            Kind::LevelZero { host } if self.shows => {
                self.levels_zero.entry(host).or_insert(resource.uri);
            }
            kind => {
                match kind {
                    Kind::Window { .. } => self.hidden.windows += 1,
                    Kind::Document { .. } | Kind::DeepDocument { .. } => self.hidden.documents += 1,
                    Kind::LevelZero { .. } | Kind::Other { .. } => {}
                }
                self.others.insert(resource.uri.into());
            }
        }
        None
    }

    /// What to subscribe to: each window and each document. If the level 0 of a host is listed, it stands for all documents
    /// of the host.
    pub(super) fn to_subscribe(&self) -> HashSet<Box<str>> {
        let alone = self.documents.iter().filter(|(_, host)| !self.levels_zero.contains_key(*host));
        let mut wanted: HashSet<Box<str>> = alone.map(|(uri, _)| uri.clone()).collect();
        wanted.extend(self.levels_zero.values().map(|uri| uri.as_str().into()));
        wanted.extend(self.windows.iter().map(|window| window.uri.as_str().into()));
        wanted
    }

    /// Whether a document was listed.
    pub(super) fn has_document(&self, uri: &str) -> bool {
        self.documents.contains_key(uri)
    }
}

/// The kind of a resource, by its URI.
pub(super) fn kind_of(resource: &Resource, server: &str) -> Kind {
    if let Ok(window) = WindowUri::parse(&resource.uri) {
        return Kind::Window { host: key(window.uri.host().as_str()) };
    }
    let Ok(dpe) = DpeUri::parse(&resource.uri) else {
        return match DpeDocumentUri::parse(&resource.uri) {
            Ok(document) => Kind::DeepDocument { host: key(document.uri.host().as_str()) },
            Err(_) => Kind::Other { host: None },
        };
    };
    let host = key(dpe.uri.host().as_str());
    match dpe.uri.level() {
        DpeLevel::Catalogue => Kind::LevelZero { host },
        DpeLevel::Document { .. } => match ListedDocument::of(resource, server) {
            Some(declared) => Kind::Document { host, declared: Box::new(declared) },
            None => Kind::Other { host: Some(host) },
        },
        DpeLevel::Page { .. } | DpeLevel::Element { .. } => Kind::Other { host: Some(host) },
    }
}
