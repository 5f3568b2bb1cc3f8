//! One MCP server: its process, its state, its tools.
//!
//! A task owns the process from start to end; everybody else sees the state and a handle to ask with. The tools are kept
//! as last listed, so that no list ever waits for the server.

use std::collections::HashSet;
use std::convert::Infallible;
use std::process::ExitStatus;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use a2c_protocol::config::{Input, McpServerConfig, McpTransport};
use a2c_protocol::trace::TraceContext;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest, ErrorData,
    Implementation, JsonObject, PaginatedRequestParams, RequestParamsMeta as _, ServerResult, Tool,
};
use rmcp::service::{NotificationContext, PeerRequestOptions};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ClientHandler, Peer, RoleClient, ServiceError, ServiceExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::process::{self, LAST_WORDS, StderrTail};
use super::state::ServerState;
use crate::config::inputs::{Filled, Sources};
use crate::tools::gate;

/// How long a server may take to start and list its tools.
const START_LIMIT: Duration = Duration::from_secs(60);

/// The longest message a server may send. Larger than what a hub passes on: what is read can be refused by name.
const LINE_LIMIT: usize = 64 << 20;

/// How many tools a server may have, on how many pages.
const MAX_TOOLS: usize = 10_000;
const MAX_PAGES: usize = 1_000;

/// The least time between two listings that the server's notifications cause.
const LIST_PAUSE: Duration = Duration::from_millis(250);

/// How long listing the tools again may take.
const LIST_LIMIT: Duration = Duration::from_secs(30);

/// Something that others in the office may want to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The tools are not what they were.
    Tools,
}

/// A handle to one MCP server.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    stop: CancellationToken,
}

/// What the task and the handles share.
struct Shared {
    config: McpServerConfig,
    state: watch::Sender<ServerState>,
    peer: RwLock<Option<Peer<RoleClient>>>,
    tools: RwLock<Arc<[Tool]>>,
    changes: mpsc::UnboundedSender<Change>,
    /// The server said that its tools changed.
    list_changed: Notify,
}

/// Why a call has no result.
#[derive(Debug)]
pub(crate) enum CallFailure {
    /// The server does not run.
    NotReady,
    /// The time was over; the server was told to stop.
    Timeout,
    /// The caller gave up; the server was told to stop.
    Cancelled,
    /// The server answered with an error.
    Refused(ErrorData),
    /// The server went away, or its answer is none.
    Failed(String),
}

impl Connection {
    /// Starts the server; the state tells how that goes.
    pub(crate) fn start(config: McpServerConfig, inputs: &[Input], changes: mpsc::UnboundedSender<Change>) -> Self {
        let initial = if config.disabled { ServerState::Disabled } else { ServerState::Starting };
        let parameters = stdio_of(&config, inputs);
        let shared = Arc::new(Shared {
            config,
            state: watch::Sender::new(initial),
            peer: RwLock::default(),
            tools: RwLock::new(Arc::new([])),
            changes,
            list_changed: Notify::new(),
        });
        let stop = CancellationToken::new();
        tokio::spawn(run(shared.clone(), parameters, stop.clone()));
        Self { shared, stop }
    }

    /// What the owner says about the server.
    pub(crate) fn config(&self) -> &McpServerConfig {
        &self.shared.config
    }

    /// The state now.
    pub(crate) fn state(&self) -> ServerState {
        self.shared.state.borrow().clone()
    }

    /// Waits until the server is ready, or will not be.
    pub(crate) async fn settled(&self) {
        // An error means that the task is gone, and with it the reason to wait.
        let _ = self.shared.state.subscribe().wait_for(ServerState::is_settled).await;
    }

