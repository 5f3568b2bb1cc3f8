//! Socket.IO 5 packets as text, taken apart and put together without touching what they carry.
//!
//! `<type>[<attachments>-][<namespace>,][<id>][<JSON>]`: the head is all that client and relay have to agree on. Pure
//! functions on text; this crate must not depend on JSON, I/O or anything that speaks above Socket.IO.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use std::fmt::Write as _;

/// What a packet is for. Binary packets are events and acknowledgements with attachments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketKind {
    /// A client asks for a namespace, a server grants it.
    Connect,
    /// Either side leaves the namespace.
    Disconnect,
    /// An event, with an id where an answer is wanted.
    Event,
    /// The answer to an event.
    Ack,
    /// A server refuses the namespace.
    ConnectError,
}

/// The text of a packet, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketFrame<'a> {
    /// What the packet is for.
    pub kind: PacketKind,
    /// How many binary messages follow.
    pub attachments: usize,
    /// The namespace, without a query.
    pub namespace: &'a str,
    /// The number of an acknowledgement that is asked for or given.
    pub id: Option<u64>,
    /// JSON, not looked at yet.
    pub body: &'a str,
}

/// What makes a text not a packet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PacketFrameError {
    /// There is nothing.
    #[error("an empty packet")]
    Empty,
    /// The first character is no type.
    #[error("unknown packet type {0:?}")]
    UnknownKind(char),
    /// A binary packet has to say how many attachments follow.
    #[error("a binary packet without a readable number of attachments")]
    Attachments,
    /// The number is larger than any.
    #[error("an acknowledgement number that is too large")]
    Id,
}

impl<'a> PacketFrame<'a> {
    /// Takes a text apart.
    pub fn parse(text: &'a str) -> Result<Self, PacketFrameError> {
        let (kind, binary) = match text.chars().next().ok_or(PacketFrameError::Empty)? {
            '0' => (PacketKind::Connect, false),
            '1' => (PacketKind::Disconnect, false),
            '2' => (PacketKind::Event, false),
            '3' => (PacketKind::Ack, false),
            '4' => (PacketKind::ConnectError, false),
            '5' => (PacketKind::Event, true),
            '6' => (PacketKind::Ack, true),
            other => return Err(PacketFrameError::UnknownKind(other)),
        };
        let mut rest = &text[1..];
        let mut attachments = 0;
        if binary {
            let (digits, after) = split_digits(rest);
            attachments = digits.parse().map_err(|_| PacketFrameError::Attachments)?;
            rest = after.strip_prefix('-').ok_or(PacketFrameError::Attachments)?;
        }
        let mut namespace = "/";
        if rest.starts_with('/') {
            (namespace, rest) = rest.split_once(',').unwrap_or((rest, ""));
            // A query after the namespace is legal and means nothing.
            namespace = namespace.split('?').next().unwrap_or(namespace);
        }
        let (digits, body) = split_digits(rest);
        let id = match digits {
            "" => None,
            digits => Some(digits.parse().map_err(|_| PacketFrameError::Id)?),
        };
        Ok(Self { kind, attachments, namespace, id, body })
    }

    /// Writes the packet.
    pub fn encode(&self) -> String {
        let mut text = String::with_capacity(self.body.len() + self.namespace.len() + 32);
        let kind = match (self.kind, self.attachments > 0) {
            (PacketKind::Connect, _) => '0',
            (PacketKind::Disconnect, _) => '1',
            (PacketKind::Event, false) => '2',
            (PacketKind::Ack, false) => '3',
            (PacketKind::ConnectError, _) => '4',
            (PacketKind::Event, true) => '5',
            (PacketKind::Ack, true) => '6',
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

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame<'a>(
        kind: PacketKind,
        attachments: usize,
        namespace: &'a str,
        id: Option<u64>,
        body: &'a str,
    ) -> PacketFrame<'a> {
        PacketFrame { kind, attachments, namespace, id, body }
    }

    #[test]
    fn packets_of_the_field() {
        let check = |text: &str, expected: PacketFrame<'_>| {
            assert_eq!(PacketFrame::parse(text).as_ref(), Ok(&expected), "{text}");
            assert_eq!(expected.encode(), text);
        };
        check("0/smcp,{\"role\":\"agent\"}", frame(PacketKind::Connect, 0, "/smcp", None, "{\"role\":\"agent\"}"));
        check("0", frame(PacketKind::Connect, 0, "/", None, ""));
        check("1/smcp,", frame(PacketKind::Disconnect, 0, "/smcp", None, ""));
        check("2/smcp,12[\"e\",{}]", frame(PacketKind::Event, 0, "/smcp", Some(12), "[\"e\",{}]"));
        check("2[\"e\"]", frame(PacketKind::Event, 0, "/", None, "[\"e\"]"));
        check("3/smcp,7[true,null]", frame(PacketKind::Ack, 0, "/smcp", Some(7), "[true,null]"));
        check("52-/smcp,1[\"e\"]", frame(PacketKind::Event, 2, "/smcp", Some(1), "[\"e\"]"));
        check("61-/smcp,1[]", frame(PacketKind::Ack, 1, "/smcp", Some(1), "[]"));
        check("4/smcp,{\"message\":\"no\"}", frame(PacketKind::ConnectError, 0, "/smcp", None, "{\"message\":\"no\"}"));
    }

    #[test]
    fn what_is_read_more_leniently_than_it_is_written() {
        for (text, expected) in [
            ("0/a", frame(PacketKind::Connect, 0, "/a", None, "")),
            ("0/a?x=1,{}", frame(PacketKind::Connect, 0, "/a", None, "{}")),
            ("50-[\"e\"]", frame(PacketKind::Event, 0, "/", None, "[\"e\"]")),
        ] {
            assert_eq!(PacketFrame::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_packet_is_named() {
        for (text, expected) in [
            ("", PacketFrameError::Empty),
            ("7", PacketFrameError::UnknownKind('7')),
            ("é", PacketFrameError::UnknownKind('é')),
            ("5[\"e\"]", PacketFrameError::Attachments),
            ("5-[\"e\"]", PacketFrameError::Attachments),
            ("51", PacketFrameError::Attachments),
            ("5+1-[]", PacketFrameError::Attachments),
            ("599999999999999999999999-[]", PacketFrameError::Attachments),
            ("299999999999999999999999[]", PacketFrameError::Id),
        ] {
            assert_eq!(PacketFrame::parse(text), Err(expected), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,64}") {
            let _ = PacketFrame::parse(&text);
        }

        #[test]
        fn what_is_parsed_is_written_the_same(id in proptest::option::of(any::<u64>()), n in 0usize..9, body in "\\[.{0,32}\\]") {
            let frame = PacketFrame { kind: PacketKind::Event, attachments: n, namespace: "/smcp", id, body: &body };
            let text = frame.encode();
            prop_assert_eq!(PacketFrame::parse(&text), Ok(frame));
        }
    }
}
