//! The audit log: who did what through the hub, one JSON object per line, each line sealed to the one before.
//!
//! How a record flows: whoever has something to tell makes a plain [`Record`] and hands it to [`AuditLog::record`], which
//! puts it into a bounded `queue` and returns. One thread, the `writer`, makes a `line` of it (with the [`summarize_types()`] of the
//! arguments in place of their values), links it into the `chain` and appends it to the `file`. [`verify()`] reads the
//! file back.
//!
//! The hub never waits for the log and never fails because of it: what cannot be written is counted, reported, and told
//! by the log itself once it can be written again.
//!
//! ```
//! use a2c_hub::audit::{AuditConfig, AuditLog, AuditEvent, ExpectedHashes, Record, verify};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let path = dir.path().join("audit.jsonl");
//! let log = AuditLog::open(&AuditConfig::at(&path))?;
//! log.record(Record { office: Some("demo".into()), ..Record::of(AuditEvent::Joined) });
//! log.close();
//! let file = std::io::BufReader::new(std::fs::File::open(&path)?);
//! assert_eq!(verify(file, &ExpectedHashes::default())?.records, 1);
//! # Ok(())
//! # }
//! ```

mod chain;
mod encoding;
mod file;
mod queue;
mod record;
mod type_summary;
mod verify;
mod writer;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

pub use chain::{Hash, NotAHash};
pub use file::AuditOpenError;
pub use record::{Arguments, AuditEvent, Decision, MAX_ARGUMENTS, Record};
pub use type_summary::{TypeSummary, summarize_types};
pub use verify::{Break, ExpectedHashes, Verified, VerifyError, verify};

use file::LogFile;
use queue::{RecordQueue, WriterCommand};
use writer::LogWriter;

/// What is logged, and where.
#[derive(Debug, Clone)]
pub struct AuditConfig {
    /// The file. It is created for the hub's own user only; an existing one is continued.
    pub path: PathBuf,
    /// Whether the arguments of calls are written, too, and not only their shape. Whoever reads the log then reads every
    /// secret that was ever passed to a tool.
    pub values: bool,
    /// How many records may wait to be written; those above are lost, and counted. It has to last for as long as a disk
    /// may take to sync.
    pub max_waiting: usize,
}

impl AuditConfig {
    /// The defaults, in a file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), values: false, max_waiting: 64 << 10 }
    }

    /// Whether the log could go on in its file, as far as that can be told by reading: a file that is not there yet is
    /// fine, and so is one that a hub is writing to.
    pub fn check(&self) -> Result<(), AuditOpenError> {
        LogFile::look_at(&self.path)
    }
}

/// An open audit log. Dropping it closes it.
pub struct AuditLog {
    queue: Arc<RecordQueue>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The log goes on in the old file.
#[derive(Debug, thiserror::Error)]
pub enum ReopenError {
    /// The new file cannot be opened.
    #[error(transparent)]
    Open(#[from] AuditOpenError),
    /// What is in the new file has a chain of its own, which the old one cannot be continued in.
    #[error("{} is not empty: move it away, the log goes on in the old file until then", path.display())]
    NotEmpty {
        /// Which file.
        path: PathBuf,
    },
    /// The log is closed.
    #[error("the audit log is closed")]
    Closed,
}

impl AuditLog {
    /// Opens the log, continues its chain and starts its thread. Reads the end of the file only.
    pub fn open(config: &AuditConfig) -> Result<Self, AuditOpenError> {
        let opened = LogFile::open(&config.path)?;
        if let Some(set_aside) = &opened.set_aside {
            let (bytes, kept_in) = (set_aside.bytes, set_aside.path.display());
            tracing::warn!(path = %config.path.display(), bytes, %kept_in, "the audit log ended within a line");
        }
        let queue = Arc::new(RecordQueue::new(config.max_waiting.max(1)));
        let writer = LogWriter::new(queue.clone(), opened, config.values);
        let thread = std::thread::Builder::new().name("audit".into()).spawn(|| writer.run());
        let failed = |source| AuditOpenError::File { action: "start", path: config.path.clone(), source };
        Ok(Self { queue, thread: Mutex::new(Some(thread.map_err(failed)?)) })
    }

    /// Takes a record down. Returns at once, whatever the disk does.
    pub fn record(&self, record: Record) {
        self.queue.push(record);
    }

    /// How many records were lost: the queue was full, or the disk did not take them before the log was closed.
    pub fn lost(&self) -> u64 {
        self.queue.lost()
    }

    /// Waits until everything recorded so far is on the disk, or until the disk has refused it. Blocks.
    pub fn flush(&self) -> io::Result<()> {
        let answer = self.ask(WriterCommand::Flush);
        answer.and_then(|answer| answer.recv().ok()).unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into()))
    }

    /// Goes on in a new file after the old one was moved away: its first record follows the last one of the old file.
    /// Does nothing while the file is where it was. Blocks for as long as the disk takes.
    pub fn reopen(&self) -> Result<(), ReopenError> {
        let answer = self.ask(WriterCommand::Reopen);
        answer.and_then(|answer| answer.recv().ok()).unwrap_or(Err(ReopenError::Closed))
    }

    /// Writes what waits, syncs, and ends. What is recorded afterwards is lost. Blocks; a second time it does nothing.
    pub fn close(&self) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        self.queue.close();
        if thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the audit log has ended early: its last records are lost");
        }
    }

    fn ask<T>(&self, command: fn(SyncSender<T>) -> WriterCommand) -> Option<Receiver<T>> {
        let (sender, answer) = sync_channel(1);
        self.queue.command(command(sender)).then_some(answer)
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog").field("lost", &self.lost()).finish_non_exhaustive()
    }
}
