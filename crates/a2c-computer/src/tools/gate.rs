//! The one gate: whether a tool exists for an Agent, and whether it may run. Pure.

use a2c_protocol::config::McpServerConfig;
use a2c_protocol::tool::ToolMeta;

/// What happens with a tool that its owner did not mark as `auto_apply`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Confirmation {
    /// It runs.
    Allow,
    /// It is refused: nobody is there to confirm.
    #[default]
    Refuse,
}

/// What the owner says about a tool: its own entry, filled up from the server's default.
pub(crate) fn meta_of(server: &McpServerConfig, tool: &str) -> Option<ToolMeta> {
    match server.tool_meta.get(tool) {
        Some(own) => Some(own.clone().or(server.default_tool_meta.as_ref())),
        None => server.default_tool_meta.clone(),
    }
}

/// Whether the owner forbids a tool, by its own name or by the one it has for Agents.
pub(crate) fn is_forbidden(server: &McpServerConfig, tool: &str) -> bool {
    let alias = meta_of(server, tool).and_then(|meta| meta.alias);
    server.forbidden_tools.iter().any(|f| f == tool || Some(f) == alias.as_ref())
}

/// Names in the owner's rules that fit none of the server's tools: most likely typos.
pub(crate) fn unmatched<'a>(server: &'a McpServerConfig, tools: &[&str]) -> Vec<&'a str> {
    let is_alias = |name: &str| server.tool_meta.values().any(|meta| meta.alias.as_deref() == Some(name));
    let rules = server.tool_meta.keys().chain(server.forbidden_tools.iter().filter(|name| !is_alias(name)));
    rules.map(String::as_str).filter(|name| !tools.contains(name)).collect()
}

/// Whether the tool may run now.
pub(crate) fn may_run(meta: Option<&ToolMeta>, confirmation: Confirmation) -> bool {
    meta.and_then(|m| m.auto_apply) == Some(true) || confirmation == Confirmation::Allow
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
        assert!(is_forbidden(&server, "rm") && is_forbidden(&server, "purge") && !is_forbidden(&server, "ls"));
        let run = |tool: &str, confirmation| may_run(meta_of(&server, tool).as_ref(), confirmation);
        assert!(!run("own", Confirmation::Refuse), "its own entry wins over the default");
        assert!(run("own", Confirmation::Allow));
        assert!(run("free", Confirmation::Refuse), "what it leaves open comes from the default");
        assert!(run("other", Confirmation::Refuse));
        assert!(!may_run(None, Confirmation::Refuse));
        assert_eq!(unmatched(&server, &["own", "free", "purge"]), ["rm"]);
        assert_eq!(meta_of(&server, "free").unwrap().tags, Some(vec!["t".into()]));
    }
}
