//! The body of a polling request: frames joined by the record separator, binary ones as `b`
//! and base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::packet::EngineFrame;

const SEPARATOR: char = '\u{1e}';

/// More packets in one body are refused by servers in the field.
pub(crate) const MAX_PACKETS: usize = 16;

/// A body that is taken apart one frame at a time, so that a body of countless tiny frames costs
/// no more memory than its text.
#[derive(Debug)]
pub(crate) struct ReceivedBody {
    text: String,
    /// Where the next frame begins; past the end once all have been taken.
    at: usize,
}

/// A body that is not a list of frames.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("a polling body that is not UTF-8")]
    NotUtf8,
    #[error("a binary frame that is not base64")]
    NotBase64,
}

impl ReceivedBody {
    pub(crate) fn new(bytes: Vec<u8>) -> Result<Self, BodyError> {
        let text = String::from_utf8(bytes).map_err(|_| BodyError::NotUtf8)?;
        Ok(ReceivedBody { text, at: 0 })
    }

    /// A body from which everything has been taken.
    pub(crate) fn nothing() -> Self {
        ReceivedBody { text: String::new(), at: 1 }
    }

    pub(crate) fn next(&mut self) -> Option<Result<EngineFrame, BodyError>> {
        let rest = self.text.get(self.at..)?;
        let end = rest.find(SEPARATOR).unwrap_or(rest.len());
        self.at += end + 1;
        let frame = &rest[..end];
        Some(match frame.strip_prefix('b') {
            Some(encoded) => STANDARD
                .decode(encoded)
                .map(|bytes| EngineFrame::Binary(bytes.into()))
                .map_err(|_| BodyError::NotBase64),
            None => Ok(EngineFrame::Text(frame.into())),
        })
    }
}

/// A body in the making.
#[derive(Debug, Default)]
pub(crate) struct SendingBody {
    text: String,
    packets: usize,
}

impl SendingBody {
    /// Whether another frame of this (decoded) size fits into a body of `limit` bytes. An empty
    /// body takes any frame: what is too large by itself was refused before it got here.
    pub(crate) fn has_room(&self, frame: &EngineFrame, limit: usize) -> bool {
        let size = match frame {
            EngineFrame::Text(text) => text.len(),
            EngineFrame::Binary(bytes) => encoded_len(bytes.len()),
        };
        self.packets == 0 || (self.packets < MAX_PACKETS && self.text.len().saturating_add(size + 1) <= limit)
    }

    pub(crate) fn push(&mut self, frame: &EngineFrame) {
        if self.packets > 0 {
            self.text.push(SEPARATOR);
        }
        self.packets += 1;
        match frame {
            EngineFrame::Text(text) => self.text.push_str(text.as_str()),
            EngineFrame::Binary(bytes) => {
                self.text.push('b');
                STANDARD.encode_string(bytes, &mut self.text);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    pub(crate) fn into_body(self) -> Bytes {
        self.text.into()
    }
}

/// Bytes a binary frame takes in a body.
pub(crate) fn encoded_len(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frames(body: &[u8]) -> Result<Vec<EngineFrame>, BodyError> {
        let mut received = ReceivedBody::new(body.to_vec())?;
        std::iter::from_fn(|| received.next()).collect()
    }

    #[test]
    fn bodies_are_taken_apart() {
        let text = |text: &str| EngineFrame::Text(text.into());
        let table = [
            (&b"2"[..], Ok(vec![text("2")])),
            (b"4a\x1e6", Ok(vec![text("4a"), text("6")])),
            (b"4a\x1ebAQID", Ok(vec![text("4a"), EngineFrame::Binary(vec![1, 2, 3].into())])),
            (b"", Ok(vec![text("")])),
            (b"b?", Err(BodyError::NotBase64)),
            (b"\xff", Err(BodyError::NotUtf8)),
        ];
        for (body, expected) in table {
            assert_eq!(frames(body), expected, "{body:?}");
        }
    }

    #[test]
    fn a_body_ends_at_sixteen_packets_or_the_limit() {
        let frame = EngineFrame::Text("4abc".into());
        let mut body = SendingBody::default();
        while body.has_room(&frame, 1000) {
            body.push(&frame);
        }
        assert_eq!(body.packets, MAX_PACKETS);

        let mut body = SendingBody::default();
        while body.has_room(&frame, 14) {
            body.push(&frame);
        }
        assert_eq!(body.into_body(), "4abc\u{1e}4abc\u{1e}4abc");
        assert!(SendingBody::default().has_room(&frame, 1));
    }

    fn any_frame() -> impl Strategy<Value = EngineFrame> {
        prop_oneof![
            "[0-6][^\u{1e}]{0,10}".prop_map(|text| EngineFrame::Text(text.into())),
            prop::collection::vec(any::<u8>(), 0..20).prop_map(|bytes| EngineFrame::Binary(bytes.into())),
        ]
    }

    proptest! {
        #[test]
        fn frames_survive_the_body(sent in prop::collection::vec(any_frame(), 1..20)) {
            let mut body = SendingBody::default();
            let mut size = 0;
            for frame in &sent {
                body.push(frame);
                size += 1 + match frame {
                    EngineFrame::Text(text) => text.len(),
                    EngineFrame::Binary(bytes) => encoded_len(bytes.len()),
                };
            }
            let body = body.into_body();
            prop_assert_eq!(body.len() + 1, size);
            prop_assert_eq!(frames(&body), Ok(sent));
        }

        #[test]
        fn decoding_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = frames(&bytes);
        }
    }
}
