//! What a line on a server's standard output means.
//!
//! A message goes on to the MCP library. An answer that the library would refuse becomes an error for the request that
//! waits for it, at once. What is no message at all is handed back as such. Of a long line only the outline is read
//! ([`crate::large`]).

use std::borrow::Cow;

use a2c_process::{BEGINNING, cut};
use a2c_protocol::config::EncodingErrors;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::Value;

use crate::large::{self, LARGE, LargeMessage};
use crate::resource_list;

/// How much of a server's own words stands in an error.
const QUOTED: usize = 200;

/// The longest `id` of a request: an answer repeats it, so a server could have us write as much as it likes.
const LONGEST_ID: usize = 256;

/// How many messages may come at once. MCP has no such batches any more; a line could hold millions.
const LARGEST_BATCH: usize = 1000;

const NOT_UTF_8: &str = "the server's answer is not UTF-8 (`encoding_error_handler` may be `replace`)";

/// What a line means.
#[derive(Debug)]
pub(crate) enum Meaning {
    /// A message for the library.
    Message(Box<ServerJsonRpcMessage>),
    /// Several at once.
    Batch(Vec<Meaning>),
    /// A request that cannot be understood, and the answer to it.
    Answer(Box<ClientJsonRpcMessage>),
    /// Nothing: an empty line, or an unknown notification.
    Nothing,
    /// No MCP.
    Garbage,
}

/// Reads a line.
pub(crate) fn read(line: &[u8], bad_bytes: EncodingErrors) -> Meaning {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Meaning::Nothing;
    }
    if line.len() > LARGE {
        return read_large(line, bad_bytes);
    }
    let problem = match serde_json::from_slice::<Box<ServerJsonRpcMessage>>(line) {
        Ok(mut message) => {
            resource_list::keep(&mut message, line);
            return taken(message);
        }
        Err(problem) => problem,
    };
    // From here on it need not be fast.
    let text = match (String::from_utf8_lossy(line), bad_bytes) {
        (text @ Cow::Borrowed(_), _) => text,
        (_, EncodingErrors::Strict) => {
            return unreadable(line, NOT_UTF_8);
        }
        (text, EncodingErrors::Replace) => text,
        (_, EncodingErrors::Ignore) => line.utf8_chunks().map(|chunk| chunk.valid()).collect(),
    };
    match serde_json::from_str(&text) {
        Ok(value) => understand(value, &problem),
        Err(_) => unreadable(line, "the server's answer is not JSON"),
    }
}

/// Reads a line that is too long to be built as a tree. It takes a while: not for a thread of the runtime.
fn read_large(line: &[u8], bad_bytes: EncodingErrors) -> Meaning {
    let text = match (str::from_utf8(line), bad_bytes) {
        (Ok(text), _) => Cow::Borrowed(text),
        (Err(_), EncodingErrors::Strict) => return unreadable(line, NOT_UTF_8),
        (Err(_), EncodingErrors::Ignore) => line.utf8_chunks().map(|chunk| chunk.valid()).collect(),
        // One byte for each: a text of bad bytes does not grow to three times its size.
        (Err(_), EncodingErrors::Replace) => {
            let mut text = String::with_capacity(line.len());
            for chunk in line.utf8_chunks() {
                text.push_str(chunk.valid());
                text.extend((!chunk.invalid().is_empty()).then_some('?'));
            }
            Cow::Owned(text)
        }
    };
    if !text.starts_with('[') {
        return outlined(&text, line);
    }
    match large::read_batch(&text, LARGEST_BATCH) {
        Ok(batch) => Meaning::Batch(batch.into_iter().map(|one| outlined(one.get(), one.get().as_bytes())).collect()),
        Err(_) => Meaning::Garbage,
    }
}

