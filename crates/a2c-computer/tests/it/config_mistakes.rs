//! Every mistake is told with its place.

use a2c_computer::config::{ComputerConfig, ConfigError};
use a2c_computer::protocol::config::Input;

use crate::expect_problem::{parameters, with, wrong, wrong_toml};

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
    for (oauth, key, words) in [
        ("{\"client\": \"x\"}", "client", "`client_id`"),
        ("{\"client_id\": \" \"}", "client_id", "is empty"),
        ("{\"client_secret\": \"s3cret\"}", "client_secret", "`client_id`"),
        ("{\"client_metadata_url\": \"http://h/c.json\"}", "client_metadata_url", "https://"),
        ("{\"client_metadata_url\": \"https://h/\"}", "client_metadata_url", "https://"),
        ("{\"issuer\": \"login\"}", "issuer", "https://"),
        ("{\"callback_port\": 0}", "callback_port", "65535"),
        ("{\"scopes\": \"a b\"}", "scopes", "list"),
        ("{\"scopes\": [\"a b\"]}", "scopes", "without blanks"),
    ] {
        let text = parameters("streamable", &format!("\"url\": \"http://h\", \"oauth\": {oauth}"));
        wrong(&text, 2, &format!("servers.a.server_parameters.oauth.{key}"), &[words]);
    }
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
