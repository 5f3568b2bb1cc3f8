//! The older HTTP with server-sent events: one long answer to a GET brings all messages from the server, the first
//! event of it says where messages to the server are posted.
//!
//! A task reads the stream from its start to its end. The stream lost, the transport is at its end; whoever supervises
//! the server starts it anew.

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

use super::events::{self, events};
use super::fault::Fault;
use super::mend;
use super::outgoing::{self, Outgoing, is_media};
use super::refusal::Access;
use super::wire::accepted;

/// How many messages may wait to be read before the server is made to wait.
const INBOX: usize = 64;

/// A connection to a legacy SSE server.
struct Sse {
    line: Arc<Line>,
    inbox: mpsc::Receiver<ServerJsonRpcMessage>,
    hang_up: Option<DropGuard>,
}

/// What the task and the sends share.
struct Line {
    client: reqwest::Client,
    url: Url,
    timeout: Duration,
    idle: Duration,
    state: watch::Sender<State>,
}

#[derive(Clone)]
enum State {
    /// The address for messages is not known yet.
    Opening,
    /// Messages are posted there.
    Open(Url),
    /// There is no stream any more.
    Over(Fault),
}

/// Connects to the server; parameters' placeholders are filled in. Must be called within a Tokio runtime. How it goes is
/// told when the first message is sent. The error says what to change.
pub(crate) fn open(parameters: &SseParameters) -> Result<impl Transport<RoleClient> + use<>, String> {
    let url = outgoing::address(&parameters.url)?;
    let timeout = outgoing::limit("timeout", parameters.timeout)?;
    let idle = outgoing::limit("sse_read_timeout", parameters.sse_read_timeout)?;
    let headers = outgoing::headers(parameters.headers.as_ref())?;
    let client = outgoing::client(&url, headers, timeout).map_err(|error| error.to_string())?;
    let line = Arc::new(Line { client, url, timeout, idle, state: watch::Sender::new(State::Opening) });
    let (sender, inbox) = mpsc::channel(INBOX);
    let stop = CancellationToken::new();
    tokio::spawn(follow(line.clone(), sender, stop.clone()));
    Ok(Sse { line, inbox, hang_up: Some(stop.drop_guard()) })
}

/// Reads the stream until it ends or nobody listens.
async fn follow(line: Arc<Line>, sender: mpsc::Sender<ServerJsonRpcMessage>, stop: CancellationToken) {
    let ended = tokio::select! {
        fault = listen(&line, &sender) => fault,
        () = stop.cancelled() => Fault::Closed,
    };
    tracing::debug!(%ended, "the event stream of an MCP server is over");
    line.state.send_replace(State::Over(ended));
}

/// Reads the stream to its end, and gives the reason of that.
async fn listen(line: &Line, sender: &mpsc::Sender<ServerJsonRpcMessage>) -> Fault {
    let opened = Outgoing::get(line.url.clone()).send(&line.client, line.timeout).await;
    let response = match opened.and_then(|response| accepted(response, &Access::Headers)) {
        Ok(response) if !response.status().is_success() => return Fault::Status(response.status().as_u16()),
        Ok(response) if !is_media(&response, "text/event-stream") => {
            return Fault::NotMcp("its answer is no event stream".into());
        }
        Ok(response) => response,
        Err(fault) => return fault,
    };
    let mut events = events(response, line.idle);
    let first = async {
        loop {
            match events.next().await {
                None => return Err(Fault::Closed),
                Some(Err(error)) => return Err(events::fault(&error)),
                Some(Ok(event)) if event.event.as_deref() == Some("endpoint") => {
                    return endpoint(&line.url, event.data.as_deref().unwrap_or_default());
                }
                Some(Ok(_)) => {}
            }
        }
    };
    match tokio::time::timeout(line.timeout, first).await {
        Ok(Ok(url)) => line.state.send_replace(State::Open(url)),
        Ok(Err(fault)) => return fault,
        Err(_) => return Fault::NotMcp("it does not say where to post messages".into()),
    };
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            Err(error) => return events::fault(&error),
        };
        if !matches!(event.event.as_deref(), None | Some("" | "message")) {
            continue;
        }
        match mend::read(event.data.as_deref().unwrap_or_default().as_bytes()) {
            Ok(message) => {
                if sender.send(message).await.is_err() {
                    break;
                }
            }
            Err(problem) => tracing::debug!(problem, "an event of an MCP server is passed over"),
        }
    }
    Fault::Closed
}

/// Where messages are posted. Our headers go there, hence nowhere but to the origin that the owner wrote down.
fn endpoint(base: &Url, given: &str) -> Result<Url, Fault> {
    match base.join(given.trim()) {
        Ok(url) if url.origin() == base.origin() => Ok(url),
        Ok(_) => Err(Fault::NotMcp("it wants messages to be posted to another origin".into())),
        Err(_) => Err(Fault::NotMcp("the address it wants messages to be posted to is none".into())),
    }
}

impl Line {
    /// Where to post, once that is known.
    async fn opened(&self) -> Result<Url, Fault> {
        let mut states = self.state.subscribe();
        let state = states.wait_for(|state| !matches!(state, State::Opening)).await;
        match state.as_deref() {
            Ok(State::Open(url)) => Ok(url.clone()),
            Ok(State::Over(fault)) => Err(fault.clone()),
            Ok(State::Opening) | Err(_) => Err(Fault::Closed),
        }
    }

    /// Posts a message.
    async fn post(&self, message: &ClientJsonRpcMessage) -> Result<(), Fault> {
        let url = self.opened().await?;
        let text =
            serde_json::to_vec(message).map_err(|e| Fault::NotMcp(format!("the message cannot be written: {e}")))?;
        let response = Outgoing::post(url, text.into()).send(&self.client, self.timeout).await?;
        let response = accepted(response, &Access::Headers)?;
        match response.status() {
            status if status.is_success() => {
                // Read to its end, so that the connection can carry the next message.
                outgoing::body(response, self.timeout).await.map(drop)
            }
            status => Err(Fault::Status(status.as_u16())),
        }
    }
}

impl Transport<RoleClient> for Sse {
    type Error = Fault;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), Fault>> + Send + 'static {
        let line = self.line.clone();
        async move { line.post(&message).await }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.inbox.recv().await
    }

    async fn close(&mut self) -> Result<(), Fault> {
        drop(self.hang_up.take());
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
