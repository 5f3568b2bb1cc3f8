//! Assembles the websocket frames of a client to messages. Pure: bytes in, messages out.
//!
//! `tungstenite` reads the headers. This module adds what it offers only with a buffer per connection: between messages
//! no memory is held, and a message is a slice of the bytes that were read.

use std::io::Cursor;

use bytes::{Bytes, BytesMut};
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

/// The longest control frame.
const MAX_CONTROL: u64 = 125;

/// A message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message {
    /// Not checked for UTF-8 yet.
    Text(Bytes),
    Binary(Bytes),
    Ping(Bytes),
    Pong,
    Close,
}

/// A violation of the protocol by a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Violation {
    #[error("a websocket frame that breaks the protocol")]
    Protocol,
    #[error("a message over the limit of the connection")]
    TooLarge,
}

impl Violation {
    pub(crate) fn close_code(self) -> u16 {
        match self {
            Self::Protocol => 1002,
            Self::TooLarge => 1009,
        }
    }
}

/// Assembles frames to messages.
#[derive(Debug, Default)]
pub(crate) struct MessageAssembler {
    /// Bytes that were read and not parsed.
    buffer: BytesMut,
    /// The header and length of the frame whose payload is incomplete.
    header: Option<(FrameHeader, usize)>,
    /// The beginning of a message of several frames.
    begun: Option<(Data, BytesMut)>,
}

impl MessageAssembler {
    /// An assembler with bytes that were read before.
    pub(crate) fn with(bytes: &[u8]) -> Self {
        Self { buffer: bytes.into(), ..Self::default() }
    }

    /// The bytes that were read of messages that are not complete.
    pub(crate) fn held(&self) -> usize {
        self.buffer.len() + self.begun.as_ref().map_or(0, |(_, beginning)| beginning.len())
    }

    /// The memory for what was read and for the next read.
    pub(crate) fn wanted(&self, chunk: usize) -> usize {
        let missing = self.header.as_ref().map_or(0, |(_, length)| length.saturating_sub(self.buffer.len()));
        let next = missing.min(self.buffer.len().max(chunk));
        // Of a message of several frames, another one is expected.
        self.held() + if self.begun.is_some() { next.max(chunk) } else { next }
    }

    /// Whether the next bytes may be a control frame: these pass between the frames of a message.
    pub(crate) fn may_be_control(&self) -> bool {
        self.header.is_none() && self.buffer.first().is_none_or(|first| first & 0x08 != 0)
    }

    /// Adds bytes that were read.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.buffer.is_empty() {
            // A new buffer: the messages share the old one.
            self.buffer = bytes.into();
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The buffer to read a large frame into directly, where more than `chunk` bytes of it are missing.
    pub(crate) fn large(&mut self, chunk: usize) -> Option<&mut BytesMut> {
        let missing = self.header.as_ref()?.1.checked_sub(self.buffer.len())?;
        if missing <= chunk {
            return None;
        }
        // Grows with the bytes that arrived, not with the announced size, which costs a client nothing.
        if self.buffer.capacity() == self.buffer.len() {
            self.buffer.reserve(missing.min(self.buffer.len().max(chunk)));
        }
        Some(&mut self.buffer)
    }

    /// The next complete message.
    pub(crate) fn next(&mut self, max_message: usize) -> Result<Option<Message>, Violation> {
        loop {
            let Some((opcode, is_final, payload)) = self.frame(max_message)? else { return Ok(None) };
            match opcode {
                OpCode::Control(Control::Close) => return Ok(Some(Message::Close)),
                OpCode::Control(Control::Ping) => return Ok(Some(Message::Ping(payload.freeze()))),
                OpCode::Control(_) => return Ok(Some(Message::Pong)),
                OpCode::Data(Data::Continue) => {
                    let (kind, mut message) = self.begun.take().ok_or(Violation::Protocol)?;
                    message.unsplit(payload);
                    if is_final {
                        return Ok(Some(complete(kind, message.freeze())));
                    }
                    self.begun = Some((kind, message));
                }
                OpCode::Data(_) if self.begun.is_some() => return Err(Violation::Protocol),
                OpCode::Data(kind) if is_final => return Ok(Some(complete(kind, payload.freeze()))),
                OpCode::Data(kind) => self.begun = Some((kind, payload)),
            }
        }
    }

    /// The next complete frame.
    fn frame(&mut self, max_message: usize) -> Result<Option<(OpCode, bool, BytesMut)>, Violation> {
        if self.header.is_none() {
            let mut cursor = Cursor::new(&self.buffer[..]);
            let parsed = FrameHeader::parse(&mut cursor).map_err(|_| Violation::Protocol)?;
            let Some((header, length)) = parsed else { return Ok(None) };
            let read = cursor.position() as usize;
            let length = self.check(&header, length, max_message)?;
            drop(self.buffer.split_to(read));
            self.header = Some((header, length));
        }
        if self.header.as_ref().is_some_and(|(_, length)| self.buffer.len() < *length) {
            return Ok(None);
        }
        let Some((header, length)) = self.header.take() else { return Ok(None) };
        let mut payload = self.buffer.split_to(length);
        if self.buffer.is_empty() {
            // No memory is held between messages.
            self.buffer = BytesMut::new();
        }
        unmask(&mut payload, header.mask.ok_or(Violation::Protocol)?);
        Ok(Some((header.opcode, header.is_final, payload)))
    }

