//! Reads frames from a stream.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::codec::{Frame, FrameDecoder, FrameError, FrameLimits};

/// How much is read at once at least: as much as a pipe holds.
const CHUNK: usize = 64 << 10;

/// How much memory is reserved ahead for a payload that is only announced.
const AHEAD: usize = 1 << 20;

/// Why no frame can be read any more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameReadError {
    /// The stream does not hold a frame.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The stream cannot be read.
    #[error("the stream cannot be read")]
    Io(#[from] io::Error),
}

/// The frames of a stream.
#[derive(Debug)]
pub struct FrameReader<R> {
    stream: R,
    decoder: FrameDecoder,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads frames of at most this size.
    pub fn new(stream: R, limits: FrameLimits) -> Self {
        Self { stream, decoder: FrameDecoder::new(limits) }
    }

    /// The next frame; `None` at the end of the stream. `has_payload` says of a line whether a payload follows it. Every
    /// error is final. Nothing is lost when this is dropped while it waits.
    pub async fn next(&mut self, has_payload: impl Fn(&[u8]) -> bool) -> Result<Option<Frame>, FrameReadError> {
        loop {
            if let Some(frame) = self.decoder.next(&has_payload)? {
                return Ok(Some(frame));
            }
            let room = self.decoder.missing().clamp(CHUNK, AHEAD);
            let buffer = self.decoder.buffer();
            buffer.reserve(room);
            if self.stream.read_buf(buffer).await? == 0 {
                self.decoder.finish()?;
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt as _;

    const LIMITS: FrameLimits = FrameLimits { line: 100, payload: 1 << 20 };

    #[tokio::test]
    async fn frames_are_read_one_by_one_to_the_end_of_the_stream() {
        let (mut near, far) = tokio::io::duplex(1000);
        let payload = vec![b'\n'; 200_000];
        let mut bytes = b"plain\n+data\n".to_vec();
        bytes.extend(200_000i64.to_le_bytes());
        bytes.extend(&payload);
        bytes.extend(b"last\n");
        tokio::spawn(async move { near.write_all(&bytes).await });
        let mut reader = FrameReader::new(far, LIMITS);
        let has_payload = |line: &[u8]| line.starts_with(b"+");
        assert_eq!(reader.next(has_payload).await.unwrap(), Some(Frame::line("plain").unwrap()));
        assert_eq!(reader.next(has_payload).await.unwrap(), Some(Frame::with_payload("+data", payload).unwrap()));
        assert_eq!(reader.next(has_payload).await.unwrap(), Some(Frame::line("last").unwrap()));
        assert_eq!(reader.next(has_payload).await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_stream_that_is_cut_ends_with_an_error_for_ever() {
        let mut reader = FrameReader::new(&b"+data\n\x05\0\0\0\0\0\0\0ab"[..], LIMITS);
        for _ in 0..2 {
            let error = reader.next(|_| true).await.unwrap_err();
            assert!(matches!(error, FrameReadError::Frame(FrameError::Truncated)), "{error}");
        }
    }
}
