//! Configuration files as owners write them: both shapes, all languages, and every mistake told with its place.

use a2c_computer::config::{ComputerConfig, ConfigError, Problem};
use a2c_computer::protocol::config::{EncodingErrors, Input, McpTransport};

/// One problem: at this line, about this path, saying these.
#[track_caller]
fn wrong(text: &str, line: usize, path: &str, parts: &[&str]) {
    told(ComputerConfig::parse(text).expect_err(text).problems, line, path, parts);
}

#[track_caller]
fn wrong_toml(text: &str, line: usize, path: &str, parts: &[&str]) {
    told(ComputerConfig::parse_toml(text).expect_err(text).problems, line, path, parts);
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "the problems end here")]
fn told(problems: Vec<Problem>, line: usize, path: &str, parts: &[&str]) {
    let [problem] = &*problems else { panic!("not one problem: {problems:#?}") };
    assert_eq!((problem.line, &*problem.path), (line, path), "{problem}");
    for part in parts {
        assert!(problem.what.contains(part), "{part:?} is not in: {problem}");
    }
    assert!(!problem.what.contains("s3cret") && !problem.what.contains('\n'), "{problem}");
}

/// A server with one more line, the third.
fn with(extra: &str) -> String {
    format!(
        "{{\"servers\": {{\"a\": {{\n\"type\": \"stdio\", \"server_parameters\": {{\"command\": \"x\"}},\n{extra}}}}}}}"
    )
}

/// Parameters on the second line.
fn parameters(kind: &str, parameters: &str) -> String {
    format!("{{\"servers\": {{\"a\": {{\"type\": \"{kind}\", \"server_parameters\":\n{{{parameters}}}}}}}}}")
}

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
fn a_text_that_is_no_json_or_toml_is_told_where() {
    wrong("", 1, "", &["is empty", "servers"]);
    wrong("{\n", 1, "", &["not closed"]);
    wrong("{\"servers\": {}} x", 1, "", &["trailing"]);
    wrong("{\n  servers: {}}", 2, "", &["double quotes"]);
    wrong("{\"servers\": {\"a\": {}\n \"b\": {}}}", 1, "", &["comma is missing here"]);
    wrong("{\"servers\": {\"a\": {\"command\": s3cret}}}", 1, "", &["not JSON"]);
    wrong("{\"servers\": {\"a\": {\"command\": 's3cret'}}}", 1, "", &["double quotes"]);
    wrong("[]", 1, "", &["is a list", "object"]);
    wrong_toml("[servers.a]\ncommand = s3cret\n", 2, "", &["not TOML"]);
    wrong_toml("[servers.a]\ncommand = \"x\"\ncommand = \"s3cret\"\n", 3, "", &["duplicate"]);
    let nested = format!("{{\"servers\": {}{}}}", "[".repeat(64), "]".repeat(64));
    wrong(&nested, 1, "", &["deeper than 64"]);
    wrong(&"[".repeat(100_000), 1, "", &["nesting depth"]);
    wrong_toml(&format!("a = {}{}", "[".repeat(70), "]".repeat(70)), 1, "", &["deeper than 64"]);
}

#[test]
fn a_file_without_servers_is_told_what_it_may_be() {
    wrong("{}", 1, "", &["`servers`", "`mcpServers`", "NAME"]);
    wrong("{\"server\": {}}", 1, "", &["`server`", "did you mean `servers`?"]);
    wrong("{\"McpServers\": {}}", 1, "", &["did you mean `mcpServers`?"]);
    wrong("{\"context_servers\": {}}", 1, "", &["a2c computer import"]);
    wrong("{\"servers\": {},\n \"mcpServers\": {}}", 2, "mcpServers", &["keep one"]);
    wrong("{\"servers\": []}", 1, "servers", &["is a list", "object"]);
}

