//! Making the entries of a folder last over a power cut.

use std::io;
use std::path::Path;

/// Writes the entries of a folder to the disk: a file that was renamed into it stays renamed.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};

    match std::fs::File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some network file systems cannot sync a folder and keep its entries by other means; a folder that may be written
        // and not read cannot be opened for it. What was renamed is in place either way.
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        synced => synced,
    }
}

/// This system has no way to sync a folder.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// The folder of a file; the current one for a bare name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
