//! Engine.IO packets: outgoing messages, and the encoding and decoding of polling payloads. Pure.

use std::collections::VecDeque;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use tungstenite::Utf8Bytes;

/// The separator between packets of a polling payload.
const SEPARATOR: char = '\x1e';

/// The Python client refuses a polling payload with more packets than this.
const MAX_PACKETS: usize = 16;

/// Pieces of at least this size are queued without a copy. A smaller piece is copied: it may be a slice of a large read
/// and would keep all of it in memory while it waits.
pub(crate) const LARGE: usize = 16 << 10;

/// A text message in two parts, so that a large body is passed on without a copy, and the binary messages that follow it
/// directly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// The beginning of the text.
    pub head: String,
    /// The rest of the text, which is UTF-8.
    pub body: Bytes,
    /// The binary messages that follow.
    pub attachments: Vec<Bytes>,
}

impl OutgoingMessage {
    /// A text without attachments.
    pub fn text(text: impl Into<Bytes>) -> Self {
        Self { body: text.into(), ..Self::default() }
    }

    /// Copies small parts, so that they do not keep the memory of a whole read.
    pub(crate) fn detach(&mut self) {
        for part in [&mut self.body].into_iter().chain(&mut self.attachments) {
            if part.len() < LARGE {
                *part = Bytes::copy_from_slice(part);
            }
        }
    }

    /// The memory that the message takes while it waits.
    pub(crate) fn weight(&self) -> usize {
        // Includes the overhead of the queue, so that a million empty messages count.
        64 + self.head.len() + self.body.len() + self.attachments.iter().map(|a| 64 + a.len()).sum::<usize>()
    }
}

/// A message to many clients, encoded once: all queues refer to the same bytes.
#[derive(Clone)]
pub struct SharedMessage(Arc<SharedParts>);

struct SharedParts {
    message: OutgoingMessage,
    /// The frames of a websocket.
    frames: Vec<Bytes>,
    _guard: Arc<dyn Send + Sync>,
}

/// A piece of a shared message, which keeps its guard.
struct SharedPiece {
    bytes: Bytes,
    _guard: Arc<dyn Send + Sync>,
}

impl AsRef<[u8]> for SharedPiece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl SharedMessage {
    /// A message with its frames. The guard is dropped when no queue holds any of it.
    pub(crate) fn with_frames(message: OutgoingMessage, frames: Vec<Bytes>, guard: Arc<dyn Send + Sync>) -> Self {
        let piece = |bytes| Bytes::from_owner(SharedPiece { bytes, _guard: guard.clone() });
        let frames = frames.into_iter().map(piece).collect();
        Self(Arc::new(SharedParts { message, frames, _guard: guard }))
    }

    /// The message itself.
    pub fn message(&self) -> &OutgoingMessage {
        &self.0.message
    }

    pub(crate) fn frames(&self) -> &[Bytes] {
        &self.0.frames
    }
}

impl std::fmt::Debug for SharedMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SharedMessage").field(&self.0.message).finish()
    }
}

impl PartialEq for SharedMessage {
    fn eq(&self, other: &Self) -> bool {
        self.0.message == other.0.message
    }
}

impl Eq for SharedMessage {}

/// A packet that waits for a poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum QueuedPacket {
    Message(OutgoingMessage),
    Shared(SharedMessage),
    /// The attachments of a message whose beginning was sent.
    Attachments(VecDeque<Bytes>),
    Ping,
    Close,
}

impl QueuedPacket {
    /// The packet without references to a large read.
    pub(crate) fn detached(mut self) -> Self {
        if let Self::Message(message) = &mut self {
            message.detach();
        }
        self
    }

    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Message(message) => message.weight(),
            Self::Shared(shared) => shared.message().weight(),
            Self::Attachments(attachments) => attachments.iter().map(|a| 64 + a.len()).sum(),
            Self::Ping | Self::Close => 1,
        }
    }

    /// The part of the weight that only this queue holds.
    pub(crate) fn own_weight(&self) -> usize {
        if let Self::Shared(_) = self { 64 } else { self.weight() }
    }

    /// How many packets of a payload it makes. What follows a text may go out later.
    fn count(&self) -> usize {
        match self {
            Self::Message(message) => 1 + message.attachments.len(),
            Self::Shared(shared) => 1 + shared.message().attachments.len(),
            Self::Attachments(attachments) => attachments.len(),
            Self::Ping | Self::Close => 1,
        }
    }
}

