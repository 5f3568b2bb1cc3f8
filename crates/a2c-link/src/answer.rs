//! Answers become structures: a large one on a thread of its own, and not one that would take many times its size.

use a2c_protocol::answer;
use a2c_protocol::tree_size::TreeSize;
use a2c_socketio::Payload;
use serde::de::DeserializeOwned;

use crate::answer_text::AnswerText;
use crate::error::RequestError;

/// A longer answer is a large one.
const LARGE: usize = 64 << 10;

/// What the values of an answer may take in memory, besides three times its size.
const LARGEST_TREE: usize = 128 << 20;

/// Decodes the first argument of an acknowledgement.
pub(crate) async fn decode<T: DeserializeOwned + Send + 'static>(payload: Payload) -> Result<T, RequestError> {
    let size = payload.raw(0).map(|raw| raw.get().len());
    let size = size.ok_or_else(|| RequestError::WrongShape("the answer is empty".into()))?;
    if size <= LARGE {
        return Ok(answer::decode(text_of(&payload))?);
    }
    let decoded = tokio::task::spawn_blocking(move || decode_large(text_of(&payload)));
    decoded.await.unwrap_or_else(|error| Err(RequestError::WrongShape(error.to_string())))
}

fn text_of(payload: &Payload) -> &str {
    payload.raw(0).map_or("null", |raw| raw.get())
}

fn decode_large<T: DeserializeOwned>(json: &str) -> Result<T, RequestError> {
    let tree = TreeSize::of(json).bytes();
    if tree > LARGEST_TREE + 3 * json.len() {
        return Err(RequestError::TooManyValues { tree, answer: AnswerText::new(json) });
    }
    Ok(answer::decode(json)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    async fn decoded(json: String) -> Result<Value, RequestError> {
        decode(Payload::json(&serde_json::value::RawValue::from_string(json).unwrap()).unwrap()).await
    }

    #[tokio::test]
    async fn an_answer_of_very_many_values_is_handed_over_as_text() {
        let dense = |count: usize| format!("{{\"all\":[{}0]}}", "{\"\":0},".repeat(count));
        assert!(decoded(dense(10)).await.is_ok());
        assert!(decoded(dense(LARGE / 7)).await.is_ok());
        let text = format!("{{\"text\":\"{}\"}}", "x".repeat(8 << 20));
        assert_eq!(decoded(text).await.unwrap()["text"].as_str().unwrap().len(), 8 << 20);
        match decoded(dense(LARGEST_TREE / 640)).await {
            Err(error @ RequestError::TooManyValues { .. }) => {
                assert!(format!("{error} {error:?}").len() < 300, "{error:?}");
                let RequestError::TooManyValues { answer, .. } = error else { unreachable!() };
                assert!(answer.json().starts_with("{\"all\":[{\"\":0}"));
            }
            other => panic!("{}", other.is_ok()),
        }
    }
}
