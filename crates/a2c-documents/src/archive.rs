//! The archive that an Office file is, within limits: its directory is checked before anything is unpacked, and what is
//! unpacked is counted, because a directory may lie.

use std::borrow::Cow;
use std::io::{self, Read};

use a2c_document_model::{UnreadableCode, UnreadableFile};
use zip::ZipArchive;
use zip::result::ZipError;

use crate::limits::ReadLimits;
use crate::source::{ReadSeek, Source};

/// What a small entry may unpack to, whatever its ratio.
const ALWAYS_ALLOWED: u64 = 1 << 20;

/// An archive whose directory is within the limits.
pub struct DocumentArchive {
    archive: ZipArchive<Box<dyn ReadSeek>>,
    limits: ReadLimits,
}

impl DocumentArchive {
    /// Opens an archive and checks its directory.
    pub fn open(source: &Source, limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        let mut archive = ZipArchive::new(source.reader()?).map_err(|error| unreadable(&error))?;
        if archive.len() > limits.archive_entries {
            return Err(UnreadableFile::too_large(format!(
                "the file is an archive of {} entries; at most {} are read",
                archive.len(),
                limits.archive_entries
            )));
        }
        let mut all: u64 = 0;
        for index in 0..archive.len() {
            let entry = archive.by_index_raw(index).map_err(|error| unreadable(&error))?;
            let name = entry.name().unwrap_or_default();
            check_entry(&name, entry.compressed_size(), entry.size(), limits)?;
            all = all.saturating_add(entry.size());
        }
        if all > limits.archive_bytes {
            return Err(UnreadableFile::too_large(format!(
                "the file unpacks to more than {} MiB",
                limits.archive_bytes >> 20
            )));
        }
        Ok(Self { archive, limits: limits.clone() })
    }

    /// The names of its entries.
    pub fn names(&self) -> Vec<String> {
        self.archive.file_names().flatten().map(Cow::into_owned).collect()
    }

    /// Whether there is an entry of this name.
    pub fn has(&self, name: &str) -> bool {
        self.index(name).is_some()
    }

    /// The place of an entry. Office compares names without regard to case, and some programs write backslashes.
    fn index(&self, name: &str) -> Option<usize> {
        let plain = |byte: u8| if byte == b'\\' { b'/' } else { byte.to_ascii_lowercase() };
        let alike = |other: &str| other.bytes().map(plain).eq(name.bytes().map(plain));
        self.archive.index_for_name(name).or_else(|| {
            let found = self.archive.file_names().flatten().find(|other| alike(other))?;
            self.archive.index_for_name(&found)
        })
    }

    /// What an entry unpacks to, in bytes, as the directory says.
    pub fn size(&mut self, name: &str) -> Option<u64> {
        self.archive.by_index(self.index(name)?).ok().map(|entry| entry.size())
    }

    /// What tells the bytes of an entry from others without unpacking them: their checksum and their size, as the directory
    /// says.
    pub fn fingerprint(&mut self, name: &str) -> Option<String> {
        self.archive.by_index(self.index(name)?).ok().map(|entry| format!("{:08x}-{}", entry.crc32(), entry.size()))
    }

    /// The bytes of an entry as they are unpacked.
    pub fn stream(&mut self, name: &str) -> Result<impl Read + '_, UnreadableFile> {
        let limit = self.limits.entry_bytes;
        let ratio = self.limits.entry_ratio;
        let index = self.index(name).ok_or_else(|| UnreadableFile::corrupt(format!("its part `{name}` is missing")))?;
        let entry = self.archive.by_index(index).map_err(|error| unreadable(&error))?;
        let allowed = entry.compressed_size().saturating_mul(ratio).max(ALWAYS_ALLOWED).min(limit);
        Ok(Counted { inner: entry, left: allowed })
    }

    /// All bytes of an entry.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>, UnreadableFile> {
        let mut bytes = Vec::new();
        self.stream(name)?.read_to_end(&mut bytes).map_err(|error| broken(name, &error))?;
        Ok(bytes)
    }

    /// All bytes of an entry, where there is one of this name.
    pub fn read_if_there(&mut self, name: &str) -> Result<Option<Vec<u8>>, UnreadableFile> {
        match self.has(name) {
            true => self.read(name).map(Some),
            false => Ok(None),
        }
    }
}

fn check_entry(name: &str, packed: u64, unpacked: u64, limits: &ReadLimits) -> Result<(), UnreadableFile> {
    let allowed = packed.saturating_mul(limits.entry_ratio).max(ALWAYS_ALLOWED).min(limits.entry_bytes);
    if unpacked > allowed {
        return Err(UnreadableFile::too_large(format!(
            "its part `{}` unpacks from {packed} to {unpacked} bytes",
            name.chars().take(80).collect::<String>()
        )));
    }
    Ok(())
}

fn unreadable(error: &ZipError) -> UnreadableFile {
    match error {
        ZipError::UnsupportedArchive(what) if what.contains("assword") => {
            UnreadableFile::new(UnreadableCode::Encrypted, "the file is encrypted: it wants a password")
        }
        ZipError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => crate::source::failed(error),
        _ => UnreadableFile::corrupt(format!("the file is no archive that can be read: {error}")),
    }
}

/// What went wrong while an entry was read.
pub(crate) fn broken(name: &str, error: &io::Error) -> UnreadableFile {
    match error.kind() {
        io::ErrorKind::FileTooLarge => UnreadableFile::too_large(format!("its part `{name}` unpacks to too much")),
        _ => UnreadableFile::corrupt(format!("its part `{name}` cannot be unpacked: {error}")),
    }
}

/// A reader that ends with an error when there is more than allowed.
struct Counted<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    #[test]
    fn names_are_found_without_regard_to_case_and_slashes() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.start_file("Xl\\Workbook.xml", SimpleFileOptions::default()).unwrap();
        writer.write_all(b"x").unwrap();
        let source = Source::Bytes(writer.finish().unwrap().into_inner().into());
        let mut archive = DocumentArchive::open(&source, &ReadLimits::default()).unwrap();
        assert_eq!(archive.read("xl/workbook.xml").unwrap(), b"x");
        assert_eq!(archive.size("XL/workbook.xml"), Some(1));
        assert!(!archive.has("xl/workbook.xm"));
    }
}
