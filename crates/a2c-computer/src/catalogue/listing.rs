//! One pass over a server's list of resources: what is in it, sorted by what it is for.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use a2c_finder::finder::ListedDocument;
use a2c_protocol::context::Resource;
use a2c_protocol::uri::{DpeDocumentUri, DpeLevel, DpeUri, WindowUri};

use super::hosts::key;

/// How many windows of one server are shown.
const MAX_WINDOWS: usize = 1_000;

/// What a server listed so far.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// In the order of the list, each once.
    pub(super) windows: Vec<Resource>,
    window_uris: HashSet<String>,
    /// The URI of each document, and the host in it.
    documents: HashMap<Box<str>, String>,
    /// The URI of a host's level 0.
    pub(super) levels_zero: BTreeMap<String, String>,
    /// All else that can be read.
    pub(super) others: HashSet<Box<str>>,
    pub(super) hosts: BTreeSet<String>,
    /// Windows over what is shown.
    pub(super) too_many: usize,
    /// Windows and documents that are not shown because the server would not tell of their changes.
    pub(super) hidden: Hidden,
    /// Whether windows and documents of this server are shown.
    shows: bool,
    is_first: bool,
}

/// How much of a server is not shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(crate) windows: usize,
    pub(crate) documents: usize,
}

/// What a resource is for.
#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    Window {
        host: String,
    },
    Document {
        host: String,
        declared: Box<ListedDocument>,
    },
    /// A document of several segments: the Finder does not know it, `get_dpe` does.
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
    /// Begins a pass. A server that does not tell of changes has its windows and documents neither shown nor followed;
    /// they can be read.
    pub(crate) fn new(shows: bool, is_first: bool) -> Self {
        Self { shows, is_first, ..Self::default() }
    }

    /// Whether it is the first one over this connection: then what was read over an earlier one may be old.
    pub(super) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Takes in a resource. One that is a document is given back, the first time.
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

    /// What to subscribe to: each window, and each document; where the level 0 of a host is listed, that stands for all
    /// its documents.
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

/// What a resource is for, by its URI.
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
