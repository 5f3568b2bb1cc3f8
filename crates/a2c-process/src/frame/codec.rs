//! Frames as bytes, and back. Pure.

use std::io;

use bytes::{Buf as _, Bytes, BytesMut};

/// How many bytes tell the length of a payload.
const LENGTH_BYTES: usize = 8;

/// A line, and the payload that follows it, if one does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    line: Bytes,
    payload: Option<Bytes>,
}

/// How large the parts of a frame may be that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameLimits {
    /// The longest line, in bytes, its end not counted.
    pub line: usize,
    /// The largest payload, in bytes.
    pub payload: usize,
}

/// What is wrong with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A line break within the line would end it early.
    #[error("the line holds a line break")]
    LineBreak,
    /// The line is longer than allowed.
    #[error("the line is longer than {limit} bytes")]
    LineTooLong {
        /// What is allowed.
        limit: usize,
    },
    /// The length of the payload is negative.
    #[error("the length of the payload is negative: {length}")]
    NegativeLength {
        /// What stands there.
        length: i64,
    },
    /// The payload is longer than allowed.
    #[error("the payload of {length} bytes is longer than {limit} bytes")]
    PayloadTooLong {
        /// What stands there.
        length: u64,
        /// What is allowed.
        limit: usize,
    },
    /// The stream ends within a frame.
    #[error("the stream ends within a frame")]
    Truncated,
}

impl Frame {
    /// A line without a payload.
    pub fn line(line: impl Into<Bytes>) -> Result<Self, FrameError> {
        Self::new(line.into(), None)
    }

    /// A line and the payload that follows it, which may be empty.
    pub fn with_payload(line: impl Into<Bytes>, payload: impl Into<Bytes>) -> Result<Self, FrameError> {
        Self::new(line.into(), Some(payload.into()))
    }

    fn new(line: Bytes, payload: Option<Bytes>) -> Result<Self, FrameError> {
        match memchr::memchr(b'\n', &line) {
            Some(_) => Err(FrameError::LineBreak),
            None => Ok(Self { line, payload }),
        }
    }

    /// The line, without its end.
    pub fn text(&self) -> &Bytes {
        &self.line
    }

    /// The payload, if there is one.
    pub fn payload(&self) -> Option<&Bytes> {
        self.payload.as_ref()
    }

    /// Everything that goes before the bytes of the payload.
    pub(super) fn head(&self) -> Vec<u8> {
        let mut head = Vec::with_capacity(self.line.len() + 1 + LENGTH_BYTES);
        head.extend_from_slice(&self.line);
        head.push(b'\n');
        if let Some(payload) = &self.payload {
            let length = i64::try_from(payload.len()).expect("no buffer is longer than i64::MAX bytes");
            head.extend_from_slice(&length.to_le_bytes());
        }
        head
    }

    /// Writes it to a stream that blocks, as a worker's standard output does.
    pub fn write_to(&self, stream: &mut impl io::Write) -> io::Result<()> {
        stream.write_all(&self.head())?;
        stream.write_all(self.payload.as_deref().unwrap_or_default())
    }

    /// How many bytes it takes.
    pub(super) fn size(&self) -> usize {
        self.line.len() + 1 + self.payload.as_ref().map_or(0, |payload| LENGTH_BYTES + payload.len())
    }
}

/// Makes frames of bytes. Once it has failed, it fails with the same error for ever.
#[derive(Debug)]
pub(super) struct FrameDecoder {
    limits: FrameLimits,
    buffer: BytesMut,
    /// How much of the buffer holds no end of a line.
    searched: usize,
    state: DecoderState,
}

#[derive(Debug)]
enum DecoderState {
    /// A line comes.
    Line,
    /// The length of a payload comes.
    Length { line: Bytes },
    /// A payload of this length comes.
    Payload { line: Bytes, length: usize },
    /// The stream cannot be understood any further.
    Failed(FrameError),
}

impl FrameDecoder {
    pub(super) fn new(limits: FrameLimits) -> Self {
        Self { limits, buffer: BytesMut::new(), searched: 0, state: DecoderState::Line }
    }

