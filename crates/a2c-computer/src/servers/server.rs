//! One MCP server as the rest of the Computer sees it: a state, its tools as last listed, and a way to call them.
//!
//! A supervisor keeps the server running; this handle says what is wanted of it and never waits for it, except on behalf of
//! a caller who named it.

use std::sync::Arc;
use std::time::Duration;

use a2c_mcp::log::ServerLog;
use a2c_mcp::model::Tool;
use a2c_mcp::{Connection, ResourceSupport};
use a2c_protocol::config::McpServerConfig;
use a2c_secrets::Redactor;
use a2c_supervise::{RestartDelay, RestartPolicy, Status, Supervisor, Target};
use a2c_vrl::Program;

use super::ServerContext;
use super::failure::ServerFailure;
use super::record::{CallCounts, ServerRecord};
use super::worker::{McpWorker, ServerState};

/// A failed server is started again after half a second, then after twice as long, and so on up to a minute. One that ran
/// for a minute has recovered.
const RESTARTS: RestartPolicy = RestartPolicy::always(
    RestartDelay::backoff(Duration::from_millis(500), Duration::from_secs(60)),
    Duration::from_secs(60),
);

/// A handle to one MCP server. Dropping it ends the server.
pub(crate) struct Server {
    pub(super) record: Arc<ServerRecord>,
    pub(super) supervisor: Supervisor<McpWorker>,
}

impl Server {
    /// Takes a server on; where it is not disabled, it starts.
    pub(crate) fn start(config: McpServerConfig, context: Arc<ServerContext>) -> Self {
        let target = target_of(&config);
        let record = Arc::new(ServerRecord::new(config, context));
        let worker = Arc::new(McpWorker { record: record.clone() });
        Self { record, supervisor: Supervisor::start(worker, RESTARTS, target) }
    }

    /// What the owner says about the server.
    pub(crate) fn config(&self) -> Arc<McpServerConfig> {
        self.record.config()
    }

    /// What reshapes the results of its tools.
    pub(crate) fn program(&self) -> Option<Program> {
        self.record.program()
    }

    /// The credentials that no result may hold.
    pub(crate) fn credentials(&self) -> Redactor {
        self.record.redactors().results
    }

    /// A text about the server, or in its own words, without secrets.
    pub(crate) fn loggable(&self, text: &str) -> String {
        self.record.redactors().logs.redact(text)
    }

    /// Its state, since when, and how often it was restarted.
    pub(crate) fn status(&self) -> Status<Arc<ServerFailure>> {
        self.supervisor.status()
    }

    /// The state now.
    pub(crate) fn state(&self) -> ServerState {
        self.supervisor.state()
    }

    /// The tools as last listed.
    pub(crate) fn tools(&self) -> Arc<[Tool]> {
        self.record.tools()
    }

    /// What it can do with resources, as it last said.
    pub(crate) fn resource_support(&self) -> ResourceSupport {
        self.record.sync.support()
    }

    /// What it wrote, and what happened to it.
    pub(crate) fn log(&self) -> &Arc<ServerLog> {
        &self.record.log
    }

    /// What was asked of it so far.
    pub(crate) fn counts(&self) -> &CallCounts {
        &self.record.counts
    }

    /// The connection, while there is one that is not about to be ended.
    pub(super) fn connection(&self) -> Option<Connection> {
        if self.supervisor.is_changing() { None } else { self.record.connection() }
    }

    /// Waits until a start under the present configuration has succeeded or failed, or none is made.
    pub(crate) async fn settled(&self) {
        self.supervisor.settled().await;
    }

    /// Waits until it is settled and, where it runs, its resources are known.
    pub(crate) async fn known(&self) {
        self.settled().await;
        if self.state().is_running() {
            self.record.sync.known().await;
        }
    }

    /// Replaces the owner's rules; the server goes on running.
    pub(crate) fn set_rules(&self, config: McpServerConfig) {
        self.record.set_config(config);
        self.record.context.changed.mark();
    }

    /// Replaces the configuration and starts the server again with it.
    pub(crate) fn change(&self, config: McpServerConfig) {
        let target = target_of(&config);
        // Switched off first: no restart in between starts it with a configuration that says that it is off.
        if target == Target::Off {
            self.supervisor.set_target(target);
            self.record.set_config(config);
        } else {
            self.record.set_config(config);
            self.supervisor.set_target(target);
        }
    }

    /// Ends it and starts it again, also where it waits for a later start. One that is switched off stays so.
    pub(crate) fn restart(&self) {
        self.supervisor.restart();
    }

    /// Waits until what ran before the last change has ended.
    pub(crate) async fn previous_run_ended(&self) {
        self.supervisor.previous_run_ended().await;
    }

    /// Ends it for good.
    pub(crate) fn remove(&self) {
        self.supervisor.set_target(Target::Gone);
    }

    /// Waits until nothing is left of a server that was removed.
    pub(crate) async fn gone(&self) {
        self.supervisor.gone().await;
    }
}

fn target_of(config: &McpServerConfig) -> Target {
    if config.disabled { Target::Off } else { Target::On }
}
