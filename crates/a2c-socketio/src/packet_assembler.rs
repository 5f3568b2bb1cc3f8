//! From frames to packets: a packet with attachments is complete only when the last binary
//! frame that its header announced has arrived.
//!
//! MessageLimits are checked on the header, before anything is reserved for what a server announces.

use a2c_socketio_frame::{PacketFrame, PacketKind};
use bytes::Bytes;
use serde_json::value::RawValue;

use crate::error::DisconnectReason;
use crate::packet::{PacketError, ack_args, connect_data, event_args};
use crate::payload::Payload;

/// A complete packet for this client's namespace.
#[derive(Debug)]
pub(crate) enum CompletePacket {
    Connect(Option<Box<RawValue>>),
    ConnectError(Option<Box<RawValue>>),
    Disconnect,
    Event { name: String, id: Option<u64>, payload: Payload },
    Ack { id: u64, payload: Payload },
}

/// What foreign bytes may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageLimits {
    /// Bytes of one message, and of all attachments of one packet together.
    pub(crate) message: usize,
    /// Attachments of one packet.
    pub(crate) attachments: usize,
}

/// Collects the frames of one link.
#[derive(Debug)]
pub(crate) struct PacketAssembler {
    namespace: String,
    limits: MessageLimits,
    pending: Option<PendingPacket>,
}

#[derive(Debug)]
struct PendingPacket {
    /// `None` for another namespace: its attachments are taken off the wire and dropped.
    head: Option<PacketHead>,
    missing: usize,
    bytes: usize,
    attachments: Vec<Bytes>,
}

#[derive(Debug)]
enum PacketHead {
    Event(String, Option<u64>, Vec<Box<RawValue>>),
    Ack(u64, Vec<Box<RawValue>>),
}

impl PacketHead {
    fn complete(self, attachments: Vec<Bytes>) -> CompletePacket {
        match self {
            PacketHead::Event(name, id, args) => {
                CompletePacket::Event { name, id, payload: Payload::from_raw(args, attachments) }
            }
            PacketHead::Ack(id, args) => CompletePacket::Ack { id, payload: Payload::from_raw(args, attachments) },
        }
    }
}

impl PacketAssembler {
    pub(crate) fn new(namespace: String, limits: MessageLimits) -> Self {
        PacketAssembler { namespace, limits, pending: None }
    }

    /// Takes a text message (without its Engine.IO type).
    pub(crate) fn text(&mut self, text: &str) -> Result<Option<CompletePacket>, DisconnectReason> {
        if self.pending.is_some() {
            return Err(DisconnectReason::Protocol(
                "a packet began before the attachments of the last one had arrived".into(),
            ));
        }
        let frame = PacketFrame::parse(text).map_err(PacketError::from)?;
        if frame.attachments > self.limits.attachments {
            return Err(DisconnectReason::Limit {
                what: "a packet with a number of attachments",
                limit: self.limits.attachments,
            });
        }
        let ours = frame.namespace == self.namespace;
        let head = match frame.kind {
            _ if !ours => None,
            PacketKind::Connect => return Ok(Some(CompletePacket::Connect(connect_data(frame.body)?))),
            PacketKind::ConnectError => {
                return Ok(Some(CompletePacket::ConnectError(connect_data(frame.body)?)));
            }
            PacketKind::Disconnect => return Ok(Some(CompletePacket::Disconnect)),
            PacketKind::Event => {
                let (name, args) = event_args(frame.body)?;
                Some(PacketHead::Event(name, frame.id, args))
            }
            PacketKind::Ack => {
                let id = frame.id.ok_or(PacketError::MissingAckId)?;
                Some(PacketHead::Ack(id, ack_args(frame.body)?))
            }
        };
        if frame.attachments == 0 {
            return Ok(head.map(|head| head.complete(Vec::new())));
        }
        self.pending = Some(PendingPacket { head, missing: frame.attachments, bytes: 0, attachments: Vec::new() });
        Ok(None)
    }

    /// Takes a binary frame.
    pub(crate) fn binary(&mut self, bytes: Bytes) -> Result<Option<CompletePacket>, DisconnectReason> {
        let Some(mut pending) = self.pending.take() else {
            return Err(DisconnectReason::Protocol("a binary frame that no packet announced".into()));
        };
        pending.missing -= 1;
        pending.bytes = pending.bytes.saturating_add(bytes.len());
        if pending.bytes > self.limits.message {
            return Err(DisconnectReason::Limit { what: "attachments with a total size", limit: self.limits.message });
        }
        if pending.head.is_some() {
            pending.attachments.push(bytes);
        }
        if pending.missing > 0 {
            self.pending = Some(pending);
            return Ok(None);
        }
        Ok(pending.head.map(|head| head.complete(pending.attachments)))
    }
}

impl From<PacketError> for DisconnectReason {
    fn from(error: PacketError) -> Self {
        DisconnectReason::Protocol(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: MessageLimits = MessageLimits { message: 10, attachments: 3 };

    fn assembler() -> PacketAssembler {
        PacketAssembler::new("/a".into(), LIMITS)
    }

    #[test]
    fn an_event_waits_for_its_attachments() {
        let mut assembler = assembler();
        assert!(assembler.text(r#"52-/a,4["e",{},{}]"#).unwrap().is_none());
        assert!(assembler.binary(Bytes::from_static(b"1")).unwrap().is_none());
        match assembler.binary(Bytes::from_static(b"2")).unwrap() {
            Some(CompletePacket::Event { name, id, payload }) => {
                assert_eq!((name.as_str(), id, payload.len()), ("e", Some(4), 2));
                assert_eq!(payload.attachments(), ["1", "2"]);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn another_namespace_is_dropped_with_its_attachments() {
        let mut assembler = assembler();
        assert!(assembler.text(r#"51-/b,["e",{}]"#).unwrap().is_none());
        assert!(assembler.binary(Bytes::from_static(b"1")).unwrap().is_none());
        assert!(assembler.text(r#"2/a,["e"]"#).unwrap().is_some());
    }

    #[test]
    fn what_breaks_the_rules_ends_the_link() {
        let table: [(&[&str], &str); 7] = [
            (&["bin:1"], "no packet announced"),
            (&[r#"51-/a,["e"]"#, r#"2/a,["f"]"#], "before the attachments"),
            (&[r#"54-/a,["e"]"#], "number of attachments above the limit of 3"),
            (&[r#"52-/a,["e"]"#, "bin:123456", "bin:12345"], "total size above the limit of 10"),
            (&["3/a,[]"], "without a number"),
            (&["9"], "unknown packet type '9'"),
            (&["2/a,{}"], "not a JSON array"),
        ];
        for (frames, expected) in table {
            let mut assembler = assembler();
            let mut last = Ok(None);
            for frame in frames {
                assert!(matches!(last, Ok(None)), "{frames:?}: {last:?}");
                last = match frame.strip_prefix("bin:") {
                    Some(bytes) => assembler.binary(Bytes::copy_from_slice(bytes.as_bytes())),
                    None => assembler.text(frame),
                };
            }
            let message = last.unwrap_err().to_string();
            assert!(message.contains(expected), "{frames:?}: {message}");
        }
    }

    proptest! {
        #[test]
        fn no_sequence_of_frames_panics(
            frames in prop::collection::vec(("[0-7]{1,2}-?(/a,)?[0-9]?(\\[\"e\"\\])?", any::<bool>()), 0..8)
        ) {
            let mut assembler = assembler();
            for (frame, text) in frames {
                let taken = if text { assembler.text(&frame) } else { assembler.binary(frame.into()) };
                if taken.is_err() {
                    break;
                }
            }
        }
    }
}
