//! The standard output of a process, line by line, each of bounded length.
//!
//! Lines are handed out of the buffer they were read into, without another copy.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How much is read at once: as much as a pipe holds.
const CHUNK: usize = 64 << 10;

/// How much memory stays reserved for the next line after a long one: there may be many processes, and most lines are
/// short.
const RESERVED: usize = 2 * CHUNK;

/// How much is kept of a line that is too long: enough to see what kind of line it is.
pub const BEGINNING: usize = 4 << 10;

/// What [`LineReader::next`] read.
#[derive(Debug, PartialEq, Eq)]
pub enum ReadLine {
    /// A line, without its end.
    Whole(Bytes),
    /// The beginning of a line that is longer than allowed; the rest of it is skipped.
    TooLong(Bytes),
}

/// Reads a stream line by line.
#[derive(Debug)]
pub struct LineReader<R> {
    stream: R,
    buffer: BytesMut,
    /// How much of the buffer holds no end of a line.
    searched: usize,
    /// The rest of the present line is of no interest.
    skipping: bool,
    limit: usize,
    ended: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Lines of at most `limit` bytes, their ends not counted.
    pub fn new(stream: R, limit: usize) -> Self {
        Self { stream, buffer: BytesMut::new(), searched: 0, skipping: false, limit, ended: false }
    }

    /// The next line, also one that the end of the stream cuts off; `None` at the end. Nothing is lost when this is given
    /// up while it waits.
    pub async fn next(&mut self) -> io::Result<Option<ReadLine>> {
        loop {
            if let Some(read) = self.take() {
                return Ok(Some(read));
            }
            if self.ended {
                return Ok(None);
            }
            if self.buffer.is_empty() && self.buffer.capacity() > RESERVED {
                self.buffer = BytesMut::new();
            }
            self.buffer.reserve(CHUNK);
            self.ended = self.stream.read_buf(&mut self.buffer).await? == 0;
        }
    }

    /// What can be said of the buffer.
    fn take(&mut self) -> Option<ReadLine> {
        loop {
            let newline = memchr::memchr(b'\n', &self.buffer[self.searched..]).map(|at| self.searched + at);
            let length = match newline {
                Some(newline) => newline,
                None if self.ended && !self.buffer.is_empty() => self.buffer.len(),
                None if self.skipping || self.buffer.len() > self.limit => self.buffer.len(),
                None => {
                    self.searched = self.buffer.len();
                    return None;
                }
            };
            let over = newline.is_some() || self.ended;
            let line = self.buffer.split_to(length);
            if newline.is_some() {
                let _ = self.buffer.split_to(1);
            }
            self.searched = 0;
            let skipped = std::mem::replace(&mut self.skipping, !over);
            match skipped {
                true if over => {}
                true => return None,
                // A copy: the whole must not be kept for the sake of its beginning.
                false if line.len() > self.limit => {
                    return Some(ReadLine::TooLong(Bytes::copy_from_slice(&line[..line.len().min(BEGINNING)])));
                }
                false => return Some(ReadLine::Whole(line.freeze())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads in pieces of every size from a stream that hands out no more at once.
    async fn check(text: &[u8], limit: usize, expected: &[ReadLine]) {
        for size in [1, 2, 3, 7, 1000] {
            let mut builder = tokio_test_io(text, size);
            let mut lines = LineReader::new(&mut builder, limit);
            let mut seen = Vec::new();
            while let Some(read) = lines.next().await.unwrap() {
                seen.push(read);
            }
            assert_eq!(seen, expected, "{size}: {}", String::from_utf8_lossy(text));
        }
    }

    fn tokio_test_io(text: &[u8], size: usize) -> tokio::io::DuplexStream {
        let (mut near, far) = tokio::io::duplex(size);
        let text = text.to_vec();
        tokio::spawn(async move { tokio::io::AsyncWriteExt::write_all(&mut near, &text).await });
        far
    }

    fn line(text: &'static str) -> ReadLine {
        ReadLine::Whole(Bytes::from_static(text.as_bytes()))
    }

    fn too_long(text: &'static str) -> ReadLine {
        ReadLine::TooLong(Bytes::from_static(text.as_bytes()))
    }

    #[tokio::test]
    async fn lines_come_one_by_one() {
        check(b"", 10, &[]).await;
        check(b"a\nbc\r\n\nlast", 10, &[line("a"), line("bc\r"), line(""), line("last")]).await;
        check(b"0123456789\nx\n", 10, &[line("0123456789"), line("x")]).await;
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_to_its_end() {
        for (text, after) in [("01234567890\nx\n", true), ("01234567890", false)] {
            let mut lines = LineReader::new(text.as_bytes(), 10);
            assert_eq!(lines.next().await.unwrap(), Some(too_long("01234567890")));
            assert_eq!(lines.next().await.unwrap(), after.then(|| line("x")));
            assert_eq!(lines.next().await.unwrap(), None);
        }
        // Longer than what is read at once.
        let text = [vec![b'x'; 5 * CHUNK], b"\nafter\n".to_vec()].concat();
        let mut lines = LineReader::new(tokio_test_io(&text, 1000), CHUNK);
        match lines.next().await.unwrap() {
            Some(ReadLine::TooLong(beginning)) => assert_eq!(beginning.len(), BEGINNING),
            other => panic!("{other:?}"),
        }
        assert_eq!(lines.next().await.unwrap(), Some(line("after")));
        assert!(lines.buffer.capacity() < 4 * CHUNK, "what is skipped is not kept");
    }
}
