//! Requests to the server of a session: each until it is answered, falls silent, takes too long, or is given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a2c_protocol::trace::TraceContext;
use a2c_protocol::tree_size::TreeSize;
use a2c_supervise::ChangeSignal;
use rmcp::ServiceError;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam, ClientRequest, JsonObject,
    RequestId, RequestParamsMeta as _, ServerResult,
};
use rmcp::service::PeerRequestOptions;
use rmcp::{Peer, RoleClient};
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::call_failure::{CallFailure, ExpectedAnswer};
use crate::large;
use crate::large_result::LargeResult;
use crate::listening::Listening;
use crate::progress::ProgressListeners;

/// The way to ask the server of an open session; clones share it.
#[derive(Clone)]
pub struct Connection {
    peer: Peer<RoleClient>,
    progress: ProgressListeners,
    calls: Arc<Calls>,
    /// What is listened for, at a server without `initialize`.
    listening: Option<Arc<Listening>>,
}

/// The tool calls of one session.
#[derive(Default)]
struct Calls {
    running: AtomicUsize,
    /// A call failed in a way that leaves open whether the server still answers.
    in_doubt: ChangeSignal,
}

/// A tool to call.
#[derive(Debug)]
pub struct ToolCall<'a> {
    /// The tool, as its server calls it.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: JsonObject,
    /// The trace that the call is part of; the server learns of it.
    pub trace: Option<TraceContext>,
}

/// How long an answer may take.
#[derive(Debug, Clone, Copy)]
pub struct CallLimits {
    /// By when the answer has to be there.
    pub deadline: Instant,
    /// How long the server may report no progress; `None` until the deadline.
    pub idle: Option<Duration>,
}

/// The result of a tool call.
#[derive(Debug)]
pub enum ToolAnswer {
    /// As the library reads it.
    Result(CallToolResult),
    /// A large one, as its text.
    Large(LargeResult),
}

/// What a request was answered with.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
pub(crate) enum ServerReply {
    /// As the library reads it.
    Read(ServerResult),
    /// A large result, as its text.
    Text(String),
}

impl ServerReply {
    fn new(mut result: ServerResult) -> Self {
        match large::take_text(&mut result) {
            Some(text) => Self::Text(text),
            None => Self::Read(result),
        }
    }
}

/// What a tree of an answer may take, besides three times the size of the answer.
const LARGEST_TREE: usize = 32 << 20;

/// Builds the answer of a text, unless it takes too much memory. On a thread of its own: it takes as long as the text is
/// long.
pub(crate) async fn build<T: DeserializeOwned + Send + 'static>(
    text: String,
    expected: ExpectedAnswer,
) -> Result<T, CallFailure> {
    let built = tokio::task::spawn_blocking(move || {
        let size = TreeSize::of(&text).bytes();
        if size > LARGEST_TREE + 3 * text.len() {
            return Err(CallFailure::TooManyValues(size));
        }
        serde_json::from_str(&text).map_err(|_| CallFailure::UnexpectedAnswer(expected))
    });
    built.await.unwrap_or(Err(CallFailure::UnexpectedAnswer(expected)))
}

impl Connection {
    pub(crate) fn new(peer: Peer<RoleClient>, progress: ProgressListeners, listening: Option<Arc<Listening>>) -> Self {
        Self { peer, progress, calls: Arc::default(), listening }
    }

    /// What is listened for, at a server without `initialize`.
    pub(crate) fn listening(&self) -> Option<&Arc<Listening>> {
        self.listening.as_ref()
    }

    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// Whether tool calls run.
    pub(crate) fn has_calls(&self) -> bool {
        self.calls.running.load(Ordering::Relaxed) > 0
    }

    /// Marked by a call that leaves open whether the server still answers.
    pub(crate) fn in_doubt(&self) -> &ChangeSignal {
        &self.calls.in_doubt
    }

