//! Converts one server of another host into our shape. Hosts differ mainly in the names of their keys.

use serde_json::{Map, Value, json};

use super::mcp_host::McpHost;
use super::{placeholders, take};
use crate::config::keys::ALLOW_LISTS;

/// A server in our shape, not checked yet, and notes about it.
pub(super) struct Converted {
    pub(super) server: Value,
    pub(super) notes: Vec<String>,
}

/// Keys that can be dropped without a note.
const IGNORED: [&str; 5] = ["name", "source", "gallery", "version", "$schema"];

/// Converts an entry.
pub(super) fn convert(host: McpHost, entry: &Map<String, Value>) -> Converted {
    let mut notes = Vec::new();
    if entry.contains_key("server_parameters") {
        return Converted { server: Value::Object(entry.clone()), notes };
    }
    let mut left = entry.clone();
    // Continue keeps the transport in an object of its own.
    if let Some(Value::Object(transport)) = left.get("transport").cloned() {
        left.remove("transport");
        left.extend(transport);
    }
    let mut server = rules(&mut left, &mut notes);
    let (kind, parameters) = if left.contains_key("command") {
        ("stdio".to_owned(), stdio(host, &mut left, &mut notes))
    } else {
        http(host, &mut left, &mut notes)
    };
    server.insert("type".into(), kind.into());
    server.insert("server_parameters".into(), parameters);
    for (key, value) in left {
        let is_empty = value.is_null() || value == json!([]) || value == json!({});
        if ALLOW_LISTS.contains(&key.as_str()) && !is_empty {
            notes.push(format!(
                "`{key}` allows some tools only, which is not supported here: every tool is offered, unless you write \
                 the others into `forbidden_tools`"
            ));
        } else if !IGNORED.contains(&key.as_str()) && !is_empty {
            notes.push(format!("`{key}` is unknown and was left out"));
        }
    }
    Converted { server: server.into(), notes }
}

/// What the owner allows and forbids.
fn rules(left: &mut Map<String, Value>, notes: &mut Vec<String>) -> Map<String, Value> {
    let mut server = Map::new();
    for key in ["forbidden_tools", "tool_meta", "default_tool_meta", "vrl"] {
        server.extend(left.remove_entry(key));
    }
    let disabled = take(left, &["disabled"]) == Some(json!(true));
    if disabled || take(left, &["enabled"]) == Some(json!(false)) {
        server.insert("disabled".into(), true.into());
    }
    if let Some(tools) = take(left, &["disabledTools", "excludeTools", "disabled_tools"]) {
        let forbidden = server.entry("forbidden_tools").or_insert_with(|| json!([]));
        if let (Value::Array(forbidden), Value::Array(tools)) = (forbidden, tools) {
            forbidden.extend(tools);
        }
    }
    let approved = take(left, &["autoApprove", "alwaysAllow"]).unwrap_or_default();
    let trusted = take(left, &["trust"]) == Some(json!(true));
    let tools: Vec<&str> = approved.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let every = trusted || approved == json!(true) || tools.contains(&"*");
    let included = left.get("includeTools").and_then(Value::as_array);
    let mut tools: Vec<&str> = tools.into_iter().filter(|tool| *tool != "*").collect();
    if let (true, Some(included)) = (every, included) {
        // The host trusts the allowed tools. `tool(arguments)` allows a part of a tool, which is not supported here.
        tools.extend(included.iter().filter_map(Value::as_str).filter(|tool| !tool.contains('(')));
    } else if every {
        server.insert("default_tool_meta".into(), json!({"auto_apply": true}));
        notes.push("every tool runs without asking, as in that host: see `default_tool_meta`".into());
    }
    if !tools.is_empty() {
        let meta = server.entry("tool_meta").or_insert_with(|| json!({}));
        for tool in &tools {
            meta[*tool]["auto_apply"] = true.into();
        }
        notes.push(format!("runs without asking, as in that host: {}", tools.join(", ")));
    }
    server
}

