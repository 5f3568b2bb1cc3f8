//! One tool call to one MCP server: until it answers, falls silent for too long, takes too long, or is given up.

use std::sync::atomic::Ordering;
use std::time::Duration;

use a2c_protocol::trace::TraceContext;
use a2c_secrets::Redactor;
use rmcp::ServiceError;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam, ClientRequest, ErrorData,
    JsonObject, RequestId, RequestParamsMeta as _, ServerResult,
};
use rmcp::service::PeerRequestOptions;
use rmcp::{Peer, RoleClient};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::server::{Live, Server, Shared};
use super::state::ServerState;
use super::upstream::{self, Refusal};
use crate::inputs::RedactModel as _;

/// What is to be called.
pub(crate) struct McpCall<'a> {
    /// The tool, as its server calls it.
    pub(crate) tool: &'a str,
    pub(crate) arguments: JsonObject,
    pub(crate) limit: Duration,
    /// The trace that the call is part of; the server learns of it.
    pub(crate) trace: Option<TraceContext>,
}

/// Why a request has no answer that is of use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallFailure {
    /// The server does not run.
    #[error("the server is not running")]
    NotRunning,
    /// The time was over; the server was told to stop.
    #[error("the server did not answer in time")]
    Timeout,
    /// The server reported no progress for so long; it was told to stop.
    #[error("the server reported no progress for {} s", .0.as_secs_f64())]
    Idle(Duration),
    /// The caller gave up; the server was told to stop.
    #[error("it was cancelled")]
    Cancelled,
    /// The server wants somebody else than us.
    #[error("{0}")]
    Unauthorised(Refusal),
    /// The server answered with an error.
    #[error("the server answered: {}", .0.message)]
    Refused(ErrorData),
    /// The server went away, or its answer is none.
    #[error("{0}")]
    Failed(String),
}

impl CallFailure {
    /// The failure without what must not be seen: a server's own words may be in it.
    pub(super) fn without(self, secrets: &Redactor) -> Self {
        match self {
            Self::Refused(mut error) => {
                secrets.redact_error(&mut error);
                Self::Refused(error)
            }
            Self::Failed(reason) => Self::Failed(secrets.redact(&reason)),
            other => other,
        }
    }
}

impl Server {
    /// Runs a tool. A server that is being started is waited for.
    pub(crate) async fn call(
        &self,
        call: McpCall<'_>,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, CallFailure> {
        let deadline = Instant::now() + call.limit;
        let live = tokio::select! {
            live = self.live() => live.ok_or(CallFailure::NotRunning)?,
            () = sleep_until(deadline) => return Err(CallFailure::Timeout),
            () = cancel.cancelled() => return Err(CallFailure::Cancelled),
        };
        let _running = Running::begin(&self.shared);
        let outcome = ask(&live, call, deadline, self.shared.surroundings.limits.idle, cancel).await;
        if matches!(outcome, Err(CallFailure::Failed(_))) {
            self.shared.in_doubt.notify_one();
        }
        outcome
    }

    /// The connection, as soon as it is there; `None` where it will not be soon.
    pub(super) async fn live(&self) -> Option<Live> {
        let mut status = self.shared.status.subscribe();
        loop {
            if let Some(live) = self.shared.live() {
                return Some(live);
            }
            let comes = match status.borrow_and_update().state {
                ServerState::Starting => true,
                // Whatever was wished last, nothing follows on this.
                ServerState::Stopped => false,
                _ => self.shared.is_changing(),
            };
            if !comes || status.changed().await.is_err() {
                // It may have come up between the two looks.
                return self.shared.live();
            }
        }
    }
}

/// Counts a call for as long as it runs, however it ends.
struct Running<'a>(&'a Shared);

impl<'a> Running<'a> {
    fn begin(shared: &'a Shared) -> Self {
        shared.calls_running.fetch_add(1, Ordering::Relaxed);
        Self(shared)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.calls_running.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn ask(
    live: &Live,
    call: McpCall<'_>,
    deadline: Instant,
    idle: Option<Duration>,
    cancel: &CancellationToken,
) -> Result<CallToolResult, CallFailure> {
    let mut params = CallToolRequestParams::new(call.tool.to_owned()).with_arguments(call.arguments);
    if let Some(trace) = call.trace {
        params.set_traceparent(&trace.to_string());
    }
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    match exchange(live, request, deadline, idle, cancel).await? {
        ServerResult::CallToolResult(result) => Ok(result),
        _ => Err(CallFailure::Failed("the server's answer is not a tool result".into())),
    }
}

/// Sends a request and waits for its answer. A server that is not waited for any more is told so.
pub(super) async fn exchange(
    live: &Live,
    request: ClientRequest,
    deadline: Instant,
    idle: Option<Duration>,
    cancel: &CancellationToken,
) -> Result<ServerResult, CallFailure> {
    let handle = tokio::select! {
        sent = live.peer.send_cancellable_request(request, PeerRequestOptions::no_options()) => sent.map_err(failed)?,
        () = sleep_until(deadline) => return Err(CallFailure::Timeout),
        () = cancel.cancelled() => return Err(CallFailure::Cancelled),
    };
    let mut listening = live.progress.listen(handle.progress_token);
    let (rx, mut request) =
        (handle.rx, Asked { peer: handle.peer, id: Some(handle.id), reason: "nobody waits for it" });
    let given_up = tokio::select! {
        answer = rx => {
            request.id = None;
            return match answer {
                Ok(answer) => answer.map_err(failed),
                Err(_) => Err(CallFailure::Failed("the server went away before it answered".into())),
            };
        }
        () = sleep_until(deadline) => CallFailure::Timeout,
        idle = silence(idle, &mut listening.told) => CallFailure::Idle(idle),
        () = cancel.cancelled() => CallFailure::Cancelled,
    };
    request.reason = match &given_up {
        CallFailure::Timeout | CallFailure::Idle(_) => "timeout",
        _ => "cancelled by the agent",
    };
    Err(given_up)
}

/// A request under way. A server that is not waited for any more is told so, whatever the reason.
struct Asked {
    peer: Peer<RoleClient>,
    /// `None` once it was answered.
    id: Option<RequestId>,
    reason: &'static str,
}

impl Drop for Asked {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let (peer, reason) = (self.peer.clone(), self.reason);
        // Telling the server must not hold up who gave up.
        runtime.spawn(async move {
            let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), Some(reason.into()))).await;
        });
    }
}

/// Ends when there was no progress for so long.
async fn silence(limit: Option<Duration>, told: &mut watch::Receiver<u64>) -> Duration {
    let Some(limit) = limit else { return std::future::pending().await };
    while let Ok(Ok(())) = tokio::time::timeout(limit, told.changed()).await {}
    limit
}

fn failed(error: ServiceError) -> CallFailure {
    if let Some(refusal) = upstream::refusal(&error) {
        return CallFailure::Unauthorised(refusal);
    }
    match error {
        ServiceError::McpError(e) => CallFailure::Refused(e),
        ServiceError::TransportClosed => CallFailure::Failed("the server went away before it answered".into()),
        e => CallFailure::Failed(format!("the server cannot be reached: {}", upstream::plain(&e))),
    }
}
