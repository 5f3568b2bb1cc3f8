//! What a Computer consists of, apart from its seat in an office: servers, tools, and the rules between them.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use a2c_supervise::ChangeSignal;

use crate::config::ComputerConfig;
use crate::context::ContextPlane;
use crate::servers::{ServerContext, Servers};
use crate::tools::Tools;
use crate::tools::call::ToolRunner;
use crate::tools::confirm::Confirmation;
use crate::tools::history::History;
use crate::tools::result_store::ResultStore;

/// How the connection to the hub is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HubLink {
    /// Whether the Computer sits in its office.
    pub connected: bool,
    /// Since when.
    pub since: SystemTime,
}

/// Everything that answers the Agent and the owner.
pub(crate) struct Core {
    config: RwLock<Arc<ComputerConfig>>,
    hub: RwLock<HubLink>,
    pub(crate) servers: Servers,
    pub(crate) context: Arc<ServerContext>,
    pub(crate) tools: Tools,
    pub(crate) confirmation: Confirmation,
    pub(crate) history: History,
    /// Results that are too large to be sent whole.
    pub(crate) results: Arc<ResultStore>,
    /// How large a result may be to be sent whole, in bytes.
    pub(crate) max_result: usize,
    /// One change of the configuration at a time.
    pub(crate) changing: tokio::sync::Mutex<()>,
    /// Marked when an Agent sees other tools than before.
    pub(crate) tools_changed: ChangeSignal,
    /// Marked when the configuration changed.
    pub(crate) config_changed: ChangeSignal,
}

/// The parts that are given.
pub(crate) struct CoreOptions {
    pub(crate) config: ComputerConfig,
    pub(crate) context: Arc<ServerContext>,
    pub(crate) tools: Tools,
    pub(crate) confirmation: Confirmation,
    pub(crate) max_result: usize,
}

impl Core {
    /// Starts every server at the same time.
    pub(crate) fn start(parts: CoreOptions) -> Self {
        let CoreOptions { config, context, tools, confirmation, max_result } = parts;
        let servers = Servers::new(context.clone());
        for server in config.servers.values() {
            servers.add(server.clone());
        }
        Self {
            config: RwLock::new(Arc::new(config)),
            hub: RwLock::new(HubLink { connected: false, since: SystemTime::now() }),
            servers,
            context,
            tools,
            confirmation,
            history: History::default(),
            results: Arc::default(),
            max_result,
            changing: tokio::sync::Mutex::default(),
            tools_changed: ChangeSignal::new(),
            config_changed: ChangeSignal::new(),
        }
    }

    /// The configuration now.
    pub(crate) fn config(&self) -> Arc<ComputerConfig> {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn put_config(&self, config: ComputerConfig) {
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
    }

    /// What answers for Desktop, Finder, resources and documents.
    pub(crate) fn context(&self) -> ContextPlane<'_> {
        ContextPlane {
            servers: &self.servers,
            catalogue: &self.context.catalogue,
            documents: &self.context.documents,
            results: &self.results,
            history: &self.history,
            window_limit: self.context.limits.window,
        }
    }

    /// What runs tools.
    pub(crate) fn tool_runner(&self) -> ToolRunner<'_> {
        ToolRunner {
            tools: &self.tools,
            servers: &self.servers,
            confirmation: &self.confirmation,
            history: &self.history,
            results: &self.results,
            max_result: self.max_result,
        }
    }

    /// How the connection to the hub is.
    pub(crate) fn hub(&self) -> HubLink {
        *self.hub.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The seat was taken, or the hub lost.
    pub(crate) fn put_hub(&self, connected: bool) {
        *self.hub.write().unwrap_or_else(PoisonError::into_inner) = HubLink { connected, since: SystemTime::now() };
    }

    /// Puts the list of all tools together again. A panic in there is a defect that was reported; the next change mends the
    /// list.
    pub(crate) async fn refresh_tools(self: &Arc<Self>) {
        let core = self.clone();
        let refreshed = tokio::task::spawn_blocking(move || core.tools.refresh(&core.servers.all())).await;
        let Ok(refreshed) = refreshed else { return };
        if refreshed.differs {
            self.tools_changed.mark();
        }
        if !refreshed.findings.is_empty() {
            // The comparison takes a moment, and no caller waits for the log.
            let core = self.clone();
            tokio::task::spawn_blocking(move || core.tools.log_findings(&refreshed.findings));
        }
    }

    /// Ends every server and waits until nothing of them is left.
    pub(crate) async fn end(&self) {
        self.servers.stop().await;
        self.context.documents.close().await;
        self.context.processes.end().await;
    }
}
