//! Logs as machines read them.

use a2c_testbed::Peer;
use serde_json::{Value, json};

use crate::program::{a2c, agent, computer, hub, ran, run};

/// Every line of a log, which has to be an object with the fields that tools rely on.
#[track_caller]
fn lines(log: &str) -> Vec<Value> {
    let line = |line: &str| {
        let parsed: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        for field in ["timestamp", "level", "target", "message"] {
            assert!(parsed[field].is_string(), "{field} is missing: {line}");
        }
        parsed
    };
    log.lines().map(line).collect()
}

#[test]
fn every_line_of_a_json_log_is_an_object_with_flat_fields() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut hub = {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", r#"exec "$0" server --listen 127.0.0.1:0 --auth none --log debug --log-format json 2>"$1""#]);
        shell.arg(env!("CARGO_BIN_EXE_a2c")).arg(&log);
        for variable in ["A2C_TOKEN", "A2C_LOG", "A2C_LOG_FORMAT"] {
            shell.env_remove(variable);
        }
        Peer::ready(shell)
    };
    let office = "o\"\n\u{1b}[31m世界";
    let (mut desk, _config) = computer(&hub, office);
    agent(&hub, office, &["call", "desk", "echo", r#"{"text": "x"}"#]).ok();
    agent(&hub, office, &["tools", "missing"]).fails_saying(&["404"]);
    assert!(desk.terminate().success());
    assert!(hub.terminate().success());

    let log = lines(&std::fs::read_to_string(log).unwrap());
    let joined = log.iter().find(|line| line["message"] == "joined").unwrap_or_else(|| panic!("{log:?}"));
    assert_eq!(joined["level"], "INFO");
    assert!(joined["target"].as_str().unwrap().starts_with("a2c_hub"), "{joined}");
    assert_eq!((&joined["office"], &joined["name"]), (&json!(office), &json!("desk")));
    assert!(log.iter().any(|line| line["level"] == "DEBUG"), "{log:?}");
    assert!(log.iter().any(|line| line["message"] == "stopping"), "{log:?}");
}

#[test]
fn the_end_of_the_program_is_a_line_of_the_log_too() {
    let hub = hub();
    let taken = hub.address().trim_start_matches("http://");
    let failed = run(&["server", "--listen", taken, "--auth", "none", "--log-format", "json"]);
    assert_eq!(failed.code, Some(1));
    let log = lines(&failed.stderr);
    let last = log.last().unwrap();
    assert_eq!(last["level"], "ERROR");
    assert!(last["message"].as_str().unwrap().contains(taken), "{last}");

    // Who has switched the log off still learns why.
    let failed = run(&["server", "--listen", taken, "--auth", "none", "--log-format", "json", "--log", "off"]);
    failed.fails_saying(&["a2c: ", taken]);
}

#[test]
fn the_form_comes_from_the_environment_too_and_has_to_be_one() {
    let failing = || a2c(&["agent", "--url", "http://127.0.0.1:9", "--office", "o", "members"]);
    let json = ran(failing().env("A2C_LOG_FORMAT", "json").output().unwrap());
    assert_eq!(lines(&json.stderr).last().unwrap()["level"], "ERROR");
    let text = ran(failing().env("A2C_LOG_FORMAT", "text").output().unwrap());
    assert!(text.stderr.starts_with("a2c: "), "{}", text.stderr);
    ran(failing().env("A2C_LOG_FORMAT", "xml").output().unwrap()).fails_saying(&["--log-format", "xml", "json"]);
}
