//! The file of the pins: one JSON document, readable for its owner only, always replaced as a whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use a2c_files::replace;
use serde::{Deserialize, Serialize};

use super::{OpenError, PinsByServer, SaveError};

/// The format this version writes.
const VERSION: u32 = 1;
/// How many damaged files are put aside before the last name is used again.
const MAX_ASIDE: u32 = 100;

#[derive(Deserialize)]
struct Read {
    version: u32,
    servers: PinsByServer,
}

#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    servers: &'a PinsByServer,
}

/// Only the version: the rest may have another shape in a later version.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// The file of the pins, and which state of them it holds.
#[derive(Debug)]
pub(super) struct PinFile {
    path: PathBuf,
    /// The revision that was written last. Held while writing, so that an older state never replaces a newer one.
    written: Mutex<u64>,
}

/// A state of the pins on its way to the file.
#[derive(Debug)]
pub(crate) struct Unsaved {
    file: Arc<PinFile>,
    revision: u64,
    json: Vec<u8>,
}

impl PinFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, written: Mutex::new(0) }
    }

    /// What the file holds; nothing if there is none. A damaged file is put aside, and everything is new again.
    pub(super) fn read(&self) -> Result<PinsByServer, OpenError> {
        let path = &self.path;
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PinsByServer::default()),
            Err(source) => return Err(OpenError::Read { path: path.clone(), source }),
        };
        let damage = match serde_json::from_slice::<Versioned>(&bytes) {
            Ok(Versioned { version }) if version > VERSION => {
                return Err(OpenError::Newer { path: path.clone(), version, known: VERSION });
            }
            Ok(_) => match serde_json::from_slice::<Read>(&bytes) {
                Ok(read) if read.version == VERSION => return Ok(read.servers),
                Ok(read) => format!("there never was a version {}", read.version),
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        let aside = aside(path);
        fs::rename(path, &aside).map_err(|source| OpenError::PutAside { path: path.clone(), source })?;
        tracing::warn!(
            path = %path.display(), aside = %aside.display(), damage,
            "the pinned tool definitions cannot be read: the file is put aside, changes made since cannot be noticed, \
             and every tool counts as seen for the first time"
        );
        Ok(PinsByServer::default())
    }

    /// The state to write, unless the file has it already.
    pub(super) fn unsaved(self: &Arc<Self>, pins: &PinsByServer, revision: u64) -> Option<Unsaved> {
        if *self.written.lock().unwrap_or_else(PoisonError::into_inner) >= revision {
            return None;
        }
        let json = serde_json::to_vec(&Written { version: VERSION, servers: pins });
        let json = json.expect("maps with text for keys are JSON");
        Some(Unsaved { file: self.clone(), revision, json })
    }
}

impl Unsaved {
    /// Writes the state. Blocks; nothing of the pins is locked meanwhile. After a failure the state is unsaved still.
    pub(crate) fn write(&self) -> Result<(), SaveError> {
        let mut written = self.file.written.lock().unwrap_or_else(PoisonError::into_inner);
        if *written < self.revision {
            let path = &self.file.path;
            replace(path, &self.json).map_err(|source| SaveError { path: path.clone(), source })?;
            *written = self.revision;
        }
        Ok(())
    }
}

/// `<file>.corrupt-N`, with the first number that is free.
fn aside(path: &Path) -> PathBuf {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".corrupt-{number}"));
        PathBuf::from(name)
    };
    (1..MAX_ASIDE).map(numbered).find(|aside| !aside.exists()).unwrap_or_else(|| numbered(MAX_ASIDE))
}
