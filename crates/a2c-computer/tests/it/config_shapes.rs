//! What can be written, in every shape and language.

use a2c_computer::config::{ComputerConfig, ConfigError};
use a2c_computer::protocol::config::{EncodingErrors, McpTransport};

#[test]
fn every_shape_in_every_language_says_the_same() {
    let full = r#"{"servers": {"a": {"type": "stdio", "server_parameters": {"command": "x", "args": ["1"]},
                   "tool_meta": {"t": {"auto_apply": true}}, "default_tool_meta": null, "vrl": null}},
                   "inputs": [{"type": "promptString", "id": "k", "description": "K", "password": true}]}"#;
    let expected = ComputerConfig::parse(full).unwrap();
    assert_eq!(expected.servers["a"].name, "a");
    assert_eq!(expected.inputs[0].id(), "k");
    let inputs = r#""inputs": [{"type": "promptString", "id": "k", "description": "K", "password": true}]"#;
    let entry = r#"{"command": "x", "args": ["1"], "tool_meta": {"t": {"auto_apply": true}}}"#;
    for text in [
        format!(r#"{{"servers": {{"a": {entry}}}, {inputs}}}"#),
        format!(r#"{{"$schema": "x", "mcpServers": {{"a": {entry}}}, {inputs}, "theme": "dark"}}"#),
        format!("\u{feff}// why\n{{\"servers\": {{\"a\": {entry},}}, /* inputs */ {inputs},}}\n"),
    ] {
        assert_eq!(ComputerConfig::parse(&text).unwrap(), expected, "{text}");
    }
    let inputs = "[[inputs]]\ntype = \"promptString\"\nid = \"k\"\ndescription = \"K\"\npassword = true\n";
    for text in [
        "[servers.a]\ntype = \"stdio\"\ntool_meta.t.auto_apply = true\n[servers.a.server_parameters]\ncommand = \"x\"\nargs = [\"1\"]\n",
        "[servers.a]\ncommand = \"x\"\nargs = [\"1\"]\n[servers.a.tool_meta]\nt = { auto_apply = true }\n",
        "theme = 1979-05-27\n[mcpServers.a]\ncommand = \"x\"\nargs = [\"1\"]\ntool_meta.t.auto_apply = true\n",
    ] {
        assert_eq!(ComputerConfig::parse_toml(&format!("{text}{inputs}")).unwrap(), expected, "{text}");
    }
}

#[test]
fn every_transport_is_read_in_full_and_flat() {
    let config = ComputerConfig::parse(
        r#"{"servers": {
            "stdio": {"type": "stdio", "server_parameters": {"command": "x", "env": {"A": "1"}, "cwd": "/", "encoding": "UTF-8", "encoding_error_handler": "replace"}},
            "http": {"type": "http", "server_parameters": {"url": "http://h/mcp", "timeout": "PT1M", "terminate_on_close": false}},
            "sse": {"type": "sse", "server_parameters": {"url": "http://h/sse", "timeout": 2.5, "headers": {"X-K": "v"}}},
            "flat-http": {"type": "streamable", "url": "https://h"},
            "flat-sse": {"type": "sse", "url": "https://h"},
            "flat-untyped": {"url": "https://h", "disabled": true}
        }}"#,
    )
    .unwrap();
    let transport = |name: &str| &config.servers[name].transport;
    let McpTransport::Stdio(stdio) = transport("stdio") else { panic!() };
    assert_eq!((&*stdio.encoding, stdio.encoding_error_handler), ("utf-8", EncodingErrors::Replace));
    let McpTransport::Streamable(http) = transport("http") else { panic!() };
    assert_eq!((http.timeout.seconds(), http.sse_read_timeout.seconds()), (60.0, 300.0));
    assert!(!http.terminate_on_close);
    let McpTransport::Sse(sse) = transport("sse") else { panic!() };
    assert_eq!((sse.timeout, sse.sse_read_timeout), (2.5, 300.0));
    assert!(matches!(transport("flat-http"), McpTransport::Streamable(_)));
    assert!(matches!(transport("flat-sse"), McpTransport::Sse(_)));
    assert!(matches!(transport("flat-untyped"), McpTransport::Streamable(_)));
    assert!(config.servers["flat-untyped"].disabled);
    let hosts = ComputerConfig::parse(
        r#"{"mcpServers": {"a": {"name": "Shown to people", "command": "x", "type": "stdio", "autoApprove": [], "timeout": 60},
            "b": {"type": "streamableHttp", "url": "http://h"}}}"#,
    );
    assert!(matches!(hosts.unwrap().servers["b"].transport, McpTransport::Streamable(_)));
}

#[test]
fn files_are_read_by_their_extension_and_within_their_size() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        ComputerConfig::load(path)
    };
    let json = file("a.json", "{\"servers\": {\"a\": {\"command\": \"x\"}},}").unwrap();
    assert_eq!(file("a.TOML", "[servers.a]\ncommand = \"x\"\n").unwrap(), json);
    assert_eq!(file("noextension", "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}").unwrap(), json);
    let large = " ".repeat(usize::try_from(ComputerConfig::MAX_FILE).unwrap() + 1);
    assert!(matches!(file("large.json", &large), Err(ConfigError::TooLarge { .. })));
    assert!(matches!(ComputerConfig::load(folder.path().join("none")), Err(ConfigError::Unreadable { .. })));
}

#[test]
fn what_is_written_is_read_again_as_it_was() {
    let text = r#"{"inputs": [{"type": "promptString", "id": "k", "description": "K", "default": "d", "password": true},
                      {"type": "pickString", "id": "p", "description": "P", "options": ["a"], "default": "a"},
                      {"type": "command", "id": "c", "description": "C", "command": "x", "args": ["1"]}],
        "servers": {
        "a": {"command": "x", "args": ["ü", "\""], "env": {}, "cwd": "/", "encoding_error_handler": "ignore", "disabled": true},
        "b": {"url": "https://h/${input:k}", "headers": {"A": "b"}, "timeout": 7.5, "sse_read_timeout": "PT1H", "terminate_on_close": false,
              "oauth": {"client_id": "me", "client_secret": "${input:k}", "client_metadata_url": "https://h/c.json", "issuer": "https://i", "scopes": ["a"], "callback_port": 8123}},
        "c": {"type": "sse", "url": "https://h", "timeout": 1, "forbidden_tools": ["t"], "default_tool_meta": {"auto_apply": false},
              "tool_meta": {"u": {"auto_apply": true, "alias": "v", "tags": ["w"], "ret_object_mapper": {"x": null}}}},
        "d": {"command": "plain"}}}"#;
    let config = ComputerConfig::parse(text).unwrap();
    let as_other_hosts = text.replace("client_id", "clientId").replace("client_secret", "clientSecret");
    let as_other_hosts = as_other_hosts.replace("callback_port", "callbackPort");
    assert_eq!(ComputerConfig::parse(&as_other_hosts).unwrap(), config);
    let written = config.to_json();
    assert_eq!(ComputerConfig::parse(&written).unwrap(), config, "{written}");
    let plain = ComputerConfig {
        inputs: vec![],
        servers: config.servers.into_iter().filter(|(name, _)| name == "d").collect(),
    };
    let expected = "{\n  \"servers\": {\n    \"d\": {\n      \"type\": \"stdio\",\n      \"server_parameters\": {\n        \"command\": \"plain\"\n      }\n    }\n  }\n}\n";
    assert_eq!(plain.to_json(), expected);
}