#[test]
fn unknown_keys_are_told_with_what_was_meant() {
    wrong("{\"servers\": {},\n\"input\": []}", 2, "input", &["did you mean `inputs`?"]);
    wrong(&with("\"forbiden_tools\": []"), 3, "servers.a.forbiden_tools", &["`forbidden_tools`"]);
    wrong(
        &with("\"tool_meta\": {\"t\": {\"autoapply\": true}}"),
        3,
        "servers.a.tool_meta.t.autoapply",
        &["`auto_apply`"],
    );
    wrong(
        &with("\"default_tool_meta\": {\"zzz\": 1}"),
        3,
        "servers.a.default_tool_meta.zzz",
        &["`auto_apply`", "`tags`"],
    );
    wrong(&with("\"tool_meta\": {\"a.b c\": {\"tag\": []}}"), 3, "servers.a.tool_meta.\"a.b c\".tag", &["`tags`"]);
    wrong(&parameters("stdio", "\"command\": \"x\", \"arg\": []"), 2, "servers.a.server_parameters.arg", &["`args`"]);
    wrong(
        &parameters("sse", "\"url\": \"http://h\", \"terminate_on_close\": true"),
        2,
        "servers.a.server_parameters.terminate_on_close",
        &["unknown"],
    );
    wrong(
        "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"forbiddenTools\": []}}}",
        2,
        "mcpServers.a.forbiddenTools",
        &["`forbidden_tools`"],
    );
    wrong(
        "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"tool_meta\":\n{\"t\": {\"aliass\": \"y\"}}}}}",
        2,
        "mcpServers.a.tool_meta.t.aliass",
        &["`alias`"],
    );
    wrong_toml(
        "[servers.a]\ncommand = \"x\"\n[servers.a.tool_meta.t]\nautoapply = true\n",
        4,
        "servers.a.tool_meta.t.autoapply",
        &["`auto_apply`"],
    );
}

#[test]
fn a_key_twice_is_an_error() {
    wrong(&with("\"disabled\": true,\n\"disabled\": false"), 4, "servers.a.disabled", &["twice", "line 3"]);
    wrong(
        "{\"servers\": {\"a\": {\"command\": \"x\"},\n\"a\": {\"command\": \"y\"}}}",
        2,
        "servers.a",
        &["twice", "line 1"],
    );
}

#[test]
fn values_are_told_what_they_should_be() {
    wrong(&with("\"disabled\": 3"), 3, "servers.a.disabled", &["is a number", "true or false"]);
    wrong(&with("\"disabled\": \"s3cret\""), 3, "servers.a.disabled", &["is a string"]);
    wrong(&with("\"forbidden_tools\": \"t\""), 3, "servers.a.forbidden_tools", &["list"]);
    wrong(&with("\"forbidden_tools\": [\"t\", 1]"), 3, "servers.a.forbidden_tools[1]", &["string, in quotes"]);
    wrong(&with("\"name\": \"b\""), 3, "servers.a.name", &["`b`", "`a`"]);
    if !cfg!(feature = "vrl") {
        wrong(&with("\"vrl\": \".\""), 3, "servers.a.vrl", &["does not run VRL", "--features vrl"]);
    }
    wrong(
        "{\"servers\": {\"a\":\n{\"type\": \"pipe\", \"server_parameters\": {}}}}",
        2,
        "servers.a.type",
        &["`pipe`", "`stdio`"],
    );
    wrong(
        "{\"servers\": {\"a\":\n{\"server_parameters\": {\"url\": \"http://h\"}}}}",
        2,
        "servers.a.type",
        &["missing", "`streamable`"],
    );
    wrong("{\"servers\": {\"a\": {\"disabled\": false}}}", 1, "servers.a", &["`command`", "`url`"]);
    wrong("{\"servers\": {\"a\": {\"comand\": \"x\"}}}", 1, "servers.a", &["did you mean `command`?"]);
    wrong("{\"mcpServers\": {\"a\": {\"args\": []}}}", 1, "mcpServers.a", &["`command`", "`url`"]);
    wrong("{\"mcpServers\": {\"a\": {\"serverUrl\": \"http://h\"}}}", 1, "mcpServers.a", &["`serverUrl`", "import"]);
    wrong(
        "{\"servers\": {\"a\": {\"type\": \"sse\", \"command\": \"x\"}}}",
        1,
        "servers.a.type",
        &["`sse` needs `url`"],
    );
    wrong_toml("[servers.a]\ncommand = 1979-05-27\n", 2, "servers.a.command", &["is a date"]);
}

