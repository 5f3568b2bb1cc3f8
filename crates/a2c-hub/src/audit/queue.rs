//! What lies between those who record and the one thread that writes.
//!
//! Recording is a push under a short lock. The writer is woken by the first record after a rest and then waits a few
//! milliseconds for company: under load it is a few wake-ups a second, not one per call.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::ReopenError;
use super::record::Record;

/// How long the first record waits for others.
const GATHER: Duration = Duration::from_millis(10);

/// What waiting records may hold in all, arguments included.
const MAX_WEIGHT: usize = 32 << 20;

/// A record that waits to be written.
pub(crate) struct QueuedRecord {
    pub(crate) time: SystemTime,
    pub(crate) record: Record,
}

/// Something that is asked of the writer, and where it answers.
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
    /// Records refused since the writer last took the others. None is let in behind them, so that they are told of where
    /// they are missing.
    refused: u64,
    commands: Vec<WriterCommand>,
    closed: bool,
    writer: WriterActivity,
}

/// What the writer does; it is woken only where that helps.
#[derive(Default, PartialEq)]
enum WriterActivity {
    /// It looks into the queue before it waits.
    #[default]
    Busy,
    /// It waits for the first record.
    Idle,
    /// It waits for more records, and knows how long.
    Gathering,
    /// It waits for the disk and does not want records.
    Stuck,
}

/// What the writer was woken for.
pub(crate) struct WakeUp {
    pub(crate) commands: Vec<WriterCommand>,
    pub(crate) closed: bool,
}

impl RecordQueue {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = QueueState { records: VecDeque::with_capacity(capacity.min(1024)), ..QueueState::default() };
        Self { state: Mutex::new(state), wake: Condvar::new(), capacity, lost: AtomicU64::new(0) }
    }

    /// Takes a record in, or counts it as lost.
    pub(crate) fn push(&self, record: Record) {
        let weight = record.weight();
        let mut state = self.state();
        let is_full = state.records.len() >= self.capacity || state.weight + weight > MAX_WEIGHT;
        if state.closed || state.refused > 0 || is_full {
            state.refused += 1;
            self.count_lost(1);
            return;
        }
        // Under the lock, so that times and numbers are in the same order.
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

    /// Asks something of the writer; `false` when it has ended.
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

    /// Lets nothing in any more, and the writer end.
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

    /// Waits for records, unless the writer is stuck; for commands; for the end; and no longer than until `deadline`.
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

    /// Moves all records to an empty batch; says how many were refused after them.
    pub(crate) fn take(&self, batch: &mut VecDeque<QueuedRecord>) -> u64 {
        debug_assert!(batch.is_empty(), "the last batch is done");
        let mut state = self.state();
        std::mem::swap(&mut state.records, batch);
        state.weight = 0;
        std::mem::take(&mut state.refused)
    }

    /// Whether there is no time to wait for more: the queue is half full, or was full.
    fn is_pressing(&self, state: &QueueState) -> bool {
        state.records.len() * 2 >= self.capacity || state.weight * 2 >= MAX_WEIGHT || state.refused > 0
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        // Every statement leaves it consistent; recording goes on whatever has panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
