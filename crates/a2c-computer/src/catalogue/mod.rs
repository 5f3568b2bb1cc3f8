//! The catalogue: what the servers of a Computer have to show, kept current, so that no request has to ask them.
//!
//! A server's task lists its resources page by page into a [`Listing`]; documents that say enough about themselves are
//! shown at once, others are handed out as [`Job`]s to be read first. What the server tells later changes single entries.
//! Who shows Desktop or Finder is told by a bell when there is something new to see.

mod hosts;
mod listing;
mod reads;
mod refresh;
mod shelf;
mod state;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2c_finder::finder::FinderView;
use a2c_protocol::context::Resource;
use a2c_protocol::uri::{DpeLevel, DpeUri, WindowUri};
use a2c_supervise::ChangeSignal;
use serde_json::Value;
use tokio::sync::Semaphore;

pub(crate) use listing::{Hidden, Listing};
pub(crate) use reads::Job;
pub(crate) use shelf::CataloguedWindow;
use shelf::Shelf;
use state::{State, windows};

/// How many documents are read at a time to know what they are, over all servers.
const READS: usize = 256;

/// What all servers have to show.
pub(crate) struct Catalogue {
    state: Mutex<State>,
    /// Who reads a document to know what it is holds one of these.
    pub(crate) reading: Semaphore,
    /// Rung when the Desktop is not what it was.
    pub(crate) desktop_changed: ChangeSignal,
    /// Rung when the Finder is not what it was.
    pub(crate) finder_changed: ChangeSignal,
}

impl Default for Catalogue {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            reading: Semaphore::new(READS),
            desktop_changed: ChangeSignal::new(),
            finder_changed: ChangeSignal::new(),
        }
    }
}

/// What a server has to show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Census {
    pub(crate) windows: usize,
    pub(crate) documents: usize,
    /// Documents of which it is not known what they are.
    pub(crate) left_out: usize,
    /// What is not shown since the server would not tell of changes.
    pub(crate) hidden: Hidden,
}

/// Why a document could not be read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The server says that it is not there.
    Missing(String),
    /// Something else.
    Failed(String),
}

/// What a list that was looked at to its end leaves to do.
pub(crate) struct Finished {
    /// What to subscribe to.
    pub(crate) to_subscribe: Arc<HashSet<Box<str>>>,
    /// The documents that were shown and are not any more.
    pub(crate) gone: Vec<String>,
}

/// What a server's news means for who follows it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Consequence {
    Nothing,
    /// A document is to be read.
    Read,
    /// Everything is to be listed again.
    List,
}

impl Catalogue {
    /// Takes in a page of a server's list.
    pub(crate) fn take_page(&self, server: &Arc<str>, listing: &mut Listing, page: Vec<Resource>) {
        for resource in page {
            let Some(declared) = listing.add(resource, server) else { continue };
            // One at a time: whoever asks meanwhile need not wait for the whole page.
            self.state().document_listed(server, listing, declared);
        }
        // What is shown can be read, also before the list is at its end.
        let mut state = self.state();
        let shelf = state.shelves.entry(server.clone()).or_default();
        if !listing.hosts.is_subset(&shelf.hosts) {
            let old = shelf.hosts.clone();
            shelf.hosts.extend(listing.hosts.iter().cloned());
            let new = shelf.hosts.clone();
            let clashes = state.hosts.change(server, &old, &new);
            drop(state);
            tell_of(clashes);
        }
    }

