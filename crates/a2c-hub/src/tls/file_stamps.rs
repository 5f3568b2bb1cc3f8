//! What files look like from outside, to know whether to read them again.

#[cfg(unix)]
use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::TlsConfig;

/// A file that was written twice within the resolution of its time stamp looks the same both times. One that is older
/// than this when it is looked at cannot change without looking different.
const SETTLED: Duration = Duration::from_secs(2);

/// What the files of a configuration looked like at one moment. Links are followed: swapping one is a change.
pub(super) struct FileStamps {
    files: [Option<FileStamp>; 3],
    settled: bool,
}

#[derive(PartialEq, Eq)]
struct FileStamp {
    size: u64,
    modified: Option<SystemTime>,
    /// Device, number and time of the last change of the entry itself: a file moved into place may be as large and as
    /// old as the one it replaces.
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

    /// Whether the files may have changed since, when they look like `now`.
    pub(super) fn differs_from(&self, now: &Self) -> bool {
        !self.settled || self.files != now.files
    }
}

impl FileStamp {
    /// Nothing for a file that cannot be looked at: reading it says why.
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            entry: entry(&metadata),
        })
    }

    /// A time in the future is somebody else's clock, and no reason to read the file for ever.
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
