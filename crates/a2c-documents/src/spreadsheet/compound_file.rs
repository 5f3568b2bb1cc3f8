//! The container of old Office files, and of encrypted new ones: its directory and its streams.

use std::io::{Read, SeekFrom};

use a2c_document_model::UnreadableFile;

use crate::source::{ReadSeek, Source};

/// What such a file begins with.
pub(super) const SIGNATURE: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
/// Sectors from here on mean something else.
const LAST_SECTOR: u32 = 0xffff_fffa;
/// Where the list of the sectors of the table begins in the header.
const TABLE_LIST: usize = 76;
/// A stream that is smaller is in the stream of small ones.
const SMALL: u64 = 4096;

/// An open container.
pub(super) struct CompoundFile {
    reader: Box<dyn ReadSeek>,
    /// The size of a sector is two to this.
    shift: u32,
    /// For each sector, the next one of its stream.
    table: Vec<u32>,
    small_table: Vec<u32>,
    streams: Vec<StreamEntry>,
}

#[derive(Debug, Clone)]
struct StreamEntry {
    name: String,
    first: u32,
    size: u64,
    is_root: bool,
}

impl CompoundFile {
    /// Reads the directory of a container.
    pub(super) fn open(source: &Source) -> Result<Self, UnreadableFile> {
        let mut reader = source.reader()?;
        let mut header = [0; 512];
        reader.read_exact(&mut header).map_err(|_| broken())?;
        let shift = u32::from(u16::from_le_bytes([header[30], header[31]]));
        if header[..8] != SIGNATURE || !matches!(shift, 9 | 12) {
            return Err(broken());
        }
        let sectors = (source.size()? >> shift) as usize + 1;
        let mut file = Self { reader, shift, table: Vec::new(), small_table: Vec::new(), streams: Vec::new() };
        let mut lists: Vec<u32> = words(&header[TABLE_LIST..]).collect();
        let (mut more, mut seen) = (word(&header, 68), 0);
        while more < LAST_SECTOR && seen <= sectors {
            let mut list: Vec<u32> = words(&file.sector(more)?).collect();
            more = list.pop().unwrap_or(u32::MAX);
            lists.extend(list);
            seen += 1;
        }
        for sector in lists.into_iter().filter(|sector| *sector < LAST_SECTOR).take(sectors) {
            let part = file.sector(sector)?;
            file.table.extend(words(&part));
            if file.table.len() > sectors * 2 + 1024 {
                break;
            }
        }
        let directory = file.chain(word(&header, 48), u64::MAX)?;
        file.streams = directory.chunks_exact(128).filter_map(entry).collect();
        let small = file.chain(word(&header, 60), u64::MAX)?;
        file.small_table = words(&small).collect();
        Ok(file)
    }

    /// Whether there is a stream of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.streams.iter().any(|stream| stream.name.eq_ignore_ascii_case(name))
    }

    /// The bytes of a stream.
    pub(super) fn read(&mut self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, UnreadableFile> {
        let Some(stream) =
            self.streams.iter().find(|stream| stream.name.eq_ignore_ascii_case(name) && !stream.is_root).cloned()
        else {
            return Ok(None);
        };
        if stream.size > limit {
            return Err(UnreadableFile::too_large(format!("its stream `{name}` is larger than {} MiB", limit >> 20)));
        }
        if stream.size >= SMALL {
            return self.chain(stream.first, stream.size).map(Some);
        }
        let root = self.streams.iter().find(|stream| stream.is_root).cloned().ok_or_else(broken)?;
        let all = self.chain(root.first, root.size.min(limit))?;
        let (mut bytes, mut at) = (Vec::new(), stream.first);
        while (bytes.len() as u64) < stream.size && at < LAST_SECTOR {
            let from = at as usize * 64;
            bytes.extend_from_slice(all.get(from..from + 64).ok_or_else(broken)?);
            at = self.small_table.get(at as usize).copied().unwrap_or(u32::MAX);
        }
        bytes.truncate(stream.size as usize);
        Ok(Some(bytes))
    }

    fn sector(&mut self, number: u32) -> Result<Vec<u8>, UnreadableFile> {
        let mut bytes = Vec::with_capacity(1 << self.shift);
        let at = (u64::from(number) + 1) << self.shift;
        self.reader.seek(SeekFrom::Start(at)).map_err(|_| broken())?;
        (&mut self.reader).take(1 << self.shift).read_to_end(&mut bytes).map_err(|_| broken())?;
        // The last sector of a file may be cut short.
        match bytes.is_empty() {
            true => Err(broken()),
            false => Ok(bytes),
        }
    }

    /// The sectors of a stream, one after the other. A stream has no more of them than the file has.
    fn chain(&mut self, first: u32, size: u64) -> Result<Vec<u8>, UnreadableFile> {
        let (mut bytes, mut at, mut left) = (Vec::new(), first, self.table.len());
        while at < LAST_SECTOR && (bytes.len() as u64) < size {
            left = left.checked_sub(1).ok_or_else(broken)?;
            bytes.extend(self.sector(at)?);
            at = self.table.get(at as usize).copied().unwrap_or(u32::MAX);
        }
        bytes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        Ok(bytes)
    }
}

fn broken() -> UnreadableFile {
    UnreadableFile::corrupt("the container of the file is broken")
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(u32::MAX, |word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

/// A stream of the directory; `None` for what is none.
fn entry(bytes: &[u8]) -> Option<StreamEntry> {
    let length = usize::from(u16::from_le_bytes([bytes[64], bytes[65]])).min(64).saturating_sub(2);
    if !matches!(bytes[66], 2 | 5) {
        return None;
    }
    let units = bytes[..length].chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    let name = char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Some(StreamEntry { name, first: word(bytes, 116), size: u64::from(word(bytes, 120)), is_root: bytes[66] == 5 })
}
