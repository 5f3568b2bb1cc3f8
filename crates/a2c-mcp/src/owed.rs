//! The answers that a server is owed: each counts from the moment its request is read until the answer is written.
//!
//! The MCP library runs every request in a task of its own and answers it later. A server that asks faster than it is
//! answered would have it hold any number of requests, whether the server reads the answers or not. Hence a transport stops
//! reading while too many answers are owed.
//!
//! Requests of ours do not count: they wait for the server themselves.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage, ServerNotification};
use tokio::sync::Notify;

/// How many answers, and bytes of them, a server may be owed before it is not listened to any more.
const ANSWERS_LIMIT: usize = 256;
const BYTES_LIMIT: usize = 1 << 20;

/// The answers that one server is owed; clones share them.
#[derive(Clone, Default)]
pub(crate) struct OwedAnswers(Arc<Shared>);

#[derive(Default)]
struct Shared {
    owed: Mutex<Owed>,
    less: Notify,
}

#[derive(Default)]
struct Owed {
    /// The handshake is over. Before, the library answers one request after the other, and some not at all.
    counting: bool,
    /// The requests that the library is to answer.
    requests: HashSet<RequestId>,
    /// Answers to other requests, which the library never saw.
    others: usize,
    /// The bytes of the answers that wait to be written.
    bytes: usize,
}

impl Owed {
    fn too_many(&self) -> bool {
        self.requests.len() + self.others > ANSWERS_LIMIT || self.bytes > BYTES_LIMIT
    }
}

/// An answer that waits to be written, until it is dropped.
pub(crate) struct WaitingAnswer {
    shared: Arc<Shared>,
    /// The request that the library answers with it.
    request: Option<RequestId>,
    bytes: usize,
}

impl OwedAnswers {
    /// Counts a message that was read. `false` if the library must not see it, because it would never answer.
    pub(crate) fn take_in(&self, message: &ServerJsonRpcMessage) -> bool {
        match message {
            ServerJsonRpcMessage::Request(request) => {
                let mut owed = self.owed();
                // The library answers one of two requests with the same id.
                !owed.counting || owed.requests.insert(request.id.clone())
            }
            // The library drops the answer to a cancelled request. Every request is answered at once: there is nothing to
            // cancel.
            ServerJsonRpcMessage::Notification(notification) => {
                !matches!(notification.notification, ServerNotification::CancelledNotification(_))
            }
            ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_) => true,
        }
    }

    /// Counts a message of so many bytes that is to be written, if it is an answer.
    pub(crate) fn write(&self, message: &ClientJsonRpcMessage, bytes: usize) -> Option<WaitingAnswer> {
        let id = match message {
            ClientJsonRpcMessage::Response(response) => Some(&response.id),
            ClientJsonRpcMessage::Error(error) => error.id.as_ref(),
            ClientJsonRpcMessage::Notification(notification) => {
                if matches!(notification.notification, ClientNotification::InitializedNotification(_)) {
                    self.owed().counting = true;
                }
                return None;
            }
            ClientJsonRpcMessage::Request(_) => return None,
        };
        let mut owed = self.owed();
        let request = id.filter(|id| owed.requests.contains(id)).cloned();
        owed.others += usize::from(request.is_none());
        owed.bytes += bytes;
        Some(WaitingAnswer { shared: self.0.clone(), request, bytes })
    }

    pub(crate) fn too_many(&self) -> bool {
        self.owed().too_many()
    }

    /// Waits until they are not too many any more. Only one caller may wait.
    pub(crate) async fn bearable(&self) {
        while self.too_many() {
            self.0.less.notified().await;
        }
    }

    fn owed(&self) -> MutexGuard<'_, Owed> {
        self.0.owed()
    }
}

impl Shared {
    fn owed(&self) -> MutexGuard<'_, Owed> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WaitingAnswer {
    fn drop(&mut self) {
        let mut owed = self.shared.owed();
        match &self.request {
            Some(id) => drop(owed.requests.remove(id)),
            None => owed.others -= 1,
        }
        owed.bytes -= self.bytes;
        drop(owed);
        self.shared.less.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ping(id: usize) -> ServerJsonRpcMessage {
        serde_json::from_value(json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).unwrap()
    }

    fn pong(id: usize) -> ClientJsonRpcMessage {
        serde_json::from_value(json!({"jsonrpc": "2.0", "id": id, "result": {}})).unwrap()
    }

    fn after_handshake() -> OwedAnswers {
        let owed = OwedAnswers::default();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert!(owed.write(&serde_json::from_value(initialized).unwrap(), 10).is_none());
        owed
    }

    #[test]
    fn a_request_counts_until_its_answer_is_written() {
        let owed = after_handshake();
        for id in 0..=ANSWERS_LIMIT {
            assert!(!owed.too_many(), "{id}");
            assert!(owed.take_in(&ping(id)));
        }
        assert!(owed.too_many());
        let waiting = owed.write(&pong(7), 10);
        assert!(owed.too_many(), "it is not written yet");
        drop(waiting);
        assert!(!owed.too_many());
    }

    #[test]
    fn what_the_library_would_not_answer_is_kept_from_it() {
        let owed = after_handshake();
        assert!(owed.take_in(&ping(1)));
        assert!(!owed.take_in(&ping(1)));
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        assert!(!owed.take_in(&serde_json::from_value(cancelled).unwrap()));
        drop(owed.write(&pong(1), 10));
        assert!(owed.take_in(&ping(1)));
    }

    #[test]
    fn the_bytes_of_answers_count_and_those_of_the_handshake_are_not_awaited() {
        let owed = OwedAnswers::default();
        for id in 0..=ANSWERS_LIMIT {
            assert!(owed.take_in(&ping(id)));
        }
        assert!(!owed.too_many());
        let waiting = owed.write(&pong(1), BYTES_LIMIT + 1);
        assert!(owed.too_many());
        drop(waiting);
        assert!(!owed.too_many());
    }
}
