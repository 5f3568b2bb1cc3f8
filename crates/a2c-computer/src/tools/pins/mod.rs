//! Pins: the definition of a tool is trusted as it was when first seen; a later change has to be approved.
//!
//! Each time a server lists its tools, [`ListedDefinitions::of`] hashes them, and [`Pins::compare`] compares them with what is pinned
//! and returns what is new. A changed definition waits beside the pinned one until its owner approves it, or the server
//! takes it back; it waits across restarts, and a tool that goes away and comes back changed is changed. Whether a tool
//! that waits may be used meanwhile is the owner's policy, [`ToolChanges`].
//!
//! A tool that a known server adds later is trusted like a first one, and logged: the server could have listed it on the
//! first day, and the owner's `auto_apply` covers it only if it is set for all tools.
//!
//! Everything here is in memory and quick. [`Pins::unsaved`] gives what has to be written, so that no thread waits for a
//! disk with the pins locked.

mod definition;
mod diff;
mod invisible;
pub(crate) mod poisoning;
mod store;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

pub(crate) use definition::ListedDefinitions;
use definition::{Definition, NewDefinition};
use store::PinFile;
pub(crate) use store::Unsaved;

/// What happens with a tool whose definition has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChanges {
    /// It is announced, and can be used.
    #[default]
    Warn,
    /// It is announced, and neither listed nor run until the change is approved.
    Quarantine,
}

/// How a tool compares with its pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PinState {
    /// It is as it was pinned.
    Trusted,
    /// It differs from what was pinned.
    Changed,
    /// There is no pin: the tool has not been compared yet, or the limits are used up.
    Unpinned,
}

/// Whether the policy holds a tool back.
pub(crate) fn is_blocked(policy: ToolChanges, state: PinState) -> bool {
    policy == ToolChanges::Quarantine && state != PinState::Trusted
}

/// A tool that is new or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PinFinding {
    /// The tool, by its server's name for it.
    pub(crate) tool: String,
    /// What is new about it.
    pub(crate) change: PinChange,
}

/// What can be new about a tool. A tool that is as it was last time is not reported, be it trusted or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PinChange {
    /// ListedDefinitions for the first time and pinned.
    First {
        /// Whether the server had other tools before, which deserves more attention than a new server.
        known_server: bool,
    },
    /// It differs from what was pinned, and from what was waiting for approval, if anything was.
    Changed,
    /// It was changed and is again as it was pinned.
    Returned,
    /// Not pinned, and so not compared: there are too many tools, or its name is far too long.
    Unpinned,
}

/// A change that waits for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingChange {
    /// The server.
    pub server: String,
    /// The tool, by its server's name for it.
    pub tool: String,
    /// When it was first seen.
    pub since: SystemTime,
    /// The hash of the new definition: what an approval of exactly this change names.
    pub hash: String,
}

/// A change to look at: a clone of both definitions, so that the diff is made with the pins unlocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    trusted: Definition,
    pending: Definition,
}

impl Comparison {
    /// The difference for people, two hundred lines at most. A text that is made to be hard to compare takes a while.
    pub(crate) fn diff(&self) -> String {
        diff::diff(&self.trusted, &self.pending)
    }
}

/// Which changes of a server are approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval<'a> {
    /// All that wait.
    Everything,
    /// The change of this tool, whatever it is by now.
    Tool(&'a str),
    /// The change of this tool, if it still has this hash.
    Exactly {
        /// The tool.
        tool: &'a str,
        /// [`PendingChange::hash`].
        hash: &'a str,
    },
}