fn outlined(text: &str, line: &[u8]) -> Meaning {
    match large::read(text) {
        Ok(LargeMessage::Answer(message)) => Meaning::Message(message),
        Ok(LargeMessage::Request(id)) if too_long(&id) => Meaning::Garbage,
        Ok(LargeMessage::Request(id)) => {
            let error = ErrorData::invalid_request(format!("it is longer than {LARGE} bytes"), None);
            Meaning::Answer(Box::new(ClientJsonRpcMessage::error(error, Some(id))))
        }
        Ok(LargeMessage::Nothing) => Meaning::Nothing,
        Ok(LargeMessage::Garbage) => Meaning::Garbage,
        Ok(LargeMessage::Unusable(id, _)) if too_long(&id) => Meaning::Garbage,
        Ok(LargeMessage::Unusable(id, why)) => refused(id, &format!("the server's answer cannot be understood: {why}")),
        Err(_) => unreadable(line, "the server's answer is not JSON"),
    }
}

/// What the beginning of a line that is longer than `limit` bytes means.
pub(crate) fn read_beginning(line: &[u8], limit: usize) -> Meaning {
    unreadable(line, &format!("the server's answer is longer than {limit} bytes"))
}

fn taken(message: Box<ServerJsonRpcMessage>) -> Meaning {
    match &*message {
        ServerJsonRpcMessage::Request(request) if too_long(&request.id) => Meaning::Garbage,
        _ => Meaning::Message(message),
    }
}

fn too_long(id: &RequestId) -> bool {
    matches!(id, RequestId::String(text) if text.len() > LONGEST_ID)
}

fn understand(value: Value, problem: &serde_json::Error) -> Meaning {
    match value {
        Value::Array(batch) if batch.len() > LARGEST_BATCH => Meaning::Garbage,
        Value::Array(batch) if !batch.is_empty() => {
            Meaning::Batch(batch.into_iter().map(|value| understand_one(value, problem)).collect())
        }
        value => understand_one(value, problem),
    }
}

fn understand_one(mut value: Value, problem: &serde_json::Error) -> Meaning {
    // Some write both `result` and `error`, one of them null.
    if let Some(message) = value.as_object_mut()
        && message.contains_key("result")
        && message.contains_key("error")
    {
        let empty = if message["error"].is_null() { "error" } else { "result" };
        message.remove(empty);
    }
    let problem = match <ServerJsonRpcMessage as serde::Deserialize>::deserialize(&value) {
        Ok(mut message) => {
            resource_list::keep_value(&mut message, &mut value);
            return taken(Box::new(message));
        }
        Err(own) if value.is_object() => own.to_string(),
        Err(_) => problem.to_string(),
    };
    let Some(message) = value.as_object() else { return Meaning::Garbage };
    let id = message.get("id").and_then(id_of);
    match (message.contains_key("method"), id) {
        (_, Some(id)) if too_long(&id) => Meaning::Garbage,
        // Servers send notifications of other protocols, or of later versions of this one.
        (true, None) => Meaning::Nothing,
        (true, Some(id)) => {
            let error = ErrorData::invalid_request(format!("cannot be understood: {}", cut(&problem, QUOTED)), None);
            Meaning::Answer(Box::new(ClientJsonRpcMessage::error(error, Some(id))))
        }
        (false, Some(id)) => {
            refused(id, &format!("the server's answer cannot be understood: {}", cut(&problem, QUOTED)))
        }
        (false, None) => Meaning::Garbage,
    }
}

fn id_of(value: &Value) -> Option<RequestId> {
    match value {
        Value::Number(number) => Some(RequestId::Number(number.as_i64()?)),
        Value::String(text) => Some(RequestId::String(text.as_str().into())),
        _ => None,
    }
}

fn refused(id: RequestId, problem: &str) -> Meaning {
    let error = ErrorData::internal_error(problem.to_owned(), None);
    Meaning::Message(Box::new(ServerJsonRpcMessage::error(error, Some(id))))
}

