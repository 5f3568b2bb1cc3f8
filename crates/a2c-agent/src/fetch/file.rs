//! Documents that are files on this machine.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use a2c_files::{OpenBeneathError, Root};
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
    // Links are followed first: what they lead to has to be allowed, not where they are.
    let path = path.canonicalize().map_err(FetchFailure::File)?;
    let file = open(&path, allowed)?;
    let metadata = file.metadata().map_err(FetchFailure::File)?;
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

/// Opens a path without links beneath an allowed folder. A link that was put there meanwhile leads nowhere outside.
fn open(path: &Path, allowed: &Files) -> Result<File, FetchFailure> {
    let folders = match allowed {
        Files::Refused => Vec::new(),
        Files::Within(folders) => folders.iter().filter_map(|folder| Root::open(folder).ok()).collect(),
        Files::Anywhere => {
            let folder = path.parent().ok_or(FetchFailure::NotAFile)?;
            vec![Root::open(folder).map_err(FetchFailure::File)?]
        }
    };
    let beneath = folders.iter().find_map(|root| Some((root, path.strip_prefix(root.path()).ok()?)));
    let (root, relative) = beneath.ok_or(FetchFailure::Outside)?;
    root.open_file(relative).map_err(|error| match error {
        OpenBeneathError::Outside { .. } => FetchFailure::Outside,
        OpenBeneathError::NotAFile { .. } => FetchFailure::NotAFile,
        OpenBeneathError::Io { source, .. } => FetchFailure::File(source),
        error => FetchFailure::File(std::io::Error::other(error)),
    })
}
