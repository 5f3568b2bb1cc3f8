//! The last tool calls, newest first. They order Desktop and Finder, and the owner can look at them.
//!
//! Refused calls are recorded too, but only calls that reached a server tell which servers an Agent works with. Arguments
//! and results are not recorded.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use a2c_protocol::ErrorCode;

/// How many calls are remembered.
const MAX_CALLS: usize = 100;

/// One finished call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastCall {
    /// The Agent that called; `None` if the owner did.
    pub agent: Option<Arc<str>>,
    /// The server that ran it, or would have; `None` if there is no such tool.
    pub server: Option<Arc<str>>,
    /// The tool, by the name that Agents know.
    pub tool: Arc<str>,
    /// When it finished.
    pub at: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// Whether the result was a failure.
    pub failed: bool,
    /// The code of a failure.
    pub code: Option<ErrorCode>,
    /// Whether it reached the server.
    pub reached: bool,
}

/// The last calls of this Computer. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    /// Newest in front.
    calls: Arc<Mutex<VecDeque<PastCall>>>,
}

impl History {
    /// Records a finished call; the oldest one is dropped.
    pub(crate) fn record(&self, call: PastCall) {
        let mut calls = self.calls();
        calls.truncate(MAX_CALLS - 1);
        calls.push_front(call);
    }

    /// All remembered calls, newest first.
    pub(crate) fn snapshot(&self) -> Vec<PastCall> {
        self.calls().iter().cloned().collect()
    }

    /// Each server that was called, once, the most recently called one first.
    pub(crate) fn servers_by_recency(&self) -> Vec<Arc<str>> {
        let calls = self.calls();
        let mut seen = HashSet::new();
        let reached = calls.iter().filter(|call| call.reached).filter_map(|call| call.server.as_ref());
        reached.filter(|server| seen.insert(Arc::clone(server))).cloned().collect()
    }

    fn calls(&self) -> MutexGuard<'_, VecDeque<PastCall>> {
        // No step under the lock leaves the list half changed.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(server: &str, tool: &str) -> PastCall {
        let (at, duration) = (SystemTime::UNIX_EPOCH, Duration::from_millis(3));
        let server = Some(server.into());
        PastCall { agent: None, server, tool: tool.into(), at, duration, failed: false, code: None, reached: true }
    }

    #[test]
    fn servers_come_in_the_order_of_their_last_call() {
        let history = History::default();
        assert!(history.servers_by_recency().is_empty());
        for (server, tool) in [("files", "read"), ("git", "log"), ("time", "now"), ("git", "diff"), ("files", "ls")] {
            history.record(call(server, tool));
        }
        history.record(PastCall { reached: false, ..call("refused", "rm") });
        let order: Vec<_> = history.servers_by_recency().iter().map(ToString::to_string).collect();
        assert_eq!(order, ["files", "git", "time"]);
    }

    #[test]
    fn the_hundred_newest_are_remembered_newest_first() {
        let history = History::default();
        (0..130).for_each(|n| history.clone().record(call(if n == 0 { "first" } else { "a" }, &n.to_string())));
        let calls = history.snapshot();
        assert_eq!(calls.len(), MAX_CALLS);
        let tools: Vec<_> = calls.iter().map(|call| call.tool.parse::<i32>().unwrap()).collect();
        assert_eq!(tools, (30..130).rev().collect::<Vec<_>>());
        assert_eq!(history.servers_by_recency(), ["a".into()], "a server whose calls are forgotten has no rank");
    }
}
