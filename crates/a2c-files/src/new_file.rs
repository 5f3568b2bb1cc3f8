//! Writing a file so that it is there whole or not at all.

use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::private::create_private_folder;
use crate::sync::{folder_of, sync_folder};

/// How the name of an unfinished file begins. It is hidden, and removed when the file is dropped.
const PREFIX: &str = ".new-";

/// A file on its way: readable for its owner only, and without its name until [`commit`](Self::commit). Dropped before
/// that, it is removed.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile,
}

impl NewFile {
    /// Begins a file in the folder where it will stay. A folder that is missing is created, private to its owner.
    pub fn create_in(folder: &Path) -> io::Result<Self> {
        // `tempfile` creates files with mode 0600.
        let create = || tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder);
        let file = match create() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_private_folder(folder)?;
                create()?
            }
            created => created?,
        };
        Ok(Self { file })
    }

    /// Gives the file its name, which replaces a file of that name. When this returns, content and name are on the disk.
    /// The name is in the folder where the file was begun.
    pub fn commit(self, path: &Path) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(path).map_err(|error| error.error)?;
        sync_folder(folder_of(path))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a file as a whole, private to its owner. A link of that name is replaced, not followed.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = NewFile::create_in(folder_of(path))?;
    file.write_all(content)?;
    file.commit(path)
}

/// As [`replace`], but a link stays and the file that it leads to is replaced: for files that their owner may keep
/// elsewhere.
pub fn replace_target(path: &Path, content: &[u8]) -> io::Result<()> {
    match path.canonicalize() {
        Ok(target) => replace(&target, content),
        Err(error) if error.kind() == io::ErrorKind::NotFound => replace(path, content),
        Err(error) => Err(error),
    }
}
