//! From a parsed document to a configuration, or to everything that is wrong with it.
//!
//! How it goes: [`file()`] finds out which shape the file has; `server` and `transport` read one server each, in full
//! (`server_parameters`) or flat as other hosts write it; `inputs` reads the declared inputs, `host_rules` what another
//! host forbids; `aliases` compares all servers. Reading goes on after a problem, with whatever can be assumed: the
//! outcome counts only if there is none.

mod aliases;
mod host_rules;
mod inputs;
mod server;
mod transport;

use std::collections::BTreeMap;

use a2c_protocol::config::McpServerConfig;
use a2c_settings::{Object, Problem, Report, SettingsDocument, spelling};

use self::aliases::Aliases;
use super::{ComputerConfig, keys};

/// Which rules a file follows: ours, where every key has to be known, or those of other hosts, which have further keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Ours,
    Hosts,
}

/// Reads a file.
pub(super) fn file(document: &SettingsDocument<'_>) -> Result<ComputerConfig, Vec<Problem>> {
    let mut report = Report::new(document.text());
    let config = document.root().object(&mut report).map(|top| top_level(&top, &mut report));
    let problems = report.finish().problems;
    match config {
        Some(config) if problems.is_empty() => Ok(config),
        _ => Err(problems),
    }
}

fn top_level(top: &Object<'_>, report: &mut Report<'_>) -> ComputerConfig {
    let (servers, shape) = match (top.get("servers"), top.get("mcpServers")) {
        (Some(servers), None) => (Some(servers), Shape::Ours),
        (None, Some(servers)) => (Some(servers), Shape::Hosts),
        (Some(_), Some(hosts)) => {
            hosts.problem("stands beside `servers`: keep one of them", report);
            (None, Shape::Hosts)
        }
        (None, None) => {
            report.problem(top.offset, "", no_servers(top));
            (None, Shape::Hosts)
        }
    };
    if let Some(schema) = top.get("$schema") {
        schema.string(report);
    }
    if shape == Shape::Ours {
        top.only(&[keys::FILE], report);
    }
    let inputs = top.get("inputs").map(|inputs| inputs::read(&inputs, report)).unwrap_or_default();
    let servers = servers.and_then(|servers| servers.object(report));
    let servers = servers.map(|servers| each_server(&servers, shape, report)).unwrap_or_default();
    ComputerConfig { inputs, servers }
}

fn each_server(servers: &Object<'_>, shape: Shape, report: &mut Report<'_>) -> BTreeMap<String, McpServerConfig> {
    let mut aliases = Aliases::default();
    let mut read = BTreeMap::new();
    for key in servers.keys() {
        if let Some(objection) = objection_to_name(key.name) {
            report.problem(key.offset, &key.field.path, objection);
        }
        if let Some(server) = server::read(key.name, &key.field, shape, &mut aliases, report) {
            read.insert(key.name.to_owned(), server);
        }
    }
    read
}

/// The longest name of a server, in bytes.
const MAX_NAME: usize = 128;

fn objection_to_name(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        return Some("a server needs a name: write it as the key".into());
    }
    if name.len() > MAX_NAME {
        return Some(format!("the name of a server has at most {MAX_NAME} bytes: write a shorter one"));
    }
    name.contains(char::is_control).then(|| "the name of a server has no control characters: leave them out".into())
}

/// What to tell about a file without servers: which file it may be, or which key is misspelt.
fn no_servers(top: &Object<'_>) -> String {
    let hosts = ["context_servers", "mcp", "mcp.servers", "mcp_servers", "projects", "experimental"];
    if let Some(key) = hosts.iter().find(|key| top.has(key)) {
        return format!(
            "has neither `servers` nor `mcpServers`, but `{key}`: if this is the file of another MCP host, \
             `a2c computer import FILE` converts it"
        );
    }
    let known = ["servers", "mcpServers"];
    match top.keys().find_map(|key| Some((key.name, spelling::nearest(key.name, known)?))) {
        Some((key, meant)) => {
            format!("has neither `servers` nor `mcpServers`, but `{key}`: did you mean `{meant}`?")
        }
        None => "is empty or has neither `servers` nor `mcpServers`: write {\"servers\": {\"NAME\": {…}}}".into(),
    }
}