    /// The list is at its end: what is not in it is gone.
    pub(crate) fn finish(&self, server: &Arc<str>, mut listing: Listing) -> Finished {
        let to_subscribe = Arc::new(listing.to_subscribe());
        let mut state = self.state();
        let gone: Vec<String> =
            state.finder.uris(server).filter(|uri| !listing.has_document(uri)).map(Into::into).collect();
        for uri in &gone {
            state.finder.remove(server, uri);
        }
        let shelf = state.shelves.entry(server.clone()).or_default();
        shelf.reads.retain(|uri| listing.has_document(uri));
        let windows = windows(server, &listing.windows, shelf);
        let windows_differ = shelf.windows != windows;
        shelf.windows = windows;
        shelf.others = std::mem::take(&mut listing.others);
        shelf.levels_zero = std::mem::take(&mut listing.levels_zero);
        let is_news = shelf.hidden != listing.hidden;
        shelf.hidden = listing.hidden;
        let documents_differ = std::mem::take(&mut shelf.documents_differ) || !gone.is_empty();
        let old = std::mem::replace(&mut shelf.hosts, std::mem::take(&mut listing.hosts));
        let new = shelf.hosts.clone();
        let clashes = state.hosts.change(server, &old, &new);
        drop(state);
        tell_of(clashes);
        let name = &**server;
        if listing.too_many > 0 {
            tracing::warn!(
                server = name,
                too_many = listing.too_many,
                "an MCP server lists more windows than are shown"
            );
        }
        let Hidden { windows, documents } = listing.hidden;
        if is_news && windows + documents > 0 {
            tracing::warn!(
                server = name,
                windows,
                documents,
                "an MCP server has windows or documents, but does not declare `resources.subscribe`: Agents do not see them"
            );
        }
        if windows_differ {
            self.desktop_changed.mark();
        }
        if documents_differ {
            self.finder_changed.mark();
        }
        if !windows_differ && !documents_differ {
            tracing::debug!(server = name, "a list of resources has changed nothing that is shown");
        }
        Finished { to_subscribe, gone }
    }

    /// The list could not be had to its end. What is in it so far is shown all the same.
    pub(crate) fn broke_off(&self, server: &Arc<str>) {
        if let Some(shelf) = self.state().shelves.get_mut(server) {
            self.tell_of_documents(shelf);
        }
    }

    fn tell_of_documents(&self, shelf: &mut Shelf) {
        if std::mem::take(&mut shelf.documents_differ) {
            self.finder_changed.mark();
        }
    }

    /// A server tells us when a resource changes, or not any more.
    pub(crate) fn follows(&self, server: &str, uri: &str, is_followed: bool) {
        let mut state = self.state();
        let Some(shelf) = state.shelves.get_mut(server) else { return };
        match is_followed {
            true => _ = shelf.followed.insert(uri.into()),
            false => _ = shelf.followed.remove(uri),
        }
    }

    /// A resource changed, says its server.
    pub(crate) fn updated(&self, server: &Arc<str>, uri: &str) -> Consequence {
        if WindowUri::parse(uri).is_ok() {
            self.desktop_changed.mark();
            return Consequence::Nothing;
        }
        let Ok(dpe) = DpeUri::parse(uri) else { return Consequence::Nothing };
        self.finder_changed.mark();
        if *dpe.uri.level() == DpeLevel::Catalogue {
            return Consequence::List;
        }
        // The document as it was listed, or as it would be if somebody else had written it.
        let document = dpe.uri.document().map(|document| document.to_string());
        let mut state = self.state();
        for uri in [Some(uri.to_owned()), document].into_iter().flatten() {
            if state.document_changed(server, &uri) {
                return Consequence::Read;
            }
        }
        Consequence::Nothing
    }

    /// The next document of a server that has to be read.
    pub(crate) fn next_read(&self, server: &str) -> Option<Job> {
        self.state().shelves.get_mut(server)?.reads.next()
    }

    /// A document was read: its level 1, or why not.
    pub(crate) fn read(&self, server: &Arc<str>, job: &Job, outcome: Result<Value, Unread>) {
        if self.state().document_read(server, job, outcome) {
            self.finder_changed.mark();
        }
    }

    /// A server has a new connection: what is known of it may be old.
    pub(crate) fn connected(&self, server: &Arc<str>) {
        if let Some(shelf) = self.state().shelves.get_mut(server) {
            shelf.reads.start_over();
            shelf.followed.clear();
            self.windows_come_or_go(shelf);
        }
    }

    /// A server's connection is over. Its windows cannot be read for now.
    pub(crate) fn disconnected(&self, server: &Arc<str>) {
        if let Some(shelf) = self.state().shelves.get_mut(server) {
            shelf.followed.clear();
            self.windows_come_or_go(shelf);
            self.tell_of_documents(shelf);
        }
    }

