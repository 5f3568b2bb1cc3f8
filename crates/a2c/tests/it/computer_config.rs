//! The commands around a Computer's configuration file, as users run them.

use std::path::PathBuf;

use a2c_computer::config::ComputerConfig;
use tempfile::TempDir;

use crate::program::{Config, a2c, ran, run};

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn with(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("the file can be written");
        self.arg(name)
    }

    fn arg(&self, name: &str) -> String {
        self.path(name).to_str().expect("the path is UTF-8").to_owned()
    }
}

const CLINE: &str = r#"{
  // Cline's
  "mcpServers": {
    "github": {"command": "gh-mcp", "env": {"GITHUB_TOKEN": "s3cret"}, "autoApprove": ["search"], "timeout": 60},
    "time": {"command": "uvx", "args": ["mcp-server-time"]},
  }
}"#;

#[test]
fn the_schema_is_printed_whatever_the_environment_says_about_a_hub() {
    let mut command = a2c(&["computer", "schema"]);
    command.env("A2C_URL", "http://127.0.0.1:1").env("A2C_OFFICE", "o");
    let schema: serde_json::Value = serde_json::from_str(&ran(command.output().unwrap()).ok()).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(run(&["computer", "schema", "--help"]).ok().contains("$schema"));
    assert!(!run(&["computer", "schema", "--help"]).ok().contains("--office"));
}

#[test]
fn a_computer_is_still_run_without_a_subcommand() {
    run(&["computer", "--name", "desk"]).fails_saying(&["--url", "--office", "--config"]);
    run(&["computer"]).fails_saying(&["--url", "--name"]);
}

#[test]
fn a_file_is_converted_to_standard_output() {
    let files = Files::new();
    let ran = run(&["computer", "import", &files.with("cline.json", CLINE)]);
    let config = ComputerConfig::parse(&ran.stdout).unwrap();
    assert_eq!(config.servers.keys().collect::<Vec<_>>(), ["github", "time"]);
    assert_eq!(config.servers["github"].tool_meta["search"].auto_apply, Some(true));
    for part in ["Cline", "github: `timeout`", "A2C_INPUT_GITHUB_GITHUB_TOKEN"] {
        assert!(ran.stderr.contains(part), "{part} is not in {}", ran.stderr);
    }
    assert!(!ran.stdout.contains("s3cret") && !ran.stderr.contains("s3cret"));
    assert_eq!(ran.code, Some(0));
    let kept = run(&["computer", "import", &files.arg("cline.json"), "--keep-secrets", "--name", "github"]);
    assert!(kept.stdout.contains("s3cret") && !kept.stderr.contains("s3cret") && !kept.stdout.contains("uvx"));
}

#[test]
fn servers_are_added_to_a_file_that_keeps_the_rest() {
    let files = Files::new();
    let (from, into) = (files.with("cline.json", CLINE), files.arg("computer.jsonc"));
    let made = run(&["computer", "import", &from, "--into", &into, "--name", "time"]);
    assert!(made.stderr.contains("time: added") && made.stdout.is_empty(), "{}", made.stderr);
    files.with("computer.jsonc", "// mine\n{\"servers\": {\"time\": {\"command\": \"mine\"}}}\n");
    run(&["computer", "import", &from, "--into", &into]).ok();
    let text = std::fs::read_to_string(&into).unwrap();
    let config = ComputerConfig::load(&into).unwrap();
    assert!(text.starts_with("// mine") && text.contains(r#""time": {"command": "mine"}"#), "{text}");
    assert_eq!((config.servers.len(), config.inputs.len()), (2, 1));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&into).unwrap().permissions().mode() & 0o777, 0o600);
    }
    run(&["computer", "import", &from, "--into", &into, "--replace"]).ok();
    assert!(std::fs::read_to_string(&into).unwrap().contains("uvx"));
    let again = run(&["computer", "import", &from, "--into", &into, "--replace"]);
    assert!(again.stderr.contains("stays as it is"), "{}", again.stderr);
}

#[test]
fn the_rules_of_a_server_outlive_its_replacement() {
    let files = Files::new();
    let (from, into) = (files.with("cline.json", CLINE), files.arg("computer.json"));
    let mine = r#"{"servers": {"time": {"command": "mine", "disabled": true, "forbidden_tools": ["set"]}}}"#;
    files.with("computer.json", mine);
    let replaced = run(&["computer", "import", &from, "--into", &into, "--replace", "--name", "time"]);
    let note = "time: replaced; your settings of `disabled`, `forbidden_tools` stay";
    assert!(replaced.stderr.contains(note), "{}", replaced.stderr);
    let time = &ComputerConfig::load(&into).unwrap().servers["time"];
    assert!(time.disabled && time.forbidden_tools == ["set"], "{time:?}");
}

#[test]
fn what_cannot_be_imported_is_told() {
    let files = Files::new();
    let cline = files.with("cline.json", CLINE);
    run(&["computer", "import", &cline, "--name", "tme"]).fails_saying(&["`tme`", "github, time"]);
    run(&["computer", "import", &files.with("x.json", "{}")]).fails_saying(&["no MCP servers", "mcpServers"]);
    run(&["computer", "import", &files.with("x.json", "{")]).fails_saying(&["x.json:1:1", "not JSON"]);
    run(&["computer", "import", &files.arg("none.json")]).fails_saying(&["none.json"]);
    run(&["computer", "import", &cline, "--into", &files.arg("x.toml")]).fails_saying(&["JSON"]);
    let broken = files.with("broken.json", "{\"servers\": {\"a\": {}}}");
    run(&["computer", "import", &cline, "--into", &broken]).fails_saying(&["broken.json:1:19", "servers.a"]);
    assert_eq!(std::fs::read_to_string(files.path("broken.json")).unwrap(), "{\"servers\": {\"a\": {}}}");
    run(&["computer", "import", &cline, "--replace"]).fails_saying(&["--into"]);
}

#[test]
fn every_mistake_of_a_file_is_told_before_anything_is_connected() {
    let config = Config::new("{\"servers\": {\n\"a\": {\"command\": \"\"},\n\"b\": {\"ur\": \"s3cret\"}}}");
    let ran =
        run(&["computer", "--url", "http://127.0.0.1:1", "--office", "o", "--name", "d", "--config", config.arg()]);
    assert!(!ran.stderr.contains("s3cret"), "{}", ran.stderr);
    ran.fails_saying(&["computer.json:2:18: servers.a.command: is empty", "computer.json:3:6: servers.b: needs"]);
}
