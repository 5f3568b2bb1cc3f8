//! The thread that encodes records, appends them to the file and syncs it.
//!
//! When the disk refuses a line, the writer keeps it and tries again each second, from the byte where it stopped.
//! Meanwhile it takes no records from the queue, so that memory stays bounded; the queue counts the records that it
//! refuses, and a record reports their number.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::ReopenError;
use super::chain::ChainEnd;
use super::encoding;
use super::file::{LogFile, Opened};
use super::queue::{QueuedRecord, RecordQueue, WriterCommand};
use super::record::{AuditEvent, Record};

/// How long written data may stay unsynced.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// How often the writer tries a failing disk again.
const RETRY_EVERY: Duration = Duration::from_secs(1);

/// The size of one write, in bytes.
const WRITE_SIZE: usize = 256 << 10;

/// The capacity of the batch that is kept after a burst.
const USUAL_BATCH: usize = 1 << 10;

pub(crate) struct LogWriter {
    queue: Arc<RecordQueue>,
    file: LogFile,
    end: ChainEnd,
    values: bool,
    /// Records that were taken from the queue and are not encoded.
    batch: VecDeque<QueuedRecord>,
    /// The number of records that the queue refused after the batch and that no record reports yet.
    refused: u64,
    lines: LineBuffer,
    /// Since when the file has unsynced data.
    unsynced: Option<Instant>,
    writing: FailureReport,
    syncing: FailureReport,
}

impl LogWriter {
    /// A writer that continues an opened file.
    pub(crate) fn new(queue: Arc<RecordQueue>, opened: Opened, values: bool) -> Self {
        let mut writer = Self {
            queue,
            file: opened.file,
            end: opened.end,
            values,
            batch: VecDeque::new(),
            refused: 0,
            lines: LineBuffer::default(),
            unsynced: None,
            writing: FailureReport::new("write"),
            syncing: FailureReport::new("sync"),
        };
        if let Some(set_aside) = opened.set_aside {
            let name = set_aside.path.file_name().unwrap_or_default().to_string_lossy();
            let reason = Some(format!("the last line was not finished, it is kept in {name}").into());
            writer.append(&Record { reason, ..Record::counting(AuditEvent::Recovered, set_aside.bytes) });
        }
        writer
    }

    /// Writes until the queue is closed.
    pub(crate) fn run(mut self) {
        loop {
            let is_stuck = self.is_stuck();
            let woken = self.queue.wait(self.alarm(is_stuck), is_stuck);
            let is_asked = woken.closed || !woken.commands.is_empty();
            if is_asked {
                self.settle();
            } else {
                self.advance();
            }
            for command in woken.commands {
                // The caller may have stopped waiting.
                match command {
                    WriterCommand::Flush(answer) => drop(answer.send(self.settled())),
                    WriterCommand::Reopen(answer) => drop(answer.send(self.reopen())),
                }
            }
            if woken.closed {
                return self.finish();
            }
        }
    }

    fn is_stuck(&self) -> bool {
        !self.lines.is_empty() || !self.batch.is_empty()
    }

    fn alarm(&self, is_stuck: bool) -> Option<Instant> {
        if is_stuck { Some(Instant::now() + RETRY_EVERY) } else { self.unsynced.map(|since| since + SYNC_EVERY) }
    }

    /// Writes the waiting records as far as the disk takes them, and syncs when a sync is due.
    fn advance(&mut self) {
        if self.write().is_ok() {
            self.refused += self.queue.take(&mut self.batch);
            let _ = self.write();
        }
        if self.unsynced.is_some_and(|since| since.elapsed() >= SYNC_EVERY) {
            self.sync();
        }
    }

    /// Writes and syncs everything that was recorded so far.
    fn settle(&mut self) {
        self.advance();
        if self.unsynced.is_some() {
            self.sync();
        }
    }

    /// The outcome of the last write and sync.
    fn settled(&self) -> io::Result<()> {
        match self.writing.last.or(self.syncing.last) {
            Some(kind) => Err(kind.into()),
            None => Ok(()),
        }
    }

    /// Encodes the batch and writes it; stops at the first failure, which is reported.
    fn write(&mut self) -> Result<(), Stuck> {
        loop {
            while self.lines.len() < WRITE_SIZE
                && let Some(QueuedRecord { time, record }) = self.batch.pop_front()
            {
                encoding::append(&mut self.lines.bytes, &mut self.end, time, &record, self.values);
            }
            if self.batch.is_empty() && self.refused > 0 {
                let count = std::mem::take(&mut self.refused);
                self.append(&Record::counting(AuditEvent::Lost, count));
            }
            if self.lines.is_empty() {
                self.batch.shrink_to(USUAL_BATCH);
                return Ok(());
            }
            let outcome = self.lines.write_to(&mut self.file);
            self.unsynced.get_or_insert_with(Instant::now);
            if !self.writing.ended_well(&outcome, &self.file) {
                return Err(Stuck);
            }
        }
    }

    fn sync(&mut self) {
        let outcome = self.file.sync();
        let is_synced = self.syncing.ended_well(&outcome, &self.file);
        self.unsynced = if is_synced { None } else { Some(Instant::now()) };
    }

    fn append(&mut self, record: &Record) {
        encoding::append(&mut self.lines.bytes, &mut self.end, SystemTime::now(), record, self.values);
    }

