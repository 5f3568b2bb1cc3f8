//! Where the sockets of Computers are, and whether that place can be trusted.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use a2c_link::Seat;

use crate::seat_name::file_name_of;

/// What a socket is named at the end.
const EXTENSION: &str = "sock";

/// Why a folder is not used for a socket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It cannot be made or looked at.
    #[error("cannot use the folder {} for the control socket", .path.display())]
    Io {
        /// Which folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another user could put a socket there.
    #[error("the folder {} {problem}: others could pretend to be this Computer; choose a folder of your own", .path.display())]
    Unsafe {
        /// Which folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
}

/// The folder with the sockets of this user's Computers: in `$XDG_RUNTIME_DIR`, or else where temporary files are.
pub fn folder() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| Path::new(dir).is_absolute()) {
        Some(runtime) => PathBuf::from(runtime).join("a2c"),
        None => std::env::temp_dir().join(format!("a2c-{}", own_uid())),
    }
}

/// The socket of a Computer in a folder.
pub fn socket_in(folder: &Path, seat: &Seat) -> PathBuf {
    folder.join(format!("{}.{EXTENSION}", file_name_of(seat)))
}

/// The sockets in a folder, live or not, in the order of their names.
pub(super) fn sockets(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_ours = |path: &PathBuf| {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        !hidden && path.extension().is_some_and(|e| e == EXTENSION)
    };
    let mut found: Vec<_> = entries.filter(is_ours).collect();
    found.sort();
    found
}

/// Makes a folder for our sockets where there is none, and looks whether only we can put something there.
pub(super) fn prepare(folder: &Path) -> Result<(), FolderError> {
    let failed = |source| FolderError::Io { path: folder.to_owned(), source };
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    // Not through a link: in a folder for everybody, a link of somebody else's would lead us where they like.
    let found = fs::symlink_metadata(folder).map_err(failed)?;
    let found =
        if found.is_symlink() && found.uid() == own_uid() { fs::metadata(folder).map_err(failed)? } else { found };
    let sticky = found.mode() & 0o1000 != 0;
    let problem = if !found.is_dir() {
        "is no folder"
    } else if found.uid() != own_uid() && found.uid() != 0 {
        "belongs to somebody else"
    } else if found.mode() & 0o022 != 0 && !sticky {
        "can be written by others"
    } else {
        return Ok(());
    };
    Err(FolderError::Unsafe { path: folder.to_owned(), problem })
}

/// Who we are, as far as files are concerned.
pub(super) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether somebody may talk to us, or we to them.
pub(super) fn is_trusted(uid: u32) -> bool {
    uid == own_uid() || uid == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn a_folder_is_made_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a2c");
        prepare(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        prepare(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_others_can_write_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let check = |name: &str, mode: u32, expected: Option<&str>| {
            let folder = dir.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
            let problem = prepare(&folder).err().map(|e| e.to_string());
            assert_eq!(problem.is_some(), expected.is_some(), "{name}: {problem:?}");
            assert!(problem.unwrap_or_default().contains(expected.unwrap_or_default()), "{name}");
        };
        check("group", 0o770, Some("can be written by others"));
        check("all", 0o777, Some("can be written by others"));
        check("sticky", 0o1777, None);
        check("read", 0o755, None);
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(prepare(&dir.path().join("file")).unwrap_err().to_string().contains("is no folder"));
        symlink(dir.path().join("all"), dir.path().join("link")).unwrap();
        assert!(prepare(&dir.path().join("link")).is_err(), "what it leads to counts");
    }
}
