//! The one gate: whether a tool exists for an Agent, and whether it may run without asking. Pure.
//!
//! Listing, searching and calling all go through the [`Toolbox`](super::toolbox::Toolbox), and the toolbox is made here:
//! there is no other way to a tool.

use a2c_protocol::config::McpServerConfig;
use a2c_protocol::tool::ToolMeta;

/// Why an Agent does not see a tool that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// The owner forbids it.
    Forbidden,
    /// Its server is switched off.
    Off,
    /// It is not what it was when the owner last agreed to it.
    Changed,
    /// Its description is too large to be shown, alone or together with those of its server.
    TooLarge,
}

impl Hidden {
    /// What is told to an Agent that asks for it by name.
    pub(crate) fn explain(self, tool: &str) -> String {
        match self {
            Self::Forbidden => format!("tool '{tool}' is forbidden"),
            Self::Off => format!("tool '{tool}' belongs to an MCP server that is switched off"),
            Self::TooLarge => {
                format!("tool '{tool}' is not offered: its definition, or its server's list, is too large")
            }
            Self::Changed => {
                format!(
                    "tool '{tool}' has changed since the owner of this computer agreed to it, and waits for approval"
                )
            }
        }
    }
}

/// Judges a tool; `None` lets it pass. `is_wanted` says whether its server is to run, `is_blocked` whether it changed and
/// the policy holds it back.
pub(crate) fn judge(server: &McpServerConfig, tool: &str, is_wanted: bool, is_blocked: bool) -> Option<Hidden> {
    if is_forbidden(server, tool) {
        Some(Hidden::Forbidden)
    } else if !is_wanted {
        Some(Hidden::Off)
    } else if is_blocked {
        Some(Hidden::Changed)
    } else {
        None
    }
}

/// What the owner says about a tool: its own entry, filled up from the server's default.
pub(crate) fn meta_of(server: &McpServerConfig, tool: &str) -> Option<ToolMeta> {
    match server.tool_meta.get(tool) {
        Some(own) => Some(own.clone().or(server.default_tool_meta.as_ref())),
        None => server.default_tool_meta.clone(),
    }
}

/// Whether the owner forbids a tool, by its own name or by the one it has for Agents.
fn is_forbidden(server: &McpServerConfig, tool: &str) -> bool {
    let alias = server.tool_meta.get(tool).and_then(|meta| meta.alias.as_ref());
    server.forbidden_tools.iter().any(|f| f == tool || Some(f) == alias)
}

/// Names in the owner's rules that fit none of the server's tools: most likely typos.
pub(crate) fn unmatched<'a>(server: &'a McpServerConfig, tools: &[&str]) -> Vec<&'a str> {
    let is_alias = |name: &str| server.tool_meta.values().any(|meta| meta.alias.as_deref() == Some(name));
    let rules = server.tool_meta.keys().chain(server.forbidden_tools.iter().filter(|name| !is_alias(name)));
    rules.map(String::as_str).filter(|name| !tools.contains(name)).collect()
}

/// Whether the owner lets a tool run without being asked.
pub(crate) fn runs_unasked(meta: Option<&ToolMeta>) -> bool {
    meta.and_then(|m| m.auto_apply) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate() {
        let server: McpServerConfig = serde_json::from_str(
            r#"{"type": "stdio", "server_parameters": {"command": "x"}, "forbidden_tools": ["rm", "wipe"],
                "tool_meta": {"own": {"auto_apply": false, "alias": "mine"}, "free": {"alias": "f"}, "purge": {"alias": "wipe"}},
                "default_tool_meta": {"auto_apply": true, "tags": ["t"]}}"#,
        )
        .unwrap();
        let check = |tool, is_wanted, is_blocked, expected| {
            assert_eq!(judge(&server, tool, is_wanted, is_blocked), expected, "{tool}");
        };
        check("rm", true, false, Some(Hidden::Forbidden));
        check("purge", true, false, Some(Hidden::Forbidden));
        check("ls", true, false, None);
        check("ls", false, false, Some(Hidden::Off));
        check("ls", true, true, Some(Hidden::Changed));
        check("rm", false, true, Some(Hidden::Forbidden));
        let unasked = |tool: &str| runs_unasked(meta_of(&server, tool).as_ref());
        assert!(!unasked("own"), "its own entry wins over the default");
        assert!(unasked("free"), "what it leaves open comes from the default");
        assert!(unasked("other"));
        assert!(!runs_unasked(None));
        assert_eq!(unmatched(&server, &["own", "free", "purge"]), ["rm"]);
        assert_eq!(meta_of(&server, "free").unwrap().tags, Some(vec!["t".into()]));
    }
}