#[test]
fn parameters_are_checked() {
    let at = |key: &str| format!("servers.a.server_parameters.{key}");
    wrong(&parameters("stdio", ""), 2, &at("command"), &["missing", "program"]);
    wrong(&parameters("stdio", "\"command\": \" \""), 2, &at("command"), &["empty"]);
    wrong(&parameters("stdio", "\"command\": \"x\", \"encoding\": \"latin-1\""), 2, &at("encoding"), &["UTF-8"]);
    wrong(
        &parameters("stdio", "\"command\": \"x\", \"encoding_error_handler\": \"strikt\""),
        2,
        &at("encoding_error_handler"),
        &["`strict`"],
    );
    wrong(
        &parameters("stdio", "\"command\": \"x\", \"env\": {\"P\": 80}"),
        2,
        &at("env.P"),
        &["is a number", "quotes"],
    );
    wrong(
        &parameters("stdio", "\"command\": \"x\", \"env\": {\"A=B\": \"s3cret\"}"),
        2,
        &at("env.\"A=B\""),
        &["not a name"],
    );
    wrong(&parameters("sse", "\"url\": \"s3cret.org/mcp\""), 2, &at("url"), &["https://example.org/mcp"]);
    wrong(&parameters("streamable", "\"headers\": {}"), 2, &at("url"), &["missing"]);
    wrong(
        &parameters("sse", "\"url\": \"http://h\", \"headers\": {\"a b\": \"s3cret\"}"),
        2,
        &at("headers.\"a b\""),
        &["not a name"],
    );
    wrong(
        &parameters("sse", "\"url\": \"http://h\", \"headers\": {\"a\": \"s3cret\\n\"}"),
        2,
        &at("headers.a"),
        &["one line"],
    );
    for (value, part) in
        [("\"30\"", "PT30S"), ("0", "more than 0"), ("-1", "more than 0"), ("1e300", "at most"), ("true", "duration")]
    {
        wrong(
            &parameters("streamable", &format!("\"url\": \"http://h\", \"timeout\": {value}")),
            2,
            &at("timeout"),
            &[part],
        );
        wrong(
            &parameters("sse", &format!("\"url\": \"http://h\", \"sse_read_timeout\": {value}")),
            2,
            &at("sse_read_timeout"),
            &[part],
        );
    }
}

#[test]
fn names_of_servers_and_tools_are_checked() {
    let named = |name: &str| format!("{{\"servers\": {{\"{name}\": {{\"command\": \"x\"}}}}}}");
    wrong(&named(""), 1, "servers.\"\"", &["needs a name"]);
    wrong(&named("a\\u0007"), 1, "servers.\"a\\u{7}\"", &["control"]);
    wrong(&named(&"n".repeat(129)), 1, &format!("servers.{}", "n".repeat(129)), &["128"]);
    ComputerConfig::parse(&named(&"n".repeat(128))).unwrap();
    wrong(&with("\"tool_meta\": {\"t\": {\"alias\": \"no good\"}}"), 3, "servers.a.tool_meta.t.alias", &["a-z"]);
    wrong(
        &with(&format!("\"tool_meta\": {{\"t\": {{\"alias\": \"{}\"}}}}", "n".repeat(65))),
        3,
        "servers.a.tool_meta.t.alias",
        &["64"],
    );
    let clash = "{\"servers\": {\"a\": {\"command\": \"x\", \"tool_meta\": {\"t\": {\"alias\": \"y\"}}},\n\
                 \"b\": {\"command\": \"x\", \"tool_meta\": {\"u\": {\"alias\": \"y\"}}}}}";
    wrong(clash, 2, "servers.b.tool_meta.u.alias", &["`y`", "servers.a.tool_meta.t.alias", "line 1"]);
}

#[test]
fn inputs_are_checked() {
    let inputs = |inputs: &str| format!("{{\"servers\": {{}}, \"inputs\": [\n{inputs}]}}");
    let read = |text: &str| ComputerConfig::parse(&inputs(text)).unwrap().inputs;
    let picked = read("{\"type\": \"pickString\", \"id\": \"p\", \"options\": [\"s\", \"m\"], \"default\": \"m\"}");
    assert!(matches!(&*picked, [Input::PickString { options, .. }] if options.len() == 2));
    for args in ["[\"-n\"]", "{\"a\": 1}", "null"] {
        read(&format!("{{\"type\": \"command\", \"id\": \"c\", \"command\": \"x\", \"args\": {args}}}"));
    }
    let prompt = "{\"type\": \"promptString\", \"id\": \"k\"}";
    wrong(&inputs(&format!("{prompt},\n{prompt}")), 3, "inputs[1].id", &["`k`", "twice", "line 2"]);
    wrong(&inputs("{\"type\": \"promptString\"}"), 2, "inputs[0].id", &["missing"]);
    wrong(&inputs("{\"id\": \"k\"}"), 2, "inputs[0].type", &["missing", "`promptString`"]);
    wrong(&inputs("{\"type\": \"prompt\", \"id\": \"k\"}"), 2, "inputs[0].type", &["`promptString`"]);
    wrong(
        &inputs("{\"type\": \"promptString\", \"id\": \"k\", \"pasword\": true}"),
        2,
        "inputs[0].pasword",
        &["`password`"],
    );
    wrong(&inputs("{\"type\": \"promptString\", \"id\": \"k\", \"default\": 1}"), 2, "inputs[0].default", &["string"]);
    wrong(&inputs("{\"type\": \"pickString\", \"id\": \"k\"}"), 2, "inputs[0].options", &["missing"]);
    wrong(&inputs("{\"type\": \"pickString\", \"id\": \"k\", \"options\": []}"), 2, "inputs[0].options", &["empty"]);
    wrong(
        &inputs("{\"type\": \"pickString\", \"id\": \"k\", \"options\": [\"a\"], \"default\": \"b\"}"),
        2,
        "inputs[0].default",
        &["`a`"],
    );
    wrong(&inputs("{\"type\": \"command\", \"id\": \"k\", \"command\": \"\"}"), 2, "inputs[0].command", &["empty"]);
    wrong(
        &inputs("{\"type\": \"command\", \"id\": \"k\", \"command\": \"x\", \"args\": \"s3cret\"}"),
        2,
        "inputs[0].args",
        &["list"],
    );
    wrong("{\"mcpServers\": {}, \"inputs\": {}}", 1, "inputs", &["list"]);
}

