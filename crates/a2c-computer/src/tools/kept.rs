//! Each call runs once: a repeat waits for the first one, or gets what it came to.
//!
//! An Agent that lost its connection asks again under the same `req_id`. [`Kept::begin`] tells the first from the repeat:
//! the first gets a [`Ticket`] and runs, a repeat of a running one a [`Waiter`], a repeat of a finished one the answer.
//! Answers are bounded in number and bytes; that a call has run is remembered longer than what it answered, so that
//! nothing runs a second time only because its answer was large. A ticket that is dropped without an answer (a panic, an
//! aborted task) leaves "unknown" behind: the tool may have done its work, and is not run again.
//!
//! Keys are kept as 128 bits of keyed hashes: a long `req_id` costs no memory, and no Agent can aim at another's.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeptLimits {
    /// How many calls run at the same time.
    pub(crate) running: usize,
    /// How many answers are kept.
    pub(crate) answers: usize,
    /// Bytes of all answers.
    pub(crate) bytes: usize,
    /// Bytes of one answer; a larger one is not kept.
    pub(crate) answer_bytes: usize,
    /// How many finished calls are remembered, with or without their answers.
    pub(crate) calls: usize,
    /// How long a finished call is remembered.
    pub(crate) age: Duration,
}

impl Default for KeptLimits {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        let (running, answers, calls, age) = (1_024, 1_000, 10_000, Duration::from_secs(60 * 60));
        Self { running, answers, bytes: 64 * MIB, answer_bytes: 4 * MIB, calls, age }
    }
}

/// How a call is named: by who asks and by their key for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallKey<'a> {
    pub(crate) agent: &'a str,
    pub(crate) req_id: &'a str,
}

/// What a call is about, so that another call under the same key is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint(u64);

/// What a call that arrives is.
#[derive(Debug)]
pub(crate) enum Begin<A> {
    /// The first of its key: it is to run.
    First(Ticket<A>),
    /// A repeat of one that runs: its answer will be the same.
    Running(Waiter<A>),
    /// A repeat of one that is over: this was its answer.
    Done(A),
    /// A repeat of one that is over and whose answer is not kept.
    Forgotten,
    /// A repeat of one that ended without an answer: whether the tool did its work is not known.
    Unknown,
    /// Its key belongs to another call.
    Mismatch,
    /// Too many calls run.
    Full,
}

/// What a call came to, for those who waited for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome<A> {
    Answer(A),
    /// It ended without an answer: whether the tool did its work is not known.
    Unknown,
}

/// The calls of this Computer, running and over. A clone is the same.
#[derive(Debug)]
pub(crate) struct Kept<A> {
    shared: Arc<Shared<A>>,
}

impl<A> Clone for Kept<A> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

#[derive(Debug)]
struct Shared<A> {
    limits: KeptLimits,
    /// How many bytes an answer takes.
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
    /// Those of them whose answers are kept, oldest first.
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
    Running { cancel: CancellationToken, outcome: watch::Sender<Option<Outcome<A>>> },
    Done { answer: A, size: usize },
    Forgotten,
    Unknown,
}

impl<A: Clone> Kept<A> {
    /// `size` says how many bytes an answer takes.
    pub(crate) fn new(limits: KeptLimits, size: fn(&A) -> usize) -> Self {
        let calls =
            Calls { all: HashMap::new(), running: 0, finished: VecDeque::new(), answered: VecDeque::new(), bytes: 0 };
        let hashers = [RandomState::new(), RandomState::new()];
        Self { shared: Arc::new(Shared { limits, size, hashers, calls: Mutex::new(calls) }) }
    }

    /// What a call is about. How long it may run is no part of it: who asks again may have more patience.
    pub(crate) fn fingerprint(&self, tool: &str, params: &Map<String, Value>) -> Fingerprint {
        Fingerprint(self.shared.hashers[0].hash_one((tool, params)))
    }

    /// A call has arrived.
    pub(crate) fn begin(&self, key: CallKey<'_>, fingerprint: Fingerprint, now: Instant) -> Begin<A> {
        let (slot, limits) = (self.shared.slot(key), &self.shared.limits);
        let mut calls = self.shared.calls();
        calls.forget(limits, now);
        if let Some(call) = calls.all.get(&slot) {
            return match &call.state {
                _ if call.fingerprint != fingerprint => Begin::Mismatch,
                State::Running { outcome, .. } => Begin::Running(Waiter { outcome: outcome.subscribe() }),
                State::Done { answer, .. } => Begin::Done(answer.clone()),
                State::Forgotten => Begin::Forgotten,
                State::Unknown => Begin::Unknown,
            };
        }
        if calls.running >= limits.running {
            return Begin::Full;
        }
        let cancel = CancellationToken::new();
        let state = State::Running { cancel: cancel.clone(), outcome: watch::Sender::new(None) };
        calls.all.insert(slot, Call { fingerprint, state });
        calls.running += 1;
        Begin::First(Ticket { shared: self.shared.clone(), slot, cancel, begun: now, finished: false })
    }

    /// Asks a running call to stop; whether there is one.
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
        // What runs while it is locked does not panic, but for a clone or a size of the answer: those change nothing.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A> Calls<A> {
    /// Where those who wait for a running call listen.
    fn waiting(&self, slot: Slot) -> Option<watch::Sender<Option<Outcome<A>>>> {
        match &self.all.get(&slot)?.state {
            State::Running { outcome, .. } => Some(outcome.clone()),
            _ => None,
        }
    }

    /// Ends a running call.
    fn finish(&mut self, slot: Slot, state: State<A>, limits: &KeptLimits, now: Instant) {
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

    /// Lets go of what is too old or too much, oldest first: calls with all they have, then answers.
    fn forget(&mut self, limits: &KeptLimits, now: Instant) {
        while let Some((at, slot)) = self.finished.front().copied() {
            if self.finished.len() <= limits.calls && now.saturating_duration_since(at) < limits.age {
                break;
            }
            self.finished.pop_front();
            if let Some(Call { state: State::Done { size, .. }, .. }) = self.all.remove(&slot) {
                // Both queues have the same order: the oldest call that is answered has the oldest answer.
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

/// The right to run a call. Whoever drops it without an answer leaves the outcome unknown.
#[derive(Debug)]
pub(crate) struct Ticket<A> {
    shared: Arc<Shared<A>>,
    slot: Slot,
    cancel: CancellationToken,
    begun: Instant,
    finished: bool,
}

impl<A: Clone> Ticket<A> {
    /// Cancelled when the Agent gives the call up.
    pub(crate) fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// The call is over: this is its answer, for those who wait and for those who will ask.
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
            waiting.send_replace(Some(Outcome::Answer(answer)));
        }
    }
}

impl<A> Drop for Ticket<A> {
    fn drop(&mut self) {
        if !self.finished {
            // The sender goes with the state, and that is what tells those who wait.
            let now = Instant::now().max(self.begun);
            self.shared.calls().finish(self.slot, State::Unknown, &self.shared.limits, now);
        }
    }
}

/// Waits for the answer of a call that runs already.
#[derive(Debug)]
pub(crate) struct Waiter<A> {
    outcome: watch::Receiver<Option<Outcome<A>>>,
}

impl<A: Clone> Waiter<A> {
    /// What the call comes to.
    pub(crate) async fn outcome(mut self) -> Outcome<A> {
        match self.outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Outcome::Unknown),
            Err(_) => Outcome::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
