//! Messages that are too large to be built as a tree of values.
//!
//! A tree takes up to a hundred times as much memory as its text, and the library builds it several times. Of a large
//! message only its outline is read: which request it answers, and whether with a result or an error. The result stays a
//! text, and goes through the library as one: [`take_text`] finds it on the other side. What becomes of it depends on what
//! was asked.

use std::fmt;

use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, InitializeResult, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::de::{Error as _, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::Value;
use serde_json::value::RawValue;

/// The longest message that a server may send. It is larger than what a hub passes on, so that a large message can be
/// refused by name.
pub(crate) const MESSAGE_LIMIT: usize = 32 << 20;

/// A longer message is a large one. Reading a smaller one takes a moment and a few megabytes at most.
pub(crate) const LARGE: usize = 64 << 10;

/// The largest result of the handshake: the library reads it by itself.
const LARGEST_HELLO: usize = 256 << 10;

/// What a large message is.
#[derive(Debug)]
pub(crate) enum LargeMessage {
    /// An answer. Its result, if it has one, is a text.
    Answer(Box<ServerJsonRpcMessage>),
    /// A request. Nothing that a server may ask for needs so many words.
    Request(RequestId),
    /// A notification, or anything else that answers nothing.
    Nothing,
    /// An answer to this request that is not as it should be.
    Unusable(RequestId, &'static str),
    /// No message.
    Garbage,
}

/// The members of a message that say what it is.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// An error of a server. What else it says is left out.
#[derive(Deserialize)]
struct ErrorOutline {
    code: i32,
    message: String,
}

#[derive(Deserialize)]
struct Hello {
    #[serde(rename = "protocolVersion")]
    protocol_version: Option<IgnoredAny>,
}

/// The messages of a batch, of which there may be so many.
pub(crate) fn read_batch(text: &str, most: usize) -> Result<Vec<&RawValue>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let batch = deserializer.deserialize_seq(Batch { most })?;
    deserializer.end().map(|()| batch)
}

/// Reads a list up to a number of items: a list of all of them may take more memory than its text.
struct Batch {
    most: usize,
}

impl<'de> Visitor<'de> for Batch {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {} messages", self.most)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == self.most {
                return Err(A::Error::invalid_length(self.most + 1, &self));
            }
            items.push(item);
        }
        Ok(items)
    }
}

/// Reads the outline of a message. An error says that it is no JSON object.
pub(crate) fn read(text: &str) -> Result<LargeMessage, serde_json::Error> {
    let Outline { jsonrpc, id, method, result, error } = serde_json::from_str(text)?;
    let read = match (id, method, given(result), given(error)) {
        (Some(id), Some(_), ..) => LargeMessage::Request(id),
        (None, Some(_), ..) => LargeMessage::Nothing,
        (None, None, ..) => LargeMessage::Garbage,
        (Some(id), ..) if jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") => {
            LargeMessage::Unusable(id, "it is not JSON-RPC 2.0")
        }
        (Some(id), None, _, Some(error)) => match serde_json::from_str(error) {
            Ok(ErrorOutline { code, message }) => {
                let error = ErrorData::new(ErrorCode(code), message, None);
                LargeMessage::Answer(Box::new(ServerJsonRpcMessage::error(error, Some(id))))
            }
            Err(_) => LargeMessage::Unusable(id, "its error has no code or no message"),
        },
        (Some(id), None, Some(result), None) => match read_result(result) {
            Some(result) => LargeMessage::Answer(Box::new(ServerJsonRpcMessage::response(result, id))),
            None => LargeMessage::Unusable(id, "its handshake is too large"),
        },
        (Some(id), None, None, None) => LargeMessage::Unusable(id, "it has neither a result nor an error"),
    };
    Ok(read)
}

/// A member that is not null: some write both a result and an error, one of them null.
fn given(member: Option<&RawValue>) -> Option<&str> {
    member.map(RawValue::get).filter(|text| *text != "null")
}

/// A result as its text, except that of the handshake.
fn read_result(text: &str) -> Option<ServerResult> {
    let is_hello = serde_json::from_str(text).is_ok_and(|Hello { protocol_version }| protocol_version.is_some());
    if is_hello {
        let hello = (text.len() <= LARGEST_HELLO).then(|| serde_json::from_str::<InitializeResult>(text));
        return hello?.ok().map(ServerResult::InitializeResult);
    }
    Some(ServerResult::CustomResult(CustomResult(Value::String(text.to_owned()))))
}

/// Takes the text of a result that was too large to be read.
pub(crate) fn take_text(result: &mut ServerResult) -> Option<String> {
    match result {
        // No result of MCP is a text by itself: this one came from `read`, or is wrong in any case.
        ServerResult::CustomResult(CustomResult(Value::String(text))) => Some(std::mem::take(text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(text: &str) -> String {
        match read(text) {
            Ok(LargeMessage::Answer(message)) => match *message {
                ServerJsonRpcMessage::Response(mut response) => match take_text(&mut response.result) {
                    Some(text) => format!("{}: {text}", response.id),
                    None => format!("{}: read {}", response.id, serde_json::to_string(&response.result).unwrap()),
                },
                ServerJsonRpcMessage::Error(error) => {
                    format!("{}: error {} {}", error.id.unwrap(), error.error.code.0, error.error.message)
                }
                other => panic!("{other:?}"),
            },
            Ok(LargeMessage::Unusable(id, why)) => format!("{id}: {why}"),
            Ok(other) => format!("{other:?}"),
            Err(_) => "no JSON".into(),
        }
    }

    #[test]
    fn the_outline_says_what_a_message_is() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":[1, 2]}}"#, r#"1: {"a":[1, 2]}"#),
            (r#"{"result":{},"error":null,"id":"x","jsonrpc":"2.0"}"#, "x: {}"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"no","data":[1]}}"#, "1: error -5 no"),
            (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, "1: its error has no code or no message"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "1: it has neither a result nor an error"),
            (r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, "1: it is not JSON-RPC 2.0"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#, "Request(Number(1))"),
            (r#"{"jsonrpc":"2.0","method":"m"}"#, "Nothing"),
            (r#"{"level":"info"}"#, "Garbage"),
            (r#"{"jsonrpc":"2.0","id":1,"result":tru}"#, "no JSON"),
            ("[1]", "no JSON"),
        ] {
            assert_eq!(short(text), expected, "{text}");
        }
    }

    #[test]
    fn the_library_gets_a_large_handshake_as_it_expects_it() {
        let hello = |size: usize| {
            let words = "x".repeat(size);
            format!(
                r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-03-26","capabilities":{{}},"serverInfo":{{"name":"s","version":"0"}},"instructions":"{words}"}}}}"#
            )
        };
        assert!(short(&hello(10)).starts_with("0: read {"));
        assert_eq!(short(&hello(LARGEST_HELLO)), "0: its handshake is too large");
    }

    #[test]
    fn a_batch_is_read_up_to_a_number_of_messages() {
        let texts = |text, most| read_batch(text, most).ok().map(|all| all.into_iter().map(RawValue::get).collect());
        assert_eq!(texts("[1, {}]", 2), Some(vec!["1", "{}"]));
        for refused in ["[1,2,3]", "{}", "[1", "[1]2"] {
            assert_eq!(texts(refused, 2), None, "{refused}");
        }
    }
}
