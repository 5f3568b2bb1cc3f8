//! Agent and Computer as libraries, against a hub in the same process.

use std::time::Duration;

use a2c_agent::{Agent, AgentEvent, AgentEvents, RequestError};
use a2c_computer::{Computer, LinkOptions, StartError, Transport};
use a2c_hub::{Hub, HubConfig};
use a2c_link::{ConnectError, Inbox, Incoming, Link};
use a2c_protocol::notification::{ComputerUpdate, Notification, OfficeChange, ToolCallCancel};
use a2c_protocol::seconds::Seconds;
use a2c_protocol::tool::{CallToolResult, ToolCallReq};
use a2c_protocol::{ErrorCode, Role, Version, event};
use a2c_testbed::PATIENCE;
use serde_json::{Map, Value, json};

use crate::in_process::{computer_options, sample, seat, start_hub, within};

async fn start_computer(hub: &Hub) -> Result<Computer, StartError> {
    Computer::start(computer_options(hub, &json!({"servers": {"sample": sample()}}))).await
}

async fn start_agent(hub: &Hub) -> (Agent, AgentEvents) {
    let agent = Agent::connect(&LinkOptions::new(hub.url()), "a").await.expect("connected");
    let events = agent.subscribe();
    agent.join("o").await.expect("joined");
    (agent, events)
}

async fn next(events: &mut AgentEvents) -> AgentEvent {
    within(events.recv()).await.expect("the agent lives")
}

/// The next event, which is a notification.
async fn notification(events: &mut AgentEvents) -> Notification {
    match next(events).await {
        AgentEvent::Notification(notification) => notification,
        other => panic!("{other:?}"),
    }
}

/// Waits for an event of this name and gives its payload.
async fn event_of(inbox: &mut Inbox, name: &str) -> (Value, Option<a2c_link::AckReply>) {
    loop {
        match within(inbox.recv()).await {
            Some(Incoming::Event(event)) if event.name == name => {
                return (event.payload.get(0).expect("a payload"), event.ack);
            }
            Some(_) => {}
            None => panic!("the connection ended before {name}"),
        }
    }
}

