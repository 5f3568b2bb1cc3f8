//! Assembles the websocket frames of a client to messages. Pure: bytes in, messages out.
//!
//! `tungstenite` reads the headers. This module adds what it offers only with a buffer per connection: between messages
//! no memory is held, and a message is a slice of the bytes that were read.

use std::io::Cursor;

use bytes::{Bytes, BytesMut};
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

/// The beginning that is kept of a message over the limit.
const BEGINNING: usize = 4 << 10;

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
    /// A message over the limit: its beginning and its size. The rest was dropped as it arrived.
    Oversized {
        is_text: bool,
        beginning: Bytes,
        size: usize,
    },
}

/// The sizes of messages that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageSizes {
    /// The largest message that is kept.
    pub(crate) kept: usize,
    /// The largest message that is dropped as it arrives, so that the client can be answered; larger ones violate the
    /// protocol.
    pub(crate) dropped: usize,
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
    /// The message over the limit that is being dropped.
    dropping: Option<DroppedMessage>,
}

/// A message over the limit.
#[derive(Debug)]
struct DroppedMessage {
    kind: Data,
    beginning: BytesMut,
    /// Its size so far, the present frame included.
    size: usize,
    /// The bytes of the present frame that have not arrived.
    missing: usize,
    is_final: bool,
    mask: [u8; 4],
}

impl DroppedMessage {
    /// Drops the bytes of the present frame that have arrived.
    fn drop_from(&mut self, buffer: &mut BytesMut) {
        let mut bytes = buffer.split_to(self.missing.min(buffer.len()));
        self.missing -= bytes.len();
        let kept = bytes.len().min(BEGINNING.saturating_sub(self.beginning.len()));
        if kept > 0 {
            unmask(&mut bytes[..kept], self.mask);
            self.beginning.extend_from_slice(&bytes[..kept]);
        }
        // The mask goes round in four steps, wherever a read ends.
        self.mask.rotate_left(bytes.len() % 4);
    }
}

impl MessageAssembler {
    /// An assembler with bytes that were read before.
    pub(crate) fn with(bytes: &[u8]) -> Self {
        Self { buffer: bytes.into(), ..Self::default() }
    }

    /// The bytes that were read of messages that are not complete.
    pub(crate) fn held(&self) -> usize {
        let dropping = self.dropping.as_ref().map_or(0, |dropped| dropped.beginning.len());
        self.buffer.len() + self.begun.as_ref().map_or(0, |(_, beginning)| beginning.len()) + dropping
    }

    /// The bytes that have arrived of messages that are not complete.
    pub(crate) fn arrived(&self) -> usize {
        self.held() + self.dropping.as_ref().map_or(0, |dropped| dropped.size - dropped.missing)
    }

