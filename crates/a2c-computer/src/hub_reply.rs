//! Sends the answer to one request of the hub. A refusal repeats the `req_id` of its request, as every other answer does:
//! Agents compare the two.

use a2c_link::{AckReply, EmitError, Payload};
use a2c_protocol::{ErrorBody, ErrorCode};
use serde::{Deserialize, Serialize};

/// One request that waits for its answer.
pub(crate) struct HubReply {
    pub(crate) event: String,
    /// The key of the request, where it has a valid one.
    pub(crate) req_id: Option<String>,
    pub(crate) ack: AckReply,
}

impl HubReply {
    /// Sends the outcome of a request.
    pub(crate) async fn respond<T: Serialize>(self, outcome: Result<T, ErrorBody>) {
        match outcome {
            Ok(answer) => self.answer(&answer).await,
            Err(error) => self.refuse(error).await,
        }
    }

    /// Sends an error.
    pub(crate) async fn refuse(self, error: ErrorBody) {
        let error = self.refusal(error);
        self.answer(&error).await;
    }

    /// Sends an answer, or that it is too large.
    pub(crate) async fn answer(self, answer: &(impl Serialize + ?Sized)) {
        let event = &*self.event;
        let payload = match Payload::json(answer) {
            Ok(payload) => payload,
            Err(error) => return tracing::error!(event, %error, "an answer could not be written"),
        };
        let mut sent = self.ack.send(payload).await;
        if let Err(EmitError::TooLarge { size, limit }) = sent {
            // Silence would leave the Agent waiting for something that never comes.
            let message = format!("the answer of {size} bytes is over the hub's limit of {limit} bytes");
            let error = self.refusal(ErrorBody::new(ErrorCode::LimitExceeded, message).with("limit", limit));
            if let Ok(payload) = Payload::json(&error) {
                sent = self.ack.send(payload).await;
            }
        }
        if let Err(error) = sent {
            tracing::warn!(event, %error, "the answer did not reach the hub");
        }
    }

    fn refusal(&self, error: ErrorBody) -> ErrorBody {
        match &self.req_id {
            Some(req_id) => error.with("req_id", &**req_id),
            None => error,
        }
    }
}

/// The key of a request, also of one that is malformed elsewhere.
pub(crate) fn req_id_of(json: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Keyed {
        req_id: String,
    }
    serde_json::from_str::<Keyed>(json).ok().map(|keyed| keyed.req_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_malformed_request_is_found() {
        for (json, expected) in [
            (r#"{"req_id": "r", "uri": 7, "later": [{}]}"#, Some("r")),
            (r#"{"req_id": 7}"#, None),
            (r#"{"computer": "c"}"#, None),
            (r#"[{"req_id": "r"}]"#, None),
            ("null", None),
            ("", None),
        ] {
            assert_eq!(req_id_of(json).as_deref(), expected, "{json}");
        }
    }
}
