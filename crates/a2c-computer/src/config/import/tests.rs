//! One file of each host, as it writes them.

use a2c_protocol::config::McpTransport;
use serde_json::{Value, json};

use super::*;
use crate::config::{Edit, edit};

/// Imports with secrets kept: whose file, which servers in our shape, and parts of the notes.
#[track_caller]
fn check(document: &Value, host: McpHost, servers: &Value, notes: &[&str]) {
    let imported = import(document, LiteralSecrets::Keep).unwrap();
    assert_eq!(imported.host, host);
    let written: Value = serde_json::from_str(&imported.config.to_json()).unwrap();
    assert_eq!(written["servers"], *servers);
    let found: Vec<String> = imported.notes.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), notes.len(), "{found:#?}");
    for (found, part) in found.iter().zip(notes) {
        assert!(found.contains(part), "{part:?} is not in {found:?}");
    }
    assert_eq!(ComputerConfig::parse(&imported.config.to_json()).unwrap(), imported.config);
}

fn stdio(parameters: &Value) -> Value {
    json!({"type": "stdio", "server_parameters": parameters})
}

fn streamable(parameters: &Value) -> Value {
    json!({"type": "streamable", "server_parameters": parameters})
}

#[test]
fn claude_desktop_and_cursor() {
    check(
        &json!({"globalShortcut": "x", "mcpServers": {
            "files": {"command": "npx", "args": ["-y", "pkg", "${HOME}/x"], "env": {"PORT": 80, "DEBUG": true}},
            "remote": {"url": "https://h/mcp", "headers": {"X-Org": "me"}},
            "older": {"url": "https://h/sse"}}}),
        McpHost::Common,
        &json!({
            "files": stdio(&json!({"command": "npx", "args": ["-y", "pkg", "${env:HOME}/x"], "env": {"DEBUG": "true", "PORT": "80"}})),
            "remote": streamable(&json!({"url": "https://h/mcp", "headers": {"X-Org": "me"}})),
            "older": {"type": "sse", "server_parameters": {"url": "https://h/sse"}}}),
        &["older: was taken for a legacy SSE server"],
    );
}

#[test]
fn claude_code_with_projects() {
    check(
        &json!({"numStartups": 7, "mcpServers": {"a": {"type": "stdio", "command": "x", "env": {}}}, "projects": {
            "/p": {"allowedTools": [], "mcpServers": {"a": {"command": "y"}, "b": {"type": "http", "url": "https://h/${KEY:-x}"}}},
            "/q": {"mcpServers": {"b": {"type": "http", "url": "https://h/${KEY:-x}"}}}}}),
        McpHost::ClaudeCode,
        &json!({"a": stdio(&json!({"command": "x"})), "a-2": stdio(&json!({"command": "y"})),
               "b": streamable(&json!({"url": "https://h/${env:KEY}"}))}),
        &[
            "a-2: is of the project /p",
            "b: the default of ${KEY:-…}",
            "b: is of the project /p",
            "b: the default",
            "/q",
        ],
    );
}

#[test]
fn claude_code_with_servers_that_are_off_in_a_project() {
    let off = |command: &str| json!({"type": "stdio", "server_parameters": {"command": command}, "disabled": true});
    check(
        &json!({"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}, "c": {"command": "x"}}, "projects": {
            "/p": {"disabledMcpServers": ["a", "gone"], "mcpServers": {}},
            "/q": {"disabledMcpjsonServers": ["c", "d"], "mcpServers": {"c": {"command": "y"}, "d": {"command": "z"}}},
            "/r": {"mcpServers": {"d": {"command": "z"}}}}}),
        McpHost::ClaudeCode,
        &json!({"a": off("x"), "b": stdio(&json!({"command": "x"})), "c": stdio(&json!({"command": "x"})),
               "c-2": off("y"), "d": off("z")}),
        &[
            "a: is disabled in the project /p",
            "c-2: is of the project /q",
            "c-2: is disabled in the project /q",
            "d: is of the project /q",
            "d: is disabled in the project /q",
            "d: is of the project /r",
        ],
    );
}

