//! A trace from the Agent to the MCP server.

use std::time::Duration;

use a2c_agent::{Agent, LinkOptions, TraceContext};
use a2c_hub::{Hub, HubConfig};
use a2c_link::{Incoming, Link, Payload, Seat};
use a2c_protocol::Role;
use serde_json::{Map, Value, json};

use crate::program::{Config, Ran, a2c, hub, ran};

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Calls `meta` on the desk with a trace in the environment.
fn call_with(hub: &a2c_testbed::Peer, trace: &str) -> Ran {
    let mut call = a2c(&["agent", "--url", hub.address(), "--office", "o", "call", "desk", "meta"]);
    ran(call.env("TRACEPARENT", trace).output().unwrap())
}

#[test]
fn a_trace_in_the_environment_reaches_the_mcp_server_and_the_computers_log() {
    let hub = hub();
    let script = a2c_testbed::workspace_root().join("tests/interop/python/mcp_meta.py");
    let config = json!({"mcpServers": {"meta": {"command": a2c_testbed::python(), "args": [script]}}});
    let config = Config::new(&config.to_string());
    let log = config.path.with_file_name("log");
    let mut desk = {
        let mut shell = std::process::Command::new("sh");
        shell.args([
            "-c",
            r#"exec "$0" computer --url "$1" --office o --name desk --config "$2" --yes --log-format json 2>"$3""#,
        ]);
        shell.args([env!("CARGO_BIN_EXE_a2c"), hub.address(), config.arg()]).arg(&log).env_remove("A2C_LOG");
        shell.env("A2C_CONTROL", "none").env("A2C_STATE", "none");
        a2c_testbed::Peer::ready(shell)
    };
    let traced = call_with(&hub, TRACE);
    assert_eq!(traced.stderr, "");
    let meta: Value = serde_json::from_str(&traced.ok()).unwrap();
    assert_eq!(meta["traceparent"], TRACE);

    let untraced = call_with(&hub, "");
    assert_eq!(untraced.stderr, "");
    let meta: Value = serde_json::from_str(&untraced.ok()).unwrap();
    assert_eq!(meta.get("traceparent"), None);

    // A trace that is none is no reason to fail.
    let malformed = call_with(&hub, "00-nonsense");
    assert!(malformed.stderr.contains("TRACEPARENT"), "{}", malformed.stderr);
    let meta: Value = serde_json::from_str(&malformed.ok()).unwrap();
    assert_eq!(meta.get("traceparent"), None);

    assert!(desk.terminate().success());
    let log = std::fs::read_to_string(log).unwrap();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}")));
    let calls: Vec<Value> = lines.filter(|line| line["message"] == "tool call").collect();
    let traces: Vec<&Value> = calls.iter().map(|call| &call["span"]["trace_id"]).collect();
    assert_eq!(traces, [&json!("4bf92f3577b34da6a3ce929d0e0e4736"), &Value::Null, &Value::Null]);
    assert_eq!((&calls[0]["tool"], &calls[0]["agent"]), (&json!("meta"), &json!("a2c")));
}

/// A Computer that keeps what it is asked and answers with a result that suits every question.
async fn desk(hub: &Hub) -> tokio::sync::mpsc::UnboundedReceiver<Value> {
    let (link, mut inbox) = Link::connect(&LinkOptions::new(hub.url()), Role::Computer).await.unwrap();
    link.join(&Seat { office: "o".into(), name: "desk".into() }).await.unwrap();
    let (asked, questions) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        // The link lives as long as a request may come.
        let _link = link;
        while let Some(incoming) = inbox.recv().await {
            let Incoming::Event(event) = incoming else { continue };
            let Some(ack) = event.ack else { continue };
            let question: Value = event.payload.get(0).unwrap();
            let answer = json!({"content": [], "tools": [], "servers": {}, "req_id": question["req_id"]});
            asked.send(question).unwrap();
            ack.send(Payload::json(&answer).unwrap()).await.unwrap();
        }
    });
    questions
}

#[tokio::test]
async fn every_request_of_a_traced_agent_carries_its_trace_and_no_other() {
    let hub = Hub::start(HubConfig::on("127.0.0.1:0".parse().unwrap())).await.unwrap();
    let mut questions = desk(&hub).await;
    let agent = Agent::connect(&LinkOptions::new(hub.url()), "a").await.unwrap();
    agent.join("o").await.unwrap();
    let traced = agent.traced(TraceContext::parse(TRACE).unwrap());
    let limit = Duration::from_secs(60);
    let to_desk = || Map::from_iter([("computer".to_owned(), json!("desk"))]);
    for (asking, expected) in [(&traced, json!(TRACE)), (&agent, Value::Null)] {
        asking.call_tool("desk", "t", json!({"x": 1}), limit).await.unwrap();
        let call = questions.recv().await.unwrap();
        assert_eq!(
            (&call["traceparent"], &call["params"], &call["timeout"]),
            (&expected, &json!({"x": 1}), &json!(60))
        );
        asking.tools("desk").await.unwrap();
        assert_eq!(questions.recv().await.unwrap()["traceparent"], expected);
        asking.config("desk").await.unwrap();
        assert_eq!(questions.recv().await.unwrap()["traceparent"], expected);
        asking.request("client:get_skills", to_desk(), limit).await.unwrap();
        assert_eq!(questions.recv().await.unwrap()["traceparent"], expected);
    }
    // What the caller wrote is the caller's.
    let mut own = to_desk();
    own.insert("traceparent".into(), "mine".into());
    traced.request("client:get_skills", own, limit).await.unwrap();
    assert_eq!(questions.recv().await.unwrap()["traceparent"], "mine");
}
