//! The command line that scripts rely on.

use a2c_testbed::processes::{children, runs};
use serde_json::{Value, json};

use crate::program::{Config, a2c, agent, computer, hub, ran, run, wait_until_free};

#[test]
fn up_makes_one_call_and_prints_the_answer() {
    assert_eq!(run(&["up", "--call", "echo", r#"{"text": "hello 世界"}"#]).ok(), "hello 世界\n");
    assert_eq!(run(&["up", "--call", "add", r#"{"a": 1, "b": 2.5}"#]).ok(), "3.5\n");
}

#[test]
fn up_tells_a_failed_call() {
    let absent = run(&["up", "--call", "nope", "{}"]);
    assert_eq!(absent.stderr, "a2c: there is no tool named 'nope' (code 4001)\n");
    run(&["up", "--call", "add", r#"{"a": "x"}"#]).fails_saying(&["4003"]);
    run(&["up", "--call", "wait", r#"{"seconds": 30}"#, "--timeout", "1"]).fails_saying(&["4004", "1 s"]);
    run(&["up", "--call", "echo", "[1]"]).fails_saying(&["JSON object", "[1]"]);
    run(&["up", "--listen", "0.0.0.0:0"]).fails_saying(&["loopback"]);
}

#[test]
fn each_role_on_its_own() {
    let hub = hub();
    assert!(hub.ready_line().starts_with("ready http://127.0.0.1:"), "{}", hub.ready_line());
    assert!(!hub.address().ends_with(":0"));
    let (desk, _config) = computer(&hub, "o");
    assert_eq!(desk.ready_line(), "ready desk@o");

    let members = agent(&hub, "o", &["--name", "me", "members"]).ok();
    assert_eq!(members, "agent     me    0.2.0\ncomputer  desk  0.2.0\n");
    let tools = agent(&hub, "o", &["tools", "desk"]).ok();
    assert!(tools.contains("echo  {text}     Gives the text back.\n"), "{tools}");
    assert!(tools.contains("add   {a, b}     Adds two numbers.\n"), "{tools}");
    let config = agent(&hub, "o", &["config", "desk"]).ok();
    assert!(config.contains("\"sample-server\""), "{config}");
    assert_eq!(agent(&hub, "o", &["call", "desk", "add", r#"{"a": 40, "b": 2}"#]).ok(), "42\n");
}

#[test]
fn json_is_the_answer_as_received() {
    let hub = hub();
    let (_desk, _config) = computer(&hub, "o");
    let ask = |rest: &[&str]| -> (Option<i32>, Value) {
        let mut args = vec!["--json"];
        args.extend(rest);
        let ran = agent(&hub, "o", &args);
        (ran.code, serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {} {}", ran.stdout, ran.stderr)))
    };
    let (code, members) = ask(&["members"]);
    assert_eq!((code, members["sessions"].as_array().map(Vec::len)), (Some(0), Some(2)));
    let (code, tools) = ask(&["tools", "desk"]);
    assert_eq!(
        (code, &tools["tools"][0]["name"], &tools["tools"][0]["return_schema"]),
        (Some(0), &json!("echo"), &Value::Null)
    );
    let (code, result) = ask(&["call", "desk", "echo", r#"{"text": "x"}"#]);
    assert_eq!((code, &result["content"][0]["text"], &result["isError"]), (Some(0), &json!("x"), &json!(false)));
    let (code, failed) = ask(&["call", "desk", "nope"]);
    assert_eq!((code, &failed["isError"], &failed["_meta"]["error_code"]), (Some(1), &json!(true), &json!(4001)));
    assert_eq!(failed["meta"], failed["_meta"]);
    let (code, refused) = ask(&["tools", "missing"]);
    assert_eq!((code, &refused["code"], &refused["error"]["code"]), (Some(1), &json!(404), &json!(404)));
}

#[test]
fn a_stopped_computer_leaves_its_seat_and_no_process() {
    let hub = hub();
    let (mut desk, _config) = computer(&hub, "o");
    let started = children(desk.pid());
    assert_eq!(started.len(), 2, "the sample server and the guardian run");
    assert!(desk.terminate().success());
    assert!(started.iter().all(|pid| !runs(*pid)), "a process still runs");
    assert_eq!(agent(&hub, "o", &["members"]).ok(), "agent  a2c  0.2.0\n");
    agent(&hub, "o", &["tools", "desk"]).fails_saying(&["desk", "not found", "404"]);
}

#[test]
fn a_hub_stops_cleanly_and_frees_its_port() {
    let mut first = hub();
    let address = first.address().trim_start_matches("http://").to_owned();
    let (desk, _config) = computer(&first, "o");
    assert!(first.terminate().success());
    wait_until_free(&address);
    let second = a2c_testbed::Peer::ready(a2c(&["server", "--listen", &address, "--auth", "none"]));
    // The Computer comes back by itself; its seat is announced to an Agent that waits for it.
    let wait = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !agent(&second, "o", &["members"]).ok().contains("desk") {
        assert!(std::time::Instant::now() < wait, "the computer did not come back: {}", desk.stderr_tail());
    }
    assert_eq!(agent(&second, "o", &["call", "desk", "echo", r#"{"text": "again"}"#]).ok(), "again\n");
}

#[test]
fn a_signal_right_after_ready_is_heard() {
    for _ in 0..5 {
        let mut hub = hub();
        let (mut desk, _config) = computer(&hub, "o");
        assert!(desk.terminate().success());
        assert!(hub.terminate().success());
    }
}

#[test]
fn a_reader_that_went_away_is_no_panic() {
    let mut child = a2c(&["up", "--call", "echo", r#"{"text": "x"}"#])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = ran(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn tools_of_a_file_need_a_confirmation_in_up_too() {
    let config = Config::sample(&json!({}));
    run(&["up", "--config", config.arg(), "--call", "echo", r#"{"text": "x"}"#]).fails_saying(&["4005"]);
    assert_eq!(run(&["up", "--config", config.arg(), "--yes", "--call", "echo", r#"{"text": "x"}"#]).ok(), "x\n");
}

#[test]
fn tools_need_a_confirmation_unless_they_are_marked() {
    let hub = hub();
    let config = Config::sample(
        &json!({"tool_meta": {"add": {"auto_apply": true, "alias": "plus"}}, "forbidden_tools": ["wait"]}),
    );
    let args = ["computer", "--url", hub.address(), "--office", "o", "--name", "desk", "--config", config.arg()];
    let _desk = a2c_testbed::Peer::ready(a2c(&args));
    assert_eq!(agent(&hub, "o", &["call", "desk", "plus", r#"{"a": 1, "b": 1}"#]).ok(), "2\n");
    agent(&hub, "o", &["call", "desk", "echo", r#"{"text": "x"}"#]).fails_saying(&["4005", "auto_apply"]);
    agent(&hub, "o", &["call", "desk", "wait", "{}"]).fails_saying(&["4002", "forbidden"]);
    let tools = agent(&hub, "o", &["tools", "desk"]).ok();
    assert!(tools.contains("plus") && !tools.contains("wait"), "{tools}");
}

#[test]
fn a_name_is_taken_once_per_office() {
    let hub = hub();
    let (_desk, config) = computer(&hub, "o");
    let again = ["computer", "--url", hub.address(), "--office", "o", "--name", "desk", "--config", config.arg()];
    run(&again).fails_saying(&["desk", "choose another name"]);
}

#[test]
fn a_token_opens_the_hub() {
    let hub = a2c_testbed::Peer::ready({
        let mut command = a2c(&["server", "--listen", "127.0.0.1:0"]);
        command.env("A2C_TOKEN", "s3cret");
        command
    });
    agent(&hub, "o", &["members"]).fails_saying(&["asks for a token", "A2C_TOKEN"]);
    agent(&hub, "o", &["--token", "wrong", "members"]).fails_saying(&["credential"]);
    agent(&hub, "o", &["--token", "s3cret", "members"]).ok();
    let mut by_environment = a2c(&["agent", "--url", hub.address(), "--office", "o", "members"]);
    ran(by_environment.env("A2C_TOKEN", "s3cret").output().unwrap()).ok();
    assert!(!hub.stderr_tail().contains("s3cret") && !hub.stderr_tail().contains("wrong"));
}

#[test]
fn bad_input_names_the_thing_and_the_remedy() {
    let hub = hub();
    let check = |config: &str, parts: &[&str]| {
        let config = Config::new(config);
        run(&["computer", "--url", hub.address(), "--office", "o", "--name", "desk", "--config", config.arg()])
            .fails_saying(&[parts, &["computer.json"]].concat());
    };
    check("{", &["is not JSON"]);
    check(r#"{"servers": {"x": {"type": "pipe"}}}"#, &["servers.x", "pipe", "stdio"]);
    check("{}", &["servers", "mcpServers"]);
    run(&["computer", "--url", hub.address(), "--office", "o", "--name", "d", "--config", "/nonexistent.json"])
        .fails_saying(&["/nonexistent.json", "No such file"]);
    run(&["agent", "--url", "http://127.0.0.1:9", "--office", "o", "members"]).fails_saying(&["http://127.0.0.1:9"]);
    run(&["agent", "--url", "nonsense", "--office", "o", "members"]).fails_saying(&["http://nonsense"]);
    run(&["agent", "--url", "http://h/smcp", "--office", "o", "members"]).fails_saying(&["--path /smcp"]);
    run(&["server", "--log", "foo"]).fails_saying(&["--log", "foo"]);
    run(&["server", "--listen", "0.0.0.0:0", "--auth", "none"]).fails_saying(&["authentication", "A2C_TOKEN"]);
    run(&["server", "--listen", hub.address().trim_start_matches("http://")]).fails_saying(&["cannot listen"]);
    agent(&hub, "", &["members"]).fails_saying(&["office_id", "empty"]);
    agent(&hub, &"x".repeat(257), &["members"]).fails_saying(&["office_id", "256"]);
    agent(&hub, "o", &["call", "desk", "echo", "{nope"]).fails_saying(&["JSON object"]);
    agent(&hub, "o", &["call", "desk", "echo", "{}", "--timeout", "0"]).fails_saying(&["--timeout", "1..=3600"]);
}

#[test]
fn a_sick_server_does_not_keep_the_computer_from_starting() {
    let hub = hub();
    let program = env!("CARGO_BIN_EXE_a2c");
    let config = Config::new(
        &json!({"servers": {
            "absent": {"type": "stdio", "server_parameters": {"command": "/no/such/program"}},
            "silent": {"type": "stdio", "server_parameters": {"command": "sh", "args": ["-c", "echo broken >&2; exit 3"]}},
            "off": {"type": "stdio", "disabled": true, "server_parameters": {"command": "/no/such/program"}},
            "thirsty": {"type": "stdio", "server_parameters": {"command": "x", "args": ["${input:nope}"]}},
            "well": {"type": "stdio", "server_parameters": {"command": program, "args": ["sample-server"]}},
        }})
        .to_string(),
    );
    let args =
        ["computer", "--url", hub.address(), "--office", "o", "--name", "desk", "--config", config.arg(), "--yes"];
    let desk = a2c_testbed::Peer::ready(a2c(&args));
    assert_eq!(agent(&hub, "o", &["call", "desk", "echo", r#"{"text": "fine"}"#]).ok(), "fine\n");
    let log = desk.stderr_tail();
    for part in ["absent", "/no/such/program", "silent", "broken", "thirsty", "nope"] {
        assert!(log.contains(part), "{part:?} is not in: {log}");
    }
}

#[test]
fn a_call_may_take_a_minute() {
    let hub = hub();
    let (_desk, _config) = computer(&hub, "o");
    let result = agent(&hub, "o", &["call", "desk", "wait", r#"{"seconds": 60}"#, "--timeout", "90"]);
    assert_eq!(result.ok(), "waited 60 s\n");
}