#[test]
fn vs_code() {
    let servers = json!({"a": {"type": "stdio", "command": "x", "env": {"K": "${input:key}"}, "envFile": "${workspaceFolder}/.env", "gallery": true},
                         "b": {"type": "http", "url": "https://h", "headers": {"X": "${config:x.y}"}}});
    let inputs = json!([{"type": "promptString", "id": "key", "description": "K", "password": true},
                        {"type": "pickString", "id": "size", "description": "S", "options": [{"label": "Small", "value": "s"}, "m"]},
                        {"type": "command", "id": "cmd", "command": "ext.run"}]);
    let expected = json!({"a": stdio(&json!({"command": "x", "env": {"K": "${input:key}"}})),
                          "b": streamable(&json!({"url": "https://h", "headers": {"X": "${config:x.y}"}}))});
    let notes = ["the input `cmd` runs a command of the editor", "a: `envFile`", "b: ${config:x.y}"];
    check(&json!({"servers": servers, "inputs": inputs}), McpHost::VsCode, &expected, &notes);
    let settings = json!({"editor.fontSize": 12, "mcp": {"servers": servers, "inputs": inputs}});
    check(&settings, McpHost::VsCodeSettings, &expected, &notes);
    let imported = import(&settings, LiteralSecrets::Move).unwrap();
    let ids: Vec<&str> = imported.config.inputs.iter().map(Input::id).collect();
    assert_eq!(ids, ["key", "size"]);
}

#[test]
fn windsurf() {
    check(
        &json!({"mcpServers": {"a": {"serverUrl": "https://h/mcp", "disabledTools": ["rm"], "disabled": true}}}),
        McpHost::Windsurf,
        &json!({"a": {"type": "streamable", "server_parameters": {"url": "https://h/mcp"}, "disabled": true, "forbidden_tools": ["rm"]}}),
        &[],
    );
}

#[test]
fn zed() {
    check(
        &json!({"theme": "x", "context_servers": {
            "old": {"command": {"path": "x", "args": ["1"], "env": {"A": "b"}}, "settings": {}},
            "new": {"source": "custom", "enabled": false, "command": "y", "args": ["2"], "env": {}},
            "ext": {"settings": {"database": "x"}}}}),
        McpHost::Zed,
        &json!({"old": stdio(&json!({"command": "x", "args": ["1"], "env": {"A": "b"}})),
               "new": {"type": "stdio", "server_parameters": {"command": "y", "args": ["2"]}, "disabled": true}}),
        &["ext: `settings`", "ext: was left out"],
    );
}

#[test]
fn cline() {
    check(
        &json!({"mcpServers": {"a": {"command": "x", "disabled": false, "autoApprove": ["read"], "disabledTools": ["rm"], "timeout": 60},
                               "b": {"type": "streamableHttp", "url": "https://h", "alwaysAllow": []}}}),
        McpHost::Cline,
        &json!({"a": {"type": "stdio", "server_parameters": {"command": "x"}, "forbidden_tools": ["rm"], "tool_meta": {"read": {"auto_apply": true}}},
               "b": streamable(&json!({"url": "https://h"}))}),
        &["a: runs without asking, as in that host: read", "a: `timeout`"],
    );
}

#[test]
fn gemini_cli() {
    check(
        &json!({"selectedAuthType": "x", "mcpServers": {
            "a": {"httpUrl": "https://h/mcp", "excludeTools": ["rm"], "trust": true},
            "b": {"url": "https://h/events"},
            "c": {"command": "x", "env": {"K": "$K"}, "includeTools": ["t"]}}}),
        McpHost::GeminiCli,
        &json!({"a": {"type": "streamable", "server_parameters": {"url": "https://h/mcp"}, "forbidden_tools": ["rm"], "default_tool_meta": {"auto_apply": true}},
               "b": {"type": "sse", "server_parameters": {"url": "https://h/events"}},
               "c": stdio(&json!({"command": "x", "env": {"K": "${env:K}"}}))}),
        &["a: every tool runs without asking", "c: `includeTools` allows some tools only"],
    );
}

#[test]
fn trust_is_for_the_tools_that_were_allowed() {
    let server = |rules: &Value| {
        let mut entry = json!({"command": "x"});
        entry.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
        let imported = import(&json!({"mcpServers": {"a": entry}}), LiteralSecrets::Keep).unwrap();
        let written: Value = serde_json::from_str(&imported.config.to_json()).unwrap();
        (written["servers"]["a"]["tool_meta"].clone(), written["servers"]["a"]["default_tool_meta"].clone())
    };
    let (yes, no) = (json!({"auto_apply": true}), Value::Null);
    for (rules, tools, others) in [
        (json!({"trust": true}), no.clone(), yes.clone()),
        (json!({"trust": true, "includeTools": ["t", "u(x)"]}), json!({"t": yes}), no.clone()),
        (json!({"trust": true, "includeTools": []}), no.clone(), no.clone()),
        (json!({"trust": false, "includeTools": ["t"]}), no.clone(), no),
    ] {
        assert_eq!(server(&rules), (tools, others), "{rules}");
    }
}

