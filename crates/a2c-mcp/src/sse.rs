//! The older HTTP with server-sent events: one long answer to a GET brings all messages from the server, and its first
//! event says where messages to the server are posted.
//!
//! A task reads the stream from its start to its end. When the stream is lost, the transport has ended.

use std::sync::Arc;
use std::time::Duration;

use a2c_protocol::config::SseParameters;
use futures_util::StreamExt;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use crate::detail::Detail;
use crate::http::events::{events, stream_error};
use crate::http::request::{HttpRequest, accepted, body, is_media};
use crate::http::{self, Credentials, HttpError, HttpSetupError, NotMcp, repair};
use crate::owed::OwedAnswers;

/// How many messages may wait to be read before the server is made to wait.
const INBOX: usize = 64;

/// A connection to a legacy SSE server.
struct SseTransport {
    stream: Arc<SseStream>,
    inbox: mpsc::Receiver<ServerJsonRpcMessage>,
    owed: OwedAnswers,
    close: Option<DropGuard>,
}

/// What the task and the sends share.
struct SseStream {
    client: reqwest::Client,
    url: Url,
    timeout: Duration,
    idle: Duration,
    state: watch::Sender<StreamState>,
}

#[derive(Clone)]
enum StreamState {
    /// The address for messages is not known yet.
    Opening,
    /// Messages are posted there.
    Open(Url),
    /// The stream has ended.
    Ended(HttpError),
}

/// Connects to the server with parameters whose placeholders are filled in. Must be called within a Tokio runtime. A
/// failure to connect shows when the first message is sent.
pub fn open(parameters: &SseParameters) -> Result<impl Transport<RoleClient> + use<>, HttpSetupError> {
    let url = http::address(&parameters.url)?;
    let timeout = http::limit("timeout", parameters.timeout)?;
    let idle = http::limit("sse_read_timeout", parameters.sse_read_timeout)?;
    let client = http::client(&url, http::headers(parameters.headers.as_ref())?, timeout)?;
    let stream = Arc::new(SseStream { client, url, timeout, idle, state: watch::Sender::new(StreamState::Opening) });
    let (sender, inbox) = mpsc::channel(INBOX);
    let stop = CancellationToken::new();
    tokio::spawn(read_until_end(stream.clone(), sender, stop.clone()));
    Ok(SseTransport { stream, inbox, owed: OwedAnswers::default(), close: Some(stop.drop_guard()) })
}

/// Reads the stream until it ends or the transport is closed.
async fn read_until_end(stream: Arc<SseStream>, sender: mpsc::Sender<ServerJsonRpcMessage>, stop: CancellationToken) {
    let ended = tokio::select! {
        error = read(&stream, &sender) => error,
        () = stop.cancelled() => HttpError::Closed,
    };
    tracing::debug!(%ended, "the event stream of an MCP server ended");
    stream.state.send_replace(StreamState::Ended(ended));
}

/// Reads the stream to its end, and says why it ended.
async fn read(stream: &SseStream, sender: &mpsc::Sender<ServerJsonRpcMessage>) -> HttpError {
    let opened = HttpRequest::get(stream.url.clone()).send(&stream.client, stream.timeout).await;
    let response = match opened.and_then(|response| accepted(response, &Credentials::Headers)) {
        Ok(response) if !response.status().is_success() => return HttpError::Status(response.status().as_u16()),
        Ok(response) if !is_media(&response, "text/event-stream") => {
            return NotMcp::NoEventStream.into();
        }
        Ok(response) => response,
        Err(error) => return error,
    };
    let mut events = events(response, stream.idle);
    let first = async {
        loop {
            match events.next().await {
                None => return Err(HttpError::Closed),
                Some(Err(error)) => return Err(stream_error(&error)),
                Some(Ok(event)) if event.event.as_deref() == Some("endpoint") => {
                    return endpoint(&stream.url, event.data.as_deref().unwrap_or_default());
                }
                Some(Ok(_)) => {}
            }
        }
    };
    match tokio::time::timeout(stream.timeout, first).await {
        Ok(Ok(url)) => stream.state.send_replace(StreamState::Open(url)),
        Ok(Err(error)) => return error,
        Err(_) => return NotMcp::NoEndpoint.into(),
    };
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            Err(error) => return stream_error(&error),
        };
        if !matches!(event.event.as_deref(), None | Some("" | "message")) {
            continue;
        }
        match repair::read(event.data.unwrap_or_default().into_bytes()).await {
            Ok(message) => {
                if sender.send(message).await.is_err() {
                    break;
                }
            }
            Err(problem) => tracing::debug!(%problem, "an event of an MCP server is ignored"),
        }
    }
    HttpError::Closed
}

/// Where messages are posted. The owner's headers go there, hence it must be on the origin that the owner wrote down.
fn endpoint(base: &Url, given: &str) -> Result<Url, HttpError> {
    match base.join(given.trim()) {
        Ok(url) if url.origin() == base.origin() => Ok(url),
        Ok(_) => Err(NotMcp::ForeignEndpoint.into()),
        Err(_) => Err(NotMcp::BadEndpoint.into()),
    }
}

impl SseStream {
    /// Where to post, once that is known.
    async fn opened(&self) -> Result<Url, HttpError> {
        let mut states = self.state.subscribe();
        let state = states.wait_for(|state| !matches!(state, StreamState::Opening)).await;
        match state.as_deref() {
            Ok(StreamState::Open(url)) => Ok(url.clone()),
            Ok(StreamState::Ended(error)) => Err(error.clone()),
            Ok(StreamState::Opening) | Err(_) => Err(HttpError::Closed),
        }
    }

    /// Posts a message.
    async fn post(&self, message: &ClientJsonRpcMessage) -> Result<(), HttpError> {
        let url = self.opened().await?;
        let text = serde_json::to_vec(message).map_err(|error| NotMcp::Message(Detail::new(error)))?;
        let response = HttpRequest::post(url, text.into()).send(&self.client, self.timeout).await?;
        let response = accepted(response, &Credentials::Headers)?;
        match response.status() {
            status if status.is_success() => {
                // Read to its end, so that the connection can carry the next message.
                body(response, self.timeout).await.map(drop)
            }
            status => Err(HttpError::Status(status.as_u16())),
        }
    }
}

impl Transport<RoleClient> for SseTransport {
    type Error = HttpError;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), HttpError>> + Send + 'static {
        let stream = self.stream.clone();
        let waiting = self.owed.write(&message, 0);
        async move {
            let _waiting = waiting;
            stream.post(&message).await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            // A request that is not answered ends with its time limit: this does not wait for ever.
            self.owed.bearable().await;
            let message = self.inbox.recv().await?;
            if self.owed.take_in(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), HttpError> {
        drop(self.close.take());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_posted_to_the_same_origin_only() {
        let base = "http://h:8000/deep/sse".parse().unwrap();
        for (given, to) in [
            ("/messages?session_id=1", Some("http://h:8000/messages?session_id=1")),
            ("messages", Some("http://h:8000/deep/messages")),
            ("http://h:8000/m", Some("http://h:8000/m")),
            ("https://h:8000/m", None),
            ("http://h/m", None),
            ("//evil/m", None),
            ("http://h:8000@evil/m", None),
            ("file:///etc/passwd", None),
        ] {
            assert_eq!(endpoint(&base, given).ok().as_ref().map(Url::as_str), to, "{given}");
        }
    }
}
