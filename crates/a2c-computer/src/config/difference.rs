//! What a changed configuration means for the servers that run. Pure.

use std::collections::{BTreeMap, BTreeSet};

use a2c_protocol::config::{Input, McpServerConfig, McpTransport};
use serde_json::Value;

use super::ComputerConfig;

/// What happens to one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerChange {
    /// It is new; it starts, unless it is switched off.
    Added,
    /// It is gone; it stops.
    Removed,
    /// It was switched on; it starts, with whatever else has changed.
    Enabled,
    /// It was switched off; it stops.
    Disabled,
    /// It is there before and after, and is not the same.
    Changed(Change),
}

/// How much of a server has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// How it is reached: it has to start again.
    Restart,
    /// What may be listed and called. The connection stays; the new rules count from the next request. Also any
    /// change of a server that is switched off before and after.
    Rules,
}

/// Everything that differs between two configurations, by server. Servers that stay as they are do not appear.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// By the name of the server.
    pub servers: BTreeMap<String, ServerChange>,
    /// Whether the declared inputs differ in anything, a description included.
    pub inputs: bool,
}

impl Difference {
    /// Compares two configurations.
    pub fn between(old: &ComputerConfig, new: &ComputerConfig) -> Self {
        let inputs = changed_inputs(&old.inputs, &new.inputs);
        let names: BTreeSet<&String> = old.servers.keys().chain(new.servers.keys()).collect();
        let change = |name: &String| match (old.servers.get(name), new.servers.get(name)) {
            (None, Some(_)) => Some(ServerChange::Added),
            (Some(_), None) => Some(ServerChange::Removed),
            (Some(old), Some(new)) => changed(old, new, &inputs),
            (None, None) => None,
        };
        let servers = names.into_iter().filter_map(|name| Some((name.clone(), change(name)?))).collect();
        Self { servers, inputs: old.inputs != new.inputs }
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty() && !self.inputs
    }
}

fn changed(old: &McpServerConfig, new: &McpServerConfig, inputs: &BTreeSet<&str>) -> Option<ServerChange> {
    match (old.disabled, new.disabled) {
        (true, false) => return Some(ServerChange::Enabled),
        (false, true) => return Some(ServerChange::Disabled),
        (true, true) => return (old != new).then_some(ServerChange::Changed(Change::Rules)),
        (false, false) => {}
    }
    // A list of everything, so that a new field has to be thought about.
    let McpServerConfig { name: _, disabled: _, forbidden_tools, tool_meta, default_tool_meta, vrl, transport } = old;
    let refers = |transport| inputs_of(transport).iter().any(|id| inputs.contains(id.as_str()));
    if *transport != new.transport || *vrl != new.vrl || refers(transport) {
        return Some(ServerChange::Changed(Change::Restart));
    }
    let same_rules = *forbidden_tools == new.forbidden_tools
        && *tool_meta == new.tool_meta
        && *default_tool_meta == new.default_tool_meta;
    (!same_rules).then_some(ServerChange::Changed(Change::Rules))
}

/// The inputs whose value may be another one now. What an input is for is no part of its value.
fn changed_inputs<'a>(old: &'a [Input], new: &'a [Input]) -> BTreeSet<&'a str> {
    let by_id = |inputs: &'a [Input]| -> BTreeMap<&'a str, Input> {
        inputs.iter().map(|input| (input.id(), undescribed(input))).collect()
    };
    let (old, new) = (by_id(old), by_id(new));
    old.keys().chain(new.keys()).copied().filter(|id| old.get(id) != new.get(id)).collect()
}

pub(super) fn undescribed(input: &Input) -> Input {
    let mut input = input.clone();
    match &mut input {
        Input::PromptString { description, .. }
        | Input::PickString { description, .. }
        | Input::Command { description, .. } => description.clear(),
    }
    input
}

/// The inputs that the parameters of a server refer to, with `${input:ID}`.
pub(crate) fn inputs_of(transport: &McpTransport) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    // A transport is plain data: it always becomes a value.
    collect_inputs(&serde_json::to_value(transport).unwrap_or_default(), &mut ids);
    ids
}

