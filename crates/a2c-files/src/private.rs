//! Files and folders that only their owner can read.

use std::fs::{DirBuilder, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use crate::sync::{folder_of, sync_folder};

/// Creates a folder with its parents, each with mode 0700. A folder that exists keeps its mode.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let parent = folder_of(folder);
    create_private_folder(parent)?;
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Ok(()) => sync_folder(parent),
        // Another process created it in the meantime.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Options that create a file with mode 0600. A file that exists keeps its mode.
pub fn private_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Whether only its owner may read, write or run a file. On systems without modes every file passes.
pub fn is_private(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    let private = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 == 0;
    #[cfg(not(unix))]
    let private = {
        let _ = metadata;
        true
    };
    private
}
