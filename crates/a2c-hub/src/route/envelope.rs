//! The fields that the hub reads of a payload, and the identity that it writes into it.
//!
//! The hub forwards a payload as the text that it received. Where the payload names the wrong sender, the hub replaces
//! that value in the text, so that unknown fields, number formats and the order of keys stay as they are.

use std::borrow::Cow;

use a2c_protocol::office::MAX_NAME;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Why an event is malformed. The hub answers it with 400 and this text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MalformedEvent {
    #[error("the event is not a JSON array: {0}")]
    NotAnArray(#[source] serde_json::Error),
    #[error("the event has no name")]
    NoName,
    #[error("the name of the event is not a string")]
    NameNotAString,
    #[error("the payload is missing")]
    NoPayload,
    #[error("the payload is not a JSON object")]
    PayloadNotAnObject,
    #[error("more than one payload")]
    SeveralPayloads,
    #[error("the announcement is malformed: {0}")]
    Announcement(#[source] serde_json::Error),
    /// A field has a value of the wrong type, or is there twice.
    #[error("field `{field}`: {problem}")]
    Field { field: String, problem: String },
    /// The payload is no object that can be read; no single field is at fault.
    #[error("{problem}")]
    Payload { problem: String },
    #[error("field `computer` is missing")]
    NoComputer,
    #[error("field `computer` is not a string")]
    ComputerNotAString,
    #[error("field `computer`: no name is longer than {MAX_NAME} bytes")]
    ComputerTooLong,
    #[error("field `req_id`: is longer than {MAX_NAME} bytes")]
    RequestIdTooLong,
    #[error("field `req_id`: a call with this req_id is still running: use a new one for each call")]
    RequestIdInUse,
}

/// The name of an event, and its arguments as text.
pub(crate) struct EventBody<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) arguments: Vec<&'a RawValue>,
}

impl<'a> EventBody<'a> {
    /// Reads `["name", argument, …]`.
    pub(crate) fn parse(body: &'a str) -> Result<Self, MalformedEvent> {
        let mut arguments: Vec<&'a RawValue> = serde_json::from_str(body).map_err(MalformedEvent::NotAnArray)?;
        if arguments.is_empty() {
            return Err(MalformedEvent::NoName);
        }
        let name = arguments.remove(0);
        let name = serde_json::from_str::<BorrowedStr<'a>>(name.get());
        let BorrowedStr(name) = name.map_err(|_| MalformedEvent::NameNotAString)?;
        Ok(Self { name, arguments })
    }

    /// The payload: the one argument, which is an object.
    pub(crate) fn payload(&self) -> Result<&'a RawValue, MalformedEvent> {
        match self.arguments.as_slice() {
            [payload] if payload.get().starts_with('{') => Ok(payload),
            [_] => Err(MalformedEvent::PayloadNotAnObject),
            [] => Err(MalformedEvent::NoPayload),
            _ => Err(MalformedEvent::SeveralPayloads),
        }
    }
}

#[derive(Deserialize)]
struct BorrowedStr<'a>(#[serde(borrow)] Cow<'a, str>);

/// The fields of a request that routing depends on.
#[derive(Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) agent: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) computer: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) req_id: Option<String>,
    #[serde(default)]
    pub(crate) timeout: Option<a2c_protocol::seconds::Seconds>,
    #[serde(borrow, default)]
    tool_name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) traceparent: Option<&'a RawValue>,
}

/// The fields of an announcement that the hub writes. It does not look at the others.
#[derive(Deserialize)]
pub(crate) struct Announcement<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) agent: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) computer: Option<&'a RawValue>,
}

impl<'a> Announcement<'a> {
    /// Reads the announcement; what can be wrong with it is a field that is there twice.
    pub(crate) fn parse(payload: &'a RawValue) -> Result<Self, MalformedEvent> {
        serde_json::from_str(payload.get()).map_err(MalformedEvent::Announcement)
    }
}

