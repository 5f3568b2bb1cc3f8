//! The audit log: the actions of clients through the hub, one JSON object per line, chained by hashes.
//!
//! How a record flows: the hub makes a plain [`Record`] and passes it to [`AuditLog::record`], which puts it into a
//! bounded `queue` and returns. One thread, the `writer`, encodes it (`encoding`, with [`summarize_types`] in place of
//! the values of arguments), adds it to the `chain` and appends it to the `file`. [`verify()`] reads the file back.
//!
//! The hub never waits for the log and never fails because of it: it counts and reports records that could not be
//! written, and the log says so itself when the disk works again.
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

/// The configuration of an audit log.
#[derive(Debug, Clone)]
pub struct AuditConfig {
    /// The file. A new one is readable only for the user of the hub; an existing one is continued.
    pub path: PathBuf,
    /// Whether to write the arguments of calls, and not only the types of their values. A reader of such a log reads
    /// every secret that was passed to a tool.
    pub values: bool,
    /// The number of records that may wait; further ones are lost and counted. It has to suffice for the time of a sync.
    pub max_waiting: usize,
}

impl AuditConfig {
    /// The default configuration with a file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), values: false, max_waiting: 64 << 10 }
    }

    /// Checks by reading whether the log could be continued in its file. A missing file passes, and so does a file that a
    /// hub writes to.
    pub fn check(&self) -> Result<(), AuditOpenError> {
        LogFile::look_at(&self.path)
    }
}

/// An open audit log. Dropping it closes it.
pub struct AuditLog {
    queue: Arc<RecordQueue>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Why the log could not continue in a new file; it continues in the old one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReopenError {
    /// The new file cannot be opened.
    #[error(transparent)]
    Open(#[from] AuditOpenError),
    /// The new file has a chain of its own.
    #[error("{} is not empty: move it away, the log goes on in the old file until then", path.display())]
    NotEmpty {
        /// The file.
        path: PathBuf,
    },
    /// The log is closed.
    #[error("the audit log is closed")]
    Closed,
}

impl AuditLog {
    /// Opens the log, continues its chain and starts its thread. Reads only the end of the file.
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

    /// Queues a record. Never waits for the disk.
    pub fn record(&self, record: Record) {
        self.queue.push(record);
    }

    /// The number of lost records: the queue was full, or the disk refused them until the log was closed.
    pub fn lost(&self) -> u64 {
        self.queue.lost()
    }

    /// Blocks until everything recorded so far is on the disk, or until the disk has refused it.
    pub fn flush(&self) -> io::Result<()> {
        let answer = self.ask(WriterCommand::Flush);
        answer.and_then(|answer| answer.recv().ok()).unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into()))
    }

    /// Continues in a new file after the old one was moved away: its first record follows the last one of the old file.
    /// Does nothing while the file is in its place. Blocks until the disk has answered.
    pub fn reopen(&self) -> Result<(), ReopenError> {
        let answer = self.ask(WriterCommand::Reopen);
        answer.and_then(|answer| answer.recv().ok()).unwrap_or(Err(ReopenError::Closed))
    }

    /// Writes the waiting records, syncs and ends. Blocks. Records after this are lost; a second call does nothing.
    pub fn close(&self) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        self.queue.close();
        if thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of the audit log panicked: its last records are lost");
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
