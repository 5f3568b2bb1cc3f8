//! The tools of all servers: which Agents see, under which names, and how a call runs.
//!
//! [`Tools::refresh`] makes the `toolbox` of what the servers list: `gate` and `names` apply the owner's rules, `pins` finds
//! definitions that changed. `call` runs a tool, `confirm` asks the owner, `idempotency` runs each request once,
//! `result_limit` bounds the result and puts large ones into the `result_store`, `history` records the call.

pub(crate) mod call;
pub(crate) mod confirm;
pub(crate) mod gate;
pub(crate) mod history;
pub(crate) mod idempotency;
pub(crate) mod large_answer;
mod names;
pub(crate) mod pins;
pub(crate) mod result_limit;
pub(crate) mod result_store;
pub(crate) mod toolbox;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use a2c_mcp::model::Tool;

use crate::servers::server::Server;
use pins::{ListedDefinitions, PinChange, PinFinding, Pins, SaveError, ToolChanges, poisoning};
use toolbox::{ServerTools, Toolbox};

/// The current toolbox, and what it takes to make the next one.
pub(crate) struct Tools {
    current: RwLock<Arc<Toolbox>>,
    policy: ToolChanges,
    pins: Mutex<Pins>,
    /// What the last toolbox was made of. Locked while the next one is made.
    seen: Mutex<LastSeen>,
    log_budget: Mutex<LogBudget>,
}

/// The outcome of a refresh.
pub(crate) struct Refreshed {
    /// Whether an Agent sees a difference.
    pub(crate) differs: bool,
    /// Tools that are new or changed.
    pub(crate) findings: Vec<ToolFinding>,
}

/// A tool that is new or changed.
pub(crate) struct ToolFinding {
    server: String,
    /// The list that it is in.
    tools: Arc<[Tool]>,
    finding: PinFinding,
}

/// How many findings are logged: up to `MOST` per `PERIOD`.
struct LogBudget {
    left: usize,
    filled: Instant,
    overdrawn: bool,
}

impl LogBudget {
    const MOST: usize = 50;
    const PERIOD: Duration = Duration::from_secs(60);

    /// Takes up to `wanted` findings.
    fn take(&mut self, wanted: usize) -> usize {
        if self.filled.elapsed() >= Self::PERIOD {
            *self = Self::full();
        }
        let taken = wanted.min(self.left);
        self.left -= taken;
        taken
    }

    fn is_first_overdraft(&mut self) -> bool {
        !std::mem::replace(&mut self.overdrawn, true)
    }

    fn full() -> Self {
        Self { left: Self::MOST, filled: Instant::now(), overdrawn: false }
    }
}

#[derive(Default)]
struct LastSeen {
    /// The lists that were compared with the pins.
    lists: HashMap<String, Arc<[Tool]>>,
    /// Changed names that were logged.
    renamed: HashSet<String>,
}

impl Tools {
    pub(crate) fn new(pins: Pins, policy: ToolChanges) -> Self {
        let current = RwLock::new(Arc::new(Toolbox::new(&[], policy)));
        Self {
            current,
            policy,
            pins: Mutex::new(pins),
            seen: Mutex::default(),
            log_budget: Mutex::new(LogBudget::full()),
        }
    }

    /// The current toolbox.
    pub(crate) fn toolbox(&self) -> Arc<Toolbox> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the toolbox of what the servers list now. Blocks: many tools take a while, and pins are written to a file.
    pub(crate) fn refresh(&self, servers: &[(String, Arc<Server>)]) -> Refreshed {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut findings = Vec::new();
        let listed: Vec<ServerTools> =
            servers.iter().map(|(name, server)| self.server_tools(&mut seen, &mut findings, name, server)).collect();
        seen.lists.retain(|name, _| servers.iter().any(|(known, _)| known == name));
        let toolbox = Toolbox::new(&listed, self.policy);
        log_renames(&mut seen.renamed, &toolbox);
        let differs = {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            let differs = current.shown().get() != toolbox.shown().get();
            *current = Arc::new(toolbox);
            differs
        };
        self.save();
        Refreshed { differs, findings }
    }

