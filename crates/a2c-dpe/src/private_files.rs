//! Files of documents: readable for this user only, and never visible half written.

use std::fs::DirBuilder;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tempfile::{NamedTempFile, TempPath};

/// Creates a directory, with its parents, for this user only. A directory that exists is left as it is.
pub(crate) fn make_directory(path: &Path) -> io::Result<PathBuf> {
    let mut maker = DirBuilder::new();
    maker.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut maker, 0o700);
    maker.create(path)?;
    path.canonicalize()
}

/// A new temporary file in a directory; [`persist`] gives it its name.
pub(crate) fn begin(directory: &Path) -> io::Result<NamedTempFile> {
    // `tempfile` creates files that only this user can read.
    let new = || tempfile::Builder::new().prefix(".writing-").tempfile_in(directory);
    match new() {
        // The owner may have removed the directory.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_directory(directory)?;
            new()
        }
        begun => begun,
    }
}

/// Gives a temporary file its name in one step. Readers see the old file or the new one, never a part.
pub(crate) fn persist(mut file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.flush()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Writes a file that is removed when the returned path is dropped.
pub(crate) fn write_temporary(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix(name).rand_bytes(0).tempfile_in(directory)?;
    file.write_all(bytes)?;
    file.flush()?;
    Ok(file.into_temp_path())
}

/// Writes a file.
pub(crate) async fn write(directory: PathBuf, name: String, bytes: Bytes) -> io::Result<PathBuf> {
    let written = tokio::task::spawn_blocking(move || {
        let path = directory.join(name);
        let mut file = begin(&directory)?;
        file.write_all(&bytes)?;
        persist(file, &path)?;
        Ok(path)
    });
    written.await.map_err(io::Error::other)?
}
