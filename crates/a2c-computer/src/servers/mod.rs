//! The MCP servers of a Computer, each supervised on its own: one that is sick, slow or hostile hurts no other.
//!
//! `worker` is one run of a server, over standard streams or HTTP, which a supervisor starts again and again; `session`
//! takes in what the MCP session says, and `resource_sync` keeps the catalogue in step with it. All of them share the
//! `record` of the server. `server` is the handle that the rest of the Computer holds, and `requests` are the requests
//! through it.

mod failure;
pub(crate) mod protocol_code;
mod record;
mod requests;
mod resource_sync;
pub(crate) mod server;
mod session;
mod sync_state;
mod worker;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use a2c_dpe::Resolutions;
use a2c_mcp::HeartbeatPolicy;
use a2c_mcp::oauth::TokenStore;
use a2c_process::Processes;
use a2c_protocol::config::McpServerConfig;
use a2c_supervise::ChangeSignal;

use crate::catalogue::Catalogue;
use crate::inputs::Inputs;
pub use failure::{FailureCause, ServerFailure};
use server::Server;
pub use worker::ServerState;

/// How often it is said which servers are waited for.
const NOTICE: Duration = Duration::from_secs(5);

/// What every server of a Computer needs from it.
pub(crate) struct ServerContext {
    pub(crate) inputs: Inputs,
    /// Starts and ends their processes.
    pub(crate) processes: Processes,
    pub(crate) tokens: Option<Arc<dyn TokenStore>>,
    pub(crate) limits: ServerLimits,
    /// Marked when a state, a tool list or a rule changed.
    pub(crate) changed: ChangeSignal,
    /// What the servers have to show.
    pub(crate) catalogue: Catalogue,
    /// Documents that were resolved to URLs.
    pub(crate) documents: Resolutions,
}

/// How long a Computer waits for its servers.
#[derive(Debug, Clone)]
pub struct ServerLimits {
    /// How long a server may take to start and list its tools.
    pub start: Duration,
    /// How long a call may go without a word of progress, within the Agent's own limit; `None` for as long as that.
    pub idle: Option<Duration>,
    /// How long a window of the Desktop may take to be read.
    pub window: Duration,
    /// How the health of a server that runs is checked.
    pub health: HeartbeatPolicy,
}

impl Default for ServerLimits {
    fn default() -> Self {
        let health = HeartbeatPolicy { every: Duration::from_secs(30), limit: Duration::from_secs(10), misses: 3 };
        Self { start: Duration::from_secs(60), idle: None, window: Duration::from_secs(5), health }
    }
}

/// All servers of a Computer.
pub(crate) struct Servers {
    context: Arc<ServerContext>,
    /// `None` once they were ended: nothing is started any more.
    by_name: RwLock<Option<BTreeMap<String, Arc<Server>>>>,
}

impl Servers {
    pub(crate) fn new(context: Arc<ServerContext>) -> Self {
        Self { context, by_name: RwLock::new(Some(BTreeMap::new())) }
    }

    /// Takes a server on and starts it, unless there is one of that name, or all were ended.
    pub(crate) fn add(&self, config: McpServerConfig) -> Option<Arc<Server>> {
        let mut servers = self.by_name.write().unwrap_or_else(PoisonError::into_inner);
        let servers = servers.as_mut()?;
        if servers.contains_key(&config.name) {
            return None;
        }
        let name = config.name.clone();
        self.context.catalogue.register(&name);
        let server = Arc::new(Server::start(config, self.context.clone()));
        servers.insert(name, server.clone());
        self.context.changed.mark();
        Some(server)
    }

    /// Takes a server out; it is for the caller to wait for its end.
    pub(crate) fn remove(&self, name: &str) -> Option<Arc<Server>> {
        let server = self.by_name.write().unwrap_or_else(PoisonError::into_inner).as_mut()?.remove(name)?;
        server.remove();
        self.context.changed.mark();
        Some(server)
    }

    /// Whether all were ended, and no other is started.
    pub(crate) fn are_over(&self) -> bool {
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// One server.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Server>> {
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(name).cloned()
    }

    /// All servers, in the order of their names.
    pub(crate) fn all(&self) -> Vec<(String, Arc<Server>)> {
        let servers = self.by_name.read().unwrap_or_else(PoisonError::into_inner);
        servers.iter().flatten().map(|(name, server)| (name.clone(), server.clone())).collect()
    }

    /// Waits until every server is ready and its resources are known, or is known not to be, and says from time to time
    /// for whom it waits.
    pub(crate) async fn settled(&self) {
        let servers = self.all();
        let all = async {
            for (_, server) in &servers {
                server.known().await;
            }
        };
        let mut all = std::pin::pin!(all);
        while tokio::time::timeout(NOTICE, &mut all).await.is_err() {
            match self.names_starting() {
                starting if starting.is_empty() => {
                    tracing::info!("still waiting for MCP servers to list their resources")
                }
                starting => tracing::info!(servers = starting.join(", "), "still waiting for MCP servers to start"),
            }
        }
    }

    /// Those that are being started.
    pub(crate) fn names_starting(&self) -> Vec<String> {
        let starting = self.all().into_iter().filter(|(_, server)| !server.state().is_settled());
        starting.map(|(name, _)| name).collect()
    }

    /// Ends every server at the same time and waits until all processes are gone.
    pub(crate) async fn stop(&self) {
        let servers = self.by_name.write().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        servers.values().for_each(|server| server.remove());
        for server in servers.values() {
            server.gone().await;
        }
    }
}

/// There is a server of that name already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there already is an MCP server named '{name}': choose another name, or change that one")]
pub struct NameTaken {
    /// Which name.
    pub name: String,
}
