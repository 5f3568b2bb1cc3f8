//! What a Computer is made of, apart from its seat in an office: servers, tools, and the rules between them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use crate::config::ComputerConfig;
use crate::handle::HubLink;
use crate::servers::{Servers, Surroundings};
use crate::tools::confirm::Confirmation;
use crate::tools::history::History;
use crate::tools::pages::Shelf;
use crate::tools::{Found, Tools};

/// Everything that answers, whoever asks: the hub's Agent, or the owner.
pub(crate) struct Machine {
    config: RwLock<Arc<ComputerConfig>>,
    hub: RwLock<HubLink>,
    pub(crate) servers: Servers,
    pub(crate) surroundings: Arc<Surroundings>,
    pub(crate) tools: Tools,
    pub(crate) confirmation: Confirmation,
    pub(crate) history: History,
    /// Results that are too large to be sent at once.
    pub(crate) shelf: Shelf,
    /// How large a result may be to be sent at once, in bytes.
    pub(crate) max_result: usize,
    /// One change of the configuration at a time.
    pub(crate) changing: tokio::sync::Mutex<()>,
    tools_changed: AtomicBool,
    /// Rung when the configuration is not what it was.
    pub(crate) config_changed: tokio::sync::Notify,
}

/// The parts that are given.
pub(crate) struct Parts {
    pub(crate) config: ComputerConfig,
    pub(crate) surroundings: Arc<Surroundings>,
    pub(crate) tools: Tools,
    pub(crate) confirmation: Confirmation,
    pub(crate) max_result: usize,
}

impl Machine {
    /// Starts every server at the same time.
    pub(crate) fn start(parts: Parts) -> Self {
        let Parts { config, surroundings, tools, confirmation, max_result } = parts;
        let servers = Servers::new(surroundings.clone());
        for server in config.servers.values() {
            servers.add(server.clone());
        }
        Self {
            config: RwLock::new(Arc::new(config)),
            hub: RwLock::new(HubLink { connected: false, since: SystemTime::now() }),
            servers,
            surroundings,
            tools,
            confirmation,
            history: History::default(),
            shelf: Shelf::default(),
            max_result,
            changing: tokio::sync::Mutex::default(),
            tools_changed: AtomicBool::new(false),
            config_changed: tokio::sync::Notify::new(),
        }
    }

    /// The configuration now.
    pub(crate) fn config(&self) -> Arc<ComputerConfig> {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn put_config(&self, config: ComputerConfig) {
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
    }

    /// How the connection to the hub is.
    pub(crate) fn hub(&self) -> HubLink {
        *self.hub.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The seat was taken, or the hub lost.
    pub(crate) fn put_hub(&self, connected: bool) {
        *self.hub.write().unwrap_or_else(PoisonError::into_inner) = HubLink { connected, since: SystemTime::now() };
    }

    /// Puts the toolbox together anew; what an Agent sees of it is news. Gives what the owner should know. Blocks.
    pub(crate) fn refresh_tools(&self) -> Vec<Found> {
        let refreshed = self.tools.refresh(&self.servers.all());
        if refreshed.differs {
            self.tools_changed.store(true, Ordering::Release);
        }
        refreshed.findings
    }

    /// Whether the tools that an Agent sees have changed since this was last asked.
    pub(crate) fn take_tool_news(&self) -> bool {
        self.tools_changed.swap(false, Ordering::AcqRel)
    }

    /// Ends every server and waits until nothing of them is left.
    pub(crate) async fn end(&self) {
        self.servers.stop().await;
        self.surroundings.documents.close().await;
        self.surroundings.processes.end().await;
    }
}
