//! A file that is read here and there: the directory of an archive, its entries, each with a header before it.
//!
//! `BufReader` gives up its buffer with every seek, and reads all of it again for the few bytes of the next header. A window
//! stays while what is wanted lies within it. Each window has a place of its own in the file, so that two of them do not
//! disturb each other, although the system lets them share one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// How much is read at once.
const WINDOW: usize = 64 << 10;

/// A file with the part of it that was read last.
pub(crate) struct FileWindow {
    file: File,
    length: u64,
    position: u64,
    /// The bytes from `start` on.
    bytes: Vec<u8>,
    start: u64,
}

impl FileWindow {
    /// A window on a file, at its beginning.
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file, length, position: 0, bytes: Vec::new(), start: 0 })
    }

    /// The bytes of the window from the position on.
    fn rest(&self) -> &[u8] {
        let offset = self.position.checked_sub(self.start).and_then(|offset| usize::try_from(offset).ok());
        offset.and_then(|offset| self.bytes.get(offset..)).unwrap_or_default()
    }
}

impl Read for FileWindow {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest().is_empty() {
            self.file.seek(SeekFrom::Start(self.position))?;
            if buffer.len() >= WINDOW {
                let read = self.file.read(buffer)?;
                self.position += read as u64;
                return Ok(read);
            }
            self.start = self.position;
            self.bytes.resize(WINDOW, 0);
            let read = self.file.read(&mut self.bytes);
            self.bytes.truncate(*read.as_ref().unwrap_or(&0));
            read?;
        }
        let rest = self.rest();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for FileWindow {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn bytes_are_the_same_from_any_place() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n * 7 / 3) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let mut one = FileWindow::new(file.try_clone().unwrap()).unwrap();
        let mut other = FileWindow::new(file).unwrap();
        for (place, length) in
            [(0, 10), (199_990, 100), (65_530, 20), (65_000, 90_000), (5, 5), (199_999, 1), (300_000, 9)]
        {
            let mut read = Vec::new();
            one.seek(SeekFrom::Start(place)).unwrap();
            (&mut one).take(length).read_to_end(&mut read).unwrap();
            other.seek(SeekFrom::End(-3)).unwrap();
            other.read_exact(&mut [0; 3]).unwrap();
            let (first, last) = ((place as usize).min(bytes.len()), ((place + length) as usize).min(bytes.len()));
            assert_eq!(read, bytes[first..last], "{length} from {place}");
        }
        assert!(one.seek(SeekFrom::Current(-1_000_000)).is_err());
        let mut all = Vec::new();
        one.rewind().unwrap();
        one.read_to_end(&mut all).unwrap();
        assert_eq!(all, bytes);
    }
}