/// A line that is no JSON may still show which request it answers.
fn unreadable(line: &[u8], problem: &str) -> Meaning {
    let head = &line[..line.len().min(BEGINNING)];
    match answered(head) {
        Some(id) => refused(id, problem),
        None => Meaning::Garbage,
    }
}

/// The `id` of a message that looks like an answer, read from its beginning: the members of the object up to the first
/// that is an object or array itself.
fn answered(head: &[u8]) -> Option<RequestId> {
    let text = String::from_utf8_lossy(head);
    let mut rest = text.trim_start_matches('\u{feff}').trim_start().strip_prefix('{')?;
    let mut id = None;
    loop {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let key = values.next()?.ok()?;
        let value = rest[values.byte_offset()..].trim_start().strip_prefix(':')?.trim_start();
        match key.as_str() {
            "method" => return None,
            // Whatever follows is the answer.
            "result" | "error" if id.is_some() => return id,
            _ => {}
        }
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
        let Some(Ok(read)) = values.next() else {
            // The `id` may stand behind the result, where it is out of reach.
            return None;
        };
        if key == "id" {
            id = Some(id_of(&read).filter(|id| !too_long(id))?);
        }
        rest = value[values.byte_offset()..].trim_start().strip_prefix(',')?.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The meaning in short: `id: message` of an error, the JSON of another message.
    fn short(meaning: Meaning) -> String {
        let json = |message: &dyn erased::Json| message.json();
        match meaning {
            Meaning::Message(message) => match *message {
                ServerJsonRpcMessage::Error(error) => {
                    let id = error.id.map_or_else(|| "?".into(), |id| id.to_string());
                    format!("error {id}: {}", error.error.message)
                }
                other => json(&other),
            },
            Meaning::Batch(all) => all.into_iter().map(short).collect::<Vec<_>>().join(" | "),
            Meaning::Answer(answer) => format!("answer {}", json(&*answer)),
            Meaning::Nothing => "nothing".into(),
            Meaning::Garbage => "garbage".into(),
        }
    }

    mod erased {
        pub(super) trait Json {
            fn json(&self) -> String;
        }
        impl<T: serde::Serialize> Json for T {
            fn json(&self) -> String {
                serde_json::to_string(self).unwrap()
            }
        }
    }

    #[track_caller]
    fn check(line: &[u8], expected: &str) {
        check_with(line, EncodingErrors::Strict, expected);
    }

    #[track_caller]
    fn check_with(line: &[u8], bad_bytes: EncodingErrors, expected: &str) {
        let seen = short(read(line, bad_bytes));
        assert!(seen.starts_with(expected), "{seen}\nfor {}", String::from_utf8_lossy(line));
    }

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#;

    #[test]
    fn messages_pass() {
        check(ANSWER.as_bytes(), ANSWER);
        check(format!("\u{feff}{ANSWER}\r").as_bytes(), ANSWER);
        check(b"", "nothing");
        check(b" \r", "nothing");
        check(format!("[{ANSWER},{ANSWER}]").as_bytes(), &format!("{ANSWER} | {ANSWER}"));
        check(format!("[{ANSWER},1]").as_bytes(), &format!("{ANSWER} | garbage"));
        check(br#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":null}"#, ANSWER);
        check(br#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-1,"message":"no"}}"#, "error 1: no");
    }

    #[test]
    fn what_is_no_message_is_told_apart() {
        for garbage in ["Server ready on stdio", "[info] up", "{", "123", "\"text\"", "[]", r#"{"level":"info"}"#] {
            check(garbage.as_bytes(), "garbage");
        }
        check(br#"{"jsonrpc":"1.0","method":"$/other"}"#, "nothing");
    }

    #[test]
    fn an_answer_that_cannot_be_used_is_an_error_at_once() {
        check(br#"{"jsonrpc":"1.0","id":7,"result":{}}"#, "error 7: the server's answer cannot be understood");
        check(br#"{"jsonrpc":"2.0","id":7,"error":"text"}"#, "error 7: the server's answer cannot be understood");
        check(br#"{"jsonrpc":"2.0","id":7}"#, "error 7: the server's answer cannot be understood");
        check(br#"{"jsonrpc":"2.0","id":7,"result":{"a":tru"#, "error 7: the server's answer is not JSON");
        check(br#"{"jsonrpc":"2.0","id":"x","result":nan}"#, "error x: the server's answer is not JSON");
        check(br#"{"jsonrpc":"2.0","id":7,"method":"m","params":nan}"#, "garbage");
        check(br#"{"jsonrpc":"0","id":7,"method":"m"}"#, r#"answer {"jsonrpc":"2.0","id":7,"error":"#);
        let beginning = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"xxxxx"#;
        assert_eq!(short(read_beginning(beginning, 5)), "error 7: the server's answer is longer than 5 bytes");
        assert_eq!(short(read_beginning(br#"{"result":{"content":["xxxxx"#, 5)), "garbage");
        assert_eq!(short(read_beginning(b"xxxxxx", 5)), "garbage");
    }

    #[test]
    fn of_a_long_line_the_outline_is_read() {
        let pad = "x".repeat(LARGE);
        let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{pad}"}}}}"#);
        let text = serde_json::to_string(&format!(r#"{{"a":"{pad}"}}"#)).unwrap();
        let outlined = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{text}}}"#);
        check(answer.as_bytes(), &outlined);
        check(format!("[{answer},{answer}]").as_bytes(), &format!("{outlined} | {outlined}"));
        check(format!("[{}]", vec!["1"; LARGE].join(",")).as_bytes(), "garbage");
        check(format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":"{pad}"}}"#).as_bytes(), "answer {");
        check(format!(r#"{{"jsonrpc":"2.0","method":"m","params":"{pad}"}}"#).as_bytes(), "nothing");
        check(format!(r#"{{"level":"info","text":"{pad}"}}"#).as_bytes(), "garbage");
        check(
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":"{pad}"#).as_bytes(),
            "error 7: the server's answer is not JSON",
        );
        let bad =
            [br#"{"jsonrpc":"2.0","id":1,"result":{"a":"#, &b"\"\xff\xff"[..], pad.as_bytes(), br#""}}"#].concat();
        check(&bad, "error 1: the server's answer is not UTF-8");
        let found = |bad_bytes| short(read(&bad, bad_bytes));
        assert!(found(EncodingErrors::Replace).contains(r#"\"??x"#), "one for each");
        assert!(found(EncodingErrors::Ignore).contains(r#"\"xxx"#));
    }

    #[test]
    fn what_would_have_us_write_without_bounds_is_garbage() {
        for (length, ping, nonsense) in [(256, "{\"jsonrpc\"", "answer"), (257, "garbage", "garbage")] {
            let id = "i".repeat(length);
            check(format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#).as_bytes(), ping);
            check(format!(r#"{{"jsonrpc":"0","id":"{id}","method":"m"}}"#).as_bytes(), nonsense);
        }
        let batch = |count| format!("[{}]", vec![r#"{"jsonrpc":"0","id":7,"method":"m"}"#; count].join(","));
        check(batch(LARGEST_BATCH).as_bytes(), "answer");
        check(batch(LARGEST_BATCH + 1).as_bytes(), "garbage");
    }

    #[test]
    fn bad_bytes_are_handled_as_asked() {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"x\xffy\"}}";
        check_with(line, EncodingErrors::Strict, "error 1: the server's answer is not UTF-8");
        check_with(line, EncodingErrors::Ignore, r#"{"jsonrpc":"2.0","id":1,"result":{"a":"xy"}}"#);
        check_with(line, EncodingErrors::Replace, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"x\u{fffd}y\"}}");
        check_with(b"caf\xe9 ready", EncodingErrors::Strict, "garbage");
    }
}