/// Takes as many packets off the queue as one payload may hold; always at least one where there is one.
pub(crate) fn encode_payload(queue: &mut VecDeque<QueuedPacket>, max_bytes: usize) -> Vec<u8> {
    let mut payload = Vec::new();
    let mut room = MAX_PACKETS;
    while let Some(next) = queue.front() {
        let is_first = room == MAX_PACKETS;
        if !is_first && (next.count() > room || payload.len() + next.weight() * 4 / 3 > max_bytes) {
            break;
        }
        let Some(packet) = queue.pop_front() else { break };
        let rest = encode(&mut payload, packet, &mut room);
        if !rest.is_empty() {
            queue.push_front(QueuedPacket::Attachments(rest));
            break;
        }
    }
    payload
}

/// Encodes a packet; returns the attachments that did not fit.
fn encode(payload: &mut Vec<u8>, packet: QueuedPacket, room: &mut usize) -> VecDeque<Bytes> {
    let mut begin = |payload: &mut Vec<u8>, kind| {
        if *room < MAX_PACKETS {
            payload.push(SEPARATOR as u8);
        }
        *room = room.saturating_sub(1);
        payload.push(kind);
        *room
    };
    let text = |payload: &mut Vec<u8>, message: &OutgoingMessage| {
        payload.extend_from_slice(message.head.as_bytes());
        payload.extend_from_slice(&message.body);
    };
    let mut attachments = match packet {
        QueuedPacket::Ping => {
            begin(payload, b'2');
            return VecDeque::new();
        }
        QueuedPacket::Close => {
            begin(payload, b'1');
            return VecDeque::new();
        }
        QueuedPacket::Attachments(attachments) => attachments,
        QueuedPacket::Message(message) => {
            begin(payload, b'4');
            text(payload, &message);
            message.attachments.into()
        }
        QueuedPacket::Shared(shared) => {
            begin(payload, b'4');
            text(payload, shared.message());
            shared.message().attachments.clone().into()
        }
    };
    while let Some(attachment) = attachments.pop_front() {
        let room = begin(payload, b'b');
        payload.extend_from_slice(STANDARD.encode(&attachment).as_bytes());
        if room == 0 {
            break;
        }
    }
    attachments
}

/// A packet of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientPacket {
    Text(Utf8Bytes),
    Binary(Bytes),
    Close,
    /// The answer to a ping.
    Pong,
    /// `2probe`, the first packet on a websocket that takes over from polling.
    Probe,
    /// `5`, the last packet of that handshake.
    Upgrade,
}

/// Why a text is no packet of a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClientPacketError {
    #[error("an empty packet")]
    Empty,
    #[error("a packet of unknown type")]
    Type,
    #[error("text that is not UTF-8")]
    Utf8,
    #[error("binary that is not base64")]
    Base64,
}

/// Reads one packet of text. The text is checked for UTF-8 without its type, and only once.
pub(crate) fn parse(packet: &Bytes) -> Result<ClientPacket, ClientPacketError> {
    match (packet.first().ok_or(ClientPacketError::Empty)?, &packet[1..]) {
        (b'4', _) => {
            Utf8Bytes::try_from(packet.slice(1..)).map(ClientPacket::Text).map_err(|_| ClientPacketError::Utf8)
        }
        (b'1', _) => Ok(ClientPacket::Close),
        (b'2', b"probe") => Ok(ClientPacket::Probe),
        (b'2' | b'3', _) => Ok(ClientPacket::Pong),
        (b'5', _) => Ok(ClientPacket::Upgrade),
        _ => Err(ClientPacketError::Type),
    }
}

