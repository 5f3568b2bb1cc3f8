//! The catalogue: the resources of all servers of a Computer, kept current, so that no request has to list them.
//!
//! A server's task adds its resources page by page to a [`Listing`]. A document whose list entry says enough is shown at
//! once; for any other, [`Catalogue::next_read`] gives a [`DocumentRead`]. Later notifications of the server change single
//! entries. `desktop_changed` and `finder_changed` are marked when there is something new to show.

mod hosts;
mod listing;
mod read_queue;
mod server_entry;
mod state;
mod summary;
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

pub(crate) use listing::{HiddenCounts, Listing};
pub(crate) use read_queue::DocumentRead;
pub(crate) use server_entry::CataloguedWindow;
use server_entry::ServerEntry;
use state::{CatalogueState, windows};

/// How many documents of all servers are read at a time for their metadata.
const MAX_READS: usize = 256;

/// The resources of all servers.
pub(crate) struct Catalogue {
    state: Mutex<CatalogueState>,
    /// A task that reads a document for its metadata holds one permit.
    pub(crate) reading: Semaphore,
    /// Marked when the Desktop has changed.
    pub(crate) desktop_changed: ChangeSignal,
    /// Marked when the Finder has changed.
    pub(crate) finder_changed: ChangeSignal,
}

impl Default for Catalogue {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            reading: Semaphore::new(MAX_READS),
            desktop_changed: ChangeSignal::new(),
            finder_changed: ChangeSignal::new(),
        }
    }
}

/// How many resources of a server are shown, and how many are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ResourceCounts {
    pub(crate) windows: usize,
    pub(crate) documents: usize,
    /// Documents whose metadata could not be read.
    pub(crate) left_out: usize,
    /// What is not shown because the server does not announce changes.
    pub(crate) hidden: HiddenCounts,
}

/// Why a document could not be read.
#[derive(Debug)]
pub(crate) enum ReadFailure {
    /// The server says that it does not exist.
    Missing(String),
    /// Any other failure.
    Failed(String),
}

/// What follows from a complete listing.
pub(crate) struct Finished {
    /// What to subscribe to.
    pub(crate) to_subscribe: Arc<HashSet<Box<str>>>,
    /// Documents that were shown and are not listed any more.
    pub(crate) gone: Vec<String>,
}

/// What an update of a resource makes necessary.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UpdateEffect {
    Nothing,
    /// A document has to be read.
    Read,
    /// Everything has to be listed again.
    List,
}

impl Catalogue {
    /// Adds a page of a server's list.
    pub(crate) fn add_page(&self, server: &Arc<str>, listing: &mut Listing, page: Vec<Resource>) {
        for resource in page {
            let Some(declared) = listing.add(resource, server) else { continue };
            // The lock is taken for each document: a request need not wait for the whole page.
            self.state().document_listed(server, listing, declared);
        }
        // A document that is shown can be read, also before the listing is complete.
        let mut state = self.state();
        let entry = state.servers.entry(server.clone()).or_default();
        if !listing.hosts.is_subset(&entry.hosts) {
            let old = entry.hosts.clone();
            entry.hosts.extend(listing.hosts.iter().cloned());
            let new = entry.hosts.clone();
            let clashes = state.hosts.change(server, &old, &new);
            drop(state);
            warn_about(clashes);
        }
    }

    /// The listing is complete: removes what is not in it.
    pub(crate) fn finish(&self, server: &Arc<str>, mut listing: Listing) -> Finished {
        let to_subscribe = Arc::new(listing.to_subscribe());
        let mut state = self.state();
        let gone: Vec<String> =
            state.finder.uris(server).filter(|uri| !listing.has_document(uri)).map(Into::into).collect();
        for uri in &gone {
            state.finder.remove(server, uri);
        }
        let entry = state.servers.entry(server.clone()).or_default();
        entry.reads.retain(|uri| listing.has_document(uri));
        let windows = windows(server, &listing.windows, entry);
        let windows_differ = entry.windows != windows;
        entry.windows = windows;
        entry.others = std::mem::take(&mut listing.others);
        entry.levels_zero = std::mem::take(&mut listing.levels_zero);
        let hidden_differs = entry.hidden != listing.hidden;
        entry.hidden = listing.hidden;
        let documents_differ = std::mem::take(&mut entry.documents_differ) || !gone.is_empty();
        let old = std::mem::replace(&mut entry.hosts, std::mem::take(&mut listing.hosts));
        let new = entry.hosts.clone();
        let clashes = state.hosts.change(server, &old, &new);
        drop(state);
        warn_about(clashes);
        let name = &**server;
        if listing.too_many > 0 {
            tracing::warn!(
                server = name,
                too_many = listing.too_many,
                "an MCP server lists more windows than are shown"
            );
        }
        let HiddenCounts { windows, documents } = listing.hidden;
        if hidden_differs && windows + documents > 0 {
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
            tracing::debug!(server = name, "a listing of resources has changed nothing that is shown");
        }
        Finished { to_subscribe, gone }
    }

    /// The listing failed. What it has added so far is shown.
    pub(crate) fn listing_failed(&self, server: &Arc<str>) {
        if let Some(entry) = self.state().servers.get_mut(server) {
            self.notify_documents(entry);
        }
    }

    fn notify_documents(&self, entry: &mut ServerEntry) {
        if std::mem::take(&mut entry.documents_differ) {
            self.finder_changed.mark();
        }
    }

