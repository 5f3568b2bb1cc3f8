//! The documents of one server that have to be read to know what they are: which, in which order, and what came of it.
//! Pure.

use std::collections::{HashMap, VecDeque};

use a2c_finder::finder::ListedDocument;

/// What is to be read of one server.
#[derive(Debug, Default)]
pub(super) struct Reads {
    pending: HashMap<Box<str>, Pending>,
    /// What is pending and not being read, in the order in which it was asked for.
    queue: VecDeque<Box<str>>,
    /// What could not be had. It is tried again when the document changes, or with the next connection.
    failed: HashMap<Box<str>, Box<ListedDocument>>,
}

#[derive(Debug)]
struct Pending {
    reason: Reason,
    /// Counts the changes: what was read before the last one is old.
    turn: u64,
    is_queued: bool,
}

/// Why a document is read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reason {
    /// The list does not say enough about it.
    Undeclared(Box<ListedDocument>),
    /// It changed.
    Changed,
}

/// One document to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) uri: Box<str>,
    turn: u64,
}

impl Reads {
    /// A document is to be read; where it is being read already, then once more.
    pub(super) fn want(&mut self, uri: &str, reason: Reason) {
        self.failed.remove(uri);
        match self.pending.get_mut(uri) {
            Some(pending) => {
                pending.turn += 1;
                // What the list says counts more than that something changed.
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

    /// A document changed that is not shown. Whether it is to be read.
    pub(super) fn changed(&mut self, uri: &str) -> bool {
        if let Some(declared) = self.failed.remove(uri) {
            self.want(uri, Reason::Undeclared(declared));
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

    /// Whether a document is known that is not shown: it waits, or could not be had.
    pub(super) fn knows(&self, uri: &str) -> bool {
        self.pending.contains_key(uri) || self.failed.contains_key(uri)
    }

    /// Whether what is known of a document was tried in vain.
    pub(super) fn has_failed(&self, uri: &str) -> bool {
        self.failed.contains_key(uri)
    }

    /// The list says something else about a document that waits.
    pub(super) fn declared(&mut self, uri: &str, declared: Box<ListedDocument>) {
        if let Some(pending) = self.pending.get_mut(uri) {
            pending.reason = Reason::Undeclared(declared);
        }
    }

    /// How many documents could not be had.
    pub(super) fn failures(&self) -> usize {
        self.failed.len()
    }

    /// The next document to read.
    pub(super) fn next(&mut self) -> Option<Job> {
        while let Some(uri) = self.queue.pop_front() {
            // It may have been forgotten meanwhile.
            if let Some(pending) = self.pending.get_mut(&uri) {
                pending.is_queued = false;
                return Some(Job { turn: pending.turn, uri });
            }
        }
        None
    }

    /// A document was read: why it had to be, unless that is not wanted any more or it changed meanwhile; then it is read
    /// again.
    pub(super) fn done(&mut self, job: &Job) -> Option<Reason> {
        let pending = self.pending.get_mut(&job.uri)?;
        if pending.turn == job.turn {
            return self.pending.remove(&job.uri).map(|pending| pending.reason);
        }
        if !std::mem::replace(&mut pending.is_queued, true) {
            self.queue.push_back(job.uri.clone());
        }
        None
    }

    /// What is to be known about a document cannot be had.
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

    /// The connection is a new one: what was being read is read again, and what failed may work now.
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