    /// Where the next bytes go.
    pub(super) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// How many bytes are missing at least, as far as that is known.
    pub(super) fn missing(&self) -> usize {
        match &self.state {
            DecoderState::Line | DecoderState::Failed(_) => 1,
            DecoderState::Length { .. } => LENGTH_BYTES.saturating_sub(self.buffer.len()),
            DecoderState::Payload { length, .. } => length.saturating_sub(self.buffer.len()),
        }
    }

    /// The next frame, if all of it is there. `has_payload` says of a line whether a payload follows it.
    pub(super) fn next(&mut self, has_payload: impl Fn(&[u8]) -> bool) -> Result<Option<Frame>, FrameError> {
        loop {
            match std::mem::replace(&mut self.state, DecoderState::Line) {
                DecoderState::Line => {
                    let Some(line) = self.take_line()? else { return Ok(None) };
                    if !has_payload(&line) {
                        return Ok(Some(Frame { line, payload: None }));
                    }
                    self.state = DecoderState::Length { line };
                }
                DecoderState::Length { line } => {
                    if self.buffer.len() < LENGTH_BYTES {
                        self.state = DecoderState::Length { line };
                        return Ok(None);
                    }
                    let length = self.take_length()?;
                    self.state = DecoderState::Payload { line, length };
                }
                DecoderState::Payload { line, length } => {
                    if self.buffer.len() < length {
                        self.state = DecoderState::Payload { line, length };
                        return Ok(None);
                    }
                    let payload = self.buffer.split_to(length).freeze();
                    return Ok(Some(Frame { line, payload: Some(payload) }));
                }
                DecoderState::Failed(error) => return Err(self.fail(error)),
            }
        }
    }

    /// The stream has ended: fails within a frame.
    pub(super) fn finish(&mut self) -> Result<(), FrameError> {
        match &self.state {
            DecoderState::Line if self.buffer.is_empty() => Ok(()),
            DecoderState::Failed(error) => Err(*error),
            _ => Err(self.fail(FrameError::Truncated)),
        }
    }

    fn take_line(&mut self) -> Result<Option<Bytes>, FrameError> {
        let limit = self.limits.line;
        let end = memchr::memchr(b'\n', &self.buffer[self.searched..]).map(|at| self.searched + at);
        if end.unwrap_or(self.buffer.len()) > limit {
            return Err(self.fail(FrameError::LineTooLong { limit }));
        }
        let Some(end) = end else {
            self.searched = self.buffer.len();
            return Ok(None);
        };
        self.searched = 0;
        let line = self.buffer.split_to(end).freeze();
        self.buffer.advance(1);
        Ok(Some(line))
    }

    fn take_length(&mut self) -> Result<usize, FrameError> {
        let length = self.buffer.get_i64_le();
        let limit = self.limits.payload;
        match u64::try_from(length) {
            Err(_) => Err(self.fail(FrameError::NegativeLength { length })),
            Ok(length) => match usize::try_from(length) {
                Ok(length) if length <= limit => Ok(length),
                _ => Err(self.fail(FrameError::PayloadTooLong { length, limit })),
            },
        }
    }

    fn fail(&mut self, error: FrameError) -> FrameError {
        self.buffer = BytesMut::new();
        self.state = DecoderState::Failed(error);
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: FrameLimits = FrameLimits { line: 16, payload: 100 };

    /// In these tests, a line that begins with `+` has a payload.
    fn has_payload(line: &[u8]) -> bool {
        line.first() == Some(&b'+')
    }

    fn encode(frame: &Frame) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame.write_to(&mut bytes).unwrap();
        assert_eq!(bytes.len(), frame.size());
        bytes
    }

    /// Reads the bytes in pieces of this size.
    fn decode(bytes: &[u8], piece: usize) -> (Vec<Frame>, Result<(), FrameError>) {
        let mut decoder = FrameDecoder::new(LIMITS);
        let mut frames = Vec::new();
        for piece in bytes.chunks(piece) {
            decoder.buffer().extend_from_slice(piece);
            loop {
                match decoder.next(has_payload) {
                    Ok(Some(frame)) => frames.push(frame),
                    Ok(None) => break assert!(decoder.missing() > 0),
                    Err(error) => {
                        assert_eq!(decoder.next(has_payload), Err(error), "an error is final");
                        assert_eq!(decoder.finish(), Err(error));
                        return (frames, Err(error));
                    }
                }
            }
        }
        (frames, decoder.finish())
    }

