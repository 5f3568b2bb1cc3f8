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
pub(crate) mod remap;
pub(crate) mod toolbox;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

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
        Self { current, policy, pins: Mutex::new(pins), seen: Mutex::default() }
    }

    /// The picture of the moment.
    pub(crate) fn toolbox(&self) -> Arc<Toolbox> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the picture anew; tells whether an Agent sees a difference. Blocks: many tools take a moment, and what was
    /// learnt is written down.
    pub(crate) fn refresh(&self, servers: &[(String, Arc<Server>)]) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let offers: Vec<Offer> = servers.iter().map(|(name, server)| self.offer(&mut seen, name, server)).collect();
        seen.lists.retain(|name, _| servers.iter().any(|(known, _)| known == name));
        self.save();
        let toolbox = Toolbox::new(&offers, self.policy);
        announce_names(&mut seen.renamed, &toolbox);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let differs = current.shown().get() != toolbox.shown().get();
        *current = Arc::new(toolbox);
        differs
    }

    /// What the owner has agreed to.
    pub(crate) fn with_pins<T>(&self, work: impl FnOnce(&mut Pins) -> T) -> T {
        work(&mut self.pins.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn offer(&self, seen: &mut LastSeen, name: &str, server: &Server) -> Offer {
        let tools = server.tools();
        // An empty list is what a server has that was never reached: nothing to compare.
        let is_new = !tools.is_empty() && seen.lists.get(name).is_none_or(|known| !Arc::ptr_eq(known, &tools));
        if is_new {
            let found = Seen::of(&tools);
            for finding in self.with_pins(|pins| pins.judge(name, found, SystemTime::now())) {
                self.tell(name, &finding, &tools);
            }
            seen.lists.insert(name.to_owned(), tools.clone());
        }
        let standings = self.with_pins(|pins| tools.iter().map(|tool| pins.standing(name, &tool.name)).collect());
        Offer { config: server.config(), tools, is_wanted: server.state().is_wanted(), standings }
    }

    fn tell(&self, server: &str, finding: &Finding, tools: &[Tool]) {
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
