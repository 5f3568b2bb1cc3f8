//! One MCP session over any transport: opened, kept fresh, watched and closed.
//!
//! [`Session::open`] shakes hands and lists the tools. [`Session::watch`] then lists them again when the server says that
//! they changed, pings the server, and returns when the session has ended. What the server says by itself goes to the
//! session's [`SessionEvents`]; requests to it go through its [`Connection`].

mod error;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use a2c_secrets::Redactor;
use a2c_supervise::{ChangeSignal, Coalescer, HeartbeatPolicy, Lost, Pace, PulseEvent, heartbeat};
use futures_util::future::{MaybeDone, maybe_done};
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, Implementation, ListToolsRequest, PingRequest,
    ProgressNotificationParam, ProtocolVersion, ResourceUpdatedNotificationParam, ServerResult, Tool,
};
use rmcp::service::{NotificationContext, RunningServiceCancellationToken, Subscription};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient, ServiceError};

pub use error::{Degradation, SessionError, SessionErrorKind};

use crate::call::{self, Connection, ServerReply};
use crate::call_failure::{CallFailure, ExpectedAnswer};
use crate::listening::{self, Heard, Listening};
use crate::paging::{self, ListError};
use crate::progress::ProgressListeners;
use crate::redaction::RedactModel as _;

/// The least time between two listings that the server's notifications cause.
const LIST_PAUSE: Duration = Duration::from_millis(250);

/// How long listing the tools again may take.
const LIST_LIMIT: Duration = Duration::from_secs(30);

/// How a session begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Handshake {
    /// With `initialize`, as in every revision of MCP up to 2025-11-25.
    #[default]
    Initialize,
    /// With `server/discover`, as from revision 2026-07-28 on.
    Discover,
}

/// How a session is opened and watched.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// The server's name, for the log.
    pub name: Arc<str>,
    /// How it begins.
    pub handshake: Handshake,
    /// How long the server may take to shake hands and list its tools.
    pub start: Duration,
    /// How it is pinged.
    pub health: HeartbeatPolicy,
    /// The values that no log line and no error shows.
    pub secrets: Redactor,
    /// The values that nothing shows which the server says about its tools.
    pub credentials: Redactor,
}

/// What a session tells its owner. The methods must not block.
pub trait SessionEvents: Send + Sync + 'static {
    /// The server said that its tools changed; these are its tools now.
    fn tools_changed(&self, tools: Vec<Tool>);

    /// The server said that its list of resources changed.
    fn resource_list_changed(&self);

    /// The server said that a resource changed.
    fn resource_updated(&self, uri: &str);

    /// The server reported the progress of a call.
    fn progress(&self);

    /// The session goes on, but something is wrong with the server.
    fn degraded(&self, problem: &Degradation);

    /// The server answers pings again.
    fn recovered(&self);
}

