//! The reference server that has everything, over each transport.

use std::time::Duration;

use a2c_protocol::ErrorCode;
use a2c_protocol::tool::CallToolResult;
use a2c_testbed::{PATIENCE, Peer};
use serde_json::{Value, json};

use super::peers;
use crate::in_process::{TestOffice, until};

#[tokio::test(flavor = "multi_thread")]
async fn over_standard_streams() {
    let office = TestOffice::new(&json!({ "every": peers::everything(&json!({})) })).await;
    try_everything(&office).await;
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_may_show_its_environment_but_not_the_credentials_in_it() {
    let config = json!({
        "inputs": [{"type": "promptString", "id": "pin", "password": true, "default": "4711-s3cret"}],
        "servers": {"every": peers::everything(&json!({"CODE": "${input:pin}", "API_KEY": "sk-literal", "TZ": "Europe/Berlin"}))}
    });
    let office = TestOffice::with(&json!({}), |options| {
        options.config = a2c_computer::config::ComputerConfig::parse(&config.to_string()).unwrap();
    })
    .await;
    let shown = office.text("get-env", json!({})).await;
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("it is still JSON");
    assert_eq!((&shown["CODE"], &shown["API_KEY"]), (&json!("***"), &json!("***")));
    assert_eq!(shown["TZ"], "Europe/Berlin", "what is no credential stays");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_streamable_http() {
    over("streamableHttp", "streamable").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_legacy_sse() {
    over("sse", "sse").await;
}

async fn over(transport: &str, kind: &str) {
    let server: Peer = peers::everything_over(transport, 0);
    let office = TestOffice::new(&json!({ "every": peers::at(kind, server.address()) })).await;
    assert_eq!(office.status("every").kind, kind);
    try_everything(&office).await;
    office.end().await;
}

async fn try_everything(office: &TestOffice) {
    what_it_lists(office).await;
    what_it_answers(office).await;
    what_takes_long(office).await;
    what_is_given_up(office).await;
    // After all this, it is as well as before.
    assert_eq!(office.text("echo", json!({"message": "still there"})).await, "Echo: still there");
    assert_eq!(office.state("every").word(), "ready");
}

async fn what_it_lists(office: &TestOffice) {
    let tools = office.tools().await;
    for name in ["echo", "get-sum", "get-tiny-image", "trigger-long-running-operation"] {
        assert!(tools.iter().any(|tool| tool.name == name), "{name} is not listed");
    }
    let structured = tools.iter().find(|tool| tool.name == "get-structured-content").unwrap();
    assert_eq!(structured.return_schema.as_ref().unwrap().value().unwrap()["properties"]["humidity"]["type"], "number");
}

async fn what_it_answers(office: &TestOffice) {
    let sum = office.text("get-sum", json!({"a": 2, "b": 40})).await;
    assert!(sum.contains("42"), "{sum}");
    let image = office.call("get-tiny-image", json!({})).await;
    let image = json!(image)["content"][1].clone();
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
    assert!(image["data"].as_str().unwrap().starts_with("iVBORw0KGgo"), "the data of a PNG file");
    let weather = json!(office.call("get-structured-content", json!({"location": "Chicago"})).await);
    assert_eq!(
        weather["structuredContent"],
        json!({"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82})
    );
    let note = json!(office.call("get-annotated-message", json!({"messageType": "error"})).await);
    assert_eq!(note["content"][0]["annotations"]["priority"], 1.0);
    // A megabyte goes in and out again.
    let long = "長い ".repeat(1 << 18);
    assert_eq!(office.text("echo", json!({"message": long})).await, format!("Echo: {long}"));
    let wrong = office.call("get-sum", json!({"a": "two"})).await;
    assert!(wrong.is_error, "{}", wrong.text());
    assert_eq!(wrong.error_code(), Some(ErrorCode::ToolFailed));
    assert_eq!(wrong.meta[CallToolResult::MCP_SERVER], "every");
    let unknown = office.call("get-difference", json!({})).await;
    assert_eq!(unknown.error_code(), Some(ErrorCode::ToolNotFound));
}

async fn what_takes_long(office: &TestOffice) {
    let before = office.status("every").progress;
    let done = office.text("trigger-long-running-operation", json!({"duration": 0.5, "steps": 5})).await;
    assert!(done.contains("Steps: 5"), "{done}");
    until("progress", || office.status("every").progress == before + 5).await;
}

async fn what_is_given_up(office: &TestOffice) {
    let forever: Value = json!({"duration": 3000, "steps": 30_000});
    let before = office.status("every").progress;
    let call = office.start_call("trigger-long-running-operation", forever.clone(), PATIENCE);
    until("the call", || office.status("every").progress > before).await;
    call.abort();
    let late = office.agent.call_tool("desk", "trigger-long-running-operation", forever, Duration::from_secs(1)).await;
    assert_eq!(late.unwrap().error_code(), Some(ErrorCode::ToolTimeout));
}