    fn windows_come_or_go(&self, shelf: &Shelf) {
        if !shelf.windows.is_empty() {
            self.desktop_changed.mark();
        }
    }

    /// A server is not wanted any more.
    pub(crate) fn forget(&self, server: &Arc<str>) {
        let mut state = self.state();
        if state.finder.remove_server(server) > 0 {
            self.finder_changed.mark();
        }
        if let Some(shelf) = state.shelves.remove(server) {
            self.windows_come_or_go(&shelf);
            state.hosts.change(server, &shelf.hosts, &Default::default());
        }
    }

    /// The windows, in the order of the servers' names and of their lists; with `only`, those of exactly this URI.
    pub(crate) fn windows(&self, only: Option<&str>) -> Vec<Arc<CataloguedWindow>> {
        let state = self.state();
        let all = state.shelves.values().flat_map(|shelf| &shelf.windows);
        let is_meant =
            |window: &&Arc<CataloguedWindow>| only.is_none_or(|uri| window.listed_uri == uri || window.uri == uri);
        all.filter(is_meant).cloned().collect()
    }

    /// How much of a server is shown, and how much is not.
    pub(crate) fn census(&self, server: &str) -> Census {
        let state = self.state();
        let documents = state.finder.count(server);
        let Some(shelf) = state.shelves.get(server) else { return Census { documents, ..Census::default() } };
        let (windows, left_out) = (shelf.windows.len(), shelf.reads.failures());
        Census { windows, documents, left_out, hidden: shelf.hidden }
    }

    /// A server was taken on.
    pub(crate) fn enrol(&self, server: &str) {
        self.state().hosts.enrol(&server.into());
    }

    /// All documents, as they are now.
    pub(crate) fn finder(&self) -> FinderView {
        self.state().finder.view()
    }

    /// Who answers for a document of a host: where several servers use the host, the first one that lists it, or else the
    /// first one.
    pub(crate) fn server_of(&self, host: &str, document: Option<&str>) -> Option<Arc<str>> {
        let state = self.state();
        let mut servers = state.hosts.servers_of(host);
        let first = servers.next()?;
        let lists = |server: &Arc<str>| document.is_some_and(|uri| state.finder.contains(server, uri));
        let found = std::iter::once(first).chain(servers).find(|server| lists(server));
        Some(found.unwrap_or(first).clone())
    }

    /// The first server that lists a URI, in the order of their names.
    pub(crate) fn server_listing(&self, uri: &str) -> Option<Arc<str>> {
        let state = self.state();
        let lists = |shelf: &Shelf| shelf.others.contains(uri) || shelf.windows.iter().any(|w| w.listed_uri == uri);
        state.shelves.iter().find(|(_, shelf)| lists(shelf)).map(|(server, _)| server.clone())
    }

    /// What is known of a document, as a resource.
    pub(crate) fn document(&self, server: &str, uri: &str) -> Option<Resource> {
        self.state().finder.get(server, uri).map(refresh::as_resource)
    }

    /// Whether a server tells us when this document changes.
    pub(crate) fn is_followed(&self, server: &str, uri: &str, host: &str) -> bool {
        let state = self.state();
        let Some(shelf) = state.shelves.get(server) else { return false };
        let level_zero = shelf.levels_zero.get(&hosts::key(host));
        shelf.followed.contains(uri) || level_zero.is_some_and(|uri| shelf.followed.contains(uri.as_str()))
    }

    /// Forgets the changes so far: they happened before an Agent could see anything.
    pub(crate) fn take_changes(&self) {
        self.desktop_changed.take();
        self.finder_changed.take();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change under the lock is made of steps that leave nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tell_of(clashes: Vec<hosts::Clash>) {
    for clash in clashes {
        let (host, first, second) = (clash.host, &*clash.first, &*clash.second);
        tracing::warn!(host, first, second, "two MCP servers use the same host in their URIs; the first one answers");
    }
}