    /// Continues in a new file if the old one was moved away. Lines that the old file did not take go to the new one.
    fn reopen(&mut self) -> Result<(), ReopenError> {
        if self.file.is_in_place() {
            return Ok(());
        }
        let opened = LogFile::open(self.file.path())?;
        if opened.end != ChainEnd::START || opened.set_aside.is_some() {
            return Err(ReopenError::NotEmpty { path: self.file.path().to_owned() });
        }
        self.lines.rewind(&self.file);
        self.file = opened.file;
        (self.writing, self.syncing) = (FailureReport::new("write"), FailureReport::new("sync"));
        self.unsynced = None;
        // Written at once: an empty file would lose the link to its predecessor if the hub ended now.
        self.append(&Record::of(AuditEvent::Rotated));
        self.settle();
        Ok(())
    }

    /// Counts the records that the disk did not take as lost.
    fn finish(mut self) {
        self.lines.rewind(&self.file);
        let mut never_taken = VecDeque::new();
        self.queue.take(&mut never_taken);
        let left = self.lines.count() + (self.batch.len() + never_taken.len()) as u64;
        if left > 0 {
            self.queue.count_lost(left);
            tracing::error!(path = %self.file.path().display(), records = left, "audit records could not be written");
        }
    }
}

/// The disk refused a write.
struct Stuck;

/// Encoded lines that are being written.
#[derive(Default)]
struct LineBuffer {
    bytes: Vec<u8>,
    /// The number of bytes that are in the file.
    written: usize,
}

impl LineBuffer {
    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn count(&self) -> u64 {
        self.bytes.iter().filter(|byte| **byte == b'\n').count() as u64
    }

    /// Continues the write where it last stopped.
    fn write_to(&mut self, file: &mut impl Write) -> io::Result<()> {
        while self.written < self.bytes.len() {
            match file.write(&self.bytes[self.written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(more) => self.written += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.bytes.clear();
        self.written = 0;
        Ok(())
    }

    /// Keeps the lines that are not completely in the file, and removes the begun line from the file.
    fn rewind(&mut self, file: &LogFile) {
        let whole = self.bytes[..self.written].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole < self.written && file.take_back(self.written - whole).is_err() {
            tracing::warn!(path = %file.path().display(), "the audit log ends within a line");
        }
        self.bytes.drain(..whole);
        self.written = 0;
    }
}

/// Reports a failure of the disk when it begins and when it ends.
struct FailureReport {
    action: &'static str,
    last: Option<io::ErrorKind>,
}

impl FailureReport {
    const fn new(action: &'static str) -> Self {
        Self { action, last: None }
    }

    fn ended_well(&mut self, outcome: &io::Result<()>, file: &LogFile) -> bool {
        let (action, path) = (self.action, file.path().display());
        match (outcome, self.last) {
            (Err(error), None) => tracing::error!(%path, %error, "cannot {action} the audit log: trying again"),
            (Ok(()), Some(_)) => tracing::info!(%path, "the disk takes the audit log again ({action})"),
            _ => {}
        }
        self.last = outcome.as_ref().err().map(io::Error::kind);
        outcome.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk that takes a few bytes between two failures.
    struct FullDisk {
        taken: Vec<u8>,
        room: usize,
    }

    impl Write for FullDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.room == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let taken = bytes.len().min(self.room);
            self.room -= taken;
            self.taken.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn writing_goes_on_at_the_byte_where_the_disk_was_full() {
        let text = b"first line\nsecond line\nthird line\n";
        let mut lines = LineBuffer { bytes: text.to_vec(), written: 0 };
        let mut disk = FullDisk { taken: Vec::new(), room: 0 };
        let mut failures = 0;
        while lines.write_to(&mut disk).is_err() {
            failures += 1;
            disk.room = 7;
        }
        assert_eq!((disk.taken.as_slice(), failures), (text.as_slice(), 5));
        assert!(lines.is_empty());
    }

    #[test]
    fn a_line_that_was_begun_is_taken_back_and_kept_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        let mut file = LogFile::open(&path).unwrap().file;
        file.write_all(b"first line\nseco").unwrap();
        let mut lines = LineBuffer { bytes: b"first line\nsecond line\nthird line\n".to_vec(), written: 15 };
        lines.rewind(&file);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "first line\n");
        assert_eq!((lines.bytes.as_slice(), lines.written, lines.count()), (&b"second line\nthird line\n"[..], 0, 2));
    }

    /// Records the level of each event.
    #[derive(Clone, Default)]
    struct Levels(Arc<std::sync::Mutex<Vec<tracing::Level>>>);

    impl tracing::Subscriber for Levels {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }

        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

        fn event(&self, event: &tracing::Event<'_>) {
            self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(*event.metadata().level());
        }

        fn enter(&self, _: &tracing::span::Id) {}

        fn exit(&self, _: &tracing::span::Id) {}
    }

    #[test]
    fn trouble_is_reported_once_per_incident() {
        let dir = tempfile::tempdir().unwrap();
        let file = LogFile::open(&dir.path().join("audit.jsonl")).unwrap().file;
        let seen = Levels::default();
        tracing::subscriber::with_default(seen.clone(), || {
            let mut incident = FailureReport::new("write");
            for is_well in [true, false, false, false, true, true, false, false] {
                let outcome = if is_well { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) };
                assert_eq!(incident.ended_well(&outcome, &file), is_well);
            }
        });
        use tracing::Level;
        assert_eq!(*seen.0.lock().unwrap(), [Level::ERROR, Level::INFO, Level::ERROR]);
    }
}