/// The packets of a polling payload, one after the other.
pub(crate) fn decode_payload(payload: &Bytes) -> impl Iterator<Item = Result<ClientPacket, ClientPacketError>> + '_ {
    payload.split(|byte| *byte == SEPARATOR as u8).map(|packet| match packet.split_first() {
        Some((b'b', encoded)) => STANDARD
            .decode(encoded)
            .map(|data| ClientPacket::Binary(data.into()))
            .map_err(|_| ClientPacketError::Base64),
        _ => parse(&payload.slice_ref(packet)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str, attachments: &[&'static [u8]]) -> QueuedPacket {
        let attachments = attachments.iter().map(|a| Bytes::from_static(a)).collect();
        QueuedPacket::Message(OutgoingMessage {
            head: text[..1].into(),
            body: text[1..].to_owned().into(),
            attachments,
        })
    }

    #[test]
    fn a_payload_holds_packets_in_order() {
        let mut queue = VecDeque::from([QueuedPacket::Ping, message("2[1]", &[]), message("51-[2]", &[b"\0\xff"])]);
        assert_eq!(encode_payload(&mut queue, 1 << 20), b"2\x1e42[1]\x1e451-[2]\x1ebAP8=");
        assert!(queue.is_empty());
        assert_eq!(encode_payload(&mut queue, 1 << 20), b"");
    }

    #[test]
    fn a_payload_is_bounded_by_packets_and_bytes_but_never_stuck() {
        let mut queue: VecDeque<_> = (0..40).map(|_| message("2[]", &[])).collect();
        let sizes: Vec<_> = (0..3).map(|_| encode_payload(&mut queue, 1 << 20).split(|b| *b == 0x1e).count()).collect();
        assert_eq!(sizes, [16, 16, 8]);

        let mut queue = VecDeque::from([message(&"x".repeat(5000), &[]), message("2[]", &[])]);
        assert_eq!(encode_payload(&mut queue, 1000).len(), 5001);
        assert_eq!(encode_payload(&mut queue, 1000), b"42[]");
    }

    #[test]
    fn a_message_with_many_attachments_takes_several_payloads() {
        let attachments = vec![Bytes::from_static(b"\0"); 40];
        let message =
            QueuedPacket::Message(OutgoingMessage { head: "x".into(), attachments, ..OutgoingMessage::default() });
        let mut queue = VecDeque::from([QueuedPacket::Ping, message, QueuedPacket::Ping]);
        let payloads: Vec<_> =
            std::iter::from_fn(|| (!queue.is_empty()).then(|| encode_payload(&mut queue, 1 << 20))).collect();
        let sizes: Vec<_> = payloads.iter().map(|payload| payload.split(|b| *b == 0x1e).count()).collect();
        assert_eq!(sizes, [1, 16, 16, 10]);
        let expected = ["2", "4x"].into_iter().chain(["bAA=="; 40]).chain(["2"]).collect::<Vec<_>>().join("\x1e");
        assert_eq!(payloads.join(&0x1e), expected.as_bytes());
    }

    #[test]
    fn a_waiting_packet_does_not_keep_the_memory_of_its_read() {
        let read = Bytes::from(vec![b'x'; 64 << 10]);
        let message = OutgoingMessage {
            body: read.slice(..10),
            attachments: vec![read.slice(10..20)],
            ..OutgoingMessage::default()
        };
        let waiting = QueuedPacket::Message(message.clone()).detached();
        assert_eq!(waiting, QueuedPacket::Message(message.clone()));
        drop(message);
        assert!(read.is_unique());
        let mut backlog = crate::backlog::Backlog::default();
        backlog.push(QueuedPacket::Message(OutgoingMessage::text(read.slice(..LARGE - 1))));
        assert!(read.is_unique());
    }

    #[test]
    fn a_payload_is_taken_apart() {
        let payload = Bytes::from_static(b"3\x1e42[\"a\"]\x1ebAP8=\x1e1\x1e2probe\x1e5");
        let packets: Result<Vec<_>, _> = decode_payload(&payload).collect();
        let text = ClientPacket::Text(Utf8Bytes::from_static("2[\"a\"]"));
        let binary = ClientPacket::Binary(Bytes::from_static(b"\0\xff"));
        let expected =
            [ClientPacket::Pong, text, binary, ClientPacket::Close, ClientPacket::Probe, ClientPacket::Upgrade];
        assert_eq!(packets.unwrap(), expected);
    }

    #[test]
    fn invalid_packets_are_refused() {
        let check = |payload: &'static [u8], expected| {
            let payload = Bytes::from_static(payload);
            assert_eq!(decode_payload(&payload).last(), Some(Err(expected)), "{payload:?}");
        };
        check(b"", ClientPacketError::Empty);
        check(b"42[]\x1e", ClientPacketError::Empty);
        check(b"9", ClientPacketError::Type);
        check(b"0{}", ClientPacketError::Type);
        check(b"4\xff\xfe", ClientPacketError::Utf8);
        check(b"b***", ClientPacketError::Base64);
    }
}
