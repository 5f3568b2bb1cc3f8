//! From a value with places to a configuration, or to everything that is wrong with it.
//!
//! How it goes: [`file()`] finds out which shape the file has, `server` and `parameters` read one server each, in full
//! (`server_parameters`) or flat as other hosts write it, `declarations` reads the inputs, `host_rules` what
//! another host forbids, `aliases` looks at all servers together. `fields` knows how to ask a value for something and how to tell what it is instead. Reading goes on
//! after a problem, with whatever can be assumed, since the outcome is thrown away in the end.

mod aliases;
mod declarations;
mod fields;
mod host_rules;
mod parameters;
mod server;
mod spelling;

use std::collections::BTreeMap;

use a2c_protocol::config::McpServerConfig;

use self::aliases::Aliases;
use self::fields::{Fields, Item, Problems};
use super::problem::Problem;
use super::spanned::Spanned;
use super::{ComputerConfig, keys};

/// Whose rules a file follows: in ours every key counts, in a file of other hosts they have keys of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Ours,
    Hosts,
}

/// Reads a file.
pub(super) fn file(text: &str, value: &Spanned) -> Result<ComputerConfig, Vec<Problem>> {
    let mut problems = Problems::of(text);
    let config = Item { path: String::new(), value }.object(&mut problems).map(|top| top_level(&top, &mut problems));
    let problems = problems.into_list();
    match config {
        Some(config) if problems.is_empty() => Ok(config),
        _ => Err(problems),
    }
}

fn top_level(top: &Fields<'_>, problems: &mut Problems<'_>) -> ComputerConfig {
    let (servers, shape) = match (top.get("servers"), top.get("mcpServers")) {
        (Some(servers), None) => (Some(servers), Shape::Ours),
        (None, Some(servers)) => (Some(servers), Shape::Hosts),
        (Some(_), Some(hosts)) => {
            problems.tell(hosts.value.at, "mcpServers", |_| "stands beside `servers`: keep one of them");
            (None, Shape::Hosts)
        }
        (None, None) => {
            problems.tell(top.at, "", |_| no_servers(top));
            (None, Shape::Hosts)
        }
    };
    if let Some(schema) = top.get("$schema") {
        schema.text(problems);
    }
    if shape == Shape::Ours {
        top.only(&[keys::FILE], problems);
    }
    let inputs = top.get("inputs").map(|inputs| declarations::inputs(&inputs, problems)).unwrap_or_default();
    let servers = servers.and_then(|servers| servers.object(problems));
    let servers = servers.map(|servers| each_server(&servers, shape, problems)).unwrap_or_default();
    ComputerConfig { inputs, servers }
}

fn each_server(servers: &Fields<'_>, shape: Shape, problems: &mut Problems<'_>) -> BTreeMap<String, McpServerConfig> {
    let mut aliases = Aliases::default();
    let mut read = BTreeMap::new();
    for (name, at, item) in servers.each() {
        if let Some(objection) = objection_to_name(name) {
            problems.tell(at, &item.path, |_| objection);
        }
        if let Some(server) = server::read(name, &item, shape, &mut aliases, problems) {
            read.insert(name.to_owned(), server);
        }
    }
    read
}

/// The longest name of a server, in bytes.
const LONGEST_NAME: usize = 128;

fn objection_to_name(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        return Some("a server needs a name: write it as the key".into());
    }
    if name.len() > LONGEST_NAME {
        return Some(format!("the name of a server has at most {LONGEST_NAME} bytes: write a shorter one"));
    }
    name.contains(char::is_control).then(|| "the name of a server has no control characters: leave them out".into())
}

/// What a file without servers probably is.
fn no_servers(top: &Fields<'_>) -> String {
    let hosts = ["context_servers", "mcp", "mcp.servers", "mcp_servers", "projects", "experimental"];
    if let Some(key) = hosts.iter().find(|key| top.has(key)) {
        return format!(
            "has neither `servers` nor `mcpServers`, but `{key}`: if this is the file of another MCP host, \
             `a2c computer import FILE` converts it"
        );
    }
    let known = ["servers", "mcpServers"];
    match top.each().find_map(|(key, ..)| Some((key, spelling::nearest(key, known.into_iter())?))) {
        Some((key, meant)) => {
            format!("has neither `servers` nor `mcpServers`, but `{key}`: did you mean `{meant}`?")
        }
        None => "has neither `servers` nor `mcpServers`: write {\"servers\": {\"NAME\": {…}}}".into(),
    }
}
