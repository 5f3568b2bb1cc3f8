//! The files of other MCP hosts, converted. Pure: a document goes in, a configuration and what there is to say about it
//! come out.
//!
//! How it goes: [`host`](Host) finds out whose file it is and where its servers are; `entry` turns each into our shape,
//! which the ordinary reader then checks; `placeholders` translates references to the environment; `secrets` moves
//! literal secrets out of the file, into inputs; `merge` puts the outcome beside a configuration that is already there.

mod entry;
mod host;
mod merge;
mod placeholders;
mod secrets;

use std::collections::BTreeSet;
use std::fmt;

use a2c_protocol::config::Input;
use serde_json::{Map, Value, json};

use super::ComputerConfig;
use super::difference::inputs_of;
use crate::config::input_variable;
pub use host::Host;
pub use merge::Present;
pub use secrets::MovedSecret;
pub(crate) use secrets::{is_secret as is_credential, kept, out_of_reach};

/// Something that the owner should know about the conversion. Never quotes a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The server it is about.
    pub server: Option<String>,
    /// What was done, or was not.
    pub what: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.server {
            Some(server) => write!(f, "{server}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// What becomes of literal secrets in `env` and `headers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LiteralSecrets {
    /// They become inputs, whose values the owner gives in another way.
    #[default]
    Move,
    /// They stay in the file.
    Keep,
}

/// A converted file.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Whose file it was taken for.
    pub host: Host,
    /// What it says.
    pub config: ComputerConfig,
    /// What could not be taken over as it was.
    pub notes: Vec<Note>,
    /// The inputs that stand where secrets stood.
    pub secrets: Vec<MovedSecret>,
}

/// Why nothing is imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Nothing in it looks like MCP servers.
    #[error(
        "no MCP servers were found: looked for `mcpServers`, `servers`, `mcp.servers`, `context_servers`, \
         `mcp_servers`, `projects` and `experimental.modelContextProtocolServers`"
    )]
    NoServers,
    /// A server that was asked for is not there.
    #[error("there is no server `{name}`: there are {}", there.join(", "))]
    NoServer {
        /// Which one.
        name: String,
        /// Those that are there.
        there: Vec<String>,
    },
}

/// Converts a document of another host.
pub fn import(document: &Value, literals: LiteralSecrets) -> Result<Imported, ImportError> {
    let found = host::find(document).ok_or(ImportError::NoServers)?;
    let mut imported =
        Imported { host: found.host, config: ComputerConfig::default(), notes: Vec::new(), secrets: Vec::new() };
    for input in &found.inputs {
        imported.take_input(input);
    }
    for (name, project, entry) in &found.servers {
        imported.take_server(name, *project, entry, found.switched_off(name, *project));
    }
    if literals == LiteralSecrets::Move {
        imported.secrets = secrets::move_out(&mut imported.config);
    } else {
        imported.notes.extend(secrets::kept(&imported.config));
    }
    imported.notes.extend(secrets::out_of_reach(&imported.config));
    Ok(imported)
}

impl Imported {
    /// Only these servers, and the inputs that they refer to.
    pub fn only(mut self, names: &[String]) -> Result<Self, ImportError> {
        if names.is_empty() {
            return Ok(self);
        }
        let servers = &mut self.config.servers;
        if let Some(name) = names.iter().find(|name| !servers.contains_key(*name)) {
            return Err(ImportError::NoServer { name: name.clone(), there: servers.keys().cloned().collect() });
        }
        servers.retain(|name, _| names.contains(name));
        let used: BTreeSet<String> = servers.values().flat_map(|server| inputs_of(&server.transport)).collect();
        self.config.inputs.retain(|input| used.contains(input.id()));
        self.secrets.retain(|secret| names.contains(&secret.server));
        self.notes.retain(|note| note.server.as_ref().is_none_or(|server| names.contains(server)));
        Ok(self)
    }

    fn note(&mut self, server: Option<&str>, what: impl Into<String>) {
        self.notes.push(Note { server: server.map(ToOwned::to_owned), what: what.into() });
    }

    fn take_server(&mut self, name: &str, project: Option<&str>, entry: &Value, off_in: Option<&str>) {
        let Some(entry) = entry.as_object() else {
            return self.note(Some(name), "is no object and was left out");
        };
        let converted = entry::convert(self.host, entry);
        for what in converted.notes {
            self.note(Some(name), what);
        }
        let text = json!({"servers": {name: converted.server}}).to_string();
        let mut server = match ComputerConfig::parse(&text) {
            Ok(mut config) => match config.servers.remove(name) {
                Some(server) => server,
                None => return,
            },
            Err(invalid) => {
                let told: Vec<String> = invalid.problems.iter().map(|p| format!("{}: {}", p.path, p.what)).collect();
                return self.note(Some(name), format!("was left out: {}", told.join("; ")));
            }
        };
        let servers = &self.config.servers;
        let free = (1..).map(|number| if number == 1 { name.to_owned() } else { format!("{name}-{number}") });
        let mut free = free.filter(|free| servers.get(free).is_none_or(|other| other.transport == server.transport));
        let own = free.next().unwrap_or_default();
        if let Some(project) = project {
            self.note(Some(&own), format!("is of the project {project}, and runs for all of them here"));
        }
        if let Some(project) = off_in {
            self.note(
                Some(&own),
                format!("is switched off in the project {project}, and so it is here: see `disabled`"),
            );
        }
        // One that several projects have is off if it is off in any.
        server.disabled |= off_in.is_some() || self.config.servers.get(&own).is_some_and(|other| other.disabled);
        server.name.clone_from(&own);
        self.config.servers.insert(own, server);
    }

    fn take_input(&mut self, input: &Value) {
        let id = input["id"].as_str().unwrap_or_default();
        // There the command is one of the editor's, not a program.
        if self.host.is_vs_code() && input["type"] == "command" {
            return self.note(None, format!("the input `{id}` runs a command of the editor and was left out"));
        }
        let mut input = input.clone();
        for option in input.get_mut("options").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(value) = option.get("value").cloned() {
                *option = value;
            }
        }
        let text = json!({"servers": {}, "inputs": [input]}).to_string();
        match ComputerConfig::parse(&text) {
            Ok(config) => self.config.inputs.extend(config.inputs),
            Err(invalid) => {
                let told: Vec<String> = invalid.problems.iter().map(|problem| problem.what.clone()).collect();
                self.note(None, format!("the input `{id}` was left out: {}", told.join("; ")));
            }
        }
    }
}

/// Takes the first of these keys that is there and says something.
fn take(map: &mut Map<String, Value>, keys: &[&str]) -> Option<Value> {
    keys.iter().filter_map(|key| map.remove(*key)).find(|value| !value.is_null())
}

/// Whether there is an input of this id, or one that takes its value from the same variable.
fn is_taken(inputs: &[Input], id: &str) -> bool {
    inputs.iter().any(|input| input_variable(input.id()) == input_variable(id))
}

#[cfg(test)]
mod tests;
