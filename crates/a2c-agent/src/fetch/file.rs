//! Documents that are files on this machine.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

use url::Url;

use super::{FetchFailure, FetchedBody, Files};

/// Reads a `file://` URI, as far as it is allowed.
pub(super) async fn read(url: &Url, allowed: &Files, max_bytes: u64) -> Result<FetchedBody, FetchFailure> {
    let path = path(url)?;
    let allowed = allowed.clone();
    let reading = tokio::task::spawn_blocking(move || read_now(&path, &allowed, max_bytes)).await;
    reading.unwrap_or_else(|error| Err(FetchFailure::File(std::io::Error::other(error))))
}

fn path(url: &Url) -> Result<PathBuf, FetchFailure> {
    let unusable = |reason| FetchFailure::Uri { reason };
    if url.host_str().is_some_and(|host| !host.is_empty() && host != "localhost") {
        return Err(unusable("its file is on another machine"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(unusable("a file has no query and no fragment"));
    }
    url.to_file_path().map_err(|()| unusable("its path is no path of this system"))
}

fn read_now(path: &Path, allowed: &Files, max_bytes: u64) -> Result<FetchedBody, FetchFailure> {
    // Links are followed before the place is judged, and what is opened is what was judged.
    let path = path.canonicalize().map_err(FetchFailure::File)?;
    let is_allowed = match allowed {
        Files::Refused => false,
        Files::Within(directories) => {
            directories.iter().filter_map(|dir| dir.canonicalize().ok()).any(|dir| path.starts_with(dir))
        }
        Files::Anywhere => true,
    };
    if !is_allowed {
        return Err(FetchFailure::Outside);
    }
    let file = open(&path).map_err(FetchFailure::File)?;
    let metadata = file.metadata().map_err(FetchFailure::File)?;
    if !metadata.is_file() {
        return Err(FetchFailure::NotAFile);
    }
    let too_large = FetchFailure::TooLarge { limit: max_bytes };
    if metadata.len() > max_bytes {
        return Err(too_large);
    }
    // It may grow while it is read.
    let mut body = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut body).map_err(FetchFailure::File)?;
    if body.len() as u64 > max_bytes {
        return Err(too_large);
    }
    Ok(FetchedBody { body: body.into(), mime_type: None })
}

/// Opens without waiting for the other end of a pipe, and without following a link that has just been put there.
#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).open(path)
}
