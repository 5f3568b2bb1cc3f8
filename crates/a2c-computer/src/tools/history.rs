//! The last tool calls, newest first: what orders Desktop and Finder, and what an owner sees who asks what happened.
//!
//! Calls that were refused are written down too, but only those that reached a server say which one an Agent works with.
//! Arguments and results are not kept.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use a2c_protocol::ErrorCode;

/// How many calls are kept.
const KEPT: usize = 100;

/// One call that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastCall {
    /// The Agent that called; none where the owner did.
    pub agent: Option<Arc<str>>,
    /// The server that ran it, or would have; none where there is no such tool.
    pub server: Option<Arc<str>>,
    /// The tool, by the name that Agents know.
    pub tool: Arc<str>,
    /// When it was over.
    pub at: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// Whether the result was a failure.
    pub failed: bool,
    /// The code of a failure.
    pub code: Option<ErrorCode>,
    /// Whether it got as far as the server.
    pub reached: bool,
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
        let reached = calls.iter().filter(|call| call.reached).filter_map(|call| call.server.as_ref());
        reached.filter(|server| seen.insert(Arc::clone(server))).cloned().collect()
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