    /// The tools as last listed.
    pub(crate) fn tools(&self) -> Arc<[Tool]> {
        self.shared.tools.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs a tool until it answers, its time is over or `cancel` fires. The server learns which trace the call is part
    /// of, where there is one.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        limit: Duration,
        trace: Option<TraceContext>,
        cancel: &CancellationToken,
    ) -> Result<CallToolResult, CallFailure> {
        let peer = self.shared.peer.read().unwrap_or_else(PoisonError::into_inner).clone();
        let peer = peer.ok_or(CallFailure::NotReady)?;
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        if let Some(trace) = trace {
            params.set_traceparent(&trace.to_string());
        }
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let failed = |e: ServiceError| match e {
            ServiceError::Timeout { .. } => CallFailure::Timeout,
            ServiceError::McpError(e) => CallFailure::Refused(e),
            e => CallFailure::Failed(e.to_string()),
        };
        let handle = tokio::select! {
            sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()) => sent.map_err(failed)?,
            () = tokio::time::sleep(limit) => return Err(CallFailure::Timeout),
            () = cancel.cancelled() => return Err(CallFailure::Cancelled),
        };
        let (rx, id, peer) = (handle.rx, handle.id, handle.peer);
        let given_up = tokio::select! {
            answer = rx => {
                return match answer {
                    Ok(Ok(ServerResult::CallToolResult(result))) => Ok(result),
                    Ok(Ok(_)) => Err(CallFailure::Failed("the server's answer is not a tool result".into())),
                    Ok(Err(e)) => Err(failed(e)),
                    Err(_) => Err(CallFailure::Failed("the server went away before it answered".into())),
                };
            }
            () = tokio::time::sleep(limit) => CallFailure::Timeout,
            () = cancel.cancelled() => CallFailure::Cancelled,
        };
        let reason = match &given_up {
            CallFailure::Timeout => "timeout",
            _ => "cancelled by the agent",
        };
        // Telling the server must not hold up the answer to the caller.
        tokio::spawn(async move {
            let params = rmcp::model::CancelledNotificationParam::new(Some(id), Some(reason.into()));
            let _ = peer.notify_cancelled(params).await;
        });
        Err(given_up)
    }

    /// Tells the server to stop.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits until the server's process is gone.
    pub(crate) async fn ended(&self) {
        let _ = self.shared.state.subscribe().wait_for(ServerState::is_over).await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The parameters of a child process, filled in; otherwise the reason why there are none.
fn stdio_of(config: &McpServerConfig, inputs: &[Input]) -> Result<Filled, String> {
    match &config.transport {
        McpTransport::Stdio(stdio) => {
            let sources = Sources { inputs, env: &|name| std::env::var(name).ok() };
            sources.fill(stdio).map_err(|e| e.to_string())
        }
        _ => Err("only stdio servers are supported by this version".into()),
    }
}

async fn run(shared: Arc<Shared>, filled: Result<Filled, String>, stop: CancellationToken) {
    if shared.config.disabled {
        return;
    }
    let outcome = match filled {
        Ok(filled) => serve(&shared, &filled, &stop).await,
        Err(reason) => Err(reason),
    };
    *shared.peer.write().unwrap_or_else(PoisonError::into_inner) = None;
    let state = match outcome {
        Ok(()) => ServerState::Stopped,
        Err(reason) => {
            tracing::error!(server = shared.config.name, reason, "MCP server failed");
            ServerState::Failed { reason }
        }
    };
    let _ = shared.changes.send(Change::Tools);
    shared.state.send_replace(state);
}

/// Runs the server from start to end. `Ok` means that it was stopped.
async fn serve(shared: &Arc<Shared>, filled: &Filled, stop: &CancellationToken) -> Result<(), String> {
    tracing::info!(server = shared.config.name, "starting MCP server");
    let (mut process, (stdout, stdin), stderr) = process::start(&shared.config.name, filled)?;
    let transport = AsyncRwTransport::new(stdout, stdin).with_max_line_length(LINE_LIMIT);
    let outcome = {
        let mut talk = std::pin::pin!(converse(shared, transport, stop));
        tokio::select! {
            outcome = &mut talk => outcome,
            // A child of the process may keep its standard output open: the end of the process is the end all the same.
            status = process.exited() => {
                // What it said before it ended is still to be read.
                let _ = tokio::time::timeout(LAST_WORDS, &mut talk).await;
                match status {
                    // It may be faster to go than we are to notice that we sent it away.
                    _ if stop.is_cancelled() => Ok(()),
                    Ok(status) => Err(format!("it ended with {status}")),
                    Err(error) => Err(error.to_string()),
                }
            }
        }
    };
    // The conversation is dropped, and with it the standard input of the process.
    let status = process.end().await;
    match outcome {
        Ok(()) => Ok(()),
        Err(problem) => Err(explain(&problem, status, stderr).await),
    }
}

/// Talks to the server until it hangs up, fails or is to stop.
async fn converse(
    shared: &Arc<Shared>,
    transport: AsyncRwTransport<RoleClient, ChildStdout, ChildStdin>,
    stop: &CancellationToken,
) -> Result<(), String> {
    let started = async {
        let client = Client(Arc::downgrade(shared));
        let service = client.serve(transport).await.map_err(|e| format!("it does not answer as an MCP server: {e}"))?;
        let tools = list_tools(service.peer()).await?;
        Ok::<_, String>((service, tools))
    };
    let (service, tools) = tokio::select! {
        started = tokio::time::timeout(START_LIMIT, started) => match started {
            Ok(started) => started?,
            Err(_) => return Err(format!("it did not start within {} s", START_LIMIT.as_secs())),
        },
        () = stop.cancelled() => return Ok(()),
    };
    tracing::info!(server = shared.config.name, tools = tools.len(), "MCP server ready");
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    for rule in gate::unmatched(&shared.config, &names) {
        tracing::warn!(server = shared.config.name, tool = rule, "the configuration names a tool that is not there");
    }
    *shared.tools.write().unwrap_or_else(PoisonError::into_inner) = tools.into();
    *shared.peer.write().unwrap_or_else(PoisonError::into_inner) = Some(service.peer().clone());
    // First the change, then the state: who waits for the state knows that the change has been told.
    let _ = shared.changes.send(Change::Tools);
    shared.state.send_replace(ServerState::Ready);

    let end = service.cancellation_token();
    let refresh = refresh(shared, service.peer().clone());
    let mut running = std::pin::pin!(service.waiting());
    tokio::select! {
        _ = &mut running => Err("it hung up".into()),
        never = refresh => match never {},
        () = stop.cancelled() => {
            end.cancel();
            let _ = running.await;
            Ok(())
        }
    }
}

/// What happened, how the process ended, and what it said last.
async fn explain(problem: &str, status: Option<ExitStatus>, stderr: StderrTail) -> String {
    let ended = match status {
        Some(status) if !problem.contains("ended with") => format!(" ({status})"),
        _ => String::new(),
    };
    match stderr.last_words().await {
        text if text.is_empty() => format!("{problem}{ended}"),
        text => format!("{problem}{ended}; it wrote:\n{text}"),
    }
}

/// Our side of the MCP conversation.
struct Client(std::sync::Weak<Shared>);

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("a2c", env!("CARGO_PKG_VERSION")))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        if let Some(shared) = self.0.upgrade() {
            shared.list_changed.notify_one();
        }
    }
}

