//! The configuration file of a Computer.

pub(crate) mod inputs;
mod keys;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use a2c_protocol::config::{Input, McpServerConfig, McpTransport};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What a Computer runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComputerConfig {
    /// Values that the owner supplies at run time.
    pub inputs: Vec<Input>,
    /// The MCP servers by name.
    pub servers: BTreeMap<String, McpServerConfig>,
}

/// Why a configuration is not taken.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not what a configuration looks like.
    #[error("{}: {problem}", path.display())]
    Invalid {
        /// Which file.
        path: PathBuf,
        /// Where and what, and what to write instead.
        problem: String,
    },
}

/// A text that is no configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct InvalidConfig {
    /// Where and what, and what to write instead.
    pub problem: String,
}

/// The two shapes people have: ours, and the one of common MCP hosts, whose files hold other things too.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    inputs: Vec<Input>,
    servers: Option<BTreeMap<String, McpServerConfig>>,
    #[serde(rename = "mcpServers")]
    mcp_servers: Option<BTreeMap<String, Map<String, Value>>>,
}

impl ComputerConfig {
    /// Reads a JSON file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&text).map_err(|InvalidConfig { problem }| ConfigError::Invalid { path: path.to_owned(), problem })
    }

    /// Reads JSON text; the error says where and what.
    pub fn parse(text: &str) -> Result<Self, InvalidConfig> {
        read(text).map_err(|problem| InvalidConfig { problem })
    }
}

fn read(text: &str) -> Result<ComputerConfig, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let located = |e: serde_path_to_error::Error<serde_json::Error>| match e.path().to_string() {
        path if path == "." => e.inner().to_string(),
        path => format!("{path}: {}", e.inner()),
    };
    let file: File = serde_path_to_error::deserialize(&mut deserializer).map_err(located)?;
    deserializer.end().map_err(|e| e.to_string())?;
    let raw: Map<String, Value> = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let mut servers = match (file.servers, file.mcp_servers) {
        (Some(servers), None) => {
            keys::check(&raw)?;
            servers
        }
        (None, Some(hosts)) => from_host_shape(hosts)?,
        (Some(_), Some(_)) => return Err("has both `servers` and `mcpServers`: keep one of them".into()),
        (None, None) => {
            return Err("has neither `servers` nor `mcpServers`: write {\"servers\": {\"NAME\": {…}}}".into());
        }
    };
    for (key, server) in &mut servers {
        if server.name.is_empty() {
            server.name.clone_from(key);
        }
        check(key, server)?;
    }
    Ok(ComputerConfig { inputs: file.inputs, servers })
}

fn check(key: &str, server: &McpServerConfig) -> Result<(), String> {
    if server.name != key {
        let name = &server.name;
        return Err(format!("servers.{key}.name: is '{name}': leave it out or write the key, '{key}'"));
    }
    if server.vrl.is_some() {
        return Err(format!("servers.{key}.vrl: this build does not run VRL programs: remove the key"));
    }
    if let McpTransport::Stdio(stdio) = &server.transport
        && stdio.command.is_empty()
    {
        return Err(format!("servers.{key}.server_parameters.command: is empty: name the program to run"));
    }
    Ok(())
}

