//! Adds imported servers to an existing configuration.

use std::collections::BTreeMap;

use a2c_protocol::config::{Input, McpServerConfig, McpTransport};
use a2c_protocol::tool::ToolMeta;
use serde_json::Value;

use super::{Imported, Note, input_variable, is_taken};
use crate::config::difference::{inputs_of, without_description};
use crate::config::{ComputerConfig, Edit};

/// What happens to an existing server that has the name of an imported one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// It stays.
    #[default]
    Keep,
    /// It is replaced, except for those of its rules that the imported server does not have.
    Replace,
}

impl Imported {
    /// The edits that add the imported servers to a configuration, and a note about each server. An input whose id means
    /// something else there gets another id, also in [`Imported::secrets`].
    pub fn onto(&mut self, existing: &ComputerConfig, on_conflict: OnConflict) -> (Vec<Edit>, Vec<Note>) {
        let mut notes = Vec::new();
        let mut servers = Vec::new();
        for (name, server) in &self.config.servers {
            let (what, taken) = match (existing.servers.get(name), on_conflict) {
                (None, _) => ("added".into(), Some(server.clone())),
                (Some(other), _) if other == server => ("is already there and the same".into(), None),
                (Some(other), OnConflict::Replace) => match with_rules_of(other, server.clone()) {
                    (server, _) if server == *other => ("is already there and the same".into(), None),
                    (server, kept) if kept.is_empty() => ("replaced".into(), Some(server)),
                    (server, kept) => {
                        let what = format!("replaced; your settings of {} stay", kept.join(", "));
                        (what, Some(server))
                    }
                },
                (Some(_), OnConflict::Keep) => {
                    ("is already there and stays as it is; --replace takes the imported one".into(), None)
                }
            };
            notes.push(Note { server: Some(name.clone()), what });
            servers.extend(taken);
        }
        self.secrets.retain(|secret| servers.iter().any(|server| server.name == secret.server));
        let mut edits = Vec::new();
        let mut inputs = existing.inputs.clone();
        let mut renamed = BTreeMap::new();
        let used = |input: &&Input| servers.iter().any(|server| inputs_of(&server.transport).contains(input.id()));
        for input in self.config.inputs.iter().filter(used) {
            match inputs.iter().find(|other| other.id() == input.id()) {
                Some(other) if without_description(other) == without_description(input) => {}
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
                secret.variable = input_variable(id);
                secret.input.clone_from(id);
            }
        }
        edits.extend(servers.into_iter().map(|server| Edit::Set(Box::new(with_renamed_inputs(server, &renamed)))));
        (edits, notes)
    }
}

/// The server with the rules of the one it replaces, where it has none of its own; and the names of these rules.
/// Importing a server again must not allow what its owner has forbidden.
fn with_rules_of(old: &McpServerConfig, mut new: McpServerConfig) -> (McpServerConfig, Vec<&'static str>) {
    let imported = new.clone();
    new.disabled |= old.disabled;
    let missing = old.forbidden_tools.iter().filter(|tool| !imported.forbidden_tools.contains(tool));
    new.forbidden_tools.extend(missing.cloned());
    for (tool, meta) in &old.tool_meta {
        let own = new.tool_meta.remove(tool);
        new.tool_meta.insert(tool.clone(), with_meta_of(meta, own));
    }
    if let Some(meta) = &old.default_tool_meta {
        new.default_tool_meta = Some(with_meta_of(meta, new.default_tool_meta.take()));
    }
    new.vrl = new.vrl.or_else(|| old.vrl.clone());
    let kept = [
        ("`disabled`", new.disabled != imported.disabled),
        ("`forbidden_tools`", new.forbidden_tools != imported.forbidden_tools),
        ("`tool_meta`", new.tool_meta != imported.tool_meta),
        ("`default_tool_meta`", new.default_tool_meta != imported.default_tool_meta),
        ("`vrl`", new.vrl != imported.vrl),
    ];
    (new, kept.into_iter().filter_map(|(rule, is_kept)| is_kept.then_some(rule)).collect())
}

fn with_meta_of(old: &ToolMeta, new: Option<ToolMeta>) -> ToolMeta {
    let Some(new) = new else { return old.clone() };
    ToolMeta {
        auto_apply: new.auto_apply.or(old.auto_apply),
        alias: new.alias.or_else(|| old.alias.clone()),
        tags: new.tags.or_else(|| old.tags.clone()),
        ret_object_mapper: new.ret_object_mapper.or_else(|| old.ret_object_mapper.clone()),
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

/// The server with renamed inputs in its placeholders.
fn with_renamed_inputs(mut server: McpServerConfig, renamed: &BTreeMap<String, String>) -> McpServerConfig {
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
