//! What was imported, beside what is already there.

use std::collections::BTreeMap;

use a2c_protocol::config::{Input, McpServerConfig, McpTransport};
use serde_json::Value;

use super::{Imported, Note, is_taken, variable_of};
use crate::config::difference::{inputs_of, undescribed};
use crate::config::{ComputerConfig, Edit};

/// Whether a server that is already there makes way for an imported one of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Present {
    /// It stays.
    #[default]
    Keep,
    /// It is replaced.
    Replace,
}

impl Imported {
    /// The edits that put the imported servers beside those of a configuration, and what there is to say about each.
    /// An input that means something else there gets another id; [`Imported::secrets`] is told.
    pub fn onto(&mut self, existing: &ComputerConfig, present: Present) -> (Vec<Edit>, Vec<Note>) {
        let mut notes = Vec::new();
        let mut servers = Vec::new();
        for (name, server) in &self.config.servers {
            let what = match (existing.servers.get(name), present) {
                (None, _) => "added",
                (Some(other), _) if other == server => "is there already, just so",
                (Some(_), Present::Replace) => "replaced",
                (Some(_), Present::Keep) => "is there already and stays as it is; --replace takes the imported one",
            };
            notes.push(Note { server: Some(name.clone()), what: what.into() });
            if matches!(what, "added" | "replaced") {
                servers.push(server.clone());
            }
        }
        self.secrets.retain(|secret| servers.iter().any(|server| server.name == secret.server));
        let mut edits = Vec::new();
        let mut inputs = existing.inputs.clone();
        let mut renamed = BTreeMap::new();
        let used = |input: &&Input| servers.iter().any(|server| inputs_of(&server.transport).contains(input.id()));
        for input in self.config.inputs.iter().filter(used) {
            match inputs.iter().find(|other| other.id() == input.id()) {
                Some(other) if undescribed(other) == undescribed(input) => {}
                None if !is_taken(&inputs, input.id()) => {
                    inputs.push(input.clone());
                    edits.push(Edit::Declare(input.clone()));
                }
                _ => {
                    let input = with_free_id(input, &inputs, &mut renamed);
                    inputs.push(input.clone());
                    edits.push(Edit::Declare(input));
                }
            }
        }
        for secret in &mut self.secrets {
            if let Some(id) = renamed.get(&secret.input) {
                secret.variable = variable_of(id);
                secret.input.clone_from(id);
            }
        }
        edits.extend(servers.into_iter().map(|server| Edit::Set(Box::new(referring(server, &renamed)))));
        (edits, notes)
    }
}

fn with_free_id(input: &Input, inputs: &[Input], renamed: &mut BTreeMap<String, String>) -> Input {
    let mut numbered = (2..).map(|number: u32| format!("{}-{number}", input.id()));
    let free = numbered.find(|id| !is_taken(inputs, id)).unwrap_or_default();
    renamed.insert(input.id().to_owned(), free.clone());
    let mut input = input.clone();
    match &mut input {
        Input::PromptString { id, .. } | Input::PickString { id, .. } | Input::Command { id, .. } => *id = free,
    }
    input
}

/// The server with its placeholders naming the inputs as they are called now.
fn referring(mut server: McpServerConfig, renamed: &BTreeMap<String, String>) -> McpServerConfig {
    if renamed.is_empty() {
        return server;
    }
    let value = serde_json::to_value(&server.transport).map(|value| renamed_in(value, renamed));
    if let Ok(transport) = value.and_then(serde_json::from_value::<McpTransport>) {
        server.transport = transport;
    }
    server
}

fn renamed_in(value: Value, renamed: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => {
            let rename = |text: String, (old, new): (&String, &String)| {
                text.replace(&format!("${{input:{old}}}"), &format!("${{input:{new}}}"))
            };
            renamed.iter().fold(text, rename).into()
        }
        Value::Array(list) => list.into_iter().map(|value| renamed_in(value, renamed)).collect(),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, renamed_in(value, renamed))).collect())
        }
        other => other,
    }
}
