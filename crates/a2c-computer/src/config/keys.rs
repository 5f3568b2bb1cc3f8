//! Keys that mean nothing: in a file that decides what may run, a typo must not pass for a wish.

use serde_json::{Map, Value};

const FILE: &[&str] = &["inputs", "servers"];
const SERVER: &[&str] =
    &["name", "type", "disabled", "forbidden_tools", "tool_meta", "default_tool_meta", "vrl", "server_parameters"];
const TOOL_META: &[&str] = &["auto_apply", "alias", "tags", "ret_object_mapper"];
const STDIO: &[&str] = &["command", "args", "env", "cwd", "encoding", "encoding_error_handler"];
const HTTP: &[&str] = &["url", "headers", "timeout", "sse_read_timeout", "terminate_on_close"];
const INPUT: &[&str] = &["type", "id", "description", "default", "password", "options", "command", "args"];

/// The keys of a server that the `mcpServers` shape may carry beside its own.
pub(super) const GATE: &[&str] = &["disabled", "forbidden_tools", "tool_meta", "default_tool_meta"];

/// Finds the first key of a file in our shape that nothing reads.
pub(super) fn check(file: &Map<String, Value>) -> Result<(), String> {
    known("", file, FILE)?;
    for (index, input) in list(file.get("inputs")).enumerate() {
        known(&format!("inputs[{index}]."), input, INPUT)?;
    }
    for (name, server) in entries(file.get("servers")) {
        let at = format!("servers.{name}.");
        known(&at, server, SERVER)?;
        gate(&at, server)?;
        if let Some(Value::Object(parameters)) = server.get("server_parameters") {
            let keys = if parameters.contains_key("url") { HTTP } else { STDIO };
            known(&format!("{at}server_parameters."), parameters, keys)?;
        }
    }
    Ok(())
}

/// Checks what the owner says about tools, in either shape.
pub(super) fn gate(at: &str, server: &Map<String, Value>) -> Result<(), String> {
    if let Some(Value::Object(meta)) = server.get("default_tool_meta") {
        known(&format!("{at}default_tool_meta."), meta, TOOL_META)?;
    }
    for (tool, meta) in entries(server.get("tool_meta")) {
        known(&format!("{at}tool_meta.{tool}."), meta, TOOL_META)?;
    }
    Ok(())
}

fn known(at: &str, object: &Map<String, Value>, keys: &[&str]) -> Result<(), String> {
    match object.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => Err(format!("{at}{key}: unknown key: expected one of {}", keys.join(", "))),
        None => Ok(()),
    }
}

fn entries(value: Option<&Value>) -> impl Iterator<Item = (&String, &Map<String, Value>)> {
    let object = value.and_then(Value::as_object);
    object.into_iter().flatten().filter_map(|(key, value)| Some((key, value.as_object()?)))
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Map<String, Value>> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}
