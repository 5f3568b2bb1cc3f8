//! The documents of one server that have to be read for their metadata: pending, failed, and in which order. Pure.

use std::collections::{HashMap, VecDeque};

use a2c_finder::finder::ListedDocument;

/// The documents of one server that have to be read.
#[derive(Debug, Default)]
pub(super) struct ReadQueue {
    pending: HashMap<Box<str>, Pending>,
    /// Pending documents that are not being read, in the order of the requests.
    queue: VecDeque<Box<str>>,
    /// Documents without metadata. They are tried again when they change, or with the next connection.
    failed: HashMap<Box<str>, Box<ListedDocument>>,
}

#[derive(Debug)]
struct Pending {
    reason: Reason,
    /// Counts the changes: a read that began before the last change is outdated.
    turn: u64,
    is_queued: bool,
}

/// Why a document is read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reason {
    /// Its list entry lacks metadata.
    Undeclared(Box<ListedDocument>),
    /// It changed.
    Changed,
}

/// One document to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentRead {
    pub(crate) uri: Box<str>,
    turn: u64,
}

impl ReadQueue {
    /// Requests a read of a document. If it is being read already, it is read once more.
    pub(super) fn request(&mut self, uri: &str, reason: Reason) {
        self.failed.remove(uri);
        match self.pending.get_mut(uri) {
            Some(pending) => {
                pending.turn += 1;
                // The list entry is needed to complete the metadata.
                if let Reason::Undeclared(_) = reason {
                    pending.reason = reason;
                }
            }
            None => {
                self.pending.insert(uri.into(), Pending { reason, turn: 0, is_queued: true });
                self.queue.push_back(uri.into());
            }
        }
    }

    /// A document that is not shown changed. Returns whether it has to be read.
    pub(super) fn changed(&mut self, uri: &str) -> bool {
        if let Some(declared) = self.failed.remove(uri) {
            self.request(uri, Reason::Undeclared(declared));
            return true;
        }
        match self.pending.get_mut(uri) {
            Some(pending) => {
                pending.turn += 1;
                true
            }
            None => false,
        }
    }

    /// Whether a document is pending or failed.
    pub(super) fn knows(&self, uri: &str) -> bool {
        self.pending.contains_key(uri) || self.failed.contains_key(uri)
    }

    /// Whether the metadata of a document could not be read.
    pub(super) fn has_failed(&self, uri: &str) -> bool {
        self.failed.contains_key(uri)
    }

    /// A pending document has a new list entry.
    pub(super) fn declared(&mut self, uri: &str, declared: Box<ListedDocument>) {
        if let Some(pending) = self.pending.get_mut(uri) {
            pending.reason = Reason::Undeclared(declared);
        }
    }

    /// How many documents have failed.
    pub(super) fn failures(&self) -> usize {
        self.failed.len()
    }

    /// The next document to read.
    pub(super) fn next(&mut self) -> Option<DocumentRead> {
        while let Some(uri) = self.queue.pop_front() {
            // It may have been removed from the list meanwhile.
            if let Some(pending) = self.pending.get_mut(&uri) {
                pending.is_queued = false;
                return Some(DocumentRead { turn: pending.turn, uri });
            }
        }
        None
    }

    /// A read is done. Returns its reason; `None` if the document is not listed any more, or changed meanwhile and has to be
    /// read again.
    pub(super) fn done(&mut self, read: &DocumentRead) -> Option<Reason> {
        let pending = self.pending.get_mut(&read.uri)?;
        if pending.turn == read.turn {
            return self.pending.remove(&read.uri).map(|pending| pending.reason);
        }
        if !std::mem::replace(&mut pending.is_queued, true) {
            self.queue.push_back(read.uri.clone());
        }
        None
    }

    /// The metadata of a document could not be read.
    pub(super) fn failed(&mut self, uri: &str, declared: Box<ListedDocument>) {
        self.failed.insert(uri.into(), declared);
    }

    /// Documents that are not listed any more are not read any more.
    pub(super) fn retain(&mut self, is_listed: impl Fn(&str) -> bool) {
        self.pending.retain(|uri, _| is_listed(uri));
        self.failed.retain(|uri, _| is_listed(uri));
        let pending = &self.pending;
        self.queue.retain(|uri| pending.contains_key(uri));
    }

    /// There is a new connection: running reads are repeated, and failed ones are tried again.
    pub(super) fn start_over(&mut self) {
        for (uri, declared) in std::mem::take(&mut self.failed) {
            self.pending.insert(uri, Pending { reason: Reason::Undeclared(declared), turn: 0, is_queued: true });
        }
        self.pending.values_mut().for_each(|pending| {
            pending.turn += 1;
            pending.is_queued = true;
        });
        self.queue = self.pending.keys().cloned().collect();
    }
}