    /// Calls a tool.
    pub async fn call_tool(
        &self,
        call: ToolCall<'_>,
        limits: CallLimits,
        cancel: &CancellationToken,
    ) -> Result<ToolAnswer, CallFailure> {
        const NO_RESULT: CallFailure = CallFailure::UnexpectedAnswer(ExpectedAnswer::ToolResult);
        let _running = RunningCall::begin(&self.calls);
        let mut params = CallToolRequestParams::new(call.tool.to_owned()).with_arguments(call.arguments);
        if let Some(trace) = call.trace {
            params.set_traceparent(&trace.to_string());
        }
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let outcome = match self.request(request, limits, cancel).await {
            Ok(ServerReply::Read(ServerResult::CallToolResult(result))) => Ok(ToolAnswer::Result(result)),
            Ok(ServerReply::Text(text)) => {
                let read = tokio::task::spawn_blocking(|| LargeResult::of(text)).await;
                read.ok().flatten().map(ToolAnswer::Large).ok_or(NO_RESULT)
            }
            Ok(ServerReply::Read(_)) => Err(NO_RESULT),
            Err(failure) => Err(failure),
        };
        if outcome.as_ref().is_err_and(CallFailure::leaves_doubt) {
            self.calls.in_doubt.mark();
        }
        outcome
    }

    /// Sends a request without limits of its own: the caller has one for all of them.
    pub(crate) async fn request_unlimited(&self, request: ClientRequest) -> Result<ServerReply, CallFailure> {
        let sent = self.peer.send_request(request).await;
        sent.map(ServerReply::new).map_err(CallFailure::from_service)
    }

    /// Sends a request and waits for its answer. When the wait ends early, the server is told.
    pub(crate) async fn request(
        &self,
        request: ClientRequest,
        limits: CallLimits,
        cancel: &CancellationToken,
    ) -> Result<ServerReply, CallFailure> {
        let CallLimits { deadline, idle } = limits;
        let sending = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let handle = tokio::select! {
            sent = sending => sent.map_err(CallFailure::from_service)?,
            () = sleep_until(deadline) => return Err(CallFailure::Timeout),
            () = cancel.cancelled() => return Err(CallFailure::Cancelled),
        };
        let mut progress = self.progress.listen(handle.progress_token);
        let mut pending = PendingRequest { peer: handle.peer, id: Some(handle.id), reason: "the caller is gone" };
        let given_up = tokio::select! {
            answer = handle.rx => {
                pending.id = None;
                let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                return answer.map(ServerReply::new).map_err(CallFailure::from_service);
            }
            () = sleep_until(deadline) => CallFailure::Timeout,
            idle = silence(idle, &mut progress.count) => CallFailure::Idle(idle),
            () = cancel.cancelled() => CallFailure::Cancelled,
        };
        pending.reason = match &given_up {
            CallFailure::Timeout | CallFailure::Idle(_) => "timeout",
            _ => "cancelled by the agent",
        };
        Err(given_up)
    }
}

/// Counts a call for as long as it runs, however it ends.
struct RunningCall<'a>(&'a Calls);

impl<'a> RunningCall<'a> {
    fn begin(calls: &'a Calls) -> Self {
        calls.running.fetch_add(1, Ordering::Relaxed);
        Self(calls)
    }
}

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request under way. When it is dropped before the answer, the server is told, whatever the reason.
struct PendingRequest {
    peer: Peer<RoleClient>,
    /// `None` once it was answered.
    id: Option<RequestId>,
    reason: &'static str,
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let (peer, reason) = (self.peer.clone(), self.reason);
        // Telling the server must not hold up the caller that gave up.
        runtime.spawn(async move {
            let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), Some(reason.into()))).await;
        });
    }
}

/// Ends when there was no progress for so long.
async fn silence(limit: Option<Duration>, count: &mut watch::Receiver<u64>) -> Duration {
    let Some(limit) = limit else { return std::future::pending().await };
    while let Ok(Ok(())) = tokio::time::timeout(limit, count.changed()).await {}
    limit
}
