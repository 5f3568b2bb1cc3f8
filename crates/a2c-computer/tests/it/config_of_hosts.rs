//! Files of other MCP hosts, read as they are.

use a2c_computer::config::ComputerConfig;

use crate::expect_problem::{with, wrong};

#[test]
fn what_another_host_forbids_is_forbidden() {
    for (keys, disabled, forbidden) in [
        (r#""enabled": false"#, true, &[][..]),
        (r#""enabled": true"#, false, &[]),
        (r#""enabled": true, "disabled": true"#, true, &[]),
        (r#""enabled": false, "disabled": false"#, true, &[]),
        (r#""disabledTools": ["a"]"#, false, &["a"]),
        (r#""excludeTools": ["a", "b"], "forbidden_tools": ["b", "c"]"#, false, &["b", "c", "a"]),
        (r#""disabled_tools": ["a"], "enabled": null, "disabledTools": null"#, false, &["a"]),
        (r#""tools": ["*"], "includeTools": null"#, false, &[]),
    ] {
        let text = format!(r#"{{"mcpServers": {{"a": {{"command": "x", {keys}}}}}}}"#);
        let server = &ComputerConfig::parse(&text).unwrap().servers["a"];
        assert_eq!(
            (server.disabled, &*server.forbidden_tools),
            (disabled, &*forbidden.iter().map(ToString::to_string).collect::<Vec<_>>()),
            "{text}"
        );
    }
    let approving =
        r#"{"mcpServers": {"a": {"command": "x", "autoApprove": ["t"], "alwaysAllow": ["t"], "trust": true}}}"#;
    let server = &ComputerConfig::parse(approving).unwrap().servers["a"];
    assert!(server.tool_meta.is_empty() && server.default_tool_meta.is_none());
    for key in ["includeTools", "enabledTools", "enabled_tools", "allowedTools", "tools"] {
        let text = format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"x\",\n\"{key}\": [\"t\"]}}}}}}");
        wrong(&text, 2, &format!("mcpServers.a.{key}"), &["is not honoured", "forbidden_tools", "remove the key"]);
    }
}

#[test]
fn parameters_that_are_all_but_spelt_right_are_told_in_files_of_hosts_too() {
    for (entry, path, parts) in [
        ("\"command\": \"x\",\n\"arg\": []", "mcpServers.a.arg", &["did you mean `args`?"][..]),
        ("\"command\": \"x\",\n\"environment\": {}", "mcpServers.a.environment", &["did you mean `env`?"]),
        ("\"command\": \"x\",\n\"Env\": {}", "mcpServers.a.Env", &["did you mean `env`?"]),
        ("\"url\": \"http://h\",\n\"header\": {}", "mcpServers.a.header", &["did you mean `headers`?"]),
        ("\"command\": \"x\",\n\"url\": \"http://h\"", "mcpServers.a.url", &["`command`", "keep one"]),
    ] {
        wrong(&format!("{{\"mcpServers\": {{\"a\": {{{entry}}}}}}}"), 2, path, parts);
    }
    for (key, meant) in [("comand", "command"), ("URL", "url")] {
        let text = format!("{{\"mcpServers\":\n{{\"a\": {{\"{key}\": \"s3cret\"}}}}}}");
        wrong(&text, 2, "mcpServers.a", &[&format!("(`{key}`: did you mean `{meant}`?)")]);
    }
    let text = r#"{"mcpServers": {"a": {"command": "x", "env": {}, "environment": {}, "commands": [], "cwd": "/"}}}"#;
    assert!(ComputerConfig::parse(text).is_ok());
    wrong("{\"servers\": {\"a\": {\"command\": \"x\",\n\"url\": \"http://h\"}}}", 2, "servers.a.url", &["keep one"]);
    wrong(
        &with("\"default_tool_meta\": {\"alias\": \"y\"}"),
        3,
        "servers.a.default_tool_meta.alias",
        &["for one tool", "`tool_meta`"],
    );
}
