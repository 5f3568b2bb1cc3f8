//! Files of documents: for this user only, and never seen half written.

use std::fs::DirBuilder;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tempfile::{NamedTempFile, TempPath};

/// Creates a directory, with those above it, that only this user can look into. One that is there is taken as it is.
pub(super) fn make_directory(path: &Path) -> io::Result<PathBuf> {
    let mut maker = DirBuilder::new();
    maker.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut maker, 0o700);
    maker.create(path)?;
    path.canonicalize()
}

/// A new file among those of a directory, which gets its name when it is complete.
pub(super) fn begin(directory: &Path) -> io::Result<NamedTempFile> {
    // Readable for this user only, as the library makes them.
    let new = || tempfile::Builder::new().prefix(".writing-").tempfile_in(directory);
    match new() {
        // Somebody may have tidied up the directory as a whole.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_directory(directory)?;
            new()
        }
        begun => begun,
    }
}

/// Puts a file in its place in one step; what stood there before is seen whole or not at all.
pub(super) fn finish(mut file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.flush()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Writes a whole file that is removed again unless it is told to stay.
pub(super) fn write_temporary(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix(name).rand_bytes(0).tempfile_in(directory)?;
    file.write_all(bytes)?;
    file.flush()?;
    Ok(file.into_temp_path())
}

/// Writes a whole file.
pub(super) async fn write(directory: PathBuf, name: String, bytes: Bytes) -> io::Result<PathBuf> {
    let written = tokio::task::spawn_blocking(move || {
        let path = directory.join(name);
        let mut file = begin(&directory)?;
        file.write_all(&bytes)?;
        finish(file, &path)?;
        Ok(path)
    });
    written.await.map_err(io::Error::other)?
}
