//! The bytes that wait to be written to a websocket: small pieces are joined, large ones kept as they are.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::mem;

use bytes::{Buf as _, Bytes};
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use crate::message_assembler::header;
use crate::packet::{LARGE, OutgoingMessage, QueuedPacket, SharedMessage};

/// The number of pieces in one write.
const SLICES: usize = 16;

/// Encoded frames that wait to be written.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    pieces: VecDeque<Piece>,
    /// The last piece, to which small data is added.
    tail: Vec<u8>,
    /// The written part of the tail, while the tail is the only piece.
    written: usize,
    bytes: usize,
    /// The bytes that other backlogs hold as well.
    shared: usize,
}

#[derive(Debug)]
struct Piece {
    bytes: Bytes,
    is_shared: bool,
}

impl Backlog {
    /// The frames of a message.
    pub(crate) fn encode(message: OutgoingMessage) -> Vec<Bytes> {
        let mut backlog = Self::default();
        backlog.push_message(message);
        backlog.seal();
        backlog.pieces.into_iter().map(|piece| piece.bytes).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// The bytes that only this backlog holds.
    pub(crate) fn own_len(&self) -> usize {
        self.bytes - self.shared
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub(crate) fn push(&mut self, packet: QueuedPacket) {
        match packet {
            QueuedPacket::Message(message) => self.push_message(message),
            QueuedPacket::Shared(shared) => self.push_shared(&shared),
            QueuedPacket::Attachments(attachments) => attachments.into_iter().for_each(|a| self.push_attachment(a)),
            QueuedPacket::Ping => self.push_frame(OpCode::Data(Data::Text), b"2"),
            QueuedPacket::Close => self.push_frame(OpCode::Data(Data::Text), b"1"),
        }
    }

    fn push_message(&mut self, message: OutgoingMessage) {
        let length = 1 + message.head.len() + message.body.len();
        self.begin(OpCode::Data(Data::Text), length);
        self.copy(b"4");
        self.copy(message.head.as_bytes());
        self.append(message.body);
        message.attachments.into_iter().for_each(|attachment| self.push_attachment(attachment));
    }

    fn push_shared(&mut self, shared: &SharedMessage) {
        self.seal();
        for bytes in shared.frames() {
            self.bytes += bytes.len();
            self.shared += bytes.len();
            self.pieces.push_back(Piece { bytes: bytes.clone(), is_shared: true });
        }
    }

    fn push_attachment(&mut self, attachment: Bytes) {
        self.begin(OpCode::Data(Data::Binary), attachment.len());
        self.append(attachment);
    }

    /// Queues a small frame.
    pub(crate) fn push_frame(&mut self, opcode: OpCode, payload: &[u8]) {
        self.begin(opcode, payload.len());
        self.copy(payload);
    }

    /// Queues the close frame of a websocket.
    pub(crate) fn push_close(&mut self, code: u16) {
        self.push_frame(OpCode::Control(Control::Close), &code.to_be_bytes());
    }

    fn begin(&mut self, opcode: OpCode, length: usize) {
        let before = self.tail.len();
        header(opcode, length, &mut self.tail);
        self.bytes += self.tail.len() - before;
    }

    fn copy(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        self.bytes += bytes.len();
    }

    fn append(&mut self, bytes: Bytes) {
        if bytes.len() < LARGE {
            return self.copy(&bytes);
        }
        self.seal();
        self.bytes += bytes.len();
        self.pieces.push_back(Piece { bytes, is_shared: false });
    }

    fn seal(&mut self) {
        if self.tail.len() > self.written {
            let mut bytes = Bytes::from(mem::take(&mut self.tail));
            bytes.advance(mem::take(&mut self.written));
            self.pieces.push_back(Piece { bytes, is_shared: false });
        }
    }

    /// Passes the next pieces to `write`, and removes as much as it took.
    pub(crate) fn write_with<R>(&mut self, write: impl FnOnce(&[IoSlice<'_>]) -> (R, usize)) -> R {
        let mut slices = [IoSlice::new(&[]); SLICES];
        let mut count = 0;
        let rest = &self.tail[self.written..];
        for bytes in self.pieces.iter().map(|piece| &piece.bytes[..]).chain([rest]).take(SLICES) {
            slices[count] = IoSlice::new(bytes);
            count += 1;
        }
        let (outcome, taken) = write(&slices[..count]);
        self.forget(taken);
        outcome
    }

    fn forget(&mut self, mut taken: usize) {
        self.bytes -= taken;
        while let Some(piece) = self.pieces.front_mut()
            && taken > 0
        {
            let step = taken.min(piece.bytes.len());
            piece.bytes.advance(step);
            taken -= step;
            if piece.is_shared {
                self.shared -= step;
            }
            if piece.bytes.is_empty() {
                self.pieces.pop_front();
            }
        }
        self.written += taken;
        if self.written == self.tail.len() {
            self.written = 0;
            self.tail.clear();
            // An idle connection holds no memory.
            self.tail.shrink_to(0);
            self.pieces.shrink_to(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain(backlog: &mut Backlog, step: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while !backlog.is_empty() {
            backlog.write_with(|slices| {
                let mut taken = 0;
                for slice in slices {
                    let n = slice.len().min(step - taken);
                    out.extend_from_slice(&slice[..n]);
                    taken += n;
                }
                ((), taken)
            });
        }
        out
    }

    proptest! {
        /// All queued bytes come out once and in order, for writes of any size, also when more is queued in between.
        #[test]
        fn nothing_is_lost_or_doubled(sizes in proptest::collection::vec(0usize..40_000, 0..20), step in 1usize..20_000) {
            let message = |size: usize| QueuedPacket::Message(OutgoingMessage { head: "2".into(), body: vec![b'x'; size].into(), attachments: vec![] });
            let mut whole = Backlog::default();
            let mut pieces = Backlog::default();
            let mut got = Vec::new();
            for size in &sizes {
                whole.push(message(*size));
                pieces.push(message(*size));
                let before = pieces.len();
                pieces.write_with(|slices| {
                    let n = slices.first().map_or(0, |s| s.len().min(step));
                    got.extend_from_slice(slices.first().map_or(&[][..], |s| &s[..n]));
                    ((), n)
                });
                prop_assert!(pieces.len() <= before);
            }
            got.extend(drain(&mut pieces, step));
            prop_assert_eq!(got, drain(&mut whole, usize::MAX));
            prop_assert_eq!(pieces.len(), 0);
        }
    }

    #[test]
    fn an_empty_backlog_holds_no_memory() {
        let mut backlog = Backlog::default();
        backlog.push(QueuedPacket::Message(OutgoingMessage::text(vec![b'x'; 100_000])));
        backlog.push(QueuedPacket::Ping);
        drain(&mut backlog, 7);
        assert_eq!((backlog.tail.capacity(), backlog.pieces.capacity()), (0, 0));
    }
}