fn collect_inputs(value: &Value, ids: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let parts = text.split("${input:").skip(1).filter_map(|rest| rest.split_once('}'));
            ids.extend(parts.map(|(id, _)| id.to_owned()));
        }
        Value::Array(list) => list.iter().for_each(|value| collect_inputs(value, ids)),
        Value::Object(object) => object.values().for_each(|value| collect_inputs(value, ids)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config(servers: &Value, inputs: &Value) -> ComputerConfig {
        ComputerConfig::parse(&json!({"servers": servers, "inputs": inputs}).to_string()).unwrap()
    }

    fn check(old: &ComputerConfig, new: &ComputerConfig, expected: &[(&str, ServerChange)]) {
        let found = Difference::between(old, new);
        let expected = expected.iter().map(|(name, change)| ((*name).to_owned(), *change)).collect();
        assert_eq!(found.servers, expected);
    }

    #[test]
    fn each_server_is_compared_by_itself() {
        let base = json!({"command": "x", "args": ["1"]});
        let with = |key: &str, value: Value| {
            let mut server = base.clone();
            server[key] = value;
            config(&json!({"a": server, "b": {"command": "y"}}), &json!([]))
        };
        let old = config(&json!({"a": base, "b": {"command": "y"}}), &json!([]));
        let (restart, rules) = (ServerChange::Changed(Change::Restart), ServerChange::Changed(Change::Rules));
        check(&old, &old, &[]);
        for (key, value, change) in [
            ("command", json!("z"), restart),
            ("args", json!([]), restart),
            ("env", json!({"A": "1"}), restart),
            ("cwd", json!("/"), restart),
            ("forbidden_tools", json!(["t"]), rules),
            ("tool_meta", json!({"t": {"alias": "u"}}), rules),
            ("default_tool_meta", json!({"auto_apply": true}), rules),
            ("disabled", json!(true), ServerChange::Disabled),
        ] {
            let new = with(key, value);
            check(&old, &new, &[("a", change)]);
            let back = if change == ServerChange::Disabled { ServerChange::Enabled } else { change };
            check(&new, &old, &[("a", back)]);
        }
        let none = ComputerConfig::default();
        check(&none, &old, &[("a", ServerChange::Added), ("b", ServerChange::Added)]);
        check(&old, &none, &[("a", ServerChange::Removed), ("b", ServerChange::Removed)]);
    }

    #[test]
    fn switching_wins_over_other_changes_and_what_is_off_never_restarts() {
        let off = config(&json!({"a": {"command": "x", "disabled": true}}), &json!([]));
        let other_off = config(&json!({"a": {"command": "y", "disabled": true}}), &json!([]));
        let on = config(&json!({"a": {"command": "y"}}), &json!([]));
        check(&off, &on, &[("a", ServerChange::Enabled)]);
        check(&on, &off, &[("a", ServerChange::Disabled)]);
        check(&off, &other_off, &[("a", ServerChange::Changed(Change::Rules))]);
    }

    #[test]
    fn an_input_restarts_whoever_refers_to_it() {
        let servers = json!({
            "a": {"command": "x", "env": {"K": "Bearer ${input:key} ${input:other}"}},
            "b": {"url": "https://${input:host}/mcp"},
            "c": {"command": "x", "args": ["${input:key"]},
            "d": {"command": "x", "disabled": true, "args": ["${input:key}"]},
        });
        let key = |default: &str| json!({"type": "promptString", "id": "key", "description": "K", "default": default});
        let host = json!({"type": "promptString", "id": "host", "description": "H"});
        let old = config(&servers, &json!([key("1"), host]));
        let restart = ServerChange::Changed(Change::Restart);
        check(&old, &config(&servers, &json!([key("2"), host])), &[("a", restart)]);
        check(&old, &config(&servers, &json!([host])), &[("a", restart)]);
        check(&old, &config(&servers, &json!([host, key("1")])), &[]);
        check(&old, &config(&servers, &json!([])), &[("a", restart), ("b", restart)]);
        let mut described = host;
        described["description"] = json!("Another text");
        let new = config(&servers, &json!([key("1"), described]));
        check(&old, &new, &[]);
        assert!(Difference::between(&old, &new).inputs);
    }
}