/// Keeps an explicit `null` apart from an absent field: the stamp replaces it.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Envelope<'a> {
    /// The name of the tool, where the field holds a short string. The Computer judges everything else.
    pub(crate) fn tool(&self) -> Option<String> {
        let raw = self.tool_name?.get();
        (raw.len() <= MAX_NAME).then(|| serde_json::from_str(raw).ok()).flatten()
    }

    /// Reads the envelope, or says which field is at fault.
    pub(crate) fn parse(payload: &'a RawValue) -> Result<Self, MalformedEvent> {
        // The path to the faulty field costs a second pass, which only a malformed payload pays for.
        serde_json::from_str(payload.get()).map_err(|fault| {
            let mut again = serde_json::Deserializer::from_str(payload.get());
            let path =
                serde_path_to_error::deserialize::<_, Envelope<'_>>(&mut again).err().map(|e| e.path().to_string());
            let text = fault.to_string();
            let what = text.split(" at line ").next().unwrap_or(&text);
            // Only what was expected: the value that was found comes from the client and must not reach the log.
            let what = what.rfind(", expected ").map_or(what, |at| &what[at + 2..]);
            let problem = what.to_owned();
            match path {
                Some(field) if field != "." => MalformedEvent::Field { field, problem },
                _ => MalformedEvent::Payload { problem },
            }
        })
    }

    /// The name of the Computer.
    pub(crate) fn computer_name(&self) -> Result<String, MalformedEvent> {
        let raw = self.computer.ok_or(MalformedEvent::NoComputer)?;
        serde_json::from_str(raw.get()).map_err(|_| MalformedEvent::ComputerNotAString)
    }
}

/// The text of an object in which `key` has the string `value`; `current` is its present value within that text.
pub(crate) fn stamp<'a>(object: &'a str, key: &str, current: Option<&RawValue>, value: &str) -> Cow<'a, str> {
    let stamped = serde_json::Value::from(value).to_string();
    match current {
        Some(raw) if raw.get() == stamped => Cow::Borrowed(object),
        Some(raw) => {
            let start = raw.get().as_ptr() as usize - object.as_ptr() as usize;
            let end = start + raw.get().len();
            Cow::Owned([&object[..start], &stamped, &object[end..]].concat())
        }
        None => {
            let rest = object[1..].trim_start();
            let comma = if rest.starts_with('}') { "" } else { "," };
            Cow::Owned(format!("{{\"{key}\":{stamped}{comma}{rest}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn an_event_is_a_name_and_one_object() {
        let event = EventBody::parse(r#"["client:get_tools", {"computer": "c"}]"#).unwrap();
        assert_eq!(event.name, "client:get_tools");
        assert_eq!(event.payload().unwrap().get(), r#"{"computer": "c"}"#);
        assert_eq!(EventBody::parse(r#"["caf\u00e9", {}]"#).unwrap().name, "café");
        for body in ["", "{}", "[]", "[3]", "[null, {}]", "[\"a\", {]", "\"a\""] {
            assert!(EventBody::parse(body).is_err(), "{body}");
        }
        for body in [r#"["a"]"#, r#"["a", 3]"#, r#"["a", []]"#, r#"["a", {}, {}]"#, r#"["a", null]"#] {
            assert!(EventBody::parse(body).unwrap().payload().is_err(), "{body}");
        }
    }

    #[test]
    fn a_stamp_replaces_one_value_and_nothing_else() {
        let check = |object: &str, expected: &str| {
            let payload = raw(object);
            let envelope = Envelope::parse(payload).unwrap();
            assert_eq!(stamp(payload.get(), "agent", envelope.agent, "me"), expected);
        };
        check(r#"{"agent": "me", "big": 1.0e5}"#, r#"{"agent": "me", "big": 1.0e5}"#);
        check(r#"{"agent": "you", "big": 1.0e5}"#, r#"{"agent": "me", "big": 1.0e5}"#);
        check(r#"{"a": {"agent": "in"}, "agent" : null}"#, r#"{"a": {"agent": "in"}, "agent" : "me"}"#);
        check(r#"{"computer": "c"}"#, r#"{"agent":"me","computer": "c"}"#);
        check("{ }", r#"{"agent":"me"}"#);
        check(r#"{"agent": {"deep": [1]}, "z": 0}"#, r#"{"agent": "me", "z": 0}"#);
    }

    #[test]
    fn an_envelope_names_the_field_at_fault() {
        let fault = |text: &str| Envelope::parse(raw(text)).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(fault(r#"{"computer": "c", "timeout": 0}"#).contains("timeout"));
        assert!(fault(r#"{"timeout": 5, "req_id": 7}"#).contains("req_id"));
        assert!(fault(r#"{"agent": "a", "agent": "b"}"#).contains("agent"));
        let computer = |text: &str| Envelope::parse(raw(text)).unwrap().computer_name();
        assert!(matches!(computer("{}"), Err(MalformedEvent::NoComputer)));
        assert!(matches!(computer(r#"{"computer": 3}"#), Err(MalformedEvent::ComputerNotAString)));
    }
}
