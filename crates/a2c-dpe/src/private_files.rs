//! Files of documents: readable for this user only, and never visible half written.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use a2c_files::{NewFile, create_private_folder, replace};
use bytes::Bytes;
use tempfile::TempPath;

/// Creates a directory, with its parents, for this user only. A directory that exists is left as it is.
pub(crate) fn make_directory(path: &Path) -> io::Result<PathBuf> {
    create_private_folder(path)?;
    path.canonicalize()
}

/// Writes a file that is removed when the returned path is dropped. It does not have to outlive the process.
pub(crate) fn write_temporary(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix(name).rand_bytes(0).tempfile_in(directory)?;
    file.write_all(bytes)?;
    file.flush()?;
    Ok(file.into_temp_path())
}

/// Writes a file.
pub(crate) async fn write(path: PathBuf, bytes: Bytes) -> io::Result<PathBuf> {
    blocking(move || replace(&path, &bytes).map(|()| path)).await
}

/// Gives a new file its name.
pub(crate) async fn commit(file: NewFile, path: PathBuf) -> io::Result<PathBuf> {
    blocking(move || file.commit(&path).map(|()| path)).await
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
