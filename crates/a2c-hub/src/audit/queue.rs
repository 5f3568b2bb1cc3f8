//! The queue between the tasks that record and the thread that writes.
//!
//! Recording is a push under a short lock. The first record wakes the idle writer, which then waits a few milliseconds for
//! more: under load it wakes a few times a second, not once per call.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::ReopenError;
use super::record::Record;

/// How long the writer waits for more records after the first.
const GATHER: Duration = Duration::from_millis(10);

/// The memory that all waiting records may hold, arguments included.
const MAX_WEIGHT: usize = 32 << 20;

/// A record that waits to be written.
pub(crate) struct QueuedRecord {
    pub(crate) time: SystemTime,
    pub(crate) record: Record,
}

/// A command to the writer, with the channel for its answer.
pub(crate) enum WriterCommand {
    Flush(SyncSender<io::Result<()>>),
    Reopen(SyncSender<Result<(), ReopenError>>),
}

pub(crate) struct RecordQueue {
    state: Mutex<QueueState>,
    wake: Condvar,
    capacity: usize,
    lost: AtomicU64,
}

#[derive(Default)]
struct QueueState {
    records: VecDeque<QueuedRecord>,
    weight: usize,
    /// Records refused since the writer last took the others. While there are any, the queue refuses all records, so that
    /// the log reports the gap where it is.
    refused: u64,
    commands: Vec<WriterCommand>,
    closed: bool,
    writer: WriterActivity,
}

/// What the writer is doing; `push` wakes it only where that helps.
#[derive(Default, PartialEq)]
enum WriterActivity {
    /// It works, and looks into the queue before it waits.
    #[default]
    Busy,
    /// It waits for the first record.
    Idle,
    /// It waits for more records until a deadline.
    Gathering,
    /// It waits for the disk and takes no records.
    Stuck,
}

/// Why the writer woke.
pub(crate) struct WakeUp {
    pub(crate) commands: Vec<WriterCommand>,
    pub(crate) closed: bool,
}

impl RecordQueue {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = QueueState { records: VecDeque::with_capacity(capacity.min(1024)), ..QueueState::default() };
        Self { state: Mutex::new(state), wake: Condvar::new(), capacity, lost: AtomicU64::new(0) }
    }

    /// Queues a record, or counts it as lost.
    pub(crate) fn push(&self, record: Record) {
        let weight = record.weight();
        let mut state = self.state();
        let is_full = state.records.len() >= self.capacity || state.weight + weight > MAX_WEIGHT;
        if state.closed || state.refused > 0 || is_full {
            state.refused += 1;
            self.count_lost(1);
            return;
        }
        // The time is taken under the lock, so that times and numbers have the same order.
        state.records.push_back(QueuedRecord { time: SystemTime::now(), record });
        state.weight += weight;
        if state.writer == WriterActivity::Idle
            || (state.writer == WriterActivity::Gathering && self.is_pressing(&state))
        {
            state.writer = WriterActivity::Busy;
            drop(state);
            self.wake.notify_one();
        }
    }

    /// Sends a command to the writer; `false` when it has ended.
    pub(crate) fn command(&self, command: WriterCommand) -> bool {
        let mut state = self.state();
        if state.closed {
            return false;
        }
        state.commands.push(command);
        drop(state);
        self.wake.notify_one();
        true
    }

    /// Refuses further records and lets the writer end.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.wake.notify_one();
    }

    pub(crate) fn count_lost(&self, records: u64) {
        self.lost.fetch_add(records, Ordering::Relaxed);
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Waits until `deadline` for commands, the end, and records; for records only where the writer is not stuck.
    pub(crate) fn wait(&self, deadline: Option<Instant>, is_stuck: bool) -> WakeUp {
        let mut state = self.state();
        let mut gathered = None;
        while state.commands.is_empty() && !state.closed {
            let has_records = !state.records.is_empty() || state.refused > 0;
            let now = Instant::now();
            let until = if is_stuck {
                state.writer = WriterActivity::Stuck;
                deadline
            } else if has_records {
                state.writer = WriterActivity::Gathering;
                if self.is_pressing(&state) { Some(now) } else { Some(*gathered.get_or_insert(now + GATHER)) }
            } else {
                state.writer = WriterActivity::Idle;
                deadline
            };
            state = match until {
                Some(until) if until <= now => break,
                Some(until) => self.wake.wait_timeout(state, until - now).unwrap_or_else(PoisonError::into_inner).0,
                None => self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        state.writer = WriterActivity::Busy;
        WakeUp { commands: std::mem::take(&mut state.commands), closed: state.closed }
    }

    /// Moves all records to an empty batch; returns how many were refused after them.
    pub(crate) fn take(&self, batch: &mut VecDeque<QueuedRecord>) -> u64 {
        debug_assert!(batch.is_empty(), "the last batch is done");
        let mut state = self.state();
        std::mem::swap(&mut state.records, batch);
        state.weight = 0;
        std::mem::take(&mut state.refused)
    }

    /// Whether the writer must not wait for more: the queue is half full, or was full.
    fn is_pressing(&self, state: &QueueState) -> bool {
        state.records.len() * 2 >= self.capacity || state.weight * 2 >= MAX_WEIGHT || state.refused > 0
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        // Every statement leaves the queue consistent, so a panic elsewhere does not stop the recording.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
