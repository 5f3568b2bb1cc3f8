//! MCP servers that misbehave: they hurt themselves, not the Computer, its other servers or its secrets.

use std::path::Path;
use std::time::Duration;

use a2c_agent::AgentEvent;
use a2c_computer::ServerState;
use a2c_protocol::ErrorCode;
use a2c_protocol::notification::Notification;
use a2c_testbed::PATIENCE;
use a2c_testbed::processes::runs;
use serde_json::{Value, json};

use crate::in_process::{TestOffice, sample, until};

/// A Computer with one hostile server beside the sample; `extra` is more of that server's configuration.
async fn beside_hostile(mode: &[&str], extra: &Value) -> TestOffice {
    let script = a2c_testbed::workspace_root().join("tests/hostile/mcp_server.py");
    let args = [&[script.to_str().unwrap()], mode].concat();
    let mut hostile = json!({"command": a2c_testbed::python(), "args": args});
    hostile.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let password = json!({
        "type": "promptString", "id": "pw", "description": "Password", "password": true, "default": "TopS3cret",
    });
    let config = json!({"inputs": [password], "servers": {"hostile": hostile, "sample": sample()}});
    TestOffice::configured(&config, |_| {}).await
}

fn pid_in(file: &Path) -> u32 {
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_told_that_its_call_was_cancelled() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("record");
    let office = beside_hostile(&["record", record.to_str().unwrap()], &json!({})).await;
    let received = |method: &str| std::fs::read_to_string(&record).unwrap_or_default().lines().any(|l| l == method);
    let agent = office.agent.clone();
    let call = tokio::spawn(async move { agent.call_tool("desk", "tool", json!({}), PATIENCE).await });
    until("the call", || received("tools/call")).await;
    call.abort();
    until("the cancellation", || received("notifications/cancelled")).await;
    office.others_are_well().await;
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_over_its_time_is_told_to_stop() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("record");
    let office = beside_hostile(&["record", record.to_str().unwrap()], &json!({})).await;
    let result = office.agent.call_tool("desk", "tool", json!({}), Duration::from_secs(1)).await.unwrap();
    assert_eq!(result.error_code(), Some(ErrorCode::ToolTimeout));
    let received = |method: &str| std::fs::read_to_string(&record).unwrap_or_default().lines().any(|l| l == method);
    until("the cancellation", || received("notifications/cancelled")).await;
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_started_ends_with_the_computer() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pid");
    let office = beside_hostile(&["family", file.to_str().unwrap()], &json!({})).await;
    let pid = pid_in(&file);
    assert!(runs(pid));
    office.end().await;
    // It was killed; how soon it is gone is for the kernel.
    until("the end of the server's child", || !runs(pid)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_is_noticed_though_its_child_keeps_its_output_open() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pid");
    let office = beside_hostile(&["family", file.to_str().unwrap()], &json!({})).await;
    let result = office.agent.call_tool("desk", "die", json!({}), Duration::from_secs(3600)).await.unwrap();
    assert_eq!(result.error_code(), Some(ErrorCode::ToolFailed));
    until("the failure", || matches!(office.state("hostile"), ServerState::Failed { .. })).await;
    let ServerState::Failed { reason } = office.state("hostile") else { panic!("{:?}", office.state("hostile")) };
    assert!(reason.to_string().contains("exit status: 7"), "{reason}");
    until("the end of the server's child", || !runs(pid_in(&file))).await;
    // It is going to be started again: its tools are shown as they were.
    let listed = office.agent.tools("desk").await.unwrap();
    assert!(listed.iter().any(|t| t.name == "die"), "the tools of a server that will be back are not listed");
    office.others_are_well().await;
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_writes_stays_with_its_owner_and_without_secrets() {
    let office = beside_hostile(&["secret"], &json!({"env": {"PW": "${input:pw}"}})).await;
    for _ in 0..2 {
        let result = office.agent.call_tool("desk", "tool", json!({}), PATIENCE).await.unwrap();
        assert!(result.is_error);
        let seen = serde_json::to_string(&result).unwrap();
        assert!(!seen.contains("TopS3cret") && !seen.contains("postgres"), "{seen}");
        until("the failure", || matches!(office.state("hostile"), ServerState::Failed { .. })).await;
    }
    let ServerState::Failed { reason } = office.state("hostile") else { panic!("{:?}", office.state("hostile")) };
    assert!(reason.to_string().contains("postgres://admin:***@db/"), "{reason}");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_changes_is_one_change() {
    let office = beside_hostile(&["storm"], &json!({})).await;
    let mut news = office.agent.subscribe();
    office.agent.call_tool("desk", "tool", json!({}), PATIENCE).await.unwrap();
    let mut told = 0;
    loop {
        let heard = tokio::time::timeout(PATIENCE, news.recv()).await.expect("news").expect("the agent lives");
        if matches!(heard, AgentEvent::Notification(Notification::UpdateToolList(_))) {
            told += 1;
            if office.agent.tools("desk").await.unwrap().iter().any(|t| t.name == "after") {
                break;
            }
        }
    }
    assert!(told < 10, "{told} notifications");
    office.others_are_well().await;
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_list_without_end_is_refused() {
    for mode in ["endless", "loop"] {
        let office = beside_hostile(&[mode], &json!({})).await;
        let ServerState::Failed { reason } = office.state("hostile") else { panic!("{:?}", office.state("hostile")) };
        assert!(reason.to_string().contains("do not end"), "{reason}");
        office.others_are_well().await;
        office.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_mebibytes_pass_and_more_is_read_page_by_page() {
    let office = beside_hostile(&["big"], &json!({})).await;
    let call = async |bytes: usize| office.agent.call_tool("desk", "tool", json!({ "bytes": bytes }), PATIENCE).await;
    assert_eq!(call(16 << 20).await.unwrap().text().len(), 16 << 20);
    let shown = call(17 << 20).await.unwrap();
    assert!(shown.text().len() < 1 << 20, "{} bytes are shown", shown.text().len());
    let about = &shown.meta["a2c_result"];
    assert_eq!(about["size"], 17 << 20);
    let (mut next, mut read) = (about["uri"].as_str().map(str::to_owned), 0);
    while let Some(uri) = next {
        let contents = office.agent.read_resource("desk", &uri).await.unwrap();
        read += contents[0]["text"].as_str().unwrap().len();
        next = contents[0]["_meta"]["next"].as_str().map(str::to_owned);
    }
    assert_eq!(read, 17 << 20);
    office.others_are_well().await;
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_cannot_pass_for_another() {
    let office = beside_hostile(&["forger"], &json!({})).await;
    let result = office.agent.call_tool("desk", "tool", json!({}), PATIENCE).await.unwrap();
    assert_eq!(Value::from(result.meta), json!({"error_code": 4003, "mcp_server": "hostile"}));
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_a_server_travel_with_their_details() {
    let office = beside_hostile(&["big"], &json!({})).await;
    let result = office.agent.call_tool("desk", "add", json!({"a": "x"}), PATIENCE).await.unwrap();
    assert_eq!(result.meta["mcp_error"]["code"], -32602);
    office.end().await;
}
