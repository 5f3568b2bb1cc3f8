//! What is known of one server: its configuration, its connection, its tools, its log. Every part of the Computer that
//! works for the server shares it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use a2c_mcp::log::ServerLog;
use a2c_mcp::model::Tool;
use a2c_mcp::{Connection, Handshake};
use a2c_protocol::config::McpServerConfig;
use a2c_secrets::Redactor;
use a2c_vrl::Program;

use super::ServerContext;
use super::sync_state::SyncState;

/// What is known of one server.
pub(crate) struct ServerRecord {
    pub(super) name: Arc<str>,
    rules: RwLock<Rules>,
    redactors: RwLock<Redactors>,
    connection: RwLock<Option<Connection>>,
    tools: RwLock<Arc<[Tool]>>,
    /// The handshake that the server took last.
    handshake: RwLock<Handshake>,
    pub(super) log: Arc<ServerLog>,
    pub(super) context: Arc<ServerContext>,
    pub(super) counts: CallCounts,
    pub(super) sync: SyncState,
}

/// What the owner says about a server.
#[derive(Clone)]
struct Rules {
    config: Arc<McpServerConfig>,
    /// Reshapes the results of its tools.
    program: Option<Program>,
}

impl Rules {
    fn new(config: McpServerConfig) -> Self {
        // A configuration whose program does not compile is refused when it is read: this one compiles again.
        let compiled = config.vrl.as_deref().map(Program::compile).transpose();
        if let Err(error) = &compiled {
            tracing::error!(server = config.name, %error, "results are not reshaped");
        }
        Self { config: Arc::new(config), program: compiled.ok().flatten() }
    }
}

/// The secrets in the parameters of the present run, and where they must not show.
#[derive(Clone, Default)]
pub(crate) struct Redactors {
    /// For logs and reasons: every secret.
    pub(super) logs: Redactor,
    /// For results that an Agent sees: credentials.
    pub(super) results: Redactor,
}

/// What was asked of a server so far.
#[derive(Default)]
pub(crate) struct CallCounts {
    pub(crate) calls: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) progress: AtomicU64,
}

impl CallCounts {
    /// Counts one more call.
    pub(crate) fn called(&self, failed: bool) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(failed), Ordering::Relaxed);
    }
}

impl ServerRecord {
    pub(super) fn new(config: McpServerConfig, context: Arc<ServerContext>) -> Self {
        Self {
            name: config.name.as_str().into(),
            rules: RwLock::new(Rules::new(config)),
            redactors: RwLock::default(),
            connection: RwLock::default(),
            tools: RwLock::new(Arc::new([])),
            handshake: RwLock::default(),
            log: Arc::new(ServerLog::new()),
            context,
            counts: CallCounts::default(),
            sync: SyncState::default(),
        }
    }

    pub(super) fn config(&self) -> Arc<McpServerConfig> {
        self.rules.read().unwrap_or_else(PoisonError::into_inner).config.clone()
    }

    pub(super) fn set_config(&self, config: McpServerConfig) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Rules::new(config);
        // It may be another server now.
        self.set_handshake(Handshake::default());
    }

    pub(super) fn program(&self) -> Option<Program> {
        self.rules.read().unwrap_or_else(PoisonError::into_inner).program.clone()
    }

    pub(super) fn redactors(&self) -> Redactors {
        self.redactors.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_redactors(&self, redactors: Redactors) {
        *self.redactors.write().unwrap_or_else(PoisonError::into_inner) = redactors;
    }

    /// The handshake to begin with, which is forgotten.
    pub(super) fn take_handshake(&self) -> Handshake {
        std::mem::take(&mut *self.handshake.write().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set_handshake(&self, handshake: Handshake) {
        *self.handshake.write().unwrap_or_else(PoisonError::into_inner) = handshake;
    }

    pub(super) fn connection(&self) -> Option<Connection> {
        self.connection.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A session is open.
    pub(super) fn connected(&self, connection: Connection) {
        *self.connection.write().unwrap_or_else(PoisonError::into_inner) = Some(connection);
    }

    /// The run is over, and with it the session, if there was one.
    pub(super) fn disconnected(&self) {
        let before = self.connection.write().unwrap_or_else(PoisonError::into_inner).take();
        self.sync.ended();
        if before.is_some() {
            self.context.catalogue.disconnected(&self.name);
        }
    }

    pub(super) fn tools(&self) -> Arc<[Tool]> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the tools; a difference is told to the Computer.
    pub(super) fn set_tools(&self, tools: Vec<Tool>) {
        let tools: Arc<[Tool]> = tools.into();
        let mut known = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        if *known != tools {
            *known = tools;
            drop(known);
            self.context.changed.mark();
        }
    }

    /// Forgets what the server showed: its documents and windows are not listed any more.
    pub(super) fn forget_resources(&self) {
        self.context.catalogue.forget(&self.name);
        self.context.documents.forget(&self.name);
    }
}
