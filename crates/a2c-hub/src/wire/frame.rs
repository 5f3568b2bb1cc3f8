//! Socket.IO packets on the server's side, read and written without touching what they carry.
//!
//! `<type>[<attachments>-][<namespace>,][<id>]<JSON>`: a relay needs the head and passes the JSON on as it is.

use std::fmt::Write as _;

/// What a packet is for. Binary packets are events and acknowledgements with attachments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Connect,
    Disconnect,
    Event,
    Ack,
    ConnectError,
}

/// The text of a packet, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: Kind,
    /// How many binary messages follow.
    pub(crate) attachments: usize,
    pub(crate) namespace: &'a str,
    pub(crate) id: Option<u64>,
    /// JSON, not looked at yet.
    pub(crate) body: &'a str,
}

/// A text that is no packet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a Socket.IO packet: {0}")]
pub(crate) struct NoFrame(&'static str);

impl<'a> Frame<'a> {
    /// Takes a text apart.
    pub(crate) fn parse(text: &'a str) -> Result<Self, NoFrame> {
        let (kind, binary) = match text.as_bytes().first() {
            Some(b'0') => (Kind::Connect, false),
            Some(b'1') => (Kind::Disconnect, false),
            Some(b'2') => (Kind::Event, false),
            Some(b'3') => (Kind::Ack, false),
            Some(b'4') => (Kind::ConnectError, false),
            Some(b'5') => (Kind::Event, true),
            Some(b'6') => (Kind::Ack, true),
            _ => return Err(NoFrame("unknown type")),
        };
        let mut rest = &text[1..];
        let mut attachments = 0;
        if binary {
            let (count, after) = rest.split_once('-').ok_or(NoFrame("no attachment count"))?;
            attachments = number(count).and_then(|n| usize::try_from(n).ok()).ok_or(NoFrame("bad attachment count"))?;
            rest = after;
        }
        let mut namespace = "/";
        if rest.starts_with('/') {
            (namespace, rest) = rest.split_once(',').unwrap_or((rest, ""));
        }
        // A query after the namespace is legal and means nothing here.
        namespace = namespace.split('?').next().unwrap_or(namespace);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (id, body) = rest.split_at(digits);
        let id = match id {
            "" => None,
            digits => Some(number(digits).ok_or(NoFrame("bad id"))?),
        };
        Ok(Self { kind, attachments, namespace, id, body })
    }

    /// Writes the packet.
    pub(crate) fn encode(&self) -> String {
        let mut text = String::with_capacity(self.body.len() + self.namespace.len() + 32);
        let kind = match (self.kind, self.attachments > 0) {
            (Kind::Connect, _) => '0',
            (Kind::Disconnect, _) => '1',
            (Kind::Event, false) => '2',
            (Kind::Ack, false) => '3',
            (Kind::ConnectError, _) => '4',
            (Kind::Event, true) => '5',
            (Kind::Ack, true) => '6',
        };
        text.push(kind);
        // Writing to a String cannot fail.
        if self.attachments > 0 {
            let _ = write!(text, "{}-", self.attachments);
        }
        if self.namespace != "/" {
            text.push_str(self.namespace);
            text.push(',');
        }
        if let Some(id) = self.id {
            let _ = write!(text, "{id}");
        }
        text.push_str(self.body);
        text
    }
}

/// Digits only: `parse` alone would take a sign.
fn number(digits: &str) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame<'a>(kind: Kind, attachments: usize, namespace: &'a str, id: Option<u64>, body: &'a str) -> Frame<'a> {
        Frame { kind, attachments, namespace, id, body }
    }

    #[test]
    fn packets_of_the_field() {
        let check = |text: &str, expected: Frame<'_>| {
            assert_eq!(Frame::parse(text).as_ref(), Ok(&expected), "{text}");
            assert_eq!(expected.encode(), text);
        };
        check("0/smcp,{\"role\":\"agent\"}", frame(Kind::Connect, 0, "/smcp", None, "{\"role\":\"agent\"}"));
        check("0", frame(Kind::Connect, 0, "/", None, ""));
        check("1/smcp,", frame(Kind::Disconnect, 0, "/smcp", None, ""));
        check("2/smcp,12[\"e\",{}]", frame(Kind::Event, 0, "/smcp", Some(12), "[\"e\",{}]"));
        check("2[\"e\"]", frame(Kind::Event, 0, "/", None, "[\"e\"]"));
        check("3/smcp,7[true,null]", frame(Kind::Ack, 0, "/smcp", Some(7), "[true,null]"));
        check("52-/smcp,1[\"e\"]", frame(Kind::Event, 2, "/smcp", Some(1), "[\"e\"]"));
        check("61-/smcp,1[]", frame(Kind::Ack, 1, "/smcp", Some(1), "[]"));
        check("4/smcp,{\"message\":\"no\"}", frame(Kind::ConnectError, 0, "/smcp", None, "{\"message\":\"no\"}"));
    }

    #[test]
    fn what_is_no_packet_is_refused() {
        for text in ["", "7", "x", "5[\"e\"]", "5-[]", "5+1-[]", "2/smcp,99999999999999999999[]", "é"] {
            assert!(Frame::parse(text).is_err(), "{text}");
        }
        assert_eq!(Frame::parse("0/smcp").unwrap().namespace, "/smcp");
        assert_eq!(Frame::parse("0/smcp?x=1,{}").unwrap().namespace, "/smcp");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,64}") {
            let _ = Frame::parse(&text);
        }

        #[test]
        fn what_is_parsed_is_written_the_same(id in proptest::option::of(any::<u64>()), n in 0usize..9, body in "\\[.{0,32}\\]") {
            let frame = Frame { kind: Kind::Event, attachments: n, namespace: "/smcp", id, body: &body };
            let text = frame.encode();
            prop_assert_eq!(Frame::parse(&text), Ok(frame));
        }
    }
}