#[test]
fn codex_and_opencode() {
    check(
        &json!({"model": "x", "mcp_servers": {
            "a": {"command": "x", "env_vars": ["HOME"], "startup_timeout_sec": 5, "enabled": true},
            "b": {"url": "https://h", "bearer_token_env_var": "T", "env_http_headers": {"X-A": "B"}}}}),
        McpHost::Codex,
        &json!({"a": stdio(&json!({"command": "x", "env": {"HOME": "${env:HOME}"}})),
               "b": streamable(&json!({"url": "https://h", "headers": {"Authorization": "Bearer ${env:T}", "X-A": "${env:B}"}}))}),
        &["a: `startup_timeout_sec`"],
    );
    check(
        &json!({"mcp": {"a": {"type": "local", "command": ["x", "1"], "environment": {"A": "{env:A}"}, "enabled": true},
                        "b": {"type": "remote", "url": "https://h"}}}),
        McpHost::OpenCode,
        &json!({"a": stdio(&json!({"command": "x", "args": ["1"], "env": {"A": "${env:A}"}})), "b": streamable(&json!({"url": "https://h"}))}),
        &[],
    );
}

#[test]
fn continue_in_both_of_its_shapes() {
    check(
        &json!({"mcpServers": [{"name": "a", "command": "x"}, {"name": "b", "type": "sse", "url": "https://h", "requestOptions": {"headers": {"A": "b"}}}]}),
        McpHost::Continue,
        &json!({"a": stdio(&json!({"command": "x"})), "b": {"type": "sse", "server_parameters": {"url": "https://h", "headers": {"A": "b"}}}}),
        &[],
    );
    check(
        &json!({"experimental": {"modelContextProtocolServers": [{"transport": {"type": "stdio", "command": "x", "args": ["1"]}}]}}),
        McpHost::Continue,
        &json!({"server": stdio(&json!({"command": "x", "args": ["1"]}))}),
        &[],
    );
}

#[test]
fn our_own_shape_passes_as_it_is_and_bad_servers_are_left_out() {
    check(
        &json!({"servers": {"a": {"type": "stdio", "server_parameters": {"command": "x"}, "tool_meta": {"t": {"alias": "u"}}},
                            "b": {"type": "sse", "server_parameters": {"url": "ftp://h"}}, "c": 3}}),
        McpHost::A2c,
        &json!({"a": {"type": "stdio", "server_parameters": {"command": "x"}, "tool_meta": {"t": {"alias": "u"}}}}),
        &["b: was left out: servers.b.server_parameters.url", "c: is not an object and was left out"],
    );
    for nothing in [json!({}), json!([]), json!({"mcpServers": {}}), json!({"theme": "x"})] {
        assert_eq!(import(&nothing, LiteralSecrets::Move), Err(ImportError::NoServers), "{nothing}");
    }
}

fn with_secrets() -> Imported {
    let document = json!({"mcpServers": {
        "git hub": {"command": "x", "args": ["--token", "s3cret"], "env": {"GITHUB_TOKEN": "s3cret", "TZ": "UTC"}},
        "web": {"url": "https://h?api_key=s3cret", "headers": {"Authorization": "Bearer s3cret", "X-Key": "${env:K}"}}}});
    import(&document, LiteralSecrets::Move).unwrap()
}

#[test]
fn literal_secrets_become_inputs() {
    let imported = with_secrets();
    let McpTransport::Stdio(stdio) = &imported.config.servers["git hub"].transport else { panic!() };
    assert_eq!(stdio.env.as_ref().unwrap()["GITHUB_TOKEN"], "${input:git-hub-github-token}");
    assert_eq!(stdio.env.as_ref().unwrap()["TZ"], "UTC");
    let McpTransport::Streamable(http) = &imported.config.servers["web"].transport else { panic!() };
    assert_eq!(http.headers.as_ref().unwrap()["Authorization"], "Bearer ${input:web-authorization}");
    assert!(
        imported.config.inputs.iter().all(|input| matches!(input, Input::PromptString { password: Some(true), .. }))
    );
    let variables: Vec<&str> = imported.secrets.iter().map(|secret| &*secret.variable).collect();
    assert_eq!(variables, ["A2C_INPUT_GIT_HUB_GITHUB_TOKEN", "A2C_INPUT_WEB_AUTHORIZATION"]);
    let notes: Vec<String> = imported.notes.iter().map(ToString::to_string).collect();
    assert!(notes.len() == 2 && notes[0].contains("`args`") && notes[1].contains("`url`"), "{notes:?}");
    assert!(!notes.concat().contains("s3cret"));
}

