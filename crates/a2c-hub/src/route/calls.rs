//! Calls in flight, as plain data: the Agent that waits, the Computer that has to answer, the key and the deadline.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Instant;

use crate::office::ConnId;

/// The id under which a Computer acknowledges a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct CallId {
    /// The Computer that has to answer.
    pub(crate) computer: ConnId,
    /// The number of the call among those to this Computer.
    pub(crate) number: u64,
}

/// A call that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingCall<A> {
    /// The Agent that waits.
    pub(crate) agent: ConnId,
    /// The acknowledgement id that the Agent gave to the call.
    pub(crate) ack: u64,
    /// The Agent's key, where it gave one; unique among its calls in flight.
    pub(crate) req_id: Option<String>,
    /// When the hub stops waiting.
    pub(crate) deadline: Instant,
    /// Whether the Computer can cancel the call.
    pub(crate) is_tool_call: bool,
    /// What the caller needs when the call ends.
    pub(crate) context: A,
}

/// The Agent has a call in flight under the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AlreadyRunning;

/// All calls in flight.
#[derive(Debug)]
pub(crate) struct PendingCalls<A> {
    calls: HashMap<CallId, PendingCall<A>>,
    by_member: HashMap<ConnId, HashSet<CallId>>,
    running: HashSet<(ConnId, String)>,
    deadlines: BTreeSet<(Instant, CallId)>,
}

impl<A> Default for PendingCalls<A> {
    fn default() -> Self {
        Self { calls: HashMap::new(), by_member: HashMap::new(), running: HashSet::new(), deadlines: BTreeSet::new() }
    }
}

impl<A> PendingCalls<A> {
    /// Registers a call. The caller does so before it sends the request, so that no answer comes too early.
    pub(crate) fn start(&mut self, id: CallId, call: PendingCall<A>) -> Result<(), AlreadyRunning> {
        if let Some(req_id) = &call.req_id
            && !self.running.insert((call.agent, req_id.clone()))
        {
            return Err(AlreadyRunning);
        }
        self.deadlines.insert((call.deadline, id));
        self.by_member.entry(call.agent).or_default().insert(id);
        self.by_member.entry(id.computer).or_default().insert(id);
        self.calls.insert(id, call);
        Ok(())
    }

    /// Whether this call waits for its answer.
    pub(crate) fn is_pending(&self, id: CallId) -> bool {
        self.calls.contains_key(&id)
    }

    /// Removes every call of a connection that has left.
    pub(crate) fn of_departed(&mut self, conn: ConnId) -> Vec<PendingCall<A>> {
        let ids = self.by_member.remove(&conn).unwrap_or_default();
        ids.into_iter().filter_map(|id| self.end(id)).collect()
    }

    /// Removes every call.
    pub(crate) fn take_all(&mut self) -> Vec<PendingCall<A>> {
        let ids: Vec<CallId> = self.calls.keys().copied().collect();
        ids.into_iter().filter_map(|id| self.end(id)).collect()
    }

    /// Removes every call whose deadline has passed.
    pub(crate) fn expired(&mut self, now: Instant) -> Vec<PendingCall<A>> {
        let mut expired = Vec::new();
        while let Some(&(deadline, id)) = self.deadlines.first()
            && deadline <= now
        {
            match self.end(id) {
                Some(call) => expired.push(call),
                None => drop(self.deadlines.pop_first()),
            }
        }
        expired
    }

    /// Removes one call.
    pub(crate) fn end(&mut self, id: CallId) -> Option<PendingCall<A>> {
        let call = self.calls.remove(&id)?;
        self.deadlines.remove(&(call.deadline, id));
        if let Some(req_id) = &call.req_id {
            self.running.remove(&(call.agent, req_id.clone()));
        }
        for member in [call.agent, id.computer] {
            if let Some(ids) = self.by_member.get_mut(&member) {
                ids.remove(&id);
                if ids.is_empty() {
                    self.by_member.remove(&member);
                }
            }
        }
        Some(call)
    }

    /// The number of calls of a connection, as Agent or as Computer.
    pub(crate) fn of(&self, conn: ConnId) -> usize {
        self.by_member.get(&conn).map_or(0, HashSet::len)
    }

    /// All calls, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PendingCall<A>> {
        self.calls.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const AGENT: ConnId = ConnId(1);
    const COMPUTER: ConnId = ConnId(2);
    const OTHER: ConnId = ConnId(3);

    fn call(req_id: &str, deadline: Instant) -> PendingCall<()> {
        PendingCall { agent: AGENT, ack: 7, req_id: Some(req_id.into()), deadline, is_tool_call: true, context: () }
    }

    fn id(number: u64) -> CallId {
        CallId { computer: COMPUTER, number }
    }

    fn assert_empty(calls: &PendingCalls<()>) {
        assert_eq!(calls.calls.len(), 0);
        assert!(calls.by_member.is_empty() && calls.running.is_empty() && calls.deadlines.is_empty(), "{calls:?}");
    }

    #[test]
    fn only_the_computer_that_was_asked_answers_and_only_once() {
        let mut calls = PendingCalls::default();
        let now = Instant::now();
        calls.start(id(1), call("r", now)).unwrap();
        for computer in [OTHER, AGENT] {
            assert_eq!(calls.end(CallId { computer, number: 1 }), None);
        }
        assert!(calls.is_pending(id(1)));
        assert_eq!(calls.end(id(1)).map(|c| c.ack), Some(7));
        assert_eq!(calls.end(id(1)), None);
        assert_empty(&calls);
    }

    #[test]
    fn a_running_key_is_refused_and_free_again_afterwards() {
        let mut calls = PendingCalls::default();
        let now = Instant::now();
        calls.start(id(1), call("r", now)).unwrap();
        assert_eq!(calls.start(id(2), call("r", now)), Err(AlreadyRunning));
        let mut same_key_of_another = call("r", now);
        same_key_of_another.agent = OTHER;
        assert_eq!(calls.start(id(3), same_key_of_another), Ok(()));
        calls.end(id(1));
        assert_eq!(calls.start(id(4), call("r", now)), Ok(()));
        calls.end(id(3));
        calls.end(id(4));
        assert_empty(&calls);
    }

    #[test]
    fn a_departure_ends_every_call_of_either_side() {
        for departed in [AGENT, COMPUTER] {
            let mut calls = PendingCalls::default();
            let now = Instant::now();
            for number in 0..10 {
                calls.start(id(number), call(&number.to_string(), now)).unwrap();
            }
            assert_eq!(calls.of_departed(departed).len(), 10);
            assert_empty(&calls);
        }
    }

    #[test]
    fn expiry_takes_what_is_due_and_nothing_else() {
        let mut calls = PendingCalls::default();
        let now = Instant::now();
        for number in 0..10 {
            calls.start(id(number), call(&number.to_string(), now + Duration::from_secs(number))).unwrap();
        }
        assert_eq!(calls.expired(now + Duration::from_millis(4500)).len(), 5);
        assert_eq!(calls.calls.len(), 5);
        assert_eq!(calls.expired(now + Duration::from_secs(100)).len(), 5);
        assert_empty(&calls);
    }
}
