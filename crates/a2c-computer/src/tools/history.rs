//! The last tool calls, newest first: what orders Desktop and Finder, and what an owner sees who asks what happened.
//!
//! Only calls that reached a server are written down: a name that leads nowhere says nothing about which server an
//! Agent works with. Arguments and results are not kept.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// How many calls are kept.
const KEPT: usize = 100;

/// One call that reached a server and is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastCall {
    /// The server that ran it.
    pub server: Arc<str>,
    /// The tool, by the name that Agents know.
    pub tool: Arc<str>,
    /// When it was over.
    pub at: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// Whether the result was a failure.
    pub failed: bool,
}

/// The last calls of this Computer. A clone is the same history.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    /// Newest in front.
    calls: Arc<Mutex<VecDeque<PastCall>>>,
}

impl History {
    /// Writes down a call that is over; the oldest one makes way.
    pub(crate) fn record(&self, call: PastCall) {
        let mut calls = self.calls();
        calls.truncate(KEPT - 1);
        calls.push_front(call);
    }

    /// All calls that are kept, newest first.
    pub(crate) fn snapshot(&self) -> Vec<PastCall> {
        self.calls().iter().cloned().collect()
    }

    /// Each server that was called, once, the most recently called one first.
    pub(crate) fn servers_by_recency(&self) -> Vec<Arc<str>> {
        let calls = self.calls();
        let mut seen = HashSet::new();
        calls.iter().filter(|call| seen.insert(&*call.server)).map(|call| call.server.clone()).collect()
    }

    fn calls(&self) -> MutexGuard<'_, VecDeque<PastCall>> {
        // Nothing between locking and unlocking leaves a half-made list behind.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(server: &str, tool: &str) -> PastCall {
        let (at, duration) = (SystemTime::UNIX_EPOCH, Duration::from_millis(3));
        PastCall { server: server.into(), tool: tool.into(), at, duration, failed: false }
    }

    #[test]
    fn servers_come_in_the_order_of_their_last_call() {
        let history = History::default();
        assert!(history.servers_by_recency().is_empty());
        for (server, tool) in [("files", "read"), ("git", "log"), ("time", "now"), ("git", "diff"), ("files", "ls")] {
            history.record(call(server, tool));
        }
        let order: Vec<_> = history.servers_by_recency().iter().map(ToString::to_string).collect();
        assert_eq!(order, ["files", "git", "time"]);
    }

    #[test]
    fn the_hundred_newest_are_kept_newest_first() {
        let history = History::default();
        (0..130).for_each(|n| history.clone().record(call(if n == 0 { "first" } else { "a" }, &n.to_string())));
        let kept = history.snapshot();
        assert_eq!(kept.len(), KEPT);
        let tools: Vec<_> = kept.iter().map(|call| call.tool.parse::<i32>().unwrap()).collect();
        assert_eq!(tools, (30..130).rev().collect::<Vec<_>>());
        assert_eq!(history.servers_by_recency(), ["a".into()], "a server whose calls are forgotten has no rank");
    }
}
