//! Stamps of files, which tell whether to read the files again.

#[cfg(unix)]
use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::TlsConfig;

/// Two writes within the resolution of a time stamp leave the same stamp. A file that is older than this when its stamp
/// is taken cannot change without changing the stamp.
const SETTLED: Duration = Duration::from_secs(2);

/// The stamps of the files of a configuration at one moment. Links are followed: a swapped link is a change.
pub(super) struct FileStamps {
    files: [Option<FileStamp>; 3],
    settled: bool,
}

#[derive(PartialEq, Eq)]
struct FileStamp {
    size: u64,
    modified: Option<SystemTime>,
    /// Device, inode and change time: a file that was moved into place may have the size and age of the one it
    /// replaces.
    #[cfg(unix)]
    entry: (u64, u64, i64, i64),
}

impl FileStamps {
    pub(super) fn of(config: &TlsConfig) -> Self {
        let paths = [Some(&config.certificate), Some(&config.key), config.client_ca.as_ref()];
        let files = paths.map(|path| path.and_then(|path| FileStamp::of(path)));
        let settled = files.iter().flatten().all(FileStamp::is_settled);
        Self { files, settled }
    }

    /// Whether the files may have changed between these stamps and `now`.
    pub(super) fn differs_from(&self, now: &Self) -> bool {
        !self.settled || self.files != now.files
    }
}

impl FileStamp {
    /// `None` for a file without metadata: reading it reports the error.
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            entry: entry(&metadata),
        })
    }

    /// A time in the future comes from another clock and counts as settled.
    fn is_settled(&self) -> bool {
        match self.modified.map(|modified| modified.elapsed()) {
            Some(Ok(age)) => age > SETTLED,
            Some(Err(_)) | None => true,
        }
    }
}

#[cfg(unix)]
fn entry(metadata: &Metadata) -> (u64, u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}
