//! The file of an audit log: one hub at a time opens it and continues its chain.
//!
//! Opening reads only the end of the file. An unfinished line (the hub was killed, the disk was full, the power failed)
//! is moved to another file, so that no byte is lost and the chain continues after the last whole line.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use a2c_files::{LockError, lock_file, private_options};

use super::chain::{self, ChainEnd, MAX_LINE, RecordFlaw};

/// How every line begins.
const HEAD: &[u8] = b"{\"seq\":";

/// Why an audit log cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditOpenError {
    /// The file cannot be opened, read or locked.
    #[error("cannot {action} the audit log {}: {source}", path.display())]
    File {
        /// The failed operation.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another hub writes to the file.
    #[error("the audit log {} is in use: each hub needs a file of its own", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The path is a directory, a pipe or a socket.
    #[error("the audit log {} is not a file: a log is read back to continue its chain", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The last line is no record with a correct hash, so that no line can follow it.
    #[error("{} does not end with a whole audit record: check it with `a2c audit verify`, then move it away", path.display())]
    NotALog {
        /// The file.
        path: PathBuf,
    },
}

/// An open log file, locked by this hub.
#[derive(Debug)]
pub(crate) struct LogFile {
    file: File,
    path: PathBuf,
    /// A device, such as `/dev/full`, which is neither locked nor read nor synced.
    is_device: bool,
}

/// An opened log file and the end of its chain.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: LogFile,
    pub(crate) end: ChainEnd,
    /// The unfinished line that was moved away.
    pub(crate) set_aside: Option<SetAside>,
}

/// An unfinished line that was moved to another file.
#[derive(Debug)]
pub(crate) struct SetAside {
    pub(crate) bytes: u64,
    pub(crate) path: PathBuf,
}

impl LogFile {
    /// Opens or creates the file and finds the end of its chain.
    pub(crate) fn open(path: &Path) -> Result<Opened, AuditOpenError> {
        let failed = |action| move |source| AuditOpenError::File { action, path: path.to_owned(), source };
        refuse_pipes(path)?;
        let file = private_options().read(true).append(true).create(true).open(path).map_err(failed("open"))?;
        let found = file.metadata().map_err(failed("open"))?;
        let mut log = Self { file, path: path.to_owned(), is_device: is_device(&found) };
        if log.is_device {
            return Ok(Opened { file: log, end: ChainEnd::START, set_aside: None });
        }
        lock_file(&log.file, path).map_err(|error| match error {
            LockError::Io { source, .. } => failed("lock")(source),
            _ => AuditOpenError::InUse { path: path.to_owned() },
        })?;
        // Read under the lock: until then another hub may have written.
        let length = log.file.metadata().map_err(failed("read"))?.len();
        let whole = log.last_break(length).map_err(failed("read"))?.map_or(0, |at| at + 1);
        let end = log.end_of_chain(whole, length).map_err(failed("read"))?;
        let end = end.ok_or_else(|| AuditOpenError::NotALog { path: path.to_owned() })?;
        let set_aside = match length - whole {
            0 => None,
            _ => Some(log.set_aside(whole, end.seq + 1).map_err(failed("repair"))?),
        };
        Ok(Opened { file: log, end, set_aside })
    }

    /// Checks that a log could be continued in an existing file. Changes nothing and needs no lock.
    pub(crate) fn look_at(path: &Path) -> Result<(), AuditOpenError> {
        let failed = |source| AuditOpenError::File { action: "read", path: path.to_owned(), source };
        refuse_pipes(path)?;
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        let found = file.metadata().map_err(failed)?;
        let mut log = Self { file, path: path.to_owned(), is_device: is_device(&found) };
        if log.is_device {
            return Ok(());
        }
        let whole = log.last_break(found.len()).map_err(failed)?.map_or(0, |at| at + 1);
        match log.end_of_chain(whole, found.len()).map_err(failed)? {
            Some(_) => Ok(()),
            None => Err(AuditOpenError::NotALog { path: path.to_owned() }),
        }
    }

