//! Large answers in event streams, on their way around the library, which would build a tree of the text of each event.
//!
//! The library gets a small event for the same request. When it hands over the answer, the large one takes its place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt as _;
use rmcp::model::{EmptyResult, RequestId, ServerJsonRpcMessage, ServerResult};
use sse_stream::Sse;

use crate::http::events::Events;
use crate::http::repair;
use crate::large::LARGE;

/// The large answers that one server has sent and the library has not handed over; clones share them.
#[derive(Clone, Default)]
pub(super) struct LargeAnswers(Arc<Mutex<HashMap<RequestId, ServerResult>>>);

impl LargeAnswers {
    /// The events, with a small one in place of each large one.
    pub(super) fn kept_from(&self, events: Events) -> Events {
        let large = self.clone();
        events
            .then(move |event| {
                let large = large.clone();
                async move {
                    match event {
                        Ok(event) => Ok(large.keep(event).await),
                        Err(error) => Err(error),
                    }
                }
            })
            .boxed()
    }

    async fn keep(&self, mut event: Sse) -> Sse {
        let Some(text) = event.data.take_if(|text| text.len() > LARGE) else { return event };
        event.data = match repair::read(text.into_bytes()).await {
            Ok(ServerJsonRpcMessage::Response(answer)) => {
                let placeholder = ServerResult::EmptyResult(EmptyResult {});
                let small = ServerJsonRpcMessage::response(placeholder, answer.id.clone());
                self.answers().insert(answer.id, answer.result);
                Some(repair::written(&small))
            }
            Ok(error) => Some(repair::written(&error)),
            Err(problem) => {
                tracing::debug!(%problem, "an event of an MCP server is ignored");
                None
            }
        };
        event
    }

    /// The message, with the answer in place of the small one.
    pub(super) fn put_back(&self, mut message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        if let ServerJsonRpcMessage::Response(answer) = &mut message
            && let Some(result) = self.answers().remove(&answer.id)
        {
            answer.result = result;
        }
        message
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<RequestId, ServerResult>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::large::take_text;

    #[tokio::test]
    async fn a_large_answer_goes_around_the_library() {
        let large = LargeAnswers::default();
        let pad = "x".repeat(LARGE);
        let texts = [
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"a":"{pad}"}}}}"#),
            format!(r#"{{"jsonrpc":"1.0","id":8,"result":{{"a":"{pad}"}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","method":"m","params":"{pad}"}}"#),
            r#"{"jsonrpc":"2.0","id":9,"result":{}}"#.to_owned(),
        ];
        let events = futures_util::stream::iter(texts.map(|text| Ok(Sse::default().data(text)))).boxed();
        let small: Vec<_> = large.kept_from(events).map(|event| event.unwrap().data).collect().await;
        assert!(small.iter().flatten().all(|text| text.len() < 200), "{small:?}");
        assert_eq!(small[2], None);
        let handed_over = serde_json::from_str(small[0].as_deref().unwrap()).unwrap();
        let ServerJsonRpcMessage::Response(mut answer) = large.put_back(handed_over) else { panic!() };
        assert_eq!(take_text(&mut answer.result).unwrap(), format!(r#"{{"a":"{pad}"}}"#));
        assert!(small[1].as_deref().unwrap().contains("not an MCP message"));
        assert!(large.answers().is_empty());
    }
}
