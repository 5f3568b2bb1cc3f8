//! Engine.IO 4 packets: what one frame means, and the opening handshake.

use bytes::Bytes;
use serde::Deserialize;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// One unit as a transport carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EngineFrame {
    Text(Utf8Bytes),
    Binary(Bytes),
}

/// What a frame means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EnginePacket<'a> {
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
pub(crate) enum EngineFrameError {
    #[error("an empty frame")]
    Empty,
    #[error("unknown frame type {0:?}")]
    UnknownType(char),
}

impl<'a> EnginePacket<'a> {
    pub(crate) fn decode(frame: &'a EngineFrame) -> Result<Self, EngineFrameError> {
        let text = match frame {
            EngineFrame::Binary(bytes) => return Ok(EnginePacket::Binary(bytes)),
            EngineFrame::Text(text) => text.as_str(),
        };
        let kind = text.chars().next().ok_or(EngineFrameError::Empty)?;
        let data = &text[kind.len_utf8()..];
        match kind {
            '0' => Ok(EnginePacket::Open(data)),
            '1' => Ok(EnginePacket::Close),
            '2' => Ok(EnginePacket::Ping(data)),
            '3' => Ok(EnginePacket::Pong(data)),
            '4' => Ok(EnginePacket::Message(data)),
            '5' => Ok(EnginePacket::Upgrade),
            '6' => Ok(EnginePacket::Noop),
            other => Err(EngineFrameError::UnknownType(other)),
        }
    }
}

/// The server's side of the handshake. Times are in milliseconds.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenHandshake {
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
            ("0{}", Ok(EnginePacket::Open("{}"))),
            ("1", Ok(EnginePacket::Close)),
            ("2", Ok(EnginePacket::Ping(""))),
            ("2probe", Ok(EnginePacket::Ping("probe"))),
            ("3probe", Ok(EnginePacket::Pong("probe"))),
            ("40", Ok(EnginePacket::Message("0"))),
            ("5", Ok(EnginePacket::Upgrade)),
            ("6", Ok(EnginePacket::Noop)),
            ("", Err(EngineFrameError::Empty)),
            ("7", Err(EngineFrameError::UnknownType('7'))),
            ("ü", Err(EngineFrameError::UnknownType('ü'))),
        ];
        for (text, expected) in table {
            assert_eq!(EnginePacket::decode(&EngineFrame::Text(text.into())), expected, "{text}");
        }
        let bytes = Bytes::from_static(&[4, 1]);
        let frame = EngineFrame::Binary(bytes.clone());
        assert_eq!(EnginePacket::decode(&frame), Ok(EnginePacket::Binary(&bytes)));
    }

    #[test]
    fn the_handshake_tolerates_what_it_does_not_know() {
        let open: OpenHandshake = serde_json::from_str(
            r#"{"sid":"x","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000,"new":1}"#,
        )
        .unwrap();
        assert_eq!((open.sid.as_str(), open.max_payload), ("x", Some(1_000_000)));
        let open: OpenHandshake = serde_json::from_str(r#"{"sid":"x","pingInterval":1,"pingTimeout":2}"#).unwrap();
        assert_eq!((open.upgrades.len(), open.max_payload), (0, None));
    }

    proptest! {
        #[test]
        fn decoding_never_panics(text in any::<String>()) {
            let _ = EnginePacket::decode(&EngineFrame::Text(text.into()));
        }
    }
}
