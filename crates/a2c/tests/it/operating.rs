//! Operating a Computer from code while it runs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2c_agent::RequestError;
use a2c_computer::config::{ComputerConfig, ServerChange};
use a2c_computer::{
    CallToConfirm, Confirmation, Confirmer, OperateError, ServerState, ToolAccess, Verdict, async_trait,
};
use a2c_protocol::ErrorCode;
use a2c_protocol::config::McpServerConfig;
use a2c_testbed::PATIENCE;
use serde_json::{Value, json};

use crate::in_process::{self, TestOffice, sample, stdio, told_of_tools, within};

/// A server whose tool answers with its process id.
fn pid_server() -> Value {
    let script = a2c_testbed::workspace_root().join("tests/hostile/unruly.py");
    stdio(a2c_testbed::python(), &[script.to_str().unwrap(), "pid"])
}

fn config(servers: &Value) -> ComputerConfig {
    ComputerConfig::parse(&json!({ "servers": servers }).to_string()).unwrap()
}

fn server(name: &str, value: &Value) -> McpServerConfig {
    config(&json!({ name: value })).servers.remove(name).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_touches_only_what_changed() {
    let office = TestOffice::new(&json!({"kept": pid_server(), "gone": sample()})).await;
    let mut news = office.agent.subscribe();
    let before = office.text("tool", json!({})).await;
    // The same server with a new rule, one less, one more.
    let mut kept = pid_server();
    kept["tool_meta"] = json!({"tool": {"alias": "which"}});
    let difference = within(office.handle().reload(config(&json!({"kept": kept, "new": sample()})))).await;
    let changes: Vec<_> = difference.servers.iter().map(|(name, change)| (name.as_str(), *change)).collect();
    assert!(matches!(
        changes[..],
        [("gone", ServerChange::Removed), ("kept", ServerChange::Changed(_)), ("new", ServerChange::Added)]
    ));
    assert!(office.handle().settled("new").await.unwrap().state.is_running());
    told_of_tools(&mut news).await;
    while !office.names().await.contains(&"which".to_owned()) {
        told_of_tools(&mut news).await;
    }
    assert_eq!(office.text("which", json!({})).await, before, "it was restarted");
    assert!(matches!(office.handle().server("gone"), Err(OperateError::UnknownServer { .. })));
    assert_eq!(office.status("kept").restarts, 0);
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_server_that_is_taken_out_waits_no_longer() {
    let office = TestOffice::new(&json!({"sample": sample()})).await;
    // It never gets further than starting.
    let mute = server("mute", &stdio("sleep".as_ref(), &["600"]));
    within(office.handle().add(mute)).await.unwrap();
    let agent = office.agent.clone();
    let waiting = tokio::spawn(async move { agent.read_resource_from("desk", "mute", "a://b").await });
    // What is asked later is answered: the other request is there.
    office.others_are_well().await;
    within(office.handle().remove("mute")).await.unwrap();
    match within(waiting).await.unwrap() {
        Err(RequestError::Refused(error)) => assert_ne!(error.code, ErrorCode::Timeout, "{error}"),
        other => panic!("{other:?}"),
    }
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_switched_off_and_on_and_taken_out() {
    let office = TestOffice::new(&json!({"sample": sample()})).await;
    let handle = office.handle();
    within(handle.add(server("pid", &pid_server()))).await.unwrap();
    assert_eq!(within(handle.settled("pid")).await.unwrap().state, ServerState::Ready);
    let taken = within(handle.add(server("pid", &sample()))).await.unwrap_err();
    assert!(matches!(taken, OperateError::NameTaken(_)), "{taken}");
    in_process::until("the tool", || handle.tools().iter().any(|tool| tool.name == "tool")).await;

    within(handle.disable("pid")).await.unwrap();
    assert_eq!(office.state("pid"), ServerState::Disabled);
    let access = || handle.tools().into_iter().find(|tool| tool.name == "tool").map(|tool| tool.access);
    in_process::until("the tool is off", || access() == Some(ToolAccess::Off)).await;
    let refused = office.call("tool", json!({})).await;
    assert_eq!(refused.error_code(), Some(ErrorCode::ToolForbidden), "{}", refused.text());
    assert!(!office.names().await.contains(&"tool".to_owned()));
    assert!(handle.restart("pid").unwrap_err().to_string().contains("enable it first"));

    within(handle.enable("pid")).await.unwrap();
    assert_eq!(within(handle.settled("pid")).await.unwrap().state, ServerState::Ready);
    within(handle.remove("pid")).await.unwrap();
    in_process::until("the tool is gone", || access().is_none()).await;
    assert_eq!(office.call("tool", json!({})).await.error_code(), Some(ErrorCode::ToolNotFound));
    let unknown = within(handle.remove("pid")).await.unwrap_err();
    assert!(unknown.to_string().contains("there are: sample"), "{unknown}");
    office.others_are_well().await;
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_put_together_at_run_time_is_held_to_the_rules_of_a_file() {
    let office = TestOffice::new(&json!({"sample": sample()})).await;
    let mut twice = sample();
    twice["tool_meta"] = json!({"echo": {"alias": "same"}, "add": {"alias": "same"}});
    let twice: McpServerConfig = {
        let mut value = twice;
        value["name"] = "twice".into();
        serde_json::from_value(value).unwrap()
    };
    let refused = within(office.handle().add(twice)).await.unwrap_err();
    assert!(refused.to_string().contains("same"), "{refused}");
    assert!(office.handle().server("twice").is_err());
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_waits_for_its_input_and_no_other_server_does() {
    let config = json!({
        "inputs": [{"type": "promptString", "id": "word", "description": "The word"}],
        "servers": {"sample": sample(), "waiting": {"type": "stdio", "server_parameters": {
            "command": "/bin/sh", "args": ["-c", "exec \"$0\" sample-server", env!("CARGO_BIN_EXE_a2c")],
            "env": {"WORD": "${input:word}"}
        }}}
    });
    let office = TestOffice::with(&json!({}), |options| {
        options.config = ComputerConfig::parse(&config.to_string()).unwrap();
    })
    .await;
    let handle = office.handle();
    let ServerState::Failed { reason } = office.state("waiting") else { panic!("{:?}", office.state("waiting")) };
    assert!(reason.to_string().contains("word") && reason.to_string().contains("The word"), "{reason}");
    assert_eq!(office.status("waiting").retry_at, None, "nothing changes by waiting");
    office.others_are_well().await;
    handle.set_input("word", "said").unwrap();
    assert_eq!(within(handle.settled("waiting")).await.unwrap().state, ServerState::Ready);
    assert!(handle.set_input("other", "x").is_err());
    office.end().await;
}

/// Decides by the name of the tool, and remembers what it was asked.
#[derive(Default)]
struct ConfirmByTool {
    asked: Mutex<Vec<CallToConfirm>>,
}

#[async_trait]
impl Confirmer for ConfirmByTool {
    async fn confirm(&self, call: &CallToConfirm) -> Verdict {
        self.asked.lock().unwrap().push(call.clone());
        match call.tool.as_str() {
            "echo" => Verdict::Run,
            "wait" => std::future::pending().await,
            _ => Verdict::Refuse,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_confirmer_decides_about_calls_that_are_not_allowed_beforehand() {
    let confirmer = Arc::new(ConfirmByTool::default());
    let mut servers = json!({"sample": sample(), "pid": pid_server()});
    servers["pid"]["default_tool_meta"] = json!({"auto_apply": true});
    let asked = confirmer.clone();
    let office = TestOffice::with(&servers, |options| options.confirmation = Confirmation::Ask(asked)).await;
    office.others_are_well().await;
    office.text("tool", json!({})).await;
    let refused = office.call("add", json!({"a": 1, "b": 2})).await;
    assert_eq!(refused.error_code(), Some(ErrorCode::ToolNeedsConfirmation));
    assert!(refused.text().contains("refused"), "{}", refused.text());
    let unanswered =
        office.agent.call_tool("desk", "wait", json!({"seconds": 0}), Duration::from_secs(1)).await.unwrap();
    assert_eq!(unanswered.error_code(), Some(ErrorCode::ToolNeedsConfirmation));
    // The owner need not ask himself.
    let own = within(office.handle().call("add", json!({"a": 1, "b": 2}).as_object().unwrap().clone(), PATIENCE)).await;
    assert_eq!(own.text(), "3");
    let asked: Vec<_> =
        confirmer.asked.lock().unwrap().iter().map(|call| (call.tool.clone(), call.agent.clone())).collect();
    let of = |tool: &str| (tool.to_owned(), "a".to_owned());
    assert_eq!(asked, [of("echo"), of("add"), of("wait")], "what runs unasked is not asked about");
    assert_eq!(confirmer.asked.lock().unwrap()[1].arguments, *json!({"a": 1, "b": 2}).as_object().unwrap());
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_knows_who_was_called_last() {
    let office = TestOffice::new(&json!({"sample": sample(), "pid": pid_server()})).await;
    office.others_are_well().await;
    office.text("tool", json!({})).await;
    office.call("no such tool", json!({})).await;
    let handle = office.handle();
    assert_eq!(handle.recent_servers().iter().map(|name| &**name).collect::<Vec<_>>(), ["pid", "sample"]);
    let history = handle.history();
    assert_eq!(history.iter().map(|call| call.reached).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(history[0].code, Some(ErrorCode::ToolNotFound));
    assert!(!history[1].failed && &*history[2].tool == "echo");
    assert_eq!(office.status("sample").calls, 1);
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn switching_off_returns_though_it_is_switched_on_meanwhile() {
    // It takes its time to end: it ignores the end of its input.
    let deaf = json!({"type": "stdio", "server_parameters": {"command": a2c_testbed::python(), "args": [
        a2c_testbed::workspace_root().join("tests/hostile/unruly.py"), "deaf"
    ]}});
    let office = TestOffice::new(&json!({"deaf": deaf, "sample": sample()})).await;
    let handle = office.handle();
    let off = {
        let handle = handle.clone();
        tokio::spawn(async move { handle.disable("deaf").await })
    };
    in_process::until("it is switched off", || handle.config().servers["deaf"].disabled).await;
    within(handle.enable("deaf")).await.unwrap();
    within(off).await.unwrap().unwrap();
    assert_eq!(within(handle.settled("deaf")).await.unwrap().state, ServerState::Ready);
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_starts_after_the_end() {
    let office = TestOffice::new(&json!({"sample": sample()})).await;
    let handle = office.handle();
    office.end().await;
    assert_eq!(within(handle.add(server("late", &pid_server()))).await, Err(OperateError::Stopped));
    assert!(handle.servers().is_empty());
    within(handle.reload(config(&json!({"late": pid_server()})))).await;
    assert!(handle.servers().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_holds_when_it_was_given() {
    let office = TestOffice::new(&json!({"sample": sample()})).await;
    for _ in 0..10 {
        let mut sample = ComputerConfig::clone(&office.handle().config()).servers.remove("sample").unwrap();
        sample.forbidden_tools = vec!["echo".into()];
        within(office.handle().change(sample.clone())).await.unwrap();
        let refused = office.call("echo", json!({"text": "x"})).await;
        assert_eq!(refused.error_code(), Some(ErrorCode::ToolForbidden));
        sample.forbidden_tools.clear();
        within(office.handle().change(sample)).await.unwrap();
        office.others_are_well().await;
    }
    office.end().await;
}

/// Agrees once it is told to.
#[derive(Default)]
struct DelayedConfirmer {
    asked: tokio::sync::Notify,
    agrees: tokio::sync::Notify,
}

#[async_trait]
impl Confirmer for DelayedConfirmer {
    async fn confirm(&self, _: &CallToConfirm) -> Verdict {
        self.asked.notify_one();
        self.agrees.notified().await;
        Verdict::Run
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forbidden_while_it_waits_for_a_decision_does_not_run() {
    let slow = Arc::new(DelayedConfirmer::default());
    let confirmer = slow.clone();
    let office =
        TestOffice::with(&json!({"sample": sample()}), |o| o.confirmation = Confirmation::Ask(confirmer)).await;
    let call = office.start_call("echo", json!({"text": "x"}), PATIENCE);
    within(slow.asked.notified()).await;
    let mut sample = ComputerConfig::clone(&office.handle().config()).servers.remove("sample").unwrap();
    sample.forbidden_tools = vec!["echo".into()];
    within(office.handle().change(sample)).await.unwrap();
    slow.agrees.notify_one();
    let refused = within(call).await.unwrap();
    assert_eq!(refused.error_code(), Some(ErrorCode::ToolNeedsConfirmation), "{}", refused.text());
    office.end().await;
}
