//! Entry points for the fuzzer: every parser between the bytes of a connection and the handler.

use bytes::{BufMut as _, Bytes};

use crate::message_assembler::{Message, MessageAssembler, MessageSizes, Violation};
use crate::packet::{self, ClientPacket, ClientPacketError};

/// Reads frames in pieces of `step` bytes; the result must not depend on the size of the pieces.
pub fn websocket(bytes: &[u8], step: usize, max_message: usize) {
    let whole = messages(bytes, bytes.len(), max_message);
    let pieces = messages(bytes, step, max_message);
    assert_eq!(whole, pieces, "in pieces of {step}");
    let total: usize = whole.0.iter().map(Message::len).sum();
    assert!(total <= bytes.len(), "more came out than went in");
    for message in whole.0 {
        if let Message::Text(text) = message {
            let _ = packet::parse(&text);
        }
    }
    // Bytes that were read together with the handshake come first.
    let mut assembler = MessageAssembler::with(&bytes[..step.min(bytes.len())]);
    while let Ok(Some(_)) = assembler.next(limits(max_message)) {}
}

fn limits(max_message: usize) -> MessageSizes {
    MessageSizes { kept: max_message, dropped: max_message.saturating_mul(4) }
}

fn messages(bytes: &[u8], step: usize, max_message: usize) -> (Vec<Message>, Option<Violation>) {
    let mut assembler = MessageAssembler::default();
    let mut messages = Vec::new();
    for piece in bytes.chunks(step.max(1)) {
        match assembler.large(step.max(1)) {
            Some(room) => room.put_slice(piece),
            None => assembler.push(piece),
        }
        loop {
            match assembler.next(limits(max_message)) {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(violation) => return (messages, Some(violation)),
            }
        }
    }
    (messages, None)
}

/// Decodes a polling payload: as many packets as separators allow, none longer than its text.
pub fn payload(bytes: &[u8]) {
    let payload = Bytes::copy_from_slice(bytes);
    let packets: Vec<Result<ClientPacket, ClientPacketError>> = packet::decode_payload(&payload).collect();
    assert_eq!(packets.len(), bytes.iter().filter(|byte| **byte == 0x1e).count() + 1);
    let length = |packet: &Result<ClientPacket, ClientPacketError>| match packet {
        Ok(ClientPacket::Text(text)) => text.len(),
        Ok(ClientPacket::Binary(data)) => data.len(),
        _ => 0,
    };
    assert!(packets.iter().map(length).sum::<usize>() <= bytes.len());
}

impl Message {
    fn len(&self) -> usize {
        match self {
            Self::Text(bytes) | Self::Binary(bytes) | Self::Ping(bytes) => bytes.len(),
            Self::Oversized { beginning, .. } => beginning.len(),
            Self::Pong | Self::Close => 0,
        }
    }
}
