//! The servers that a changed configuration starts, stops or changes. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use a2c_protocol::config::{Input, McpServerConfig, McpTransport};
use serde_json::Value;

use super::ComputerConfig;

/// What happens to one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerChange {
    /// It is new; it starts, unless it is disabled.
    Added,
    /// It was removed; it stops.
    Removed,
    /// It was enabled; it starts, with all its other changes.
    Enabled,
    /// It was disabled; it stops.
    Disabled,
    /// It is in both configurations, and differs.
    Changed(Change),
}

impl fmt::Display for ServerChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Changed(Change::Restart) => "restarted",
            Self::Changed(Change::Rules) => "new rules",
        })
    }
}

/// How much of a server has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// How it is reached: it has to start again.
    Restart,
    /// What may be listed and called. The connection stays; the new rules count from the next request. Also any
    /// change of a server that is disabled before and after.
    Rules,
}

/// Everything that differs between two configurations. Servers without a difference do not appear.
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
    // All fields are named, so that a new one has to be considered here.
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

/// The inputs whose value may differ. The description is no part of the value.
fn changed_inputs<'a>(old: &'a [Input], new: &'a [Input]) -> BTreeSet<&'a str> {
    let by_id = |inputs: &'a [Input]| -> BTreeMap<&'a str, Input> {
        inputs.iter().map(|input| (input.id(), without_description(input))).collect()
    };
    let (old, new) = (by_id(old), by_id(new));
    old.keys().chain(new.keys()).copied().filter(|id| old.get(id) != new.get(id)).collect()
}

pub(super) fn without_description(input: &Input) -> Input {
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
    fn enabling_and_disabling_win_and_a_disabled_server_never_restarts() {
        let off = config(&json!({"a": {"command": "x", "disabled": true}}), &json!([]));
        let other_off = config(&json!({"a": {"command": "y", "disabled": true}}), &json!([]));
        let on = config(&json!({"a": {"command": "y"}}), &json!([]));
        check(&off, &on, &[("a", ServerChange::Enabled)]);
        check(&on, &off, &[("a", ServerChange::Disabled)]);
        check(&off, &other_off, &[("a", ServerChange::Changed(Change::Rules))]);
    }

    #[test]
    fn a_changed_input_restarts_the_servers_that_refer_to_it() {
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
