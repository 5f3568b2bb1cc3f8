//! What packets carry: [`event_args`] and [`ack_args`] take the JSON array apart that a
//! [`PacketFrame`](a2c_socketio_frame::PacketFrame) has left alone; [`OutgoingPacket`] is a packet that is ready for a
//! transport. Pure functions on text.

use a2c_socketio_frame::PacketFrameError;
use bytes::Bytes;
use serde::Deserialize;
use serde::de::{SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::payload::Payload;

/// What makes a text not a packet.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PacketError {
    #[error(transparent)]
    Frame(#[from] PacketFrameError),
    #[error("an acknowledgement without a number")]
    MissingAckId,
    #[error("an event that is not a JSON array starting with a name")]
    Event,
    #[error("an acknowledgement that is not a JSON array")]
    Ack,
    #[error("a payload that is not JSON")]
    Json,
}

/// The name and the arguments of an event.
pub(crate) fn event_args(data: &str) -> Result<(String, Vec<Box<RawValue>>), PacketError> {
    struct EventParts(String, Vec<Box<RawValue>>);

    impl<'de> Deserialize<'de> for EventParts {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct PartsVisitor;
            impl<'de> Visitor<'de> for PartsVisitor {
                type Value = EventParts;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an array starting with an event name")
                }
                fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<EventParts, A::Error> {
                    let name =
                        seq.next_element::<String>()?.ok_or_else(|| serde::de::Error::invalid_length(0, &self))?;
                    let mut args = Vec::with_capacity(1);
                    while let Some(arg) = seq.next_element()? {
                        args.push(arg);
                    }
                    Ok(EventParts(name, args))
                }
            }
            deserializer.deserialize_seq(PartsVisitor)
        }
    }

    serde_json::from_str::<EventParts>(data).map(|EventParts(name, args)| (name, args)).map_err(|_| PacketError::Event)
}

/// The arguments of an acknowledgement.
pub(crate) fn ack_args(data: &str) -> Result<Vec<Box<RawValue>>, PacketError> {
    serde_json::from_str(data).map_err(|_| PacketError::Ack)
}

/// The payload of CONNECT and CONNECT_ERROR, which older servers leave out.
pub(crate) fn connect_data(data: &str) -> Result<Option<Box<RawValue>>, PacketError> {
    match data {
        "" => Ok(None),
        data => RawValue::from_string(data.to_owned()).map(Some).map_err(|_| PacketError::Json),
    }
}

/// A packet as a transport sends it: one text frame that already carries the Engine.IO type
/// `4`, then the attachments.
#[derive(Debug)]
pub(crate) struct OutgoingPacket {
    pub(crate) text: String,
    pub(crate) attachments: Vec<Bytes>,
    /// The number of the acknowledgement this packet asks for.
    pub(crate) awaits: Option<u64>,
}

impl OutgoingPacket {
    pub(crate) fn connect(namespace: &str, auth: Option<&RawValue>) -> Self {
        let data = auth.map_or("", RawValue::get);
        OutgoingPacket::control('0', namespace, data)
    }

    pub(crate) fn disconnect(namespace: &str) -> Self {
        OutgoingPacket::control('1', namespace, "")
    }

    fn control(kind: char, namespace: &str, data: &str) -> Self {
        let mut text = String::with_capacity(4 + namespace.len() + data.len());
        text.extend(['4', kind]);
        push_namespace(&mut text, namespace);
        text.push_str(data);
        OutgoingPacket { text, attachments: Vec::new(), awaits: None }
    }

    pub(crate) fn event(namespace: &str, id: Option<u64>, name: &str, payload: Payload) -> Self {
        let (args, attachments) = payload.into_parts();
        let mut text = opening('2', '5', namespace, &args, &attachments, name.len());
        if let Some(id) = id {
            text.push_str(&id.to_string());
        }
        text.push('[');
        text.push_str(&serde_json::to_string(name).expect("a string is valid JSON"));
        for arg in &args {
            text.push(',');
            text.push_str(arg.get());
        }
        text.push(']');
        OutgoingPacket { text, attachments, awaits: id }
    }

    pub(crate) fn ack(namespace: &str, id: u64, payload: Payload) -> Self {
        let (args, attachments) = payload.into_parts();
        let mut text = opening('3', '6', namespace, &args, &attachments, 0);
        text.push_str(&id.to_string());
        text.push('[');
        for (index, arg) in args.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(arg.get());
        }
        text.push(']');
        OutgoingPacket { text, attachments, awaits: None }
    }

    /// Bytes of the largest frame; `size` says what a binary frame takes on the transport.
    pub(crate) fn largest_frame(&self, size: impl Fn(usize) -> usize) -> usize {
        let attachments = self.attachments.iter().map(|bytes| size(bytes.len()));
        attachments.max().unwrap_or(0).max(self.text.len())
    }
}

/// Everything before the acknowledgement number, with room for the rest.
fn opening(
    plain: char,
    binary: char,
    namespace: &str,
    args: &[Box<RawValue>],
    attachments: &[Bytes],
    name_len: usize,
) -> String {
    let args_len: usize = args.iter().map(|arg| arg.get().len() + 1).sum();
    let mut text = String::with_capacity(48 + namespace.len() + name_len + args_len);
    text.push('4');
    if attachments.is_empty() {
        text.push(plain);
    } else {
        text.push(binary);
        text.push_str(&attachments.len().to_string());
        text.push('-');
    }
    push_namespace(&mut text, namespace);
    text
}

fn push_namespace(text: &mut String, namespace: &str) {
    if namespace != "/" {
        text.push_str(namespace);
        text.push(',');
    }
}

#[cfg(test)]
#[path = "packet_tests.rs"]
mod tests;
