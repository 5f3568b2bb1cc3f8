//! Opening files beneath a folder, and none outside: no `..`, no link that leads out, no device, and no moment between
//! the check of a path and its opening.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

/// A folder beneath which files are opened.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    #[cfg(unix)]
    folder: File,
}

/// Why a file beneath a root is not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenBeneathError {
    /// The path leads out of the root.
    #[error("{} leads out of {}", .path.display(), .root.display())]
    Outside {
        /// The path, as it was given.
        path: PathBuf,
        /// The root.
        root: PathBuf,
    },
    /// It is a folder, a device, a pipe or a socket.
    #[error("{} is no file", .path.display())]
    NotAFile {
        /// The path, as it was given.
        path: PathBuf,
    },
    /// The system cannot open it.
    #[error("cannot open {}", .path.display())]
    Io {
        /// The path, as it was given.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl Root {
    /// Opens a folder. It stays the root when another folder takes its name.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        #[cfg(unix)]
        let folder = File::from(rustix::fs::open(&path, beneath::FOLDER, rustix::fs::Mode::empty())?);
        Ok(Self {
            #[cfg(unix)]
            folder,
            path,
        })
    }

    /// Where the root is, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file for reading. `path` is relative to the root. A link is followed where all of its way stays beneath the
    /// root; systems that cannot guarantee that (other than Linux 5.6 and newer) follow none.
    pub fn open_file(&self, path: &Path) -> Result<File, OpenBeneathError> {
        let outside = || OpenBeneathError::Outside { path: path.to_owned(), root: self.path.clone() };
        let failed = |source| OpenBeneathError::Io { path: path.to_owned(), source };
        if !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(outside());
        }
        if path.as_os_str().is_empty() {
            return Err(OpenBeneathError::NotAFile { path: self.path.clone() });
        }
        let file = self.open_beneath(path).map_err(|error| match error.kind() {
            io::ErrorKind::CrossesDevices => outside(),
            // How the system answers to a socket.
            _ if is_no_device(&error) => OpenBeneathError::NotAFile { path: path.to_owned() },
            _ => failed(error),
        })?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(OpenBeneathError::NotAFile { path: path.to_owned() });
        }
        Ok(file)
    }

    #[cfg(unix)]
    fn open_beneath(&self, path: &Path) -> io::Result<File> {
        beneath::open(&self.folder, path)
    }

    /// Without a system call for it: a link that appears between check and opening is followed.
    #[cfg(not(unix))]
    fn open_beneath(&self, path: &Path) -> io::Result<File> {
        let target = self.path.join(path).canonicalize()?;
        if !target.starts_with(&self.path) {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        File::open(target)
    }
}

#[cfg(unix)]
fn is_no_device(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error())
}

#[cfg(not(unix))]
fn is_no_device(_: &io::Error) -> bool {
    false
}

#[cfg(unix)]
mod beneath {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use rustix::fs::{Mode, OFlags, openat};
    use rustix::io::Errno;

    pub(super) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    /// Opening waits for no other end of a pipe and takes no terminal over.
    const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

    pub(super) fn open(root: &File, path: &Path) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        match resolve(root, path) {
            // A kernel, or a filter of system calls, that does not know it.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return Ok(opened?),
        }
        step_by_step(root, path)
    }

    /// The kernel resolves the path and refuses whatever leaves the root.
    #[cfg(target_os = "linux")]
    fn resolve(root: &File, path: &Path) -> rustix::io::Result<File> {
        use rustix::fs::{ResolveFlags, openat2};

        /// The kernel gives up where folders are renamed meanwhile.
        const ATTEMPTS: usize = 16;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..ATTEMPTS {
            match openat2(root, path, FILE, Mode::empty(), resolve) {
                Err(Errno::AGAIN) => {}
                opened => return opened.map(File::from),
            }
        }
        Err(Errno::AGAIN)
    }

    /// Opens folder by folder. No link is followed.
    pub(super) fn step_by_step(root: &File, path: &Path) -> io::Result<File> {
        let mut folder = root.try_clone()?;
        let mut parts = path.components().filter(|part| matches!(part, std::path::Component::Normal(_))).peekable();
        while let Some(part) = parts.next() {
            let flags = if parts.peek().is_some() { FOLDER } else { FILE } | OFlags::NOFOLLOW;
            folder = match openat(&folder, part.as_os_str(), flags, Mode::empty()) {
                // A link in between is no folder, and one at the end is a loop.
                Err(Errno::LOOP | Errno::NOTDIR) if is_link(&folder, part.as_os_str()) => {
                    return Err(io::ErrorKind::CrossesDevices.into());
                }
                opened => File::from(opened?),
            };
        }
        Ok(folder)
    }

    fn is_link(folder: &File, name: &std::ffi::OsStr) -> bool {
        let found = rustix::fs::statat(folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_symlink())
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::os::unix::fs::symlink;

        #[test]
        fn without_help_of_the_kernel_no_link_is_followed() {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
            std::fs::write(dir.path().join("a/b/file"), "text").unwrap();
            symlink("b", dir.path().join("a/folder-link")).unwrap();
            symlink("file", dir.path().join("a/b/file-link")).unwrap();
            let root = File::open(dir.path()).unwrap();
            let kind = |path: &str| step_by_step(&root, Path::new(path)).map_err(|error| error.kind()).err();
            assert_eq!(kind("a/b/file"), None);
            assert_eq!(kind("./a/./b/file"), None);
            assert_eq!(kind("a/folder-link/file"), Some(io::ErrorKind::CrossesDevices));
            assert_eq!(kind("a/b/file-link"), Some(io::ErrorKind::CrossesDevices));
            assert_eq!(kind("a/b/none"), Some(io::ErrorKind::NotFound));
            assert_eq!(kind("a/b/file/deeper"), Some(io::ErrorKind::NotADirectory));
        }
    }
}
