//! Converts the files of other MCP hosts. Pure: a document goes in, a configuration and notes come out.
//!
//! How it goes: [`mcp_host`](McpHost) finds out whose file it is and where its servers are; `entry` turns each into our
//! shape, which the ordinary reader then checks; `placeholders` translates references to the environment; `secrets`
//! moves literal secrets out of the file, into inputs; `merge` adds the outcome to an existing configuration.

mod entry;
mod mcp_host;
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
pub use mcp_host::McpHost;
pub use merge::OnConflict;
pub use secrets::MovedSecret;
pub(crate) use secrets::{exposed_secrets, is_secret as is_credential, literal_secrets};

/// A message to the owner about the conversion. It never quotes a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The server it is about.
    pub server: Option<String>,
    /// What was done or left out.
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

/// What happens to literal secrets in `env` and `headers`.
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
    /// The host that the file was recognised as belonging to.
    pub host: McpHost,
    /// Its servers and inputs.
    pub config: ComputerConfig,
    /// What could not be converted exactly.
    pub notes: Vec<Note>,
    /// The inputs that replace literal secrets.
    pub secrets: Vec<MovedSecret>,
}

/// Why nothing is imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// No key holds MCP servers.
    #[error(
        "no MCP servers were found: looked for `mcpServers`, `servers`, `mcp.servers`, `context_servers`, \
         `mcp_servers`, `projects` and `experimental.modelContextProtocolServers`"
    )]
    NoServers,
    /// A requested server is missing.
    #[error("there is no server `{name}`: there are {}", there.join(", "))]
    NoServer {
        /// Which one.
        name: String,
        /// The servers of the file.
        there: Vec<String>,
    },
}

/// Converts a document of another host.
pub fn import(document: &Value, literals: LiteralSecrets) -> Result<Imported, ImportError> {
    let found = mcp_host::find(document).ok_or(ImportError::NoServers)?;
    let mut imported =
        Imported { host: found.host, config: ComputerConfig::default(), notes: Vec::new(), secrets: Vec::new() };
    for input in &found.inputs {
        imported.add_input(input);
    }
    for (name, project, entry) in &found.servers {
        imported.add_server(name, *project, entry, found.disabled_in(name, *project));
    }
    if literals == LiteralSecrets::Move {
        imported.secrets = secrets::move_out(&mut imported.config);
    } else {
        imported.notes.extend(secrets::literal_secrets(&imported.config));
    }
    imported.notes.extend(secrets::exposed_secrets(&imported.config));
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

    fn add_server(&mut self, name: &str, project: Option<&str>, entry: &Value, off_in: Option<&str>) {
        let Some(entry) = entry.as_object() else {
            return self.note(Some(name), "is not an object and was left out");
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
            self.note(Some(&own), format!("is disabled in the project {project}, and therefore here: see `disabled`"));
        }
        // A server of several projects is disabled if one of them disables it.
        server.disabled |= off_in.is_some() || self.config.servers.get(&own).is_some_and(|other| other.disabled);
        server.name.clone_from(&own);
        self.config.servers.insert(own, server);
    }

    fn add_input(&mut self, input: &Value) {
        let id = input["id"].as_str().unwrap_or_default();
        // In VS Code the command is one of the editor's, not a program.
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

/// Removes these keys, and returns the first value that is not `null`.
fn take(map: &mut Map<String, Value>, keys: &[&str]) -> Option<Value> {
    keys.iter().filter_map(|key| map.remove(*key)).find(|value| !value.is_null())
}

/// Whether an input has this id, or takes its value from the same variable.
fn is_taken(inputs: &[Input], id: &str) -> bool {
    inputs.iter().any(|input| input_variable(input.id()) == input_variable(id))
}

#[cfg(test)]
mod tests;
