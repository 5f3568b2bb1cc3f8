//! The tools of all servers: named, judged, run.
//!
//! `toolbox` is the picture of the moment, made by [`Tools::refresh`] from what the servers list, what the owner's rules
//! say (`gate`, `names`) and what was agreed to before (`pins`). `call` runs one of them; `confirm` asks the owner where
//! need be; `kept` never runs a request twice; `large` bounds what comes back; `history` remembers that it ran.

pub(crate) mod call;
pub(crate) mod confirm;
pub(crate) mod gate;
pub(crate) mod history;
pub(crate) mod kept;
pub(crate) mod large;
mod names;
pub(crate) mod pages;
pub(crate) mod pins;
pub(crate) mod toolbox;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use rmcp::model::Tool;

use crate::servers::server::Server;
use pins::{Finding, News, Pins, SaveError, Seen, ToolChanges, suspicion};
use toolbox::{Offer, Toolbox};

/// The toolbox of the moment, and what it takes to make the next one.
pub(crate) struct Tools {
    current: RwLock<Arc<Toolbox>>,
    policy: ToolChanges,
    pins: Mutex<Pins>,
    /// One picture at a time; and what was seen when the last one was made.
    seen: Mutex<LastSeen>,
    told: Mutex<Budget>,
}

/// What came of making the picture anew.
pub(crate) struct Refreshed {
    /// Whether an Agent sees a difference.
    pub(crate) differs: bool,
    /// News about single tools.
    pub(crate) findings: Vec<Found>,
}

/// News about one tool.
pub(crate) struct Found {
    server: String,
    /// The list it is in.
    tools: Arc<[Tool]>,
    finding: Finding,
}

/// How much is written about tools: some at once, more after a while.
struct Budget {
    left: usize,
    filled: Instant,
    overdrawn: bool,
}

impl Budget {
    const MOST: usize = 50;
    const PERIOD: Duration = Duration::from_secs(60);

    /// Takes as much of `wanted` as there is.
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
    /// Names that were announced as given by us.
    renamed: HashSet<String>,
}

impl Tools {
    pub(crate) fn new(pins: Pins, policy: ToolChanges) -> Self {
        let current = RwLock::new(Arc::new(Toolbox::new(&[], policy)));
        Self { current, policy, pins: Mutex::new(pins), seen: Mutex::default(), told: Mutex::new(Budget::full()) }
    }

    /// The picture of the moment.
    pub(crate) fn toolbox(&self) -> Arc<Toolbox> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the picture anew. Blocks: many tools take a moment, and what was learnt is written down.
    pub(crate) fn refresh(&self, servers: &[(String, Arc<Server>)]) -> Refreshed {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut findings = Vec::new();
        let offers: Vec<Offer> =
            servers.iter().map(|(name, server)| self.offer(&mut seen, &mut findings, name, server)).collect();
        seen.lists.retain(|name, _| servers.iter().any(|(known, _)| known == name));
        let toolbox = Toolbox::new(&offers, self.policy);
        announce_names(&mut seen.renamed, &toolbox);
        let differs = {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            let differs = current.shown().get() != toolbox.shown().get();
            *current = Arc::new(toolbox);
            differs
        };
        self.save();
        Refreshed { differs, findings }
    }

    /// Writes to the log what is new about tools. Takes a moment where definitions are compared: a server that changes
    /// all of them all the time is not given the time to compare them all. Blocks.
    pub(crate) fn tell(&self, findings: &[Found]) {
        // Whoever comes while another writes has nothing to add that `changes` does not show.
        let Ok(mut budget) = self.told.try_lock() else { return };
        let told = budget.take(findings.len());
        for Found { server, tools, finding } in &findings[..told] {
            self.tell_one(server, finding, tools);
        }
        if told < findings.len() && budget.is_first_overdraft() {
            tracing::warn!("many tools are new or changed, and not all of it is told here: see `a2c computer changes`");
        }
    }

    /// What the owner has agreed to.
    pub(crate) fn with_pins<T>(&self, work: impl FnOnce(&mut Pins) -> T) -> T {
        work(&mut self.pins.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn offer(&self, seen: &mut LastSeen, findings: &mut Vec<Found>, name: &str, server: &Server) -> Offer {
        let tools = server.tools();
        // An empty list is what a server has that was never reached: nothing to compare.
        let is_new = !tools.is_empty() && seen.lists.get(name).is_none_or(|known| !Arc::ptr_eq(known, &tools));
        if is_new {
            let found = Seen::of(&tools);
            let judged = self.with_pins(|pins| pins.judge(name, found, SystemTime::now()));
            let found = |finding| Found { server: name.to_owned(), tools: tools.clone(), finding };
            findings.extend(judged.into_iter().map(found));
            seen.lists.insert(name.to_owned(), tools.clone());
        }
        let standings = self.with_pins(|pins| tools.iter().map(|tool| pins.standing(name, &tool.name)).collect());
        Offer { config: server.config(), tools, is_wanted: server.state().is_wanted(), standings }
    }

    fn tell_one(&self, server: &str, finding: &Finding, tools: &[Tool]) {
        let tool = finding.tool.as_str();
        match finding.news {
            News::Changed => {
                let diff = self.with_pins(|pins| pins.comparison(server, tool)).map(|c| c.diff()).unwrap_or_default();
                let so = match self.policy {
                    ToolChanges::Warn => "it can be used all the same",
                    ToolChanges::Quarantine => "it is held back until it is approved",
                };
                tracing::warn!(server, tool, "a tool is not what it was when it was agreed to; {so}:\n{diff}");
            }
            News::Returned => tracing::info!(server, tool, "a tool is again what it was when it was agreed to"),
            News::Unpinned => tracing::warn!(server, tool, "a tool is not watched for changes: there are too many"),
            News::First { known_server: true } => tracing::info!(server, tool, "a server has a new tool"),
            News::First { known_server: false } => {}
        }
        if matches!(finding.news, News::Changed | News::First { .. }) {
            let of_that_name = tools.iter().filter(|t| t.name == tool);
            for concern in of_that_name.flat_map(suspicion::suspicious) {
                tracing::warn!(server, tool, "a tool's description is suspicious: its {concern}");
            }
        }
    }

    fn save(&self) {
        let written = self.with_pins(|pins| pins.unsaved()).map_or(Ok(()), |unsaved| unsaved.write());
        if let Err(error) = written {
            let error: SaveError = error;
            tracing::error!(%error, "what tools are is not remembered");
        }
    }
}

fn announce_names(announced: &mut HashSet<String>, toolbox: &Toolbox) {
    for tool in toolbox.all().iter().filter(|tool| tool.hidden.is_none() && tool.is_renamed()) {
        if announced.insert(tool.name.clone()) {
            let (server, own, name) = (tool.server(), &*tool.tool().name, &tool.name);
            tracing::info!(server, tool = own, name, "a tool is listed under another name; an alias would pin one");
        }
    }
}
