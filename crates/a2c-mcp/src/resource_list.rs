//! Keeps a list of resources as its server wrote it.
//!
//! The library reads a list into its own structures and drops the members that it does not know; an Agent is to see them.
//! So a transport that has the text of such an answer puts the list into the message as it is, under a key that the
//! library takes for none of its own.

use rmcp::model::{CustomResult, ServerJsonRpcMessage, ServerResult};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The key under which a list travels through the library.
const AS_WRITTEN: &str = "a2c/resources_as_written";

#[derive(Deserialize)]
struct ListAnswer {
    result: Value,
}

/// Puts the list into a message that is one; `written` is the message as the server wrote it.
pub(crate) fn keep(message: &mut ServerJsonRpcMessage, written: &[u8]) {
    if is_list(message)
        && let Ok(ListAnswer { result }) = serde_json::from_slice(written)
    {
        put(message, result);
    }
}

/// The same for a message that was read into a value.
pub(crate) fn keep_value(message: &mut ServerJsonRpcMessage, written: &mut Value) {
    if is_list(message)
        && let Some(result) = written.get_mut("result")
    {
        put(message, result.take());
    }
}

/// Whether a message answers with a list of resources that the library has read.
pub(crate) fn is_list(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Response(answer) if matches!(answer.result, ServerResult::ListResourcesResult(_)))
}

fn put(message: &mut ServerJsonRpcMessage, list: Value) {
    if let ServerJsonRpcMessage::Response(answer) = message {
        let kept = Map::from_iter([(AS_WRITTEN.to_owned(), list)]);
        answer.result = ServerResult::CustomResult(CustomResult(kept.into()));
    }
}

/// The list out of an answer that the library did not take for one: as it was written, or one that has a mistake.
pub(crate) fn take(mut answer: Value) -> Value {
    match answer.get_mut(AS_WRITTEN).map(Value::take) {
        Some(list) => list,
        None => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"a://b","name":"b","own":[1]}],"_meta":{"m":1},"resultType":"complete"}}"#;

    fn taken(message: ServerJsonRpcMessage) -> Value {
        match message {
            ServerJsonRpcMessage::Response(answer) => match answer.result {
                ServerResult::CustomResult(kept) => take(kept.0),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_list_passes_through_the_library_as_it_was_written() {
        let mut message: ServerJsonRpcMessage = serde_json::from_str(LIST).unwrap();
        keep(&mut message, LIST.as_bytes());
        // As text, too: the library reads the events of a stream itself.
        let again: ServerJsonRpcMessage = serde_json::from_str(&serde_json::to_string(&message).unwrap()).unwrap();
        for message in [message, again] {
            assert_eq!(taken(message)["resources"][0], json!({"uri": "a://b", "name": "b", "own": [1]}));
        }
        let mut written: Value = serde_json::from_str(LIST).unwrap();
        let mut message: ServerJsonRpcMessage = serde_json::from_value(written.clone()).unwrap();
        keep_value(&mut message, &mut written);
        assert_eq!(taken(message)["resources"][0]["own"], json!([1]));
    }

    #[test]
    fn other_answers_stay_as_they_are() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#,
        ] {
            let mut message: ServerJsonRpcMessage = serde_json::from_str(text).unwrap();
            let before = serde_json::to_value(&message).unwrap();
            keep(&mut message, text.as_bytes());
            assert_eq!(serde_json::to_value(&message).unwrap(), before);
        }
    }
}
