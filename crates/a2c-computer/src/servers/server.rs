//! One MCP server as the rest of the Computer sees it: a state, its tools as last listed, and a way to call them.
//!
//! A task of its own ([`supervisor`]) brings the server up again and again; this handle says what is wanted of it and
//! never waits for it, except on behalf of a caller who named it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use a2c_mcp::log::ServerLog;
use a2c_mcp::model::Tool;
use a2c_mcp::{Connection, ResourceSupport};
use a2c_protocol::config::McpServerConfig;
use a2c_secrets::Redactor;
use a2c_vrl::Program;
use tokio::sync::watch;

use super::resource_sync::Followed;
use super::state::{Happening, ServerState};
use super::{Surroundings, supervisor};

/// A handle to one MCP server. Dropping it ends the server.
pub(crate) struct Server {
    pub(super) shared: Arc<Shared>,
}

/// What the supervisor and the handle share.
pub(crate) struct Shared {
    pub(super) name: Arc<str>,
    rules: RwLock<Rules>,
    pub(super) wish: watch::Sender<Wish>,
    pub(super) status: watch::Sender<Status>,
    /// What must not be seen of the parameters of this run.
    concealed: RwLock<Concealed>,
    live: RwLock<Option<Connection>>,
    tools: RwLock<Arc<[Tool]>>,
    pub(super) log: Arc<ServerLog>,
    pub(super) surroundings: Arc<Surroundings>,
    pub(super) counts: Counts,
    /// What is known of its resources.
    pub(super) followed: Followed,
}

/// What the owner says about a server.
#[derive(Clone)]
struct Rules {
    config: Arc<McpServerConfig>,
    /// Runs over the results of its tools.
    program: Option<Program>,
}

impl Rules {
    fn new(config: McpServerConfig) -> Self {
        // A configuration whose program does not compile was refused before: this program is none, or compiles again.
        let compiled = config.vrl.as_deref().map(Program::compile).transpose();
        if let Err(error) = &compiled {
            tracing::error!(server = config.name, %error, "the VRL program of a server is not run");
        }
        Self { config: Arc::new(config), program: compiled.ok().flatten() }
    }
}

/// What is wanted of a server. Every change counts as a new turn: a run that began for an earlier one is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(super) mode: Mode,
    pub(super) turn: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    On,
    Off,
    Gone,
}

/// How a server is.
#[derive(Debug, Clone)]
pub(crate) struct Status {
    pub(crate) state: ServerState,
    /// The turn of the wish that brought it there.
    turn: u64,
    pub(crate) since: SystemTime,
    /// How often it was started anew.
    pub(crate) restarts: u64,
    /// When it is tried again, where it failed and that is planned.
    pub(crate) retry_at: Option<SystemTime>,
}

/// What must not be seen: in the log and in reasons, and in what goes to an Agent.
#[derive(Clone, Default)]
pub(crate) struct Concealed {
    pub(super) from_logs: Redactor,
    pub(super) from_results: Redactor,
}

/// What has been asked of a server so far.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) calls: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) progress: AtomicU64,
}

impl Server {
    /// Takes a server on; where it is not disabled, it starts.
    pub(crate) fn start(config: McpServerConfig, surroundings: Arc<Surroundings>) -> Self {
        let (mode, state) = match config.disabled {
            true => (Mode::Off, ServerState::Disabled),
            false => (Mode::On, ServerState::Starting),
        };
        let status = Status { state, turn: 0, since: SystemTime::now(), restarts: 0, retry_at: None };
        let shared = Arc::new(Shared {
            name: config.name.as_str().into(),
            rules: RwLock::new(Rules::new(config)),
            wish: watch::Sender::new(Wish { mode, turn: 0 }),
            status: watch::Sender::new(status),
            concealed: RwLock::default(),
            live: RwLock::default(),
            tools: RwLock::new(Arc::new([])),
            log: Arc::new(ServerLog::new()),
            surroundings,
            counts: Counts::default(),
            followed: Followed::default(),
        });
        let (supervising, watched) = (tokio::spawn(supervisor::supervise(shared.clone())), shared.clone());
        tokio::spawn(async move {
            if let Err(defect) = supervising.await {
                // Whoever waits for the end of the server must not wait for ever.
                tracing::error!(server = &*watched.name, %defect, "the supervisor of an MCP server is gone");
                watched.put_live(None);
                watched.happened(Happening::Dismissed);
            }
        });
        Self { shared }
    }

    /// What the owner says about the server.
    pub(crate) fn config(&self) -> Arc<McpServerConfig> {
        self.shared.config()
    }

    /// The program that runs over the results of its tools.
    pub(crate) fn program(&self) -> Option<Program> {
        self.shared.rules.read().unwrap_or_else(PoisonError::into_inner).program.clone()
    }

    /// The credentials that no result may hold.
    pub(crate) fn credentials(&self) -> Redactor {
        self.shared.concealed().from_results
    }

    /// A text about it, or in its own words, as the log may have it.
    pub(crate) fn loggable(&self, text: &str) -> String {
        self.shared.concealed().from_logs.redact(text)
    }

    /// How it is now.
    pub(crate) fn status(&self) -> Status {
        self.shared.status.borrow().clone()
    }

    /// The state now.
    pub(crate) fn state(&self) -> ServerState {
        self.shared.status.borrow().state.clone()
    }