fn stdio(host: McpHost, left: &mut Map<String, Value>, notes: &mut Vec<String>) -> Value {
    take(left, &["type", "transport", "transportType"]);
    let mut args = Vec::new();
    let mut env = Map::new();
    let command = match take(left, &["command"]) {
        // Zed had the command in an object.
        Some(Value::Object(mut inner)) => {
            args.extend(texts(take(&mut inner, &["args"])));
            env.extend(text_map(take(&mut inner, &["env"])));
            take(&mut inner, &["path", "command"]).unwrap_or_default()
        }
        // opencode has one list.
        Some(Value::Array(mut line)) if !line.is_empty() => {
            let command = line.remove(0);
            args.extend(texts(Some(Value::Array(line))));
            command
        }
        other => other.unwrap_or_default(),
    };
    args.extend(texts(take(left, &["args"])));
    env.extend(text_map(take(left, &["env", "environment"])));
    // Codex names variables that are passed on.
    for name in texts(take(left, &["env_vars"])) {
        let value = format!("${{env:{name}}}");
        env.insert(name, value.into());
    }
    let mut translate = |text: &str| Value::from(placeholders::translate(host, text, notes));
    let mut parameters = Map::new();
    parameters.insert("command".into(), command.as_str().map_or(command.clone(), &mut translate));
    if !args.is_empty() {
        parameters.insert("args".into(), args.iter().map(|arg| translate(arg)).collect());
    }
    if !env.is_empty() {
        let env = env.into_iter().map(|(name, value)| (name, value.as_str().map_or(value.clone(), &mut translate)));
        parameters.insert("env".into(), env.collect::<Map<_, _>>().into());
    }
    if let Some(cwd) = take(left, &["cwd", "workingDirectory", "working_directory"]) {
        parameters.insert("cwd".into(), cwd.as_str().map_or(cwd.clone(), &mut translate));
    }
    parameters.into()
}

fn http(host: McpHost, left: &mut Map<String, Value>, notes: &mut Vec<String>) -> (String, Value) {
    let said = take(left, &["type", "transport", "transportType"]);
    // In the files of Gemini CLI a plain `url` is the older transport.
    let older = host == McpHost::GeminiCli && left.contains_key("url");
    let url = take(left, &["httpUrl", "url", "serverUrl", "server_url"]);
    let url = url.as_ref().and_then(Value::as_str).unwrap_or_default();
    let kind = match said.as_ref().and_then(Value::as_str) {
        Some("sse") => "sse",
        Some("http" | "streamable" | "streamable-http" | "streamableHttp" | "streamable_http" | "remote") => {
            "streamable"
        }
        Some(other) if !other.is_empty() => other,
        _ if older => "sse",
        _ if url.split(['?', '#']).next().is_some_and(|path| path.trim_end_matches('/').ends_with("/sse")) => {
            notes.push("was taken for a legacy SSE server because of the end of its URL: see `type`".into());
            "sse"
        }
        _ => "streamable",
    };
    let mut headers = text_map(take(left, &["headers", "http_headers"]));
    for key in ["requestOptions", "requestInit"] {
        if let Some(Value::Object(mut inner)) = left.remove(key) {
            headers.extend(text_map(take(&mut inner, &["headers"])));
            notes.extend(inner.keys().map(|inside| format!("`{key}.{inside}` is unknown and was left out")));
        }
    }
    for (name, variable) in text_map(take(left, &["env_http_headers"])) {
        let variable = variable.as_str().unwrap_or_default();
        headers.insert(name, format!("${{env:{variable}}}").into());
    }
    if let Some(Value::String(variable)) = take(left, &["bearer_token_env_var"]) {
        headers.insert("Authorization".into(), format!("Bearer ${{env:{variable}}}").into());
    }
    let mut translate = |text: &str| Value::from(placeholders::translate(host, text, notes));
    let mut parameters = Map::new();
    if !url.is_empty() {
        parameters.insert("url".into(), translate(url));
    }
    if !headers.is_empty() {
        let headers =
            headers.into_iter().map(|(name, value)| (name, value.as_str().map_or(value.clone(), &mut translate)));
        parameters.insert("headers".into(), headers.collect::<Map<_, _>>().into());
    }
    (kind.to_owned(), parameters.into())
}

/// A string, or a number or boolean as the string that a process gets.
fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn texts(value: Option<Value>) -> Vec<String> {
    match value {
        Some(Value::Array(list)) => list.into_iter().filter_map(text).collect(),
        Some(one) => text(one).into_iter().collect(),
        None => Vec::new(),
    }
}

fn text_map(value: Option<Value>) -> Map<String, Value> {
    let Some(Value::Object(map)) = value else { return Map::new() };
    map.into_iter().filter_map(|(key, value)| Some((key, text(value)?.into()))).collect()
}