    /// A server has accepted a subscription, or it has ended.
    pub(crate) fn set_subscribed(&self, server: &str, uri: &str, is_subscribed: bool) {
        let mut state = self.state();
        let Some(entry) = state.servers.get_mut(server) else { return };
        match is_subscribed {
            true => _ = entry.subscribed.insert(uri.into()),
            false => _ = entry.subscribed.remove(uri),
        }
    }

    /// A server announces that a resource changed.
    pub(crate) fn updated(&self, server: &Arc<str>, uri: &str) -> UpdateEffect {
        if WindowUri::parse(uri).is_ok() {
            self.desktop_changed.mark();
            return UpdateEffect::Nothing;
        }
        let Ok(dpe) = DpeUri::parse(uri) else { return UpdateEffect::Nothing };
        self.finder_changed.mark();
        if *dpe.uri.level() == DpeLevel::Catalogue {
            return UpdateEffect::List;
        }
        // The document may be listed with exactly this URI, or with the normalized URI.
        let document = dpe.uri.document().map(|document| document.to_string());
        let mut state = self.state();
        for uri in [Some(uri.to_owned()), document].into_iter().flatten() {
            if state.document_changed(server, &uri) {
                return UpdateEffect::Read;
            }
        }
        UpdateEffect::Nothing
    }

    /// The next document of a server that has to be read.
    pub(crate) fn next_read(&self, server: &str) -> Option<DocumentRead> {
        self.state().servers.get_mut(server)?.reads.next()
    }

    /// Takes the outcome of a read: the level 1 of the document, or why there is none.
    pub(crate) fn document_read(&self, server: &Arc<str>, read: &DocumentRead, outcome: Result<Value, ReadFailure>) {
        if self.state().document_read(server, read, outcome) {
            self.finder_changed.mark();
        }
    }

    /// A server has a new connection: changes may have been missed.
    pub(crate) fn connected(&self, server: &Arc<str>) {
        if let Some(entry) = self.state().servers.get_mut(server) {
            entry.reads.start_over();
            entry.subscribed.clear();
            self.notify_windows(entry);
        }
    }

    /// A server's connection has ended: its windows cannot be read for now.
    pub(crate) fn disconnected(&self, server: &Arc<str>) {
        if let Some(entry) = self.state().servers.get_mut(server) {
            entry.subscribed.clear();
            self.notify_windows(entry);
            self.notify_documents(entry);
        }
    }

    fn notify_windows(&self, entry: &ServerEntry) {
        if !entry.windows.is_empty() {
            self.desktop_changed.mark();
        }
    }

    /// A server was switched off or removed.
    pub(crate) fn forget(&self, server: &Arc<str>) {
        let mut state = self.state();
        if state.finder.remove_server(server) > 0 {
            self.finder_changed.mark();
        }
        if let Some(entry) = state.servers.remove(server) {
            self.notify_windows(&entry);
            state.hosts.change(server, &entry.hosts, &Default::default());
        }
    }

    /// The windows, in the order of the servers' names and of their lists; with `only`, those with exactly this URI.
    pub(crate) fn windows(&self, only: Option<&str>) -> Vec<Arc<CataloguedWindow>> {
        let state = self.state();
        let all = state.servers.values().flat_map(|entry| &entry.windows);
        let is_meant =
            |window: &&Arc<CataloguedWindow>| only.is_none_or(|uri| window.listed_uri == uri || window.uri == uri);
        all.filter(is_meant).cloned().collect()
    }

    /// How much of a server is shown, and how much is not.
    pub(crate) fn counts(&self, server: &str) -> ResourceCounts {
        let state = self.state();
        let documents = state.finder.count(server);
        let Some(entry) = state.servers.get(server) else {
            return ResourceCounts { documents, ..ResourceCounts::default() };
        };
        let (windows, left_out) = (entry.windows.len(), entry.reads.failures());
        ResourceCounts { windows, documents, left_out, hidden: entry.hidden }
    }

    /// A server was added: its rank decides which server answers for a host.
    pub(crate) fn register(&self, server: &str) {
        self.state().hosts.register(&server.into());
    }

    /// All documents, as they are now.
    pub(crate) fn finder(&self) -> FinderView {
        self.state().finder.view()
    }

    /// The server that answers for a document of a host. If several servers use the host, it is the first one that lists the
    /// document, or else the first one.
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
        let lists =
            |entry: &ServerEntry| entry.others.contains(uri) || entry.windows.iter().any(|w| w.listed_uri == uri);
        state.servers.iter().find(|(_, entry)| lists(entry)).map(|(server, _)| server.clone())
    }

    /// The metadata of a document, as a resource.
    pub(crate) fn document(&self, server: &str, uri: &str) -> Option<Resource> {
        self.state().finder.get(server, uri).map(summary::as_resource)
    }

    /// Whether a server announces changes of this document.
    pub(crate) fn is_subscribed(&self, server: &str, uri: &str, host: &str) -> bool {
        let state = self.state();
        let Some(entry) = state.servers.get(server) else { return false };
        let level_zero = entry.levels_zero.get(&hosts::key(host));
        entry.subscribed.contains(uri) || level_zero.is_some_and(|uri| entry.subscribed.contains(uri.as_str()))
    }

    /// Forgets the changes so far: they happened before an Agent could see anything.
    pub(crate) fn take_changes(&self) {
        self.desktop_changed.take();
        self.finder_changed.take();
    }

    fn state(&self) -> MutexGuard<'_, CatalogueState> {
        // No step under the lock leaves anything half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn warn_about(clashes: Vec<hosts::Clash>) {
    for clash in clashes {
        let (host, first, second) = (clash.host, &*clash.first, &*clash.second);
        tracing::warn!(host, first, second, "two MCP servers use the same host in their URIs; the first one answers");
    }
}