    /// The tools as last listed.
    pub(crate) fn tools(&self) -> Arc<[Tool]> {
        self.shared.tools.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What it can do with resources, as it last said.
    pub(crate) fn resource_support(&self) -> ResourceSupport {
        self.shared.followed.support()
    }

    /// What it wrote, and what happened to it.
    pub(crate) fn log(&self) -> &Arc<ServerLog> {
        &self.shared.log
    }

    /// What has been asked of it so far.
    pub(crate) fn counts(&self) -> &Counts {
        &self.shared.counts
    }

    /// Waits until it is ready, or is known not to be, in the turn that is wished now.
    pub(crate) async fn settled(&self) {
        let turn = self.shared.wish.borrow().turn;
        let settled =
            |status: &Status| status.turn >= turn && status.state.is_settled() || status.state == ServerState::Stopped;
        // An error means that the supervisor is gone, and with it the reason to wait.
        let _ = self.shared.status.subscribe().wait_for(settled).await;
    }

    /// Waits until it is settled and, where it runs, its resources are known.
    pub(crate) async fn known(&self) {
        self.settled().await;
        if self.state().is_running() {
            self.shared.followed.known().await;
        }
    }

    /// Replaces the owner's rules; the server goes on running.
    pub(crate) fn rule(&self, config: McpServerConfig) {
        self.shared.put_config(config);
        self.shared.surroundings.changed.mark();
    }

    /// Replaces the configuration and begins anew with it.
    pub(crate) fn change(&self, config: McpServerConfig) {
        let mode = if config.disabled { Mode::Off } else { Mode::On };
        self.shared.put_config(config);
        self.wish(mode);
    }

    /// Ends it and starts it again, also where it was about to be tried again later. One that is switched off stays so.
    pub(crate) fn restart(&self) {
        self.wish(Mode::On);
    }

    /// Waits until what ran before the present wish has ended.
    pub(crate) async fn rests(&self) {
        let turn = self.shared.wish.borrow().turn;
        let over = |status: &Status| status.turn >= turn || status.state == ServerState::Stopped;
        let _ = self.shared.status.subscribe().wait_for(over).await;
    }

    /// Ends it for good.
    pub(crate) fn dismiss(&self) {
        self.wish(Mode::Gone);
    }

    /// Waits until nothing is left of a server that was dismissed.
    pub(crate) async fn gone(&self) {
        let _ = self.shared.status.subscribe().wait_for(|status| status.state == ServerState::Stopped).await;
    }

    fn wish(&self, mode: Mode) {
        self.shared.wish.send_if_modified(|wish| {
            // Looked at here, so that nobody switches it on behind the back of who switches it off.
            let is_off = mode == Mode::On && self.shared.config().disabled;
            if wish.mode == Mode::Gone || is_off {
                return false;
            }
            *wish = Wish { mode, turn: wish.turn + 1 };
            true
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.dismiss();
    }
}

impl Shared {
    pub(super) fn config(&self) -> Arc<McpServerConfig> {
        self.rules.read().unwrap_or_else(PoisonError::into_inner).config.clone()
    }

    fn put_config(&self, config: McpServerConfig) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Rules::new(config);
    }

    /// Moves the state on, in the turn that it is in.
    pub(super) fn happened(&self, happening: Happening) {
        self.move_on(None, happening, None);
    }

    /// Moves the state on into another turn.
    pub(super) fn begin(&self, turn: u64, happening: Happening) {
        self.move_on(Some(turn), happening, None);
    }

    /// The run is over; it is tried again then.
    pub(super) fn failed(&self, reason: String, retry_at: Option<SystemTime>) {
        self.move_on(None, Happening::Ended(reason), retry_at);
    }

    /// Where a change of the state changes what is offered, everybody who shows tools learns of it.
    fn move_on(&self, turn: Option<u64>, happening: Happening, retry_at: Option<SystemTime>) {
        // Whoever waits for its end is to find nothing of it any more.
        if !self.status.borrow().state.after(happening.clone()).is_wanted() {
            self.surroundings.catalogue.forget(&self.name);
            self.surroundings.documents.forget(&self.name);
        }
        let mut is_wanted_otherwise = false;
        self.status.send_if_modified(|status| {
            let state = status.state.after(happening);
            let turn = turn.unwrap_or(status.turn);
            if (&status.state, status.turn) == (&state, turn) {
                return false;
            }
            tracing::debug!(server = &*self.name, state = state.word(), "MCP server state");
            is_wanted_otherwise = state.is_wanted() != status.state.is_wanted();
            *status = Status { state, turn, since: SystemTime::now(), retry_at, ..status.clone() };
            true
        });
        if is_wanted_otherwise {
            self.surroundings.changed.mark();
        }
    }

    pub(super) fn concealed(&self) -> Concealed {
        self.concealed.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn conceal(&self, concealed: Concealed) {
        *self.concealed.write().unwrap_or_else(PoisonError::into_inner) = concealed;
    }

    /// The connection, while there is one that is not about to be ended.
    pub(super) fn live(&self) -> Option<Connection> {
        if self.is_changing() {
            return None;
        }
        self.live.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether something else is wished than what runs.
    pub(super) fn is_changing(&self) -> bool {
        self.wish.borrow().turn != self.status.borrow().turn
    }

    pub(super) fn put_live(&self, live: Option<Connection>) {
        let is_over = live.is_none();
        let before = std::mem::replace(&mut *self.live.write().unwrap_or_else(PoisonError::into_inner), live);
        if is_over {
            self.followed.ended();
        }
        if is_over && before.is_some() {
            self.surroundings.catalogue.disconnected(&self.name);
        }
    }

    /// Takes over a fresh list.
    pub(super) fn put_tools(&self, tools: Vec<Tool>) {
        let tools: Arc<[Tool]> = tools.into();
        let mut kept = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        if *kept != tools {
            *kept = tools;
            drop(kept);
            self.surroundings.changed.mark();
        }
    }
}

impl Counts {
    /// One more call, and whether it failed.
    pub(crate) fn called(&self, failed: bool) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(failed), Ordering::Relaxed);
    }
}