#[test]
fn all_problems_of_a_file_are_told_at_once_one_line_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("computer.jsonc");
    let text = "{\n  // a comment\n  \"servers\": {\n    \"a\": {\"command\": \"\", \"disabled\": 1},\n    \"b\": {\"url\": \"x\",\n      \"tool_meta\": {\"t\": {\"autoapply\": true}}}\n  },\n  \"input\": []\n}\n";
    std::fs::write(&path, text).unwrap();
    let error = ComputerConfig::load(&path).unwrap_err();
    let file = path.display();
    let lines = [
        format!("{file}:4:22: servers.a.command: is empty: name the program to run"),
        format!("{file}:4:38: servers.a.disabled: is a number: write true or false, without quotes"),
        format!(
            "{file}:5:18: servers.b.url: is not the address of an MCP server: write one such as \"https://example.org/mcp\""
        ),
        format!("{file}:6:27: servers.b.tool_meta.t.autoapply: unknown key: did you mean `auto_apply`?"),
        format!("{file}:8:3: input: unknown key: did you mean `inputs`?"),
    ];
    assert_eq!(error.to_string(), lines.join("\n"));
    assert!(matches!(error, ConfigError::Invalid { problems, .. } if problems.len() == 5));
}

#[test]
fn of_very_many_problems_the_first_are_told() {
    let keys: Vec<String> = (0..50_000).map(|number| format!("\"k{number}\": 1")).collect();
    let problems = ComputerConfig::parse(&with(&keys.join(",\n"))).unwrap_err().problems;
    assert_eq!((problems.len(), &*problems[100].what), (101, "and 49900 more"));
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_strange_to_be_read(text in ".{0,200}") {
        let _ = ComputerConfig::parse(&text);
        let _ = ComputerConfig::parse_toml(&text);
    }

    #[test]
    fn no_part_of_a_file_is_too_strange_to_be_read(
        start in 0_usize..400, length in 0_usize..40, new in "[\\[\\]{}:,\"0-9a-z/*\\\\\\n]{0,6}"
    ) {
        let whole = r#"{"inputs": [{"type": "pickString", "id": "ü", "options": ["a"], "default": "a"}], // x
            "servers": {"a": {"command": "x", "args": ["1", "2"], "env": {"A": "b"}, "tool_meta": {"t": {"alias": "y"}}},
            "b": {"type": "sse", "server_parameters": {"url": "https://h/${input:x}", "timeout": "PT5S"}}}}"#;
        let start = whole.floor_char_boundary(start.min(whole.len()));
        let end = whole.floor_char_boundary((start + length).min(whole.len())).max(start);
        let text = format!("{}{new}{}", &whole[..start], &whole[end..]);
        if let Ok(config) = ComputerConfig::parse(&text) {
            proptest::prop_assert_eq!(ComputerConfig::parse(&config.to_json()), Ok(config));
        }
    }
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
        "b": {"url": "https://h/${input:k}", "headers": {"A": "b"}, "timeout": 7.5, "sse_read_timeout": "PT1H", "terminate_on_close": false},
        "c": {"type": "sse", "url": "https://h", "timeout": 1, "forbidden_tools": ["t"], "default_tool_meta": {"auto_apply": false},
              "tool_meta": {"u": {"auto_apply": true, "alias": "v", "tags": ["w"], "ret_object_mapper": {"x": null}}}},
        "d": {"command": "plain"}}}"#;
    let config = ComputerConfig::parse(text).unwrap();
    let written = config.to_json();
    assert_eq!(ComputerConfig::parse(&written).unwrap(), config, "{written}");
    let plain = ComputerConfig {
        inputs: vec![],
        servers: config.servers.into_iter().filter(|(name, _)| name == "d").collect(),
    };
    let expected = "{\n  \"servers\": {\n    \"d\": {\n      \"type\": \"stdio\",\n      \"server_parameters\": {\n        \"command\": \"plain\"\n      }\n    }\n  }\n}\n";
    assert_eq!(plain.to_json(), expected);
}

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