/// `{command, args, env}` is a child process, `{url, headers}` a streamable HTTP server (or SSE where it says so).
fn from_host_shape(hosts: BTreeMap<String, Map<String, Value>>) -> Result<BTreeMap<String, McpServerConfig>, String> {
    hosts
        .into_iter()
        .map(|(name, mut host)| {
            let kind = match (host.contains_key("command"), host.contains_key("url"), host.remove("type")) {
                (true, false, _) => "stdio".into(),
                (false, true, Some(Value::String(kind))) if kind == "sse" => kind,
                (false, true, _) => "streamable".into(),
                _ => return Err(format!("mcpServers.{name}: needs either `command` or `url`")),
            };
            keys::gate(&format!("mcpServers.{name}."), &host)?;
            let mut server: Map<String, Value> = keys::GATE.iter().filter_map(|key| host.remove_entry(*key)).collect();
            server.insert("type".into(), kind.into());
            server.insert("server_parameters".into(), host.into());
            let server = serde_json::from_value(server.into()).map_err(|e| format!("mcpServers.{name}: {e}"))?;
            Ok((name, server))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_are_read() {
        let ours = r#"{"servers": {"a": {"type": "stdio", "server_parameters": {"command": "x", "args": ["1"]}}}}"#;
        let hosts = r#"{"mcpServers": {"a": {"command": "x", "args": ["1"]}}}"#;
        let ours = ComputerConfig::parse(ours).unwrap();
        assert_eq!(ours, ComputerConfig::parse(hosts).unwrap());
        assert_eq!(ours.servers["a"].name, "a");
        let http =
            ComputerConfig::parse(r#"{"mcpServers": {"h": {"url": "http://x", "headers": {"k": "v"}}}}"#).unwrap();
        assert!(matches!(http.servers["h"].transport, McpTransport::Streamable(_)));
        let sse = ComputerConfig::parse(r#"{"mcpServers": {"h": {"type": "sse", "url": "http://x"}}}"#).unwrap();
        assert!(matches!(sse.servers["h"].transport, McpTransport::Sse(_)));
    }

    #[test]
    fn an_error_says_where_and_what() {
        let check = |text: &str, parts: &[&str]| {
            let problem = ComputerConfig::parse(text).unwrap_err().problem;
            for part in parts {
                assert!(problem.contains(part), "{part:?} not in {problem:?}");
            }
        };
        check("{", &["EOF", "line 1"]);
        check("{}", &["`servers`", "`mcpServers`"]);
        check(r#"{"servers": {}, "mcpServers": {}}"#, &["both"]);
        check(r#"{"server": {}}"#, &["neither", "servers"]);
        check(r#"{"servers": {}, "input": []}"#, &["input: unknown key", "inputs"]);
        let with = |extra: &str| {
            format!(r#"{{"servers": {{"a": {{"type": "stdio", "server_parameters": {{"command": "x"}}, {extra}}}}}}}"#)
        };
        check(&with(r#""forbiden_tools": ["rm"]"#), &["servers.a.forbiden_tools", "forbidden_tools"]);
        check(&with(r#""tool_meta": {"t": {"autoapply": true}}"#), &["servers.a.tool_meta.t.autoapply", "auto_apply"]);
        check(
            r#"{"servers": {"a": {"type": "stdio", "server_parameters": {"command": "x", "arg": []}}}}"#,
            &["servers.a.server_parameters.arg", "args"],
        );
        check(
            r#"{"mcpServers": {"a": {"command": "x", "tool_meta": {"t": {"aliass": "y"}}}}}"#,
            &["mcpServers.a.tool_meta.t.aliass"],
        );
        check("{\"servers\": {}} x", &["trailing"]);
        check("{\"servers\":\n {\"a\": {\"type\": \"pipe\"}}}", &["servers.a", "pipe", "stdio", "line 2"]);
        check(r#"{"servers": {"a": {"type": "stdio", "server_parameters": {}}}}"#, &["servers.a", "command"]);
        check(
            r#"{"servers": {"a": {"type": "stdio", "server_parameters": {"command": ""}}}}"#,
            &["servers.a", "command", "empty"],
        );
        check(
            r#"{"servers": {"a": {"name": "b", "type": "stdio", "server_parameters": {"command": "x"}}}}"#,
            &["servers.a.name"],
        );
        check(
            r#"{"servers": {"a": {"vrl": ".", "type": "stdio", "server_parameters": {"command": "x"}}}}"#,
            &["servers.a.vrl"],
        );
        check(r#"{"mcpServers": {"a": {"args": []}}}"#, &["mcpServers.a", "command", "url"]);
        check(
            r#"{"servers": {"a": {"disabled": 3, "type": "stdio", "server_parameters": {"command": "x"}}}}"#,
            &["servers.a.disabled"],
        );
    }
}