/// Why the pins could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file is there and cannot be read.
    #[error("cannot read the pinned tool definitions in {}: {source}; make the file readable, or choose another", .path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file is from a later version.
    #[error("{} has format {version}, this version knows {known}: use the newer version, or choose another file", .path.display())]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its format.
        version: u32,
        /// The newest format known here.
        known: u32,
    },
    /// The file is damaged and stands in the way.
    #[error("{} is damaged and cannot be put aside: {source}; move it away", .path.display())]
    PutAside {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// The pins could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the pinned tool definitions to {}: {source}; they hold until this program ends", .path.display())]
pub(crate) struct SaveError {
    /// Which file.
    path: PathBuf,
    /// Why not.
    source: io::Error,
}

/// How much is remembered. One server cannot use up everything.
#[derive(Debug, Clone, Copy)]
struct Limits {
    tools: usize,
    tools_per_server: usize,
    text: usize,
    text_per_server: usize,
}

const LIMITS: Limits =
    Limits { tools: 20_000, tools_per_server: 5_000, text: 64 * 1024 * 1024, text_per_server: 8 * 1024 * 1024 };

/// A longer name, in bytes, is not pinned. No Agent could use it.
const MAX_NAME: usize = 1024;

/// One tool's pin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Pin {
    trusted: Definition,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<Pending>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Pending {
    /// Seconds since 1970.
    since: u64,
    definition: Definition,
}

/// Servers by name, and the pins of their tools by name.
type PinsByServer = BTreeMap<String, BTreeMap<String, Pin>>;

/// The definitions of tools when they were first seen or last approved.
#[derive(Debug)]
pub(crate) struct Pins {
    by_server: PinsByServer,
    limits: Limits,
    /// Grows with every change of the pins.
    revision: u64,
    file: Option<Arc<PinFile>>,
}

impl Pins {
    /// The pins of a file, which need not exist yet. Blocks.
    pub(crate) fn open(path: impl Into<PathBuf>) -> Result<Self, OpenError> {
        let file = PinFile::new(path.into());
        Ok(Self { by_server: file.read()?, file: Some(Arc::new(file)), ..Self::in_memory() })
    }

    /// Pins that end with the Computer.
    pub(crate) fn in_memory() -> Self {
        Self { by_server: PinsByServer::default(), limits: LIMITS, revision: 0, file: None }
    }

    /// Compares all tools that a server lists with the pins, and pins new ones.
    pub(crate) fn compare(&mut self, server: &str, listed: ListedDefinitions<'_>, now: SystemTime) -> Vec<PinFinding> {
        let known_server = self.by_server.contains_key(server);
        let mut space = self.remaining_space(server);
        let mut findings = Vec::new();
        let mut changed = false;
        let pins = self.by_server.entry(server.to_owned()).or_default();
        for (name, definition) in listed.by_name {
            let change = match pins.get_mut(name) {
                Some(pin) => pin.compare(definition, &mut space, now),
                None if space.tools == 0 || name.len() > MAX_NAME => Some(PinChange::Unpinned),
                None => {
                    space.tools -= 1;
                    let pin = Pin { trusted: space.fit(definition.into_definition()), pending: None };
                    pins.insert(name.to_owned(), pin);
                    Some(PinChange::First { known_server })
                }
            };
            if let Some(change) = change {
                changed |= change != PinChange::Unpinned;
                findings.push(PinFinding { tool: name.to_owned(), change });
            }
        }
        // A server without tools is known from now on too: tools that it adds later are new tools of a known server.
        self.revision += u64::from(changed || !known_server);
        findings
    }

    /// How a tool compares with its pin.
    pub(crate) fn state_of(&self, server: &str, tool: &str) -> PinState {
        match self.by_server.get(server).and_then(|pins| pins.get(tool)) {
            None => PinState::Unpinned,
            Some(Pin { pending: None, .. }) => PinState::Trusted,
            Some(Pin { pending: Some(_), .. }) => PinState::Changed,
        }
    }

    /// Makes pending definitions the pinned ones; returns how many.
    pub(crate) fn approve(&mut self, server: &str, which: Approval<'_>) -> usize {
        let Some(pins) = self.by_server.get_mut(server) else { return 0 };
        let mut approved = 0;
        for (name, pin) in pins.iter_mut() {
            let wanted = |pending: &mut Pending| match which {
                Approval::Everything => true,
                Approval::Tool(tool) => name == tool,
                Approval::Exactly { tool, hash } => name == tool && pending.definition.hash == hash,
            };
            if let Some(pending) = pin.pending.take_if(wanted) {
                pin.trusted = pending.definition;
                approved += 1;
            }
        }
        self.revision += u64::from(approved > 0);
        approved
    }

    /// All changes that wait for approval, by server and tool.
    pub(crate) fn pending(&self) -> Vec<PendingChange> {
        let pins =
            self.by_server.iter().flat_map(|(server, pins)| pins.iter().map(move |(tool, pin)| (server, tool, pin)));
        pins.filter_map(|(server, tool, pin)| {
            let pending = pin.pending.as_ref()?;
            Some(PendingChange {
                server: server.clone(),
                tool: tool.clone(),
                since: SystemTime::UNIX_EPOCH + Duration::from_secs(pending.since),
                hash: pending.definition.hash.clone(),
            })
        })
        .collect()
    }

    /// The change of a tool that waits for approval, to look at.
    pub(crate) fn comparison(&self, server: &str, tool: &str) -> Option<Comparison> {
        let pin = self.by_server.get(server)?.get(tool)?;
        let pending = pin.pending.as_ref()?.definition.clone();
        Some(Comparison { trusted: pin.trusted.clone(), pending })
    }

    /// Forgets a server: its tools are seen for the first time again. Whether it was known.
    #[cfg(test)]
    pub(crate) fn forget(&mut self, server: &str) -> bool {
        let known = self.by_server.remove(server).is_some();
        self.revision += u64::from(known);
        known
    }

    /// What the file does not hold yet. It is written where blocking is allowed, with the pins unlocked.
    pub(crate) fn unsaved(&self) -> Option<Unsaved> {
        self.file.as_ref()?.unsaved(&self.by_server, self.revision)
    }

    fn remaining_space(&self, server: &str) -> RemainingSpace {
        let used = |pins: &BTreeMap<String, Pin>| (pins.len(), pins.values().map(Pin::text).sum::<usize>());
        let own = self.by_server.get(server).map(used).unwrap_or_default();
        let all = self.by_server.values().map(used).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let Limits { tools, tools_per_server, text, text_per_server } = self.limits;
        RemainingSpace {
            tools: tools.saturating_sub(all.0).min(tools_per_server.saturating_sub(own.0)),
            text: text.saturating_sub(all.1).min(text_per_server.saturating_sub(own.1)),
        }
    }
}

impl Pin {
    fn text(&self) -> usize {
        self.trusted.text.len() + self.pending.as_ref().map_or(0, |pending| pending.definition.text.len())
    }

    fn compare(&mut self, listed: NewDefinition, space: &mut RemainingSpace, now: SystemTime) -> Option<PinChange> {
        if listed.hash == self.trusted.hash {
            return self.pending.take().map(|_| PinChange::Returned);
        }
        if self.pending.as_ref().is_some_and(|pending| pending.definition.hash == listed.hash) {
            return None;
        }
        let since = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        self.pending = Some(Pending { since, definition: space.fit(listed.into_definition()) });
        Some(PinChange::Changed)
    }
}

/// How much more may be remembered of one server.
struct RemainingSpace {
    tools: usize,
    text: usize,
}

impl RemainingSpace {
    /// The definition with as much of its text as there is room for.
    fn fit(&mut self, mut definition: Definition) -> Definition {
        if definition.text.len() > self.text {
            definition.text.truncate(definition.text.floor_char_boundary(self.text));
            definition.cut = true;
        }
        self.text -= definition.text.len();
        definition
    }
}