fn params(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_hears_what_happens_in_its_office() {
    let hub = start_hub().await;
    let (agent, mut events) = start_agent(&hub).await;
    let computer = start_computer(&hub).await.unwrap();
    let desk = || OfficeChange::of("o", Role::Computer, "desk");
    assert_eq!(notification(&mut events).await, Notification::EnterOffice(desk()));

    let (other, _inbox) = Link::connect(&LinkOptions::new(hub.url()), Role::Computer).await.unwrap();
    other.join(&seat("second")).await.unwrap();
    assert!(
        matches!(notification(&mut events).await, Notification::EnterOffice(c) if c.computer.as_deref() == Some("second"))
    );
    other.emit("server:update_finder", &json!({"computer": "another"})).await.unwrap();
    let update = ComputerUpdate { computer: "second".into() };
    assert_eq!(notification(&mut events).await, Notification::UpdateFinder(update), "the hub stamps the name");
    other.emit("server:update_skills", &json!({"computer": "second", "later": 1})).await.unwrap();
    let AgentEvent::Unknown { event, payload } = next(&mut events).await else { panic!() };
    assert_eq!((event.as_str(), payload), ("notify:update_skills", json!({"computer": "second", "later": 1})));

    computer.stop().await;
    assert_eq!(notification(&mut events).await, Notification::LeaveOffice(desk()));
    agent.close().await;
    hub.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_dropped_is_cancelled() {
    let hub = start_hub().await;
    let (link, mut inbox) = Link::connect(&LinkOptions::new(hub.url()), Role::Computer).await.unwrap();
    link.join(&seat("desk")).await.unwrap();
    let (agent, _news) = start_agent(&hub).await;
    let asking = agent.clone();
    let call = tokio::spawn(async move { asking.call_tool("desk", "never", Map::new(), PATIENCE).await.map(|_| ()) });
    let (request, _ack) = event_of(&mut inbox, event::TOOL_CALL).await;
    call.abort();
    let (cancelled, _) = event_of(&mut inbox, event::NOTIFY_TOOL_CALL_CANCEL).await;
    assert_eq!(cancelled, json!({"agent": "a", "req_id": request["req_id"]}));
    agent.close().await;
    hub.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_is_answered_and_its_tool_interrupted() {
    let hub = start_hub().await;
    let computer = start_computer(&hub).await.unwrap();
    let (link, _inbox) = Link::connect(&LinkOptions::new(hub.url()), Role::Agent).await.unwrap();
    link.join(&seat("a")).await.unwrap();
    let request = ToolCallReq {
        agent: "a".into(),
        req_id: "r1".into(),
        computer: "desk".into(),
        tool_name: "wait".into(),
        params: params(&json!({"seconds": 3000})),
        timeout: Seconds::MAX,
    };
    let cancel = ToolCallCancel { agent: "a".into(), req_id: "r1".into() };
    // The cancellation follows the call at once; both arrive in this order.
    let (result, cancelled) = tokio::join!(
        link.request::<CallToolResult>(event::TOOL_CALL, &request, PATIENCE),
        link.emit(event::TOOL_CALL_CANCEL, &cancel),
    );
    cancelled.expect("sent");
    let result = result.expect("answered");
    assert!(result.is_error);
    assert_eq!(result.meta[CallToolResult::CANCELLED], true);
    assert_eq!(result.meta[CallToolResult::MCP_SERVER], "sample");
    link.close().await;
    computer.stop().await;
    hub.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_over_its_time_is_interrupted_with_4004() {
    let hub = start_hub().await;
    let computer = start_computer(&hub).await.unwrap();
    let (agent, _news) = start_agent(&hub).await;
    let result = agent.call_tool("desk", "wait", json!({"seconds": 3000}), Duration::from_secs(1)).await.unwrap();
    assert_eq!(result.error_code(), Some(ErrorCode::ToolTimeout));
    assert_eq!(result.meta[CallToolResult::TIMEOUT], true);
    let after = agent.call_tool("desk", "echo", json!({"text": "still there"}), PATIENCE).await.unwrap();
    assert_eq!(after.text(), "still there");
    agent.close().await;
    computer.stop().await;
    hub.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_comes_back_to_its_seat_after_the_hub_restarted() {
    let hub = start_hub().await;
    let (agent, mut events) = start_agent(&hub).await;
    let address = hub.address();
    hub.shutdown().await;
    assert!(matches!(next(&mut events).await, AgentEvent::Disconnected { .. }));
    // Another test's connection may hold the port for a moment as its own.
    let hub = within(async {
        loop {
            match Hub::start(HubConfig::on(address)).await {
                Ok(hub) => return hub,
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    })
    .await;
    assert!(matches!(next(&mut events).await, AgentEvent::Reconnected));
    let members = agent.members().await.unwrap();
    assert_eq!(members.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(), ["a"]);
    agent.close().await;
    hub.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_version_is_refused_by_name() {
    let hub = start_hub().await;
    for transport in [Transport::PollingThenWebsocket, Transport::Websocket, Transport::Polling] {
        let mut options = LinkOptions::new(hub.url());
        options.version = Version::new(0, 1, 9);
        options.transport = transport;
        let error = Agent::connect(&options, "a").await.err().expect("refused");
        let ConnectError::VersionMismatch { client, server, min, max } = &error else { panic!("{error}") };
        let found =
            (client.to_string(), server.unwrap().to_string(), min.unwrap().to_string(), max.unwrap().to_string());
        assert_eq!(found, ("0.1.9".into(), "0.2.0".into(), "0.2.0".into(), "0.2.999".into()));
    }
    hub.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_leaves_the_computer_is_redacted() {
    let hub = start_hub().await;
    let config = json!({
        "inputs": [{"type": "promptString", "id": "key", "description": "Key", "password": true, "default": "s3cret"}],
        "servers": {"sample": {"type": "stdio", "server_parameters": {
            "command": env!("CARGO_BIN_EXE_a2c"), "args": ["sample-server"], "env": {"A": "s3cret", "B": "${input:key}"}}}}
    });
    let computer = Computer::start(computer_options(&hub, &config)).await.unwrap();
    let (agent, _news) = start_agent(&hub).await;
    let seen = serde_json::to_string(&agent.config("desk").await.unwrap()).unwrap();
    assert!(!seen.contains("s3cret"), "{seen}");
    assert!(seen.contains("${input:key}") && seen.contains("***"), "{seen}");
    agent.close().await;
    computer.stop().await;
    hub.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_over_the_limit_is_refused_by_name() {
    let mut config = HubConfig::on("127.0.0.1:0".parse().unwrap());
    config.limits.max_payload = 500;
    let hub = Hub::start(config).await.unwrap();
    let computer = start_computer(&hub).await.unwrap();
    let (agent, _news) = start_agent(&hub).await;
    // The request is short, the list of tools with their schemas is not.
    let refused = agent.tools("desk").await.unwrap_err();
    let RequestError::Refused(error) = refused else { panic!("{refused}") };
    assert_eq!(error.code, ErrorCode::LimitExceeded);
    assert!(error.message.contains("500"), "{error}");
    let too_large = agent.call_tool("desk", "echo", json!({"text": "x".repeat(1000)}), PATIENCE).await;
    assert!(matches!(too_large, Err(RequestError::TooLarge { limit: 500, .. })));
    let after = agent.call_tool("desk", "echo", json!({"text": "still there"}), PATIENCE).await.unwrap();
    assert_eq!(after.text(), "still there");
    agent.close().await;
    computer.stop().await;
    hub.shutdown().await;
}
