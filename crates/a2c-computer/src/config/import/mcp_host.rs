//! The host that a file belongs to, and where its servers are.

use std::fmt;

use serde_json::{Map, Value};

/// The MCP hosts whose files are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpHost {
    /// A configuration of ours.
    A2c,
    /// The plain `mcpServers` that Claude Desktop, Claude Code's `.mcp.json`, Cursor and many others write.
    Common,
    /// `~/.claude.json`, with servers for each project.
    ClaudeCode,
    /// `.vscode/mcp.json`.
    VsCode,
    /// `settings.json` of VS Code.
    VsCodeSettings,
    /// `mcp_config.json` of Windsurf.
    Windsurf,
    /// `settings.json` of Zed.
    Zed,
    /// `cline_mcp_settings.json`, also of Roo Code and similar ones.
    Cline,
    /// `settings.json` of Gemini CLI.
    GeminiCli,
    /// `config.toml` of Codex.
    Codex,
    /// `opencode.json`.
    OpenCode,
    /// `config.json` or a file of `mcpServers` of Continue.
    Continue,
}

impl McpHost {
    pub(super) fn is_vs_code(self) -> bool {
        matches!(self, Self::VsCode | Self::VsCodeSettings)
    }
}

impl fmt::Display for McpHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A2c => "a2c",
            Self::Common => "Claude Desktop, Cursor or another host with `mcpServers`",
            Self::ClaudeCode => "Claude Code",
            Self::VsCode => "VS Code (mcp.json)",
            Self::VsCodeSettings => "VS Code (settings.json)",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
            Self::Cline => "Cline or Roo Code",
            Self::GeminiCli => "Gemini CLI",
            Self::Codex => "Codex",
            Self::OpenCode => "opencode",
            Self::Continue => "Continue",
        })
    }
}

/// The servers of a document, each with its name and the project it belongs to, and the declared inputs.
pub(super) struct FoundServers<'a> {
    pub(super) host: McpHost,
    pub(super) servers: Vec<(&'a str, Option<&'a str>, &'a Value)>,
    pub(super) inputs: Vec<&'a Value>,
    /// The servers that a project disables: the project and the name.
    disabled: Vec<(&'a str, &'a str)>,
}

impl<'a> FoundServers<'a> {
    /// The project that disables this server. A project that has a server of this name means its own.
    pub(super) fn disabled_in(&self, name: &str, project: Option<&str>) -> Option<&'a str> {
        let has = |at: &str| self.servers.iter().any(|(own, of, _)| *own == name && *of == Some(at));
        let is_meant = |at: &str| project.map_or_else(|| !has(at), |project| project == at);
        self.disabled.iter().find(|(at, disabled)| *disabled == name && is_meant(at)).map(|(at, _)| *at)
    }
}

/// Looks for servers under the keys of all known hosts.
pub(super) fn find(document: &Value) -> Option<FoundServers<'_>> {
    let top = document.as_object()?;
    if let Some(projects) = top.get("projects").and_then(Value::as_object) {
        let global = top.get("mcpServers").map(named).unwrap_or_default();
        let of_project = projects.iter().flat_map(|(project, inside)| {
            let servers = inside.get("mcpServers").map(named).unwrap_or_default();
            servers.into_iter().map(move |(name, _, entry)| (name, Some(project.as_str()), entry))
        });
        let servers: Vec<_> = global.into_iter().chain(of_project).collect();
        if !servers.is_empty() {
            let disabled = projects.iter().flat_map(|(project, inside)| {
                let lists = ["disabledMcpServers", "disabledMcpjsonServers"].map(|key| list(inside.get(key)));
                lists.into_iter().flatten().filter_map(move |name| Some((project.as_str(), name.as_str()?)))
            });
            return Some(FoundServers {
                host: McpHost::ClaudeCode,
                servers,
                inputs: Vec::new(),
                disabled: disabled.collect(),
            });
        }
    }
    locations(top).into_iter().find_map(|(host, servers, inputs)| {
        let servers = named(servers?);
        let host = if host == McpHost::Common { by_entries(top, &servers) } else { host };
        let is_full = |(_, _, entry): &(&str, Option<&str>, &Value)| entry.get("server_parameters").is_some();
        let host = if host == McpHost::VsCode && servers.iter().any(is_full) { McpHost::A2c } else { host };
        (!servers.is_empty()).then(|| FoundServers { host, servers, inputs: list(inputs), disabled: Vec::new() })
    })
}

type Location<'a> = (McpHost, Option<&'a Value>, Option<&'a Value>);

/// The servers and inputs under the keys of each host.
fn locations(top: &Map<String, Value>) -> [Location<'_>; 9] {
    let mcp = top.get("mcp");
    let inside = |key: &str| mcp.and_then(|mcp| mcp.get(key));
    let experimental = top.get("experimental").and_then(|inside| inside.get("modelContextProtocolServers"));
    // Of VS Code `mcp` holds `servers`, of opencode the servers themselves.
    let opencode = mcp.filter(|mcp| mcp.get("servers").is_none());
    [
        (McpHost::Common, top.get("mcpServers"), top.get("inputs")),
        (McpHost::VsCode, top.get("servers"), top.get("inputs")),
        (McpHost::VsCodeSettings, inside("servers"), inside("inputs")),
        (McpHost::VsCodeSettings, top.get("mcp.servers"), top.get("mcp.inputs")),
        (McpHost::Zed, top.get("context_servers"), None),
        (McpHost::Codex, top.get("mcp_servers"), None),
        (McpHost::Continue, experimental, None),
        (McpHost::OpenCode, opencode, None),
        (McpHost::Common, top.get("amp.mcpServers"), None),
    ]
}

/// Several hosts use `mcpServers`; the keys of their entries differ.
fn by_entries(top: &Map<String, Value>, servers: &[(&str, Option<&str>, &Value)]) -> McpHost {
    let has = |keys: &[&str]| servers.iter().any(|(_, _, entry)| keys.iter().any(|key| entry.get(*key).is_some()));
    if top.get("mcpServers").is_some_and(Value::is_array) {
        McpHost::Continue
    } else if has(&["httpUrl", "trust", "includeTools", "excludeTools"]) {
        McpHost::GeminiCli
    } else if has(&["autoApprove", "alwaysAllow"]) {
        McpHost::Cline
    } else if has(&["serverUrl", "disabledTools"]) {
        McpHost::Windsurf
    } else {
        McpHost::Common
    }
}

/// Servers by name: from an object, or from a list of entries with names.
fn named(servers: &Value) -> Vec<(&str, Option<&str>, &Value)> {
    match servers {
        Value::Object(servers) => servers.iter().map(|(name, entry)| (name.as_str(), None, entry)).collect(),
        Value::Array(servers) => {
            servers.iter().map(|entry| (entry["name"].as_str().unwrap_or("server"), None, entry)).collect()
        }
        _ => Vec::new(),
    }
}

fn list(value: Option<&Value>) -> Vec<&Value> {
    value.and_then(Value::as_array).into_iter().flatten().collect()
}