    /// Logs findings. Comparing definitions takes a while, so a server that changes its tools all the time has only some of
    /// them compared. Blocks.
    pub(crate) fn log_findings(&self, findings: &[ToolFinding]) {
        // While another thread logs, findings are skipped: `a2c computer changes` shows them all.
        let Ok(mut budget) = self.log_budget.try_lock() else { return };
        let logged = budget.take(findings.len());
        for ToolFinding { server, tools, finding } in &findings[..logged] {
            self.log_finding(server, finding, tools);
        }
        if logged < findings.len() && budget.is_first_overdraft() {
            tracing::warn!("many tools are new or changed, and not all of them are logged: see `a2c computer changes`");
        }
    }

    /// Works with the pins, locked.
    pub(crate) fn with_pins<T>(&self, work: impl FnOnce(&mut Pins) -> T) -> T {
        work(&mut self.pins.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn server_tools(
        &self,
        seen: &mut LastSeen,
        findings: &mut Vec<ToolFinding>,
        name: &str,
        server: &Server,
    ) -> ServerTools {
        let tools = server.tools();
        // A server that was never reached has an empty list: there is nothing to compare.
        let is_new = !tools.is_empty() && seen.lists.get(name).is_none_or(|known| !Arc::ptr_eq(known, &tools));
        if is_new {
            let found = ListedDefinitions::of(&tools);
            let judged = self.with_pins(|pins| pins.compare(name, found, SystemTime::now()));
            let found = |finding| ToolFinding { server: name.to_owned(), tools: tools.clone(), finding };
            findings.extend(judged.into_iter().map(found));
            seen.lists.insert(name.to_owned(), tools.clone());
        }
        let pin_states = self.with_pins(|pins| tools.iter().map(|tool| pins.state_of(name, &tool.name)).collect());
        ServerTools { config: server.config(), tools, is_wanted: server.state().is_wanted(), pin_states }
    }

    fn log_finding(&self, server: &str, finding: &PinFinding, tools: &[Tool]) {
        let tool = finding.tool.as_str();
        match finding.change {
            PinChange::Changed => {
                let diff = self.with_pins(|pins| pins.comparison(server, tool)).map(|c| c.diff()).unwrap_or_default();
                let consequence = match self.policy {
                    ToolChanges::Warn => "it can be used all the same",
                    ToolChanges::Quarantine => "it is held back until it is approved",
                };
                tracing::warn!(server, tool, "a tool has changed since it was approved; {consequence}:\n{diff}");
            }
            PinChange::Returned => tracing::info!(server, tool, "a tool is again as it was approved"),
            PinChange::Unpinned => {
                tracing::warn!(server, tool, "a tool is not watched for changes: there are too many")
            }
            PinChange::First { known_server: true } => tracing::info!(server, tool, "a server has a new tool"),
            PinChange::First { known_server: false } => {}
        }
        if matches!(finding.change, PinChange::Changed | PinChange::First { .. }) {
            let of_that_name = tools.iter().filter(|t| t.name == tool);
            for sign in of_that_name.flat_map(poisoning::signs_of) {
                tracing::warn!(server, tool, "a tool's description is suspicious: its {sign}");
            }
        }
    }

    fn save(&self) {
        let written = self.with_pins(|pins| pins.unsaved()).map_or(Ok(()), |unsaved| unsaved.write());
        if let Err(error) = written {
            let error: SaveError = error;
            tracing::error!(%error, "the pinned tool definitions are not saved");
        }
    }
}

fn log_renames(announced: &mut HashSet<String>, toolbox: &Toolbox) {
    for tool in toolbox.all().iter().filter(|tool| tool.hidden.is_none() && tool.is_renamed()) {
        if announced.insert(tool.name.clone()) {
            let (server, own, name) = (tool.server(), &*tool.tool().name, &tool.name);
            tracing::info!(
                server,
                tool = own,
                name,
                "a tool is listed under another name; an alias gives it a fixed one"
            );
        }
    }
}