    /// The position of the last line break before `end`.
    fn last_break(&mut self, mut end: u64) -> io::Result<Option<u64>> {
        let mut block = vec![0; 64 << 10];
        while end > 0 {
            let start = end.saturating_sub(block.len() as u64);
            let length = usize::try_from(end - start).expect("no more than a block");
            self.file.seek(SeekFrom::Start(start))?;
            self.file.read_exact(&mut block[..length])?;
            if let Some(at) = block[..length].iter().rposition(|byte| *byte == b'\n') {
                return Ok(Some(start + at as u64));
            }
            end = start;
        }
        Ok(None)
    }

    /// The end of the chain, where whole lines end at `whole`; `None` if this is no audit log.
    fn end_of_chain(&mut self, whole: u64, length: u64) -> io::Result<Option<ChainEnd>> {
        let start = match whole {
            0 => 0,
            _ => self.last_break(whole - 1)?.map_or(0, |at| at + 1),
        };
        self.file.seek(SeekFrom::Start(start))?;
        if whole == 0 {
            // An unfinished first line, or a file that is no audit log and must not be changed.
            let mut head = vec![0; HEAD.len().min(usize::try_from(length).unwrap_or(usize::MAX))];
            self.file.read_exact(&mut head)?;
            let is_ours = HEAD.starts_with(&head) || head.iter().all(|byte| *byte == 0);
            return Ok(is_ours.then_some(ChainEnd::START));
        }
        let Some(length) = usize::try_from(whole - 1 - start).ok().filter(|length| *length <= MAX_LINE) else {
            return Ok(None);
        };
        let mut line = vec![0; length];
        self.file.read_exact(&mut line)?;
        match chain::read(&line) {
            Ok(sealed) => Ok(Some(ChainEnd { seq: sealed.seq, hash: sealed.hash })),
            Err(RecordFlaw::NotARecord | RecordFlaw::WrongHash) => Ok(None),
        }
    }

    /// Moves everything from `whole` on to a file next to this one. A crash in between leaves the bytes in both files.
    fn set_aside(&mut self, whole: u64, seq: u64) -> io::Result<SetAside> {
        let mut name = OsString::from(self.path.as_os_str());
        name.push(format!(".unfinished-{seq}"));
        let path = PathBuf::from(name);
        let mut kept = private_options().append(true).create(true).open(&path)?;
        self.file.seek(SeekFrom::Start(whole))?;
        let bytes = io::copy(&mut self.file, &mut kept)?;
        kept.sync_all()?;
        self.file.set_len(whole)?;
        self.file.sync_all()?;
        Ok(SetAside { bytes, path })
    }

    /// The path under which the file was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path still leads to this file.
    #[cfg(unix)]
    pub(crate) fn is_in_place(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let identity = |found: Metadata| (found.dev(), found.ino());
        let here = self.file.metadata().map(identity);
        std::fs::metadata(&self.path).map(identity).is_ok_and(|there| here.is_ok_and(|here| here == there))
    }

    /// On this system a file in use cannot be moved away.
    #[cfg(not(unix))]
    pub(crate) fn is_in_place(&self) -> bool {
        true
    }

    /// Syncs written data to the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        if self.is_device { Ok(()) } else { self.file.sync_data() }
    }

    /// Removes the last bytes of the file.
    pub(crate) fn take_back(&self, bytes: usize) -> io::Result<()> {
        if self.is_device {
            return Ok(());
        }
        let length = self.file.metadata()?.len();
        self.file.set_len(length.saturating_sub(bytes as u64))
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Refuses what is neither file nor device: opening a pipe would block.
fn refuse_pipes(path: &Path) -> Result<(), AuditOpenError> {
    let is_other = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !is_device(&found));
    if is_other { Err(AuditOpenError::NotAFile { path: path.to_owned() }) } else { Ok(()) }
}

#[cfg(unix)]
fn is_device(found: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_char_device(&found.file_type())
}

#[cfg(not(unix))]
fn is_device(_: &Metadata) -> bool {
    false
}
