//! Each call runs once per `req_id`: a repeat waits for the first, or gets its answer.
//!
//! An Agent that lost its connection asks again under the same `req_id`. [`IdempotentCalls::begin`] tells the first call
//! from a repeat: the first gets a [`RunPermit`] and runs, a repeat of a running call gets a [`RepeatWaiter`], a repeat of a
//! finished call gets the answer. Answers are bounded in number and bytes; the fact that a call has run is remembered longer
//! than its answer, so that no call runs twice only because its answer was large. A permit that is dropped without an
//! answer (a panic, an aborted task) leaves the outcome unknown: the tool may have done its work, and is not run again.
//!
//! Keys are stored as 128 bits of keyed hashes: a long `req_id` costs no memory, and no Agent can guess another's slot.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How much is remembered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdempotencyLimits {
    /// How many calls run at the same time.
    pub(crate) running: usize,
    /// How many answers are stored.
    pub(crate) answers: usize,
    /// Bytes of all answers.
    pub(crate) bytes: usize,
    /// Bytes of one answer; a larger one is not stored.
    pub(crate) answer_bytes: usize,
    /// How many finished calls are remembered, with or without their answers.
    pub(crate) calls: usize,
    /// How long a finished call is remembered.
    pub(crate) age: Duration,
}

impl Default for IdempotencyLimits {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        let (running, answers, calls, age) = (1_024, 1_000, 10_000, Duration::from_secs(60 * 60));
        Self { running, answers, bytes: 64 * MIB, answer_bytes: 4 * MIB, calls, age }
    }
}

/// Names a call: the Agent, and its key for the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallKey<'a> {
    pub(crate) agent: &'a str,
    pub(crate) req_id: &'a str,
}

/// A hash of tool and parameters, so that another call under the same key is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint(u64);

/// How a call that arrives relates to earlier ones.
#[derive(Debug)]
pub(crate) enum Arrival<A> {
    /// The first of its key: it runs.
    First(RunPermit<A>),
    /// A repeat of a call that runs: it gets the same answer.
    Running(RepeatWaiter<A>),
    /// A repeat of a finished call, with its answer.
    Done(A),
    /// A repeat of a finished call whose answer is not stored any more.
    Forgotten,
    /// A repeat of a call that ended without an answer: whether the tool did its work is unknown.
    Unknown,
    /// The key belongs to another call.
    Mismatch,
    /// Too many calls run.
    Full,
}

/// The outcome of a call, for repeats that waited for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallOutcome<A> {
    Answer(A),
    /// It ended without an answer: whether the tool did its work is unknown.
    Unknown,
}

/// The calls of this Computer, running and finished. Clones share them.
#[derive(Debug)]
pub(crate) struct IdempotentCalls<A> {
    shared: Arc<Shared<A>>,
}

impl<A> Clone for IdempotentCalls<A> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

#[derive(Debug)]
struct Shared<A> {
    limits: IdempotencyLimits,
    /// The bytes of an answer.
    size: fn(&A) -> usize,
    hashers: [RandomState; 2],
    calls: Mutex<Calls<A>>,
}

/// A [`CallKey`], hashed.
type Slot = [u64; 2];

#[derive(Debug)]
struct Calls<A> {
    all: HashMap<Slot, Call<A>>,
    running: usize,
    /// Finished calls, oldest first.
    finished: VecDeque<(Instant, Slot)>,
    /// Finished calls whose answers are stored, oldest first.
    answered: VecDeque<Slot>,
    bytes: usize,
}

#[derive(Debug)]
struct Call<A> {
    fingerprint: Fingerprint,
    state: State<A>,
}

#[derive(Debug)]
enum State<A> {
    Running { cancel: CancellationToken, outcome: watch::Sender<Option<CallOutcome<A>>> },
    Done { answer: A, size: usize },
    Forgotten,
    Unknown,
}

impl<A: Clone> IdempotentCalls<A> {
    /// `size` gives the bytes of an answer.
    pub(crate) fn new(limits: IdempotencyLimits, size: fn(&A) -> usize) -> Self {
        let calls =
            Calls { all: HashMap::new(), running: 0, finished: VecDeque::new(), answered: VecDeque::new(), bytes: 0 };
        let hashers = [RandomState::new(), RandomState::new()];
        Self { shared: Arc::new(Shared { limits, size, hashers, calls: Mutex::new(calls) }) }
    }

    /// The fingerprint of a call. Its time limit is no part of it: a repeat may have a longer one.
    pub(crate) fn fingerprint(&self, tool: &str, params: &Map<String, Value>) -> Fingerprint {
        Fingerprint(self.shared.hashers[0].hash_one((tool, params)))
    }