/// Lists the tools again when the server says that they changed: one listing at a time, and not too often, however
/// often it says so.
async fn refresh(shared: &Shared, peer: Peer<RoleClient>) -> Infallible {
    loop {
        shared.list_changed.notified().await;
        match tokio::time::timeout(LIST_LIMIT, list_tools(&peer)).await {
            Ok(Ok(tools)) => {
                let tools: Arc<[Tool]> = tools.into();
                let mut kept = shared.tools.write().unwrap_or_else(PoisonError::into_inner);
                if *kept != tools {
                    *kept = tools;
                    let _ = shared.changes.send(Change::Tools);
                }
            }
            Ok(Err(problem)) => tracing::warn!(server = shared.config.name, problem, "the changed tools are not known"),
            Err(_) => tracing::warn!(server = shared.config.name, "listing the changed tools took too long"),
        }
        tokio::time::sleep(LIST_PAUSE).await;
    }
}

/// Every page of the server's tools, within reason.
async fn list_tools(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, String> {
    let mut tools = Vec::new();
    let mut seen = HashSet::new();
    let mut cursor = None;
    loop {
        let page = peer.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await;
        let page = page.map_err(|e| format!("cannot list its tools: {e}"))?;
        tools.extend(page.tools);
        if tools.len() > MAX_TOOLS {
            return Err(format!("it lists more than {MAX_TOOLS} tools"));
        }
        cursor = match page.next_cursor {
            None => return Ok(tools),
            Some(next) if seen.insert(next.clone()) && seen.len() <= MAX_PAGES => Some(next),
            Some(_) => return Err("the pages of its tool list do not end".into()),
        };
    }
}