    /// The bytes that the next message is made of, as far as they have arrived.
    pub(crate) fn ready(&self) -> usize {
        match &self.header {
            Some((_, length)) if self.buffer.len() < *length => 0,
            Some((_, length)) => length + self.begun.as_ref().map_or(0, |(_, beginning)| beginning.len()),
            None => self.buffer.len(),
        }
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
        let is_between = self.header.is_none() && self.dropping.as_ref().is_none_or(|dropped| dropped.missing == 0);
        is_between && self.buffer.first().is_none_or(|first| first & 0x08 != 0)
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
    pub(crate) fn next(&mut self, limits: MessageSizes) -> Result<Option<Message>, Violation> {
        loop {
            if let Some(dropped) = &mut self.dropping {
                dropped.drop_from(&mut self.buffer);
                if dropped.missing > 0 {
                    // No memory is held for what is dropped.
                    self.buffer = BytesMut::new();
                    return Ok(None);
                }
                if dropped.is_final {
                    return Ok(self.dropping.take().map(oversized));
                }
            }
            let Some((opcode, is_final, payload)) = self.frame(limits)? else {
                // A frame that has to be dropped has begun; otherwise more is to come.
                if self.dropping.as_ref().is_some_and(|dropped| dropped.missing > 0 || dropped.is_final) {
                    continue;
                }
                return Ok(None);
            };
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
    fn frame(&mut self, limits: MessageSizes) -> Result<Option<(OpCode, bool, BytesMut)>, Violation> {
        if self.header.is_none() {
            let mut cursor = Cursor::new(&self.buffer[..]);
            let parsed = FrameHeader::parse(&mut cursor).map_err(|_| Violation::Protocol)?;
            let Some((header, length)) = parsed else { return Ok(None) };
            let read = cursor.position() as usize;
            let (length, is_kept) = self.check(&header, length, limits)?;
            drop(self.buffer.split_to(read));
            if !is_kept {
                self.begin_dropping(&header, length)?;
                return Ok(None);
            }
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

    /// Drops a frame, and all of its message.
    fn begin_dropping(&mut self, header: &FrameHeader, length: usize) -> Result<(), Violation> {
        let OpCode::Data(kind) = header.opcode else { return Err(Violation::Protocol) };
        let mask = header.mask.ok_or(Violation::Protocol)?;
        let (kind, beginning, size) = match (kind, self.begun.take(), self.dropping.take()) {
            (Data::Continue, Some((kind, mut begun)), None) => {
                let size = begun.len();
                begun.truncate(BEGINNING);
                (kind, BytesMut::from(&begun[..]), size)
            }
            (Data::Continue, None, Some(dropped)) => (dropped.kind, dropped.beginning, dropped.size),
            (Data::Text | Data::Binary, None, None) => (kind, BytesMut::new(), 0),
            _ => return Err(Violation::Protocol),
        };
        let (size, is_final) = (size + length, header.is_final);
        self.dropping = Some(DroppedMessage { kind, beginning, size, missing: length, is_final, mask });
        Ok(())
    }

    /// The length of a frame, and whether it is kept.
    fn check(&self, header: &FrameHeader, length: u64, limits: MessageSizes) -> Result<(usize, bool), Violation> {
        let reserved = header.rsv1 || header.rsv2 || header.rsv3;
        let is_control = matches!(header.opcode, OpCode::Control(_));
        if reserved || header.mask.is_none() || (is_control && (!header.is_final || length > MAX_CONTROL)) {
            return Err(Violation::Protocol);
        }
        if is_control {
            return Ok((length as usize, true));
        }
        let begun = self.begun.as_ref().map_or(0, |(_, message)| message.len());
        let dropped = self.dropping.as_ref().map_or(0, |dropped| dropped.size);
        let length = usize::try_from(length).map_err(|_| Violation::TooLarge)?;
        let total = length.checked_add(begun + dropped).ok_or(Violation::TooLarge)?;
        let is_kept = self.dropping.is_none() && total <= limits.kept.max(MAX_CONTROL as usize);
        if is_kept || total <= limits.dropped { Ok((length, is_kept)) } else { Err(Violation::TooLarge) }
    }
}

fn complete(kind: Data, payload: Bytes) -> Message {
    match kind {
        Data::Text => Message::Text(payload),
        _ => Message::Binary(payload),
    }
}

fn oversized(dropped: DroppedMessage) -> Message {
    let is_text = dropped.kind == Data::Text;
    Message::Oversized { is_text, beginning: dropped.beginning.freeze(), size: dropped.size }
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
            while let Some(message) = assembler.next(MessageSizes { kept: max, dropped: 4 * max })? {
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
        assert_eq!(all(&split, 64, 200), Err(Violation::TooLarge));
        assert_eq!(all(&split, 64, 1200).map(|m| m.len()), Ok(1));
    }

    #[test]
    fn of_a_message_over_the_limit_only_the_beginning_is_kept() {
        let continued = OpCode::Data(Data::Continue);
        let text: Vec<u8> = (0..20_000).map(|n| b'a' + (n % 26) as u8).collect();
        let pong = client(OpCode::Control(Control::Pong), b"", true);
        for frames in [
            client(TEXT, &text, true),
            [client(TEXT, &text[..10], false), pong.clone(), client(continued, &text[10..], true)].concat(),
            [
                client(TEXT, &text[..15_000], false),
                pong,
                client(continued, &text[15_000..], false),
                client(continued, b"", true),
            ]
            .concat(),
        ] {
            let bytes = [frames, client(TEXT, b"next", true)].concat();
            for step in [1, 7, 64, 5000, usize::MAX] {
                let mut messages = all(&bytes, step.min(bytes.len()), 10_000).unwrap();
                messages.retain(|message| *message != Message::Pong);
                let beginning = Bytes::copy_from_slice(&text[..BEGINNING]);
                let dropped = Message::Oversized { is_text: true, beginning, size: text.len() };
                assert_eq!(messages, [dropped, Message::Text(Bytes::from_static(b"next"))], "in pieces of {step}");
            }
        }
    }

    #[test]
    fn a_message_that_is_dropped_takes_no_memory() {
        let limits = MessageSizes { kept: 1000, dropped: 64 << 20 };
        let frame = client(TEXT, &vec![b'a'; 16 << 20], true);
        let mut assembler = MessageAssembler::default();
        for piece in frame.chunks(64 << 10) {
            assert!(assembler.large(1000).is_none());
            assembler.push(piece);
            let message = assembler.next(limits).unwrap();
            assert!(assembler.held() <= BEGINNING && assembler.buffer.capacity() == 0, "{message:?}");
        }
        assert_eq!(assembler.arrived(), 0);
    }

    #[test]
    fn nothing_is_held_between_messages_and_announcements_cost_nothing() {
        let mut assembler = MessageAssembler::default();
        assembler.push(&client(TEXT, &[b'a'; 5000], true));
        let limits = MessageSizes { kept: 32 << 20, dropped: 32 << 20 };
        assert!(assembler.next(limits).unwrap().is_some());
        assert_eq!(assembler.buffer.capacity(), 0);

        let frame = client(TEXT, &vec![b'a'; 16 << 20], true);
        assembler.push(&frame[..20]);
        assert_eq!(assembler.next(limits), Ok(None));
        let room = assembler.large(64 << 10).unwrap();
        assert!(room.capacity() <= 80 << 10, "{}", room.capacity());
    }
}