#[test]
fn only_what_is_asked_for_is_taken() {
    let imported = with_secrets().only(&["web".into()]).unwrap();
    assert_eq!((imported.config.servers.len(), imported.config.inputs.len(), imported.secrets.len()), (1, 1, 1));
    let error = with_secrets().only(&["wep".into()]).unwrap_err();
    assert_eq!(error.to_string(), "there is no server `wep`: there are git hub, web");
}

#[test]
fn what_is_there_stays_unless_replaced_and_inputs_get_out_of_the_way() {
    let text = r#"{"inputs": [{"type": "promptString", "id": "web-authorization", "default": "mine"}],
                   "servers": {"git hub": {"command": "mine"}}}"#;
    let existing = ComputerConfig::parse(text).unwrap();
    let mut imported = with_secrets();
    let (edits, notes) = imported.onto(&existing, OnConflict::Keep);
    let (_, merged) = edit(text, &edits).unwrap();
    assert_eq!(merged.servers["git hub"], existing.servers["git hub"]);
    assert_eq!(merged.inputs.iter().map(Input::id).collect::<Vec<_>>(), ["web-authorization", "web-authorization-2"]);
    let McpTransport::Streamable(http) = &merged.servers["web"].transport else { panic!() };
    assert_eq!(http.headers.as_ref().unwrap()["Authorization"], "Bearer ${input:web-authorization-2}");
    assert_eq!(imported.secrets[0].variable, "A2C_INPUT_WEB_AUTHORIZATION_2");
    assert_eq!(imported.secrets.len(), 1);
    assert!(notes[0].what.contains("--replace") && notes[1].what == "added", "{notes:?}");

    let (edits, _) = with_secrets().onto(&existing, OnConflict::Replace);
    let (text, merged) = edit(text, &edits).unwrap();
    assert_ne!(merged.servers["git hub"], existing.servers["git hub"]);
    // Once more changes nothing, though the ids of inputs differ now.
    let (edits, _) = with_secrets().onto(&merged, OnConflict::Keep);
    assert!(!edits.iter().any(|edit| matches!(edit, Edit::Set(_))), "{text}");
}

#[test]
fn the_rules_of_a_replaced_server_stay_where_the_import_has_none() {
    for (old, new, expected, noted) in [
        (json!({}), json!({}), json!({}), "replaced"),
        (json!({"disabled": true}), json!({"disabled": false}), json!({"disabled": true}), "`disabled`"),
        (
            json!({"forbidden_tools": ["a", "b"]}),
            json!({"disabledTools": ["b", "c"]}),
            json!({"forbidden_tools": ["b", "c", "a"]}),
            "`forbidden_tools`",
        ),
        (
            json!({"tool_meta": {"t": {"auto_apply": false, "alias": "x"}, "u": {"tags": ["y"]}}}),
            json!({"autoApprove": ["t"]}),
            json!({"tool_meta": {"t": {"auto_apply": true, "alias": "x"}, "u": {"tags": ["y"]}}}),
            "`tool_meta`",
        ),
        (
            json!({"default_tool_meta": {"auto_apply": false}}),
            json!({}),
            json!({"default_tool_meta": {"auto_apply": false}}),
            "`default_tool_meta`",
        ),
        (
            json!({"default_tool_meta": {"auto_apply": false}}),
            json!({"autoApprove": ["*"]}),
            json!({"default_tool_meta": {"auto_apply": true}}),
            "replaced",
        ),
    ] {
        let with = |command: &str, rules: &Value| {
            let mut entry = json!({"command": command});
            entry.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
            entry
        };
        let config = |entry: &Value| ComputerConfig::parse(&json!({"servers": {"s": entry}}).to_string()).unwrap();
        let existing = config(&with("old", &old));
        let document = json!({"mcpServers": {"s": with("new", &new)}});
        let mut imported = import(&document, LiteralSecrets::Keep).unwrap();
        let (edits, notes) = imported.onto(&existing, OnConflict::Replace);
        let (_, merged) = edit(&existing.to_json(), &edits).unwrap();
        assert_eq!(merged, config(&with("new", &expected)));
        assert!(notes[0].what.contains(noted), "{noted} is not in {notes:?}");
        assert_eq!(notes[0].what == "replaced", noted == "replaced", "{notes:?}");
        let (edits, _) = imported.onto(&merged, OnConflict::Replace);
        assert!(edits.is_empty(), "once more changes nothing: {edits:?}");
    }
}
