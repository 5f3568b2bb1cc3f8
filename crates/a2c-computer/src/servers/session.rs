//! The MCP session with one server: what the server says goes to its record and the catalogue.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use a2c_mcp::model::Tool;
use a2c_mcp::{Degradation, Handshake, RoleClient, Session, SessionError, SessionEvents, SessionOptions, Transport};
use tokio_util::sync::CancellationToken;

use super::record::ServerRecord;
use super::resource_sync::{resource_updated, sync_resources};
use crate::config::tool_rules;

/// Learns how a server is while its session lasts.
pub(super) trait Health: Send + Sync + 'static {
    /// The server works as it should.
    fn ready(&self);

    /// The server works, with a defect.
    fn degraded(&self, problem: &Degradation);
}

/// Talks to the server until it hangs up, fails or is to stop. `Ok` means that it was stopped.
pub(super) async fn run_session<T>(
    record: &Arc<ServerRecord>,
    health: Arc<dyn Health>,
    transport: T,
    handshake: Handshake,
    stop: &CancellationToken,
) -> Result<(), SessionError>
where
    T: Transport<RoleClient> + 'static,
{
    let limits = &record.context.limits;
    let options = SessionOptions {
        name: record.name.clone(),
        handshake,
        start: limits.start,
        health: limits.health.clone(),
        secrets: record.redactors().logs,
        credentials: record.redactors().results,
    };
    let events = Arc::new(Events { record: record.clone(), health: health.clone() });
    let (mut session, tools) = tokio::select! {
        opened = Session::open(transport, options, events) => opened?,
        () = stop.cancelled() => return Ok(()),
    };
    record.set_handshake(handshake);
    tracing::info!(server = &*record.name, tools = tools.len(), "MCP server ready");
    record.log.remark(&format!("ready, with {} tools", tools.len()));
    warn_of_unknown_tools(record, &tools);
    record.set_tools(tools);
    let connection = session.connection().clone();
    record.sync.begin(connection.resource_support());
    record.connected(connection.clone());
    health.ready();
    tokio::select! {
        ended = session.watch() => return Err(ended),
        never = sync_resources(record, &connection) => match never {},
        () = stop.cancelled() => {}
    }
    session.close().await;
    Ok(())
}

/// A rule for a tool that the server does not have is most likely a typing mistake.
fn warn_of_unknown_tools(record: &ServerRecord, tools: &[Tool]) {
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    for rule in tool_rules::unmatched(&record.config(), &names) {
        tracing::warn!(
            server = &*record.name,
            tool = rule,
            "the configuration names a tool that the server does not have"
        );
    }
}

/// Takes in what a session tells.
struct Events {
    record: Arc<ServerRecord>,
    health: Arc<dyn Health>,
}

impl SessionEvents for Events {
    fn tools_changed(&self, tools: Vec<Tool>) {
        self.record.set_tools(tools);
        self.health.ready();
    }

    fn resource_list_changed(&self) {
        self.record.sync.list_changed.mark();
    }

    fn resource_updated(&self, uri: &str) {
        resource_updated(&self.record, uri);
    }

    fn progress(&self) {
        self.record.counts.progress.fetch_add(1, Ordering::Relaxed);
    }

    fn degraded(&self, problem: &Degradation) {
        let reason = problem.to_string();
        tracing::warn!(server = &*self.record.name, reason, "MCP server is not well");
        self.record.log.remark(&reason);
        self.health.degraded(problem);
    }

    fn recovered(&self) {
        self.health.ready();
    }
}