    /// A call has arrived.
    pub(crate) fn begin(&self, key: CallKey<'_>, fingerprint: Fingerprint, now: Instant) -> Arrival<A> {
        let (slot, limits) = (self.shared.slot(key), &self.shared.limits);
        let mut calls = self.shared.calls();
        calls.forget(limits, now);
        if let Some(call) = calls.all.get(&slot) {
            return match &call.state {
                _ if call.fingerprint != fingerprint => Arrival::Mismatch,
                State::Running { outcome, .. } => Arrival::Running(RepeatWaiter { outcome: outcome.subscribe() }),
                State::Done { answer, .. } => Arrival::Done(answer.clone()),
                State::Forgotten => Arrival::Forgotten,
                State::Unknown => Arrival::Unknown,
            };
        }
        if calls.running >= limits.running {
            return Arrival::Full;
        }
        let cancel = CancellationToken::new();
        let state = State::Running { cancel: cancel.clone(), outcome: watch::Sender::new(None) };
        calls.all.insert(slot, Call { fingerprint, state });
        calls.running += 1;
        Arrival::First(RunPermit { shared: self.shared.clone(), slot, cancel, begun: now, finished: false })
    }

    /// Asks a running call to stop; returns whether there is one.
    pub(crate) fn cancel(&self, key: CallKey<'_>) -> bool {
        match self.shared.calls().all.get(&self.shared.slot(key)) {
            Some(Call { state: State::Running { cancel, .. }, .. }) => {
                cancel.cancel();
                true
            }
            _ => false,
        }
    }

    /// How many calls run.
    #[cfg(test)]
    pub(crate) fn running(&self) -> usize {
        self.shared.calls().running
    }
}

impl<A> Shared<A> {
    fn slot(&self, key: CallKey<'_>) -> Slot {
        [self.hashers[0].hash_one(key), self.hashers[1].hash_one(key)]
    }

    fn calls(&self) -> MutexGuard<'_, Calls<A>> {
        // Only `clone` and `size` of an answer could panic under the lock, and they change nothing.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A> Calls<A> {
    /// The channel on which repeats of a running call wait.
    fn waiting(&self, slot: Slot) -> Option<watch::Sender<Option<CallOutcome<A>>>> {
        match &self.all.get(&slot)?.state {
            State::Running { outcome, .. } => Some(outcome.clone()),
            _ => None,
        }
    }

    /// Ends a running call.
    fn finish(&mut self, slot: Slot, state: State<A>, limits: &IdempotencyLimits, now: Instant) {
        let Some(call) = self.all.get_mut(&slot) else { return };
        if let State::Done { size, .. } = &state {
            self.bytes += size;
            self.answered.push_back(slot);
        }
        call.state = state;
        self.running -= 1;
        self.finished.push_back((now, slot));
        self.forget(limits, now);
    }

    /// Removes what is too old or too much, oldest first: calls with their answers, then answers alone.
    fn forget(&mut self, limits: &IdempotencyLimits, now: Instant) {
        while let Some((at, slot)) = self.finished.front().copied() {
            if self.finished.len() <= limits.calls && now.saturating_duration_since(at) < limits.age {
                break;
            }
            self.finished.pop_front();
            if let Some(Call { state: State::Done { size, .. }, .. }) = self.all.remove(&slot) {
                // Both queues have the same order: the oldest answered call has the oldest answer.
                self.answered.pop_front();
                self.bytes -= size;
            }
        }
        while self.answered.len() > limits.answers || self.bytes > limits.bytes {
            let Some(slot) = self.answered.pop_front() else { break };
            let Some(call) = self.all.get_mut(&slot) else { continue };
            if let State::Done { size, .. } = std::mem::replace(&mut call.state, State::Forgotten) {
                self.bytes -= size;
            }
        }
    }
}

/// The permit to run a call. Dropping it without an answer leaves the outcome unknown.
#[derive(Debug)]
pub(crate) struct RunPermit<A> {
    shared: Arc<Shared<A>>,
    slot: Slot,
    cancel: CancellationToken,
    begun: Instant,
    finished: bool,
}

impl<A: Clone> RunPermit<A> {
    /// Cancelled when the Agent cancels the call.
    pub(crate) fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// The call is finished: stores the answer, and gives it to repeats that wait.
    pub(crate) fn finish(mut self, answer: A, now: Instant) {
        self.finished = true;
        let (shared, size) = (&self.shared, (self.shared.size)(&answer));
        let state = match size {
            size if size <= shared.limits.answer_bytes => State::Done { answer: answer.clone(), size },
            _ => State::Forgotten,
        };
        let mut calls = shared.calls();
        let waiting = calls.waiting(self.slot);
        calls.finish(self.slot, state, &shared.limits, now);
        drop(calls);
        if let Some(waiting) = waiting {
            waiting.send_replace(Some(CallOutcome::Answer(answer)));
        }
    }
}

impl<A> Drop for RunPermit<A> {
    fn drop(&mut self) {
        if !self.finished {
            // The sender is dropped with the state, which ends the wait of repeats.
            let now = Instant::now().max(self.begun);
            self.shared.calls().finish(self.slot, State::Unknown, &self.shared.limits, now);
        }
    }
}

/// Waits for the answer of a call that runs.
#[derive(Debug)]
pub(crate) struct RepeatWaiter<A> {
    outcome: watch::Receiver<Option<CallOutcome<A>>>,
}

impl<A: Clone> RepeatWaiter<A> {
    /// The outcome of the call.
    pub(crate) async fn outcome(mut self) -> CallOutcome<A> {
        match self.outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(CallOutcome::Unknown),
            Err(_) => CallOutcome::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
