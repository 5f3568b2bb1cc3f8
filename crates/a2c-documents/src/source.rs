//! Where the bytes of a document come from: a file, or memory.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use a2c_document_model::{UnreadableCode, UnreadableFile};

use crate::file_window::FileWindow;

/// Bytes that can be read from any place.
pub trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// The bytes of a document. A file stays open, so that what is read later is the same file, even if another one takes its
/// name.
#[derive(Debug)]
pub enum Source {
    /// An open file.
    File(File),
    /// Bytes in memory.
    Bytes(Arc<[u8]>),
}

impl Source {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, UnreadableFile> {
        let unreadable = |error: io::Error| {
            UnreadableFile::new(UnreadableCode::Unreadable, format!("the file cannot be read: {error}"))
        };
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(UnreadableFile::new(UnreadableCode::Unreadable, "it is no file"));
        }
        Ok(Self::File(file))
    }

    /// Its size in bytes.
    pub fn size(&self) -> Result<u64, UnreadableFile> {
        match self {
            Self::File(file) => file.metadata().map(|metadata| metadata.len()).map_err(|error| failed(&error)),
            Self::Bytes(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// The bytes, from the beginning.
    pub fn reader(&self) -> Result<Box<dyn ReadSeek>, UnreadableFile> {
        match self {
            Self::File(file) => {
                let window = file.try_clone().and_then(FileWindow::new);
                Ok(Box::new(window.map_err(|error| failed(&error))?))
            }
            Self::Bytes(bytes) => Ok(Box::new(Cursor::new(bytes.clone()))),
        }
    }

    /// All bytes, unless there are more than `limit`.
    pub fn bytes(&self, limit: u64) -> Result<Arc<[u8]>, UnreadableFile> {
        if let Self::Bytes(bytes) = self {
            return Ok(bytes.clone());
        }
        let mut bytes = Vec::new();
        self.reader()?.take(limit + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
        if bytes.len() as u64 > limit {
            return Err(UnreadableFile::too_large(format!("the file is larger than {} MiB", limit >> 20)));
        }
        Ok(bytes.into())
    }
}

pub(crate) fn failed(error: &io::Error) -> UnreadableFile {
    UnreadableFile::new(UnreadableCode::Unreadable, format!("the file cannot be read: {error}"))
}
