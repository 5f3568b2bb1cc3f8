//! Trace context: which trace a request is part of, in the W3C form that tracing tools share.
//!
//! A request carries it in the field [`FIELD`]. A member that does not trace passes it on as an unknown field; a member
//! that traces replaces the span of the sender by its own.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;

/// The field of a `client:*` payload that carries the trace context. MCP uses the same key in `_meta`.
pub const FIELD: &str = "traceparent";

/// The flag that says that the trace is recorded.
const SAMPLED: u8 = 0x01;

/// The flags that have a meaning: sampled, and random, which says how the trace id was made. Others are not passed on.
const KNOWN_FLAGS: u8 = 0x03;

macro_rules! id {
    ($(#[$about:meta])* $name:ident($size:literal)) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name([u8; $size]);

        impl $name {
            /// Takes the bytes; all zeros are no id.
            pub fn new(bytes: [u8; $size]) -> Option<Self> {
                (bytes != [0; $size]).then_some(Self(bytes))
            }

            fn parse(hex: &str) -> Option<Self> {
                let mut bytes = [0; $size];
                for (byte, place) in bytes.iter_mut().zip(0..) {
                    *byte = byte_at(hex, 2 * place)?;
                }
                Self::new(bytes)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

id! {
    /// The id of a trace, 16 bytes; shown as hexadecimal digits.
    TraceId(16)
}

id! {
    /// The id of a span within its trace, 8 bytes; shown as hexadecimal digits.
    SpanId(8)
}

/// The place of a request in a trace: its sender's span.
///
/// ```
/// use a2c_protocol::trace::TraceContext;
///
/// let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let context = TraceContext::parse(text).expect("it is well-formed");
/// assert_eq!(context.trace_id().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
/// assert!(context.is_sampled());
/// assert_eq!(context.to_string(), text);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceContext {
    trace: TraceId,
    span: SpanId,
    flags: u8,
}

impl TraceContext {
    /// The first span of a trace.
    pub fn root(trace: TraceId, span: SpanId, sampled: bool) -> Self {
        Self { trace, span, flags: if sampled { SAMPLED } else { 0 } }
    }

    /// Reads a `traceparent`, strictly: what is not well-formed means nothing and is ignored. Of later versions the part
    /// is read that this one defines.
    pub fn parse(text: &str) -> Option<Self> {
        let (version, rest) = (byte_at(text, 0)?, text.get(55..)?);
        match version {
            0xff => return None,
            0 if !rest.is_empty() => return None,
            _ if !rest.is_empty() && !rest.starts_with('-') => return None,
            _ => {}
        }
        if [2, 35, 52].iter().any(|&dash| text.as_bytes()[dash] != b'-') {
            return None;
        }
        let flags = byte_at(text, 53)? & KNOWN_FLAGS;
        Some(Self { trace: TraceId::parse(text.get(3..35)?)?, span: SpanId::parse(text.get(36..52)?)?, flags })
    }

    /// Reads the trace context of a payload, if it has one that is well-formed.
    pub fn of_payload(json: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Carrier<'a> {
            #[serde(borrow)]
            traceparent: Cow<'a, str>,
        }
        // Most payloads have none and are not parsed a second time for it.
        if !json.contains(FIELD) {
            return None;
        }
        let carrier: Carrier<'_> = serde_json::from_str(json).ok()?;
        Self::parse(&carrier.traceparent)
    }

    /// The same trace, in which `span` stands now.
    pub fn child(self, span: SpanId) -> Self {
        Self { span, ..self }
    }

    /// The trace.
    pub fn trace_id(self) -> TraceId {
        self.trace
    }

    /// The span.
    pub fn span_id(self) -> SpanId {
        self.span
    }

    /// Whether the sender records the trace.
    pub fn is_sampled(self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The flags as they travel.
    pub fn flags(self) -> u8 {
        self.flags
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace, self.span, self.flags)
    }
}

/// Two hexadecimal digits; capitals are not allowed.
fn byte_at(text: &str, place: usize) -> Option<u8> {
    let digit = |place: usize| match text.as_bytes().get(place)? {
        digit @ b'0'..=b'9' => Some(digit - b'0'),
        letter @ b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    };
    Some(digit(place)? << 4 | digit(place + 1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_context_is_read_and_written() {
        let context = TraceContext::parse(GOOD).unwrap();
        assert_eq!(context.to_string(), GOOD);
        assert_eq!(context.span_id().to_string(), "00f067aa0ba902b7");
        let child = context.child(SpanId::new([0xab; 8]).unwrap());
        assert_eq!(child.to_string(), "00-4bf92f3577b34da6a3ce929d0e0e4736-abababababababab-01");
        let unsampled = TraceContext::root(context.trace_id(), context.span_id(), false);
        assert_eq!(unsampled.to_string(), GOOD.replace("-01", "-00"));
        assert!(!unsampled.is_sampled());
    }

    #[test]
    fn what_is_not_well_formed_means_nothing() {
        let bad = [
            String::new(),
            GOOD[..54].to_owned(),
            format!("{GOOD}-"),
            format!("{GOOD} "),
            format!(" {GOOD}"),
            GOOD.to_uppercase(),
            GOOD.replacen("00", "ff", 1),
            GOOD.replacen("00", "0", 1),
            GOOD.replace("4bf9", "4bfg"),
            GOOD.replace('-', "_"),
            GOOD.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            GOOD.replace("00f067aa0ba902b7", &"0".repeat(16)),
            GOOD.replace("-01", "-0x"),
            GOOD.replace("e0e4736", "é\u{e9}473"),
            format!("{}é", &GOOD[..54]),
            GOOD.replacen("00", "01", 1) + "x",
        ];
        for text in bad {
            assert_eq!(TraceContext::parse(&text), None, "{text:?}");
        }
    }

    #[test]
    fn later_versions_are_read_as_far_as_they_are_known() {
        for rest in ["", "-", "-what-ever"] {
            let later = GOOD.replacen("00", "cc", 1) + rest;
            assert_eq!(TraceContext::parse(&later), TraceContext::parse(GOOD), "{later}");
        }
        let flags = |flags: &str| TraceContext::parse(&GOOD.replace("-01", flags)).unwrap().flags();
        assert_eq!([flags("-ff"), flags("-02"), flags("-fc")], [3, 2, 0]);
    }

    #[test]
    fn a_payload_carries_it_at_its_top() {
        let of = |json: &str| TraceContext::of_payload(json).map(|context| context.to_string());
        assert_eq!(of(&format!(r#"{{"a": [1], "traceparent": "{GOOD}", "z": {{}}}}"#)).as_deref(), Some(GOOD));
        assert_eq!(of(&format!(r#"{{"traceparent": "\u0030{}"}}"#, &GOOD[1..])).as_deref(), Some(GOOD));
        assert_eq!(of(&format!(r#"{{"params": {{"traceparent": "{GOOD}"}}}}"#)), None);
        assert_eq!(of(r#"{"traceparent": 7}"#), None);
        assert_eq!(of(r#"{"traceparent": null}"#), None);
        assert_eq!(of(r#"{"traceparent": ""#), None);
        assert_eq!(of("{}"), None);
    }
}