/// An open session. Dropping it ends it.
pub struct Session {
    options: SessionOptions,
    events: Arc<dyn SessionEvents>,
    connection: Connection,
    tools_changed: Arc<ChangeSignal>,
    /// The request through which a server without `initialize` tells its changes, until it is watched.
    subscription: Option<Subscription>,
    ending: RunningServiceCancellationToken,
    /// The end of the MCP library's service. It may be awaited again after it was reached.
    running: MaybeDone<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Session {
    /// Shakes hands with the server and lists its tools.
    pub async fn open<T>(
        transport: T,
        options: SessionOptions,
        events: Arc<dyn SessionEvents>,
    ) -> Result<(Self, Vec<Tool>), SessionError>
    where
        T: Transport<RoleClient> + 'static,
    {
        let progress = ProgressListeners::default();
        let tools_changed = Arc::new(ChangeSignal::new());
        let client = Client {
            name: options.name.clone(),
            secrets: options.secrets.clone(),
            events: events.clone(),
            tools_changed: tools_changed.clone(),
            progress: progress.clone(),
        };
        let started = async {
            let lifecycle = match options.handshake {
                Handshake::Initialize => ClientLifecycleMode::Initialize,
                Handshake::Discover => {
                    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] }
                }
            };
            let service = client.serve_with_lifecycle(transport, lifecycle).await;
            let service = service.map_err(SessionError::from_handshake)?;
            let listening = matches!(options.handshake, Handshake::Discover).then(Arc::<Listening>::default);
            let connection = Connection::new(service.peer().clone(), progress, listening);
            // Before anything is listed, so that no change of it is missed.
            let subscription = match connection.listening() {
                Some(listening) => listening::ask(connection.peer(), listening).await.and_then(Result::ok),
                None => None,
            };
            let tools = list_tools(&connection, &options).await.map_err(SessionError::Tools)?;
            Ok((service, connection, subscription, tools))
        };
        let started = match tokio::time::timeout(options.start, started).await {
            Ok(started) => started,
            Err(_) => Err(SessionError::StartTimeout(options.start)),
        };
        let (service, connection, subscription, tools) =
            started.map_err(|error: SessionError| error.redacted(&options.secrets))?;
        let ending = service.cancellation_token();
        let running: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
            let _ = service.waiting().await;
        });
        let running = maybe_done(running);
        Ok((Self { options, events, connection, tools_changed, subscription, ending, running }, tools))
    }

    /// The way to ask the server.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Keeps the session fresh until it ends by itself, and says why it ended.
    pub async fn watch(&mut self) -> SessionError {
        let Self { options, events, connection, tools_changed, subscription, running, .. } = self;
        tokio::select! {
            // A server that hung up is not blamed for pings that cannot be sent any more.
            biased;
            () = running => SessionError::HungUp,
            never = refresh_tools(tools_changed, connection, &**events, options) => match never {},
            never = hear_changes(connection, subscription.take(), tools_changed, &**events) => match never {},
            ended = check_health(&options.health, connection, &**events, &options.secrets) => ended,
        }
    }

    /// Ends the session in order.
    pub async fn close(self) {
        self.ending.cancel();
        self.running.await;
    }
}

/// Our side of the MCP session, as the library wants it.
struct Client {
    name: Arc<str>,
    secrets: Redactor,
    events: Arc<dyn SessionEvents>,
    tools_changed: Arc<ChangeSignal>,
    progress: ProgressListeners,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("a2c", env!("CARGO_PKG_VERSION"));
        // The newest revision has no `initialize`: to offer it there would be a contradiction.
        ClientConfig::new(ClientCapabilities::default(), us)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.mark();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.events.resource_list_changed();
    }

    async fn on_resource_updated(&self, updated: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.events.resource_updated(&updated.uri);
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.events.progress();
        self.progress.report(&self.name, &progress, &self.secrets);
    }
}

/// Lists the tools again when the server says that they changed: one listing at a time, and not too often, however
/// often it says so.
async fn refresh_tools(
    changed: &ChangeSignal,
    connection: &Connection,
    events: &dyn SessionEvents,
    options: &SessionOptions,
) -> Infallible {
    let mut coalescer = Coalescer::new(Pace::at_most_every(LIST_PAUSE));
    loop {
        coalescer.next(changed).await;
        match tokio::time::timeout(LIST_LIMIT, list_tools(connection, options)).await {
            Ok(Ok(tools)) => events.tools_changed(tools),
            Ok(Err(error)) => events.degraded(&Degradation::ToolsUnknown(error.redacted(&options.secrets))),
            Err(_) => events.degraded(&Degradation::ToolsTimeout),
        }
    }
}

/// Takes in the changes that a server without `initialize` tells.
async fn hear_changes(
    connection: &Connection,
    subscription: Option<Subscription>,
    tools_changed: &ChangeSignal,
    events: &dyn SessionEvents,
) -> Infallible {
    let Some(listening) = connection.listening() else { return std::future::pending().await };
    listening::listen(connection.peer(), listening, subscription, |heard| match heard {
        Heard::ToolsChanged => tools_changed.mark(),
        Heard::ResourceListChanged => events.resource_list_changed(),
        Heard::ResourceUpdated(uri) => events.resource_updated(&uri),
    })
    .await
}