    #[test]
    fn a_frame_is_a_line_a_length_and_a_payload() {
        assert_eq!(encode(&Frame::line("ab").unwrap()), b"ab\n");
        assert_eq!(encode(&Frame::with_payload("ab", "x\ny").unwrap()), b"ab\n\x03\0\0\0\0\0\0\0x\ny");
        assert_eq!(encode(&Frame::with_payload("ab", "").unwrap()), b"ab\n\0\0\0\0\0\0\0\0");
        assert_eq!(Frame::line("a\nb"), Err(FrameError::LineBreak));
        assert_eq!(Frame::with_payload("a\n", "x"), Err(FrameError::LineBreak));
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        let check = |bytes: &[u8], count: usize, expected: Result<(), FrameError>| {
            for piece in [1, 2, 3, 1000] {
                let (frames, end) = decode(bytes, piece);
                assert_eq!((frames.len(), end), (count, expected), "{piece}: {}", bytes.escape_ascii());
            }
        };
        check(b"", 0, Ok(()));
        check(b"a\n\nb\n", 3, Ok(()));
        check(b"0123456789abcdef\n", 1, Ok(()));
        check(b"a\n0123456789abcdefg\n", 1, Err(FrameError::LineTooLong { limit: 16 }));
        check(b"0123456789abcdefg", 0, Err(FrameError::LineTooLong { limit: 16 }));
        check(b"+\n\xff\xff\xff\xff\xff\xff\xff\xff", 0, Err(FrameError::NegativeLength { length: -1 }));
        check(b"+\n\x65\0\0\0\0\0\0\0", 0, Err(FrameError::PayloadTooLong { length: 101, limit: 100 }));
        let huge = FrameError::PayloadTooLong { length: i64::MAX as u64, limit: 100 };
        check(b"+\n\xff\xff\xff\xff\xff\xff\xff\x7f", 0, Err(huge));
        for cut in [&b"a"[..], b"+\n", b"+\n\x01\0\0", b"+\n\x02\0\0\0\0\0\0\0x"] {
            check(cut, 0, Err(FrameError::Truncated));
        }
    }

    fn frames() -> impl Strategy<Value = Vec<Frame>> {
        let line = proptest::collection::vec(any::<u8>().prop_filter("no line break", |byte| *byte != b'\n'), 0..15);
        let payload = proptest::option::of(proptest::collection::vec(any::<u8>(), 0..=100));
        let frame = (line, payload).prop_map(|(line, payload)| {
            let sign: &[u8] = if payload.is_some() { b"+" } else { b"-" };
            Frame::new([sign, &line].concat().into(), payload.map(Bytes::from)).unwrap()
        });
        proptest::collection::vec(frame, 0..8)
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(frames in frames(), piece in 1usize..200) {
            let bytes: Vec<u8> = frames.iter().flat_map(encode).collect();
            prop_assert_eq!(decode(&bytes, piece), (frames, Ok(())));
        }

        #[test]
        fn a_cut_stream_yields_the_whole_frames_before_the_cut(frames in frames(), piece in 1usize..200, cut in any::<prop::sample::Index>()) {
            let bytes: Vec<u8> = frames.iter().flat_map(encode).collect();
            let cut = cut.index(bytes.len() + 1);
            let (mut whole, mut end) = (0, 0);
            while whole < frames.len() && end + frames[whole].size() <= cut {
                end += frames[whole].size();
                whole += 1;
            }
            let (read, outcome) = decode(&bytes[..cut], piece);
            prop_assert_eq!(&read, &frames[..whole]);
            prop_assert_eq!(outcome, if end == cut { Ok(()) } else { Err(FrameError::Truncated) });
        }

        #[test]
        fn no_bytes_make_it_panic_or_keep_more_than_allowed(bytes in proptest::collection::vec(any::<u8>(), 0..400), piece in 1usize..50) {
            let (read, _) = decode(&bytes, piece);
            for frame in read {
                prop_assert!(frame.line.len() <= LIMITS.line);
                prop_assert!(frame.payload.is_none_or(|payload| payload.len() <= LIMITS.payload));
            }
        }
    }
}
