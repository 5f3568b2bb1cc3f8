//! Which users and folders can be trusted not to put a file of theirs in place of ours.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Why a folder is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It cannot be created or looked at.
    #[error("cannot use the folder {}", .path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another user could replace what is in it.
    #[error("the folder {} {flaw}: choose a folder of your own", .path.display())]
    Unsafe {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        flaw: FolderFlaw,
    },
}

/// What makes a folder unsafe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FolderFlaw {
    /// It is a file, or a link of another user.
    #[error("is no folder")]
    NotAFolder,
    /// Its owner is neither this user nor root.
    #[error("belongs to another user")]
    ForeignOwner,
    /// Its mode lets other users remove what is in it.
    #[error("can be written by others")]
    WritableByOthers,
}

/// Creates a folder with mode 0700 where there is none, and checks that only this user can replace what is in it.
pub fn trusted_folder(folder: &Path) -> Result<(), FolderError> {
    let failed = |source| FolderError::Io { path: folder.to_owned(), source };
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    // Not through a link: in a folder that all users share, another user's link would lead us where that user likes.
    let found = fs::symlink_metadata(folder).map_err(failed)?;
    let found =
        if found.is_symlink() && found.uid() == own_user() { fs::metadata(folder).map_err(failed)? } else { found };
    let sticky = found.mode() & 0o1000 != 0;
    let flaw = if !found.is_dir() {
        FolderFlaw::NotAFolder
    } else if !is_trusted_user(found.uid()) {
        FolderFlaw::ForeignOwner
    } else if found.mode() & 0o022 != 0 && !sticky {
        FolderFlaw::WritableByOthers
    } else {
        return Ok(());
    };
    Err(FolderError::Unsafe { path: folder.to_owned(), flaw })
}

/// The user whose rights this process has.
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether a user is this one or root, who can do everything anyway.
pub fn is_trusted_user(user: u32) -> bool {
    user == own_user() || user == 0
}
