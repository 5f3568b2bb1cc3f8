//! What a running hub records: an audit log that verifies and holds no values, and spans with the right parents.

use std::io::BufReader;

use a2c_hub::OtlpConfig;
use a2c_hub::audit::{AuditConfig, ExpectedHashes, verify};
use a2c_testbed::Peer;
use serde_json::{Value, json};

use crate::support::{Member, PATIENCE, RawClient, hub_with, within};

fn records(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    verify(BufReader::new(text.as_bytes()), &ExpectedHashes::default()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn the_audit_records_actions_without_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let hub = hub_with(|config| config.audit = Some(AuditConfig::at(&path))).await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let request = json!({"computer": "c", "req_id": "r1", "tool_name": "write", "params": {"path": "/etc/hunter2"}});
    let asked = agent.asking("client:tool_call", request);
    computer.answer("client:tool_call", json!({"content": []})).await;
    asked.await.unwrap();
    agent.ask("client:get_tools", json!({"computer": "absent", "req_id": "r2"})).await;
    let rival = Member::connect(&hub).await;
    rival.refused_join("agent", "b", "o").await;
    let waiting = agent.asking("client:tool_call", json!({"computer": "c", "req_id": "r3", "tool_name": "t"}));
    computer.event("client:tool_call").await;
    computer.close().await;
    waiting.await.unwrap();
    within("the shutdown", hub.shutdown()).await;

    let records = records(&path);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    let all = |event: &str| records.iter().filter(|r| r["event"] == event).collect::<Vec<_>>();
    assert_eq!(
        (records[0]["event"].as_str(), records.last().unwrap()["event"].as_str()),
        (Some("hub_started"), Some("hub_stopped"))
    );
    assert_eq!((all("connected").len(), all("joined").len(), all("join_refused").len()), (3, 2, 1));
    assert_eq!((all("disconnected").len(), all("left").len()), (3, 2));
    let calls = all("call");
    let brief: Vec<_> =
        calls.iter().map(|c| (c["request"].as_str().unwrap(), c["decision"].as_str().unwrap())).collect();
    assert_eq!(
        brief,
        [("client:tool_call", "answered"), ("client:get_tools", "refused"), ("client:tool_call", "gone")]
    );
    let first = calls[0];
    for (key, expected) in
        [("office", "o"), ("name", "a"), ("computer", "c"), ("tool", "write"), ("req_id", "r1"), ("subject", "anybody")]
    {
        assert_eq!(first[key], expected, "{first}");
    }
    assert!(first["request_bytes"].as_u64() > Some(50) && first["answer_bytes"].as_u64() > Some(5), "{first}");
    assert!(first["duration_ms"].is_number() && first["arguments"].to_string().contains("path"), "{first}");
}

#[tokio::test]
async fn a_refused_credential_is_audited_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let hub = hub_with(|config| {
        config.auth = std::sync::Arc::new(a2c_hub::auth::ApiKeyAuth::new(a2c_hub::auth::ApiKey::new("right").unwrap()));
        config.audit = Some(AuditConfig::at(&path));
    })
    .await;
    let mut client = RawClient::open(&hub).await;
    client.send(r#"40/smcp,{"token":"wrong-s3cret"}"#).await;
    assert_eq!(client.text().await, r#"44/smcp,{"message":"401"}"#);
    within("the shutdown", hub.shutdown()).await;
    let refused = records(&path).into_iter().find(|r| r["event"] == "refused").unwrap();
    assert!(refused["address"].as_str().unwrap().starts_with("127.0.0.1:"));
    assert!(!refused["reason"].as_str().unwrap().is_empty());
    assert!(!std::fs::read_to_string(&path).unwrap().contains("s3cret"));
}

#[tokio::test]
async fn a_span_has_the_agents_span_as_parent_and_is_the_computers() {
    let collector = Peer::ready(a2c_testbed::python_script("otlp_collector.py"));
    let hub = hub_with(|config| config.traces = Some(OtlpConfig::to(collector.address()))).await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
    let traceparent = format!("00-{trace}-{parent}-01");
    let request = json!({"computer": "c", "req_id": "r", "tool_name": "t", "traceparent": traceparent, "x": 1.50});
    let asked = agent.asking("client:tool_call", request);
    let passed_on = computer.answer("client:tool_call", json!({"content": []})).await;
    asked.await.unwrap();
    let stamped = passed_on["traceparent"].as_str().unwrap();
    assert!(stamped.starts_with(&format!("00-{trace}-")) && stamped != traceparent, "{stamped}");
    assert_eq!((&passed_on["agent"], &passed_on["x"]), (&json!("a"), &json!(1.5)));
    within("the shutdown", hub.shutdown()).await;

    let line = collector.line_where(PATIENCE, |line| line.starts_with('{'));
    let exported: Value = serde_json::from_str(&line).unwrap();
    let text = exported.to_string();
    let span_id = &stamped[36..52];
    for expected in [trace, parent, span_id, "client:tool_call"] {
        assert!(text.contains(expected), "{expected} is not in {text}");
    }
}

#[tokio::test]
async fn without_a_collector_a_trace_passes_unchanged() {
    let hub = crate::support::hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let asked = agent.asking("client:x", json!({"computer": "c", "traceparent": traceparent}));
    let passed_on = computer.answer("client:x", json!({})).await;
    asked.await.unwrap();
    assert_eq!(passed_on["traceparent"], traceparent);
}

#[tokio::test]
async fn a_call_without_an_answer_is_recorded_and_a_long_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let hub = hub_with(|config| config.audit = Some(AuditConfig::at(&path))).await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let request = json!({"computer": "c", "req_id": "r", "tool_name": "quiet"});
    agent.client.emit("client:tool_call", a2c_socketio::Payload::json(&request).unwrap()).await.unwrap();
    computer.event("client:tool_call").await;
    let long = format!("client:{}", "x".repeat(300));
    let answer = agent.ask(&long, json!({"computer": "c", "timeout": "hunter2"})).await;
    assert_eq!(answer["code"], 400, "{answer}");
    let answer = agent.ask("client:x", json!({"computer": "c", "timeout": "hunter2"})).await;
    assert!(answer["message"].as_str().unwrap().contains("field `timeout`: expected"), "{answer}");
    within("the shutdown", hub.shutdown()).await;
    let calls: Vec<_> = records(&path).into_iter().filter(|r| r["event"] == "call").collect();
    assert_eq!((&calls[0]["tool"], &calls[0]["decision"]), (&json!("quiet"), &json!("allowed")));
    assert_eq!(calls.len(), 3);
    assert!(!std::fs::read_to_string(&path).unwrap().contains("hunter2"));
}
