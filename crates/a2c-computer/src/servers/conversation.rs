//! An MCP conversation over any transport: opened, kept fresh, watched, ended.

use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, Implementation, PingRequest, ProgressNotificationParam,
    ResourceUpdatedNotificationParam, Tool,
};
use rmcp::service::NotificationContext;
use rmcp::transport::Transport;
use rmcp::{ClientHandler, Peer, RoleClient, ServiceError, ServiceExt as _};
use tokio_util::sync::CancellationToken;

use super::following::follow;
use super::paging::{self, PagingError};
use super::progress::ProgressBoard;
use super::resources::Abilities;
use super::server::{Live, Shared};
use super::state::Happening;
use super::upstream;
use crate::config::tool_rules;

/// The least time between two listings that the server's notifications cause.
const LIST_PAUSE: Duration = Duration::from_millis(250);

/// How long listing the tools again may take.
const LIST_LIMIT: Duration = Duration::from_secs(30);

/// Talks to the server until it hangs up, fails or is to stop. `Ok` means that it was stopped.
pub(super) async fn converse<T>(shared: &Arc<Shared>, transport: T, stop: &CancellationToken) -> Result<(), String>
where
    T: Transport<RoleClient> + 'static,
{
    let limit = shared.surroundings.limits.start;
    let progress = ProgressBoard::default();
    let client = Client { shared: Arc::downgrade(shared), progress: progress.clone() };
    let started = async {
        let service = client.serve(transport).await.map_err(|e| match upstream::refusal(&e) {
            Some(refusal) => refusal.to_string(),
            None => format!("it does not answer as an MCP server: {}", upstream::plain_start(&e)),
        })?;
        let tools = list_tools(service.peer()).await.map_err(|e| e.to_string())?;
        Ok::<_, String>((service, tools))
    };
    let (service, tools) = tokio::select! {
        started = tokio::time::timeout(limit, started) => match started {
            Ok(started) => started?,
            Err(_) => return Err(format!("it did not start within {} s", limit.as_secs_f64())),
        },
        () = stop.cancelled() => return Ok(()),
    };
    tracing::info!(server = &*shared.name, tools = tools.len(), "MCP server ready");
    shared.log.remark(&format!("ready, with {} tools", tools.len()));
    warn_of_typos(shared, &tools);
    shared.put_tools(tools);
    let peer = service.peer().clone();
    let live = Live { peer: peer.clone(), progress };
    shared.followed.begin(Abilities::of(&peer));
    shared.put_live(Some(live.clone()));
    shared.happened(Happening::Well);

    let end = service.cancellation_token();
    let mut running = std::pin::pin!(service.waiting());
    tokio::select! {
        _ = &mut running => Err("it hung up".into()),
        never = refresh(shared, &peer) => match never {},
        never = follow(shared, &live) => match never {},
        () = watch(shared, &peer) => Err("it does not answer any more".into()),
        () = stop.cancelled() => {
            end.cancel();
            let _ = running.await;
            Ok(())
        }
    }
}

fn warn_of_typos(shared: &Shared, tools: &[Tool]) {
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    for rule in tool_rules::unmatched(&shared.config(), &names) {
        tracing::warn!(server = &*shared.name, tool = rule, "the configuration names a tool that is not there");
    }
}

/// Our side of the MCP conversation.
struct Client {
    shared: Weak<Shared>,
    progress: ProgressBoard,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("a2c", env!("CARGO_PKG_VERSION")))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        if let Some(shared) = self.shared.upgrade() {
            shared.list_changed.notify_one();
        }
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        if let Some(shared) = self.shared.upgrade() {
            shared.followed.list_changed();
        }
    }

    async fn on_resource_updated(&self, updated: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        if let Some(shared) = self.shared.upgrade() {
            shared.followed.updated(&shared, &updated.uri);
        }
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        if let Some(shared) = self.shared.upgrade() {
            shared.counts.progress.fetch_add(1, Ordering::Relaxed);
            self.progress.tell(&shared.name, &progress, &shared.concealed().from_logs);
        }
    }
}

/// Lists the tools again when the server says that they changed: one listing at a time, and not too often, however
/// often it says so.
async fn refresh(shared: &Shared, peer: &Peer<RoleClient>) -> Infallible {
    loop {
        shared.list_changed.notified().await;
        match tokio::time::timeout(LIST_LIMIT, list_tools(peer)).await {
            Ok(Ok(tools)) => {
                shared.put_tools(tools);
                shared.happened(Happening::Well);
            }
            Ok(Err(problem)) => unwell(shared, &format!("its changed tools are not known: {problem}")),
            Err(_) => unwell(shared, "listing its changed tools took too long"),
        }
        tokio::time::sleep(LIST_PAUSE).await;
    }
}

fn unwell(shared: &Shared, reason: &str) {
    // A server's own words may be in it.
    let reason = &shared.concealed().from_logs.redact(reason);
    tracing::warn!(server = &*shared.name, reason, "MCP server is not well");
    shared.log.remark(reason);
    shared.happened(Happening::Unwell(reason.to_owned()));
}

/// Asks the server whether it is still there, from time to time and when a call could not be sent; ends when it is not.
/// While calls run, silence is no proof: many servers do one thing at a time.
async fn watch(shared: &Shared, peer: &Peer<RoleClient>) {
    let health = &shared.surroundings.limits.health;
    let mut missed = 0;
    loop {
        tokio::select! {
            () = tokio::time::sleep(health.every) => {}
            () = shared.in_doubt.notified() => {}
        }
        let ping = peer.send_request(ClientRequest::PingRequest(PingRequest::default()));
        match tokio::time::timeout(health.limit, ping).await {
            // A refusal is an answer, too: some servers do not know pings.
            Ok(Ok(_) | Err(ServiceError::McpError(_) | ServiceError::UnexpectedResponse)) => {
                if std::mem::take(&mut missed) > 0 {
                    shared.happened(Happening::Well);
                }
            }
            Ok(Err(error)) => return unwell(shared, &format!("it cannot be reached: {}", upstream::plain(&error))),
            Err(_) if shared.calls_running.load(Ordering::Relaxed) > 0 => {}
            Err(_) => {
                missed += 1;
                unwell(shared, &format!("it has not answered {missed} pings in a row"));
                if missed >= health.misses {
                    return;
                }
            }
        }
    }
}

/// Every page of the server's tools. A server without tools may say so by not having the method.
async fn list_tools(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, PagingError> {
    if peer.peer_info().is_some_and(|info| info.capabilities.tools.is_none()) {
        return Ok(Vec::new());
    }
    paging::all("tools", |params| async move {
        let page = peer.list_tools(params).await?;
        Ok((page.tools, page.next_cursor))
    })
    .await
}
