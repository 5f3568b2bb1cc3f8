//! Socket.IO packets of the namespace `/smcp`, read off the wire.

use tokio_tungstenite::tungstenite::Utf8Bytes;

/// What a packet is for, as far as a member of a benchmark cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The engine's handshake.
    Open,
    /// The engine asks whether we are there.
    Ping,
    /// The engine says goodbye.
    Close,
    /// The namespace is granted.
    Connect,
    /// The namespace is refused.
    Refused,
    /// The server takes the namespace away.
    Disconnect,
    /// A notification, or a call.
    Event,
    /// The answer to an event of ours.
    Ack,
}

/// One packet. Its text is shared with the frame it came in.
#[derive(Debug, Clone)]
pub struct Packet {
    pub kind: Kind,
    /// The acknowledgement id, of events that ask for one and of acknowledgements.
    pub id: Option<u64>,
    text: Utf8Bytes,
    body: usize,
}

impl Packet {
    /// Reads a frame; `None` for what no server of ours sends.
    pub fn parse(text: Utf8Bytes) -> Option<Self> {
        let (kind, head) = match text.as_bytes() {
            [b'0', ..] => (Kind::Open, 1),
            [b'1'] => (Kind::Close, 1),
            [b'2'] => (Kind::Ping, 1),
            [b'4', b'0', ..] => (Kind::Connect, 2),
            [b'4', b'1', ..] => (Kind::Disconnect, 2),
            [b'4', b'2', ..] => (Kind::Event, 2),
            [b'4', b'3', ..] => (Kind::Ack, 2),
            [b'4', b'4', ..] => (Kind::Refused, 2),
            _ => return None,
        };
        let mut rest = &text.as_str()[head..];
        if matches!(kind, Kind::Open | Kind::Close | Kind::Ping) {
            return Some(Self { kind, id: None, body: head, text });
        }
        if rest.starts_with('/') {
            // Without data the separator is left out by some servers.
            rest = rest.split_once(',').map_or("", |(_, rest)| rest);
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let id = rest[..digits].parse().ok();
        let body = text.len() - rest.len() + digits;
        Some(Self { kind, id, body, text })
    }

    /// The JSON of the packet.
    pub fn body(&self) -> &str {
        &self.text.as_str()[self.body..]
    }

    /// Whether this is the event of that name.
    pub fn is_event(&self, name: &str) -> bool {
        let quoted = self.body().strip_prefix("[\"").and_then(|rest| rest.strip_prefix(name));
        self.kind == Kind::Event && quoted.is_some_and(|rest| rest.starts_with('"'))
    }
}

/// The text of a field that is a string without escapes, by looking for its key: parsing every answer would make this
/// process the limit.
pub fn field<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    let mut from = 0;
    while let Some(found) = json[from..].find(key) {
        let start = from + found;
        let after = json[start + key.len()..].strip_prefix("\":").map(str::trim_start);
        if json[..start].ends_with('"')
            && let Some(value) = after.and_then(|after| after.strip_prefix('"'))
        {
            return value.split_once('"').map(|(value, _)| value);
        }
        from = start + key.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read() {
        let table = [
            ("0{\"sid\":\"x\"}", Kind::Open, None, "{\"sid\":\"x\"}"),
            ("2", Kind::Ping, None, ""),
            ("40/smcp,{\"sid\":\"x\"}", Kind::Connect, None, "{\"sid\":\"x\"}"),
            ("41/smcp,", Kind::Disconnect, None, ""),
            ("41/smcp", Kind::Disconnect, None, ""),
            ("42/smcp,[\"a\",{}]", Kind::Event, None, "[\"a\",{}]"),
            ("42/smcp,17[\"a\",{}]", Kind::Event, Some(17), "[\"a\",{}]"),
            ("43/smcp,0[true,null]", Kind::Ack, Some(0), "[true,null]"),
            ("44/smcp,{\"message\":\"no\"}", Kind::Refused, None, "{\"message\":\"no\"}"),
        ];
        for (text, kind, id, body) in table {
            let packet = Packet::parse(text.into()).expect(text);
            assert_eq!((packet.kind, packet.id, packet.body()), (kind, id, body), "{text}");
        }
        assert!(Packet::parse("".into()).is_none());
        assert!(Packet::parse("451-/smcp,[{\"_placeholder\":true,\"num\":0}]".into()).is_none());
    }

    #[test]
    fn events_are_told_apart_by_their_whole_name() {
        let packet = Packet::parse("42/smcp,[\"notify:update_desktop\",{}]".into()).expect("an event");
        assert!(packet.is_event("notify:update_desktop"));
        assert!(!packet.is_event("notify:update"));
    }

    #[test]
    fn fields_are_found_by_key() {
        let json = r#"[{"text":"req_id","req_id": "7","computer":"c"}]"#;
        assert_eq!(field(json, "req_id"), Some("7"));
        assert_eq!(field(json, "computer"), Some("c"));
        assert_eq!(field(json, "agent"), None);
        assert_eq!(field(r#"{"req_id":7}"#, "req_id"), None);
    }
}