    fn check(&self, header: &FrameHeader, length: u64, max_message: usize) -> Result<usize, Violation> {
        let reserved = header.rsv1 || header.rsv2 || header.rsv3;
        let is_control = matches!(header.opcode, OpCode::Control(_));
        if reserved || header.mask.is_none() || (is_control && (!header.is_final || length > MAX_CONTROL)) {
            return Err(Violation::Protocol);
        }
        let begun = if is_control { 0 } else { self.begun.as_ref().map_or(0, |(_, message)| message.len()) };
        usize::try_from(length)
            .ok()
            .filter(|length| {
                length.checked_add(begun).is_some_and(|total| total <= max_message.max(MAX_CONTROL as usize))
            })
            .ok_or(Violation::TooLarge)
    }
}

fn complete(kind: Data, payload: Bytes) -> Message {
    match kind {
        Data::Text => Message::Text(payload),
        _ => Message::Binary(payload),
    }
}

fn unmask(payload: &mut [u8], mask: [u8; 4]) {
    let wide = u64::from_ne_bytes([mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3]]);
    let (words, rest) = payload.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
    }
}

/// Writes the header of a frame to a client.
pub(crate) fn header(opcode: OpCode, length: usize, out: &mut Vec<u8>) {
    let header = FrameHeader { opcode, ..FrameHeader::default() };
    header.format(length as u64, out).expect("a Vec takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tungstenite::protocol::frame::Frame;

    const TEXT: OpCode = OpCode::Data(Data::Text);

    /// A frame as a client sends it.
    fn client(opcode: OpCode, payload: &[u8], is_final: bool) -> Vec<u8> {
        let header = FrameHeader { opcode, is_final, mask: Some([7, 0, 255, 42]), ..FrameHeader::default() };
        let mut bytes = Vec::new();
        Frame::from_payload(header, payload.to_vec().into()).format(&mut bytes).unwrap();
        bytes
    }

    fn all(bytes: &[u8], step: usize, max: usize) -> Result<Vec<Message>, Violation> {
        let mut assembler = MessageAssembler::default();
        let mut messages = Vec::new();
        for chunk in bytes.chunks(step.max(1)) {
            assembler.push(chunk);
            while let Some(message) = assembler.next(max)? {
                messages.push(message);
            }
        }
        Ok(messages)
    }

    proptest! {
        /// Whatever a foreign implementation frames comes out as it went in, however it is cut.
        #[test]
        fn messages_survive(
            messages in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..300), 1usize..4), 0..6),
            step in 1usize..400,
        ) {
            let mut bytes = Vec::new();
            let mut expected = Vec::new();
            for (is_text, payload, pieces) in &messages {
                let kind = if *is_text { Data::Text } else { Data::Binary };
                let parts: Vec<&[u8]> = payload.chunks(payload.len().div_ceil(*pieces).max(1)).collect();
                if parts.is_empty() {
                    bytes.extend(client(OpCode::Data(kind), &[], true));
                }
                for (i, part) in parts.iter().enumerate() {
                    let opcode = OpCode::Data(if i == 0 { kind } else { Data::Continue });
                    bytes.extend(client(opcode, part, i + 1 == parts.len()));
                    // Control frames may come between the pieces.
                    bytes.extend(client(OpCode::Control(Control::Pong), b"x", true));
                }
                expected.push(complete(kind, payload.clone().into()));
            }
            let mut got = all(&bytes, step, 1 << 20).unwrap();
            got.retain(|m| *m != Message::Pong);
            prop_assert_eq!(got, expected);
        }

        /// Nothing that is thrown at it does more than fail.
        #[test]
        fn noise_is_survived(bytes in proptest::collection::vec(any::<u8>(), 0..600), step in 1usize..50) {
            let _ = all(&bytes, step, 1000);
        }
    }

    #[test]
    fn what_breaks_the_protocol_is_refused() {
        let mut unmasked = Vec::new();
        Frame::message("x", TEXT, true).format(&mut unmasked).unwrap();
        let reserved: Vec<u8> =
            client(TEXT, b"x", true).iter().enumerate().map(|(i, b)| if i == 0 { b | 0x40 } else { *b }).collect();
        let interrupted = [client(TEXT, b"a", false), client(TEXT, b"b", true)].concat();
        let long_control = client(OpCode::Control(Control::Ping), &[0; 126], true);
        let cut_control = client(OpCode::Control(Control::Ping), b"", false);
        let orphan = client(OpCode::Data(Data::Continue), b"x", true);
        let unknown = [0x83, 0x80, 0, 0, 0, 0];
        for bytes in [&unmasked[..], &reserved, &interrupted, &long_control, &cut_control, &orphan, &unknown] {
            assert_eq!(all(bytes, 1, 1000), Err(Violation::Protocol), "{bytes:?}");
        }
    }

    #[test]
    fn size_is_judged_by_the_announcement_and_over_all_frames_of_a_message() {
        let announced = [0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
        assert_eq!(all(&announced, 1, 1000), Err(Violation::TooLarge));
        let split =
            [client(TEXT, &[b'a'; 600], false), client(OpCode::Data(Data::Continue), &[b'a'; 600], true)].concat();
        assert_eq!(all(&split, 64, 1000), Err(Violation::TooLarge));
        assert_eq!(all(&split, 64, 1200).map(|m| m.len()), Ok(1));
    }

    #[test]
    fn nothing_is_held_between_messages_and_announcements_cost_nothing() {
        let mut assembler = MessageAssembler::default();
        assembler.push(&client(TEXT, &[b'a'; 5000], true));
        assert!(assembler.next(1 << 20).unwrap().is_some());
        assert_eq!(assembler.buffer.capacity(), 0);

        let frame = client(TEXT, &vec![b'a'; 16 << 20], true);
        assembler.push(&frame[..20]);
        assert_eq!(assembler.next(32 << 20), Ok(None));
        let room = assembler.large(64 << 10).unwrap();
        assert!(room.capacity() <= 80 << 10, "{}", room.capacity());
    }
}
