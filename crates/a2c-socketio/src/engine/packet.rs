//! Engine.IO 4 packets: what one frame means, and the opening handshake.

use bytes::Bytes;
use serde::Deserialize;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// One unit as a transport carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame {
    Text(Utf8Bytes),
    Binary(Bytes),
}

/// What a frame means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Packet<'a> {
    /// The handshake, as JSON text.
    Open(&'a str),
    Close,
    Ping(&'a str),
    Pong(&'a str),
    Message(&'a str),
    Binary(&'a Bytes),
    Upgrade,
    Noop,
}

/// A frame that is not a packet.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("an empty frame")]
    Empty,
    #[error("unknown frame type {0:?}")]
    UnknownType(char),
}

impl<'a> Packet<'a> {
    pub(crate) fn decode(frame: &'a Frame) -> Result<Self, FrameError> {
        let text = match frame {
            Frame::Binary(bytes) => return Ok(Packet::Binary(bytes)),
            Frame::Text(text) => text.as_str(),
        };
        let kind = text.chars().next().ok_or(FrameError::Empty)?;
        let data = &text[kind.len_utf8()..];
        match kind {
            '0' => Ok(Packet::Open(data)),
            '1' => Ok(Packet::Close),
            '2' => Ok(Packet::Ping(data)),
            '3' => Ok(Packet::Pong(data)),
            '4' => Ok(Packet::Message(data)),
            '5' => Ok(Packet::Upgrade),
            '6' => Ok(Packet::Noop),
            other => Err(FrameError::UnknownType(other)),
        }
    }
}

/// The server's side of the handshake. Times are in milliseconds.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Open {
    pub(crate) sid: String,
    #[serde(default)]
    pub(crate) upgrades: Vec<String>,
    pub(crate) ping_interval: u64,
    pub(crate) ping_timeout: u64,
    /// Bytes the server accepts in one message or polling body.
    #[serde(default)]
    pub(crate) max_payload: Option<usize>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn frames_have_a_meaning() {
        let table = [
            ("0{}", Ok(Packet::Open("{}"))),
            ("1", Ok(Packet::Close)),
            ("2", Ok(Packet::Ping(""))),
            ("2probe", Ok(Packet::Ping("probe"))),
            ("3probe", Ok(Packet::Pong("probe"))),
            ("40", Ok(Packet::Message("0"))),
            ("5", Ok(Packet::Upgrade)),
            ("6", Ok(Packet::Noop)),
            ("", Err(FrameError::Empty)),
            ("7", Err(FrameError::UnknownType('7'))),
            ("ü", Err(FrameError::UnknownType('ü'))),
        ];
        for (text, expected) in table {
            assert_eq!(Packet::decode(&Frame::Text(text.into())), expected, "{text}");
        }
        let bytes = Bytes::from_static(&[4, 1]);
        let frame = Frame::Binary(bytes.clone());
        assert_eq!(Packet::decode(&frame), Ok(Packet::Binary(&bytes)));
    }

    #[test]
    fn the_handshake_tolerates_what_it_does_not_know() {
        let open: Open = serde_json::from_str(
            r#"{"sid":"x","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000,"new":1}"#,
        )
        .unwrap();
        assert_eq!((open.sid.as_str(), open.max_payload), ("x", Some(1_000_000)));
        let open: Open = serde_json::from_str(r#"{"sid":"x","pingInterval":1,"pingTimeout":2}"#).unwrap();
        assert_eq!((open.upgrades.len(), open.max_payload), (0, None));
    }

    proptest! {
        #[test]
        fn decoding_never_panics(text in any::<String>()) {
            let _ = Packet::decode(&Frame::Text(text.into()));
        }
    }
}
