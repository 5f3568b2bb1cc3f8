//! What the owner's configuration of a server says about its tools. Pure.

use a2c_protocol::config::McpServerConfig;
use a2c_protocol::tool::ToolMeta;

/// The owner's metadata for a tool: its own entry, completed from the server's default.
pub(crate) fn meta_of(server: &McpServerConfig, tool: &str) -> Option<ToolMeta> {
    match server.tool_meta.get(tool) {
        Some(own) => Some(own.clone().or(server.default_tool_meta.as_ref())),
        None => server.default_tool_meta.clone(),
    }
}

/// Whether the owner forbids a tool, by its own name or by its alias.
pub(crate) fn is_forbidden(server: &McpServerConfig, tool: &str) -> bool {
    let alias = server.tool_meta.get(tool).and_then(|meta| meta.alias.as_ref());
    server.forbidden_tools.iter().any(|forbidden| forbidden == tool || Some(forbidden) == alias)
}

/// Whether the owner lets a tool run without confirmation.
pub(crate) fn runs_unasked(meta: Option<&ToolMeta>) -> bool {
    meta.and_then(|meta| meta.auto_apply) == Some(true)
}

/// Names in the rules that fit none of the server's tools: most likely typos.
pub(crate) fn unmatched<'a>(server: &'a McpServerConfig, tools: &[&str]) -> Vec<&'a str> {
    let is_alias = |name: &str| server.tool_meta.values().any(|meta| meta.alias.as_deref() == Some(name));
    let rules = server.tool_meta.keys().chain(server.forbidden_tools.iter().filter(|name| !is_alias(name)));
    rules.map(String::as_str).filter(|name| !tools.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_entries_win_over_the_default_and_aliases_count_as_names() {
        let server: McpServerConfig = serde_json::from_str(
            r#"{"type": "stdio", "server_parameters": {"command": "x"}, "forbidden_tools": ["rm", "wipe"],
                "tool_meta": {"own": {"auto_apply": false, "alias": "mine"}, "free": {"alias": "f"}, "purge": {"alias": "wipe"}},
                "default_tool_meta": {"auto_apply": true, "tags": ["t"]}}"#,
        )
        .unwrap();
        let forbidden = ["rm", "purge", "own", "ls"].map(|tool| is_forbidden(&server, tool));
        assert_eq!(forbidden, [true, true, false, false]);
        let unasked = |tool: &str| runs_unasked(meta_of(&server, tool).as_ref());
        assert!(!unasked("own"), "its own entry wins over the default");
        assert!(unasked("free"), "what the entry leaves open comes from the default");
        assert!(unasked("other"));
        assert!(!runs_unasked(None));
        assert_eq!(meta_of(&server, "free").unwrap().tags, Some(vec!["t".into()]));
        assert_eq!(unmatched(&server, &["own", "free", "purge"]), ["rm"]);
    }
}