/// Pings the server until it does not answer any more.
async fn check_health(
    policy: &HeartbeatPolicy,
    connection: &Connection,
    events: &dyn SessionEvents,
    secrets: &Redactor,
) -> SessionError {
    let ping = || async {
        match connection.peer().send_request(ClientRequest::PingRequest(PingRequest::default())).await {
            // A refusal is an answer, too: some servers do not know pings.
            Ok(_) | Err(ServiceError::McpError(_) | ServiceError::UnexpectedResponse) => Ok(()),
            Err(error) => Err(CallFailure::from_service(error).redacted(secrets)),
        }
    };
    let report = |event| match event {
        PulseEvent::Missed(pings) => events.degraded(&Degradation::MissedPings(pings)),
        PulseEvent::Recovered => events.recovered(),
    };
    match heartbeat(policy, connection.in_doubt(), || connection.has_calls(), ping, report).await {
        Lost::Unanswered(_) => SessionError::Unanswered,
        Lost::Unreachable(failure) => {
            events.degraded(&Degradation::Unreachable(failure.clone()));
            SessionError::Unreachable(failure)
        }
    }
}

/// Every page of the server's tools, without credentials. A server without tools may say so by not having the method.
async fn list_tools(connection: &Connection, options: &SessionOptions) -> Result<Vec<Tool>, ListError> {
    const NO_LIST: CallFailure = CallFailure::UnexpectedAnswer(ExpectedAnswer::ToolList);
    if connection.peer().peer_info().is_some_and(|info| info.capabilities.tools.is_none()) {
        return Ok(Vec::new());
    }
    let tools = paging::all("tools", |params| async move {
        let request = ListToolsRequest { params, ..ListToolsRequest::default() };
        let page = match connection.request_unlimited(ClientRequest::ListToolsRequest(request)).await? {
            ServerReply::Read(ServerResult::ListToolsResult(page)) => page,
            ServerReply::Text(text) => call::build(text, ExpectedAnswer::ToolList).await?,
            ServerReply::Read(_) => return Err(NO_LIST),
        };
        Ok((page.tools, page.next_cursor))
    })
    .await?;
    let credentials = options.credentials.clone();
    // It takes as long as the list is long.
    let redacted = tokio::task::spawn_blocking(move || credentials.redact_tools(tools)).await;
    let (tools, left_out) = redacted.map_err(|_| ListError::Request { what: "tools", source: NO_LIST })?;
    if left_out > 0 {
        tracing::warn!(server = &*options.name, left_out, "tools are left out: their names hold a credential");
    }
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use std::io;

    use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
    use serde_json::json;
    use tokio::sync::mpsc;

    use super::*;

    /// A server that shakes hands and hangs up right after.
    struct HangsUp {
        answers: Option<mpsc::UnboundedSender<ServerJsonRpcMessage>>,
        received: mpsc::UnboundedReceiver<ServerJsonRpcMessage>,
    }

    impl HangsUp {
        fn new() -> Self {
            let (answers, received) = mpsc::unbounded_channel();
            Self { answers: Some(answers), received }
        }
    }

    impl Transport<RoleClient> for HangsUp {
        type Error = io::Error;

        fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
            let message = serde_json::to_value(message).unwrap();
            match message["method"].as_str() {
                Some("initialize") => {
                    let result = json!({
                        "protocolVersion": "2025-03-26", "capabilities": {}, "serverInfo": {"name": "s", "version": "0"}
                    });
                    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                    self.answers.as_ref().unwrap().send(serde_json::from_value(answer).unwrap()).unwrap();
                }
                _ => self.answers = None,
            }
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
            self.received.recv().await
        }

        async fn close(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct NoEvents;

    impl SessionEvents for NoEvents {
        fn tools_changed(&self, _: Vec<Tool>) {}
        fn resource_list_changed(&self) {}
        fn resource_updated(&self, _: &str) {}
        fn progress(&self) {}
        fn degraded(&self, _: &Degradation) {}
        fn recovered(&self) {}
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_whose_server_hung_up_can_be_watched_again_and_closed() {
        let options = SessionOptions {
            name: "s".into(),
            handshake: Handshake::Initialize,
            start: Duration::from_secs(60),
            health: HeartbeatPolicy { every: Duration::from_secs(60), limit: Duration::from_secs(60), misses: 2 },
            secrets: Redactor::default(),
            credentials: Redactor::default(),
        };
        let (mut session, _) = Session::open(HangsUp::new(), options, Arc::new(NoEvents)).await.unwrap();
        assert_eq!(session.watch().await, SessionError::HungUp);
        assert_eq!(session.watch().await, SessionError::HungUp);
        tokio::time::timeout(Duration::from_secs(60), session.close()).await.unwrap();
    }
}
