//! One process at a time. The system releases a lock with the process that holds it, however that ends.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Why a file cannot be locked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another process holds the lock.
    #[error("{} is in use by another process", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The system cannot lock it.
    #[error("cannot lock {}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// Locks an open file, until it is closed, against everyone who locks it too. `path` is for the error.
pub fn lock_file(file: &File, path: &Path) -> Result<(), LockError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(LockError::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(LockError::Io { path: path.to_owned(), source }),
    }
}

/// The turn to work in a folder; released when it is dropped.
#[cfg(unix)]
#[derive(Debug)]
pub struct FolderLock {
    _folder: File,
}

#[cfg(unix)]
impl FolderLock {
    /// Waits for the turn. A folder of another user is not locked: that user could hold the lock for ever.
    pub fn wait(folder: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;

        let opened = File::open(folder)?;
        if opened.metadata()?.uid() == crate::own_user() {
            opened.lock()?;
        }
        Ok(Self { _folder: opened })
    }
}
