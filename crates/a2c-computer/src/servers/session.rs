//! The MCP session with one server: what it says goes to the server's state, its tools and the catalogue.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use a2c_mcp::model::Tool;
use a2c_mcp::{Degradation, RoleClient, Session, SessionError, SessionEvents, SessionOptions, Transport};
use tokio_util::sync::CancellationToken;

use super::resource_sync::follow;
use super::server::Shared;
use super::state::Happening;
use crate::config::tool_rules;

/// Talks to the server until it hangs up, fails or is to stop. `Ok` means that it was stopped.
pub(super) async fn run_session<T>(
    shared: &Arc<Shared>,
    transport: T,
    stop: &CancellationToken,
) -> Result<(), SessionError>
where
    T: Transport<RoleClient> + 'static,
{
    let limits = &shared.surroundings.limits;
    let options = SessionOptions {
        name: shared.name.clone(),
        start: limits.start,
        health: limits.health.clone(),
        secrets: shared.concealed().from_logs,
    };
    let events = Arc::new(Events { shared: Arc::downgrade(shared) });
    let (mut session, tools) = tokio::select! {
        opened = Session::open(transport, options, events) => opened?,
        () = stop.cancelled() => return Ok(()),
    };
    tracing::info!(server = &*shared.name, tools = tools.len(), "MCP server ready");
    shared.log.remark(&format!("ready, with {} tools", tools.len()));
    warn_of_typos(shared, &tools);
    shared.put_tools(tools);
    let connection = session.connection().clone();
    shared.followed.begin(connection.resource_support());
    shared.put_live(Some(connection.clone()));
    shared.happened(Happening::Well);
    tokio::select! {
        ended = session.watch() => return Err(ended),
        never = follow(shared, &connection) => match never {},
        () = stop.cancelled() => {}
    }
    session.close().await;
    Ok(())
}

fn warn_of_typos(shared: &Shared, tools: &[Tool]) {
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    for rule in tool_rules::unmatched(&shared.config(), &names) {
        tracing::warn!(server = &*shared.name, tool = rule, "the configuration names a tool that is not there");
    }
}

/// Takes in what a session tells.
struct Events {
    shared: Weak<Shared>,
}

impl SessionEvents for Events {
    fn tools_changed(&self, tools: Vec<Tool>) {
        if let Some(shared) = self.shared.upgrade() {
            shared.put_tools(tools);
            shared.happened(Happening::Well);
        }
    }

    fn resource_list_changed(&self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.followed.list_changed();
        }
    }

    fn resource_updated(&self, uri: &str) {
        if let Some(shared) = self.shared.upgrade() {
            shared.followed.updated(&shared, uri);
        }
    }

    fn progress(&self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.counts.progress.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn degraded(&self, problem: &Degradation) {
        if let Some(shared) = self.shared.upgrade() {
            let reason = problem.to_string();
            tracing::warn!(server = &*shared.name, reason, "MCP server is not well");
            shared.log.remark(&reason);
            shared.happened(Happening::Unwell(reason));
        }
    }

    fn recovered(&self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.happened(Happening::Well);
        }
    }
}
