//! Messages of an HTTP server. An answer that cannot be read becomes an error for the request that waits for it; of a large
//! one only the outline is read.

use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::error::NotMcp;
use crate::detail::Detail;
use crate::large::{self, LARGE, LargeMessage};
use crate::resource_list;

/// As much of a message as tells what it answers.
#[derive(Deserialize)]
struct Outline {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
}

/// Reads a message. A message that is wrong but says which request it answers becomes an error for that request. Any
/// other wrong message is refused.
pub(crate) async fn read(text: Vec<u8>) -> Result<ServerJsonRpcMessage, NotMcp> {
    if text.len() <= LARGE {
        return read_small(&text);
    }
    // It takes as long as the text is long, and other servers are not to wait for it.
    let read = tokio::task::spawn_blocking(move || read_large(&text)).await;
    read.unwrap_or_else(|error| Err(NotMcp::Message(Detail::new(error))))
}

fn read_large(text: &[u8]) -> Result<ServerJsonRpcMessage, NotMcp> {
    let text = str::from_utf8(text).map_err(|error| NotMcp::Message(Detail::new(error)))?;
    match large::read(text).map_err(|error| NotMcp::Message(Detail::new(error)))? {
        LargeMessage::Answer(message) => Ok(*message),
        LargeMessage::Unusable(id, _) => Ok(unreadable(id)),
        LargeMessage::Request(_) | LargeMessage::Nothing | LargeMessage::Garbage => {
            Err(NotMcp::Message(Detail::text("it is too large, and no answer")))
        }
    }
}

fn read_small(text: &[u8]) -> Result<ServerJsonRpcMessage, NotMcp> {
    let problem = match serde_json::from_slice(text) {
        Ok(mut message) => {
            resource_list::keep(&mut message, text);
            return Ok(message);
        }
        Err(problem) => problem,
    };
    match serde_json::from_slice(text) {
        Ok(Outline { id: Some(id), method: None }) => Ok(unreadable(id)),
        _ => Err(NotMcp::Message(Detail::new(problem))),
    }
}

/// For a caller that parses a small text again: gives another text where this one has to be replaced.
pub(crate) fn replacement(text: &str) -> Option<String> {
    match serde_json::from_str::<ServerJsonRpcMessage>(text) {
        Ok(message) if !resource_list::is_list(&message) => None,
        _ => read_small(text.as_bytes()).ok().map(|better| written(&better)),
    }
}

/// A message as text.
pub(crate) fn written(message: &ServerJsonRpcMessage) -> String {
    serde_json::to_string(message).expect("a message has no keys but strings")
}

/// An error of our own making in place of an answer.
pub(crate) fn error(id: RequestId, what: impl Into<String>) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::internal_error(what.into(), None), Some(id))
}

fn unreadable(id: RequestId) -> ServerJsonRpcMessage {
    error(id, "the server's answer is not an MCP message")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::NumberOrString;

    #[test]
    fn an_unreadable_answer_is_an_error_for_its_request() {
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"error":"no object"}"#, NumberOrString::Number(7)),
            (r#"{"jsonrpc":"1.0","id":"x","result":{}}"#, NumberOrString::String("x".into())),
            (r#"{"id":7,"result":{}}"#, NumberOrString::Number(7)),
        ] {
            let ServerJsonRpcMessage::Error(error) = read_small(text.as_bytes()).unwrap() else { panic!("{text}") };
            assert_eq!(error.id, Some(id), "{text}");
            assert!(replacement(text).is_some(), "{text}");
        }
    }

    #[test]
    fn what_answers_nothing_is_passed_over() {
        for text in ["", "garbage", "[]", "{}", r#"{"jsonrpc":"2.0","id":{},"result":{}}"#] {
            assert!(read_small(text.as_bytes()).is_err(), "{text}");
            assert_eq!(replacement(text), None, "{text}");
        }
    }

    #[tokio::test]
    async fn of_a_large_message_the_outline_is_read() {
        let pad = "x".repeat(LARGE);
        let read = |text: String| async { read(text.into_bytes()).await };
        let Ok(ServerJsonRpcMessage::Response(mut answer)) =
            read(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{pad}"}}}}"#)).await
        else {
            panic!()
        };
        assert_eq!(large::take_text(&mut answer.result).unwrap(), format!(r#"{{"a":"{pad}"}}"#));
        let broken = read(format!(r#"{{"jsonrpc":"1.0","id":1,"result":"{pad}"}}"#)).await;
        assert!(matches!(broken, Ok(ServerJsonRpcMessage::Error(_))));
        assert!(read(format!(r#"{{"jsonrpc":"2.0","method":"m","params":"{pad}"}}"#)).await.is_err());
    }

    #[test]
    fn a_good_message_stays_as_it_is() {
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
        assert!(matches!(read_small(text.as_bytes()), Ok(ServerJsonRpcMessage::Response(_))));
        assert_eq!(replacement(text), None);
    }
}
