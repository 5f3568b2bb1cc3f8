//! Socket.IO 5 packets as text: `<type>[<attachments>-][<namespace>,][<ack id>][<JSON>]`.
//!
//! Pure functions on text. [`Header::decode`] splits a packet without copying and without looking
//! into the JSON; [`event_args`] and [`ack_args`] then take the JSON array apart. [`Outgoing`] is
//! a packet that is ready for a transport.

use bytes::Bytes;
use serde::Deserialize;
use serde::de::{SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::payload::Payload;

/// The packet types, by their digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Connect,
    Disconnect,
    Event,
    Ack,
    ConnectError,
    BinaryEvent,
    BinaryAck,
}

/// What makes a text not a packet.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PacketError {
    #[error("an empty packet")]
    Empty,
    #[error("unknown packet type {0:?}")]
    UnknownKind(char),
    #[error("a binary packet without a readable number of attachments")]
    Attachments,
    #[error("an acknowledgement number that is too large")]
    AckId,
    #[error("an acknowledgement without a number")]
    MissingAckId,
    #[error("an event that is not a JSON array starting with a name")]
    Event,
    #[error("an acknowledgement that is not a JSON array")]
    Ack,
    #[error("a payload that is not JSON")]
    Json,
}

/// A packet split into its parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header<'a> {
    pub(crate) kind: Kind,
    pub(crate) attachments: usize,
    pub(crate) namespace: &'a str,
    pub(crate) id: Option<u64>,
    /// The JSON text, not yet looked at.
    pub(crate) data: &'a str,
}

impl<'a> Header<'a> {
    pub(crate) fn decode(text: &'a str) -> Result<Self, PacketError> {
        let kind = match text.chars().next().ok_or(PacketError::Empty)? {
            '0' => Kind::Connect,
            '1' => Kind::Disconnect,
            '2' => Kind::Event,
            '3' => Kind::Ack,
            '4' => Kind::ConnectError,
            '5' => Kind::BinaryEvent,
            '6' => Kind::BinaryAck,
            other => return Err(PacketError::UnknownKind(other)),
        };
        let mut rest = &text[1..];

        let mut attachments = 0;
        if matches!(kind, Kind::BinaryEvent | Kind::BinaryAck) {
            let (digits, after) = split_digits(rest);
            attachments = digits.parse().map_err(|_| PacketError::Attachments)?;
            rest = after.strip_prefix('-').ok_or(PacketError::Attachments)?;
        }

        let mut namespace = "/";
        if rest.starts_with('/') {
            (namespace, rest) = rest.split_once(',').unwrap_or((rest, ""));
            // A server may repeat the query the client connected with.
            namespace = namespace.split('?').next().unwrap_or(namespace);
        }

        let (digits, data) = split_digits(rest);
        let id = match digits {
            "" => None,
            digits => Some(digits.parse().map_err(|_| PacketError::AckId)?),
        };
        Ok(Header { kind, attachments, namespace, id, data })
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// The name and the arguments of an event.
pub(crate) fn event_args(data: &str) -> Result<(String, Vec<Box<RawValue>>), PacketError> {
    struct Parts(String, Vec<Box<RawValue>>);

    impl<'de> Deserialize<'de> for Parts {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct PartsVisitor;
            impl<'de> Visitor<'de> for PartsVisitor {
                type Value = Parts;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an array starting with an event name")
                }
                fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Parts, A::Error> {
                    let name =
                        seq.next_element::<String>()?.ok_or_else(|| serde::de::Error::invalid_length(0, &self))?;
                    let mut args = Vec::with_capacity(1);
                    while let Some(arg) = seq.next_element()? {
                        args.push(arg);
                    }
                    Ok(Parts(name, args))
                }
            }
            deserializer.deserialize_seq(PartsVisitor)
        }
    }

    serde_json::from_str::<Parts>(data).map(|Parts(name, args)| (name, args)).map_err(|_| PacketError::Event)
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
pub(crate) struct Outgoing {
    pub(crate) text: String,
    pub(crate) attachments: Vec<Bytes>,
    /// The number of the acknowledgement this packet asks for.
    pub(crate) awaits: Option<u64>,
}

impl Outgoing {
    pub(crate) fn connect(namespace: &str, auth: Option<&RawValue>) -> Self {
        let data = auth.map_or("", RawValue::get);
        Outgoing::control('0', namespace, data)
    }

    pub(crate) fn disconnect(namespace: &str) -> Self {
        Outgoing::control('1', namespace, "")
    }

    fn control(kind: char, namespace: &str, data: &str) -> Self {
        let mut text = String::with_capacity(4 + namespace.len() + data.len());
        text.extend(['4', kind]);
        push_namespace(&mut text, namespace);
        text.push_str(data);
        Outgoing { text, attachments: Vec::new(), awaits: None }
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
        Outgoing { text, attachments, awaits: id }
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
        Outgoing { text, attachments, awaits: None }
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
