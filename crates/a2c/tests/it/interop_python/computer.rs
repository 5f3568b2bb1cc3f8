//! The SDK's Computer with our hub and our Agent.

use a2c_agent::protocol::ErrorCode;
use a2c_agent::protocol::Role;
use a2c_agent::protocol::config::{Input, McpTransport};
use a2c_agent::protocol::notification::{ComputerUpdate, Notification, OfficeChange};
use a2c_agent::{Agent, AgentEvent, LinkOptions, RequestError};
use serde_json::{Value, json};

use super::peers::{Hub, Sdk, field, news, tool_names};

#[test]
fn our_agent_process_calls_an_sdk_computer() {
    let hub = Hub::start();
    let mut desk = desk(&hub, &json!(["polling", "websocket"]), "websocket");
    desk.ask("join", json!({"office": "o"}));

    let (ok, members) = hub.address.ask("o", "auto", &["members"]);
    assert!(ok, "{members}");
    assert_eq!(field(&members["sessions"], "name"), ["desk", "teller"]);
    assert_eq!(field(&members["sessions"], "a2c_version"), ["0.2.0", "0.2.0"]);

    let (ok, tools) = hub.address.ask("o", "websocket", &["tools", "desk"]);
    assert!(ok, "{tools}");
    assert_eq!(field(&tools["tools"], "name"), ["echo", "fail", "picture", "reword"]);

    let (ok, echoed) = hub.address.ask("o", "polling", &["call", "desk", "echo", r#"{"text": "grüße 🌍"}"#]);
    assert!(ok, "{echoed}");
    assert_eq!(echoed["content"][0]["text"], "grüße 🌍");

    let (ok, failed) = hub.address.ask("o", "auto", &["call", "desk", "fail", r#"{"text": "on purpose"}"#]);
    assert!(!ok, "{failed}");
    assert_eq!(failed["isError"], true);
    assert!(failed["content"][0]["text"].as_str().unwrap().contains("on purpose"), "{failed}");

    let (ok, unknown) = hub.address.ask("o", "auto", &["tools", "missing"]);
    assert!(!ok);
    assert_eq!(unknown["code"], 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_agent_follows_an_sdk_computer_after_an_upgrade_to_websocket() {
    follow(&json!(["polling", "websocket"]), "websocket").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_agent_follows_an_sdk_computer_by_polling() {
    follow(&json!(["polling"]), "polling").await;
}

async fn follow(transports: &Value, transport: &str) {
    let hub = Hub::start();
    let agent = Agent::connect(&LinkOptions::new(hub.url()), "caller").await.unwrap();
    let mut told = agent.subscribe();
    agent.join("o").await.unwrap();

    let mut desk = desk(&hub, transports, transport);
    desk.ask("join", json!({"office": "o"}));
    assert_eq!(news(&mut told, entered).await, OfficeChange::of("o", Role::Computer, "desk"));
    assert_eq!(tool_names(&agent, "desk").await, ["echo", "fail", "picture", "reword"]);

    let config = agent.config("desk").await.unwrap();
    let sample = &config.servers["sample"];
    assert_eq!(sample.default_tool_meta.as_ref().unwrap().auto_apply, Some(true));
    assert!(matches!(&sample.transport, McpTransport::Stdio(program) if program.args.len() == 1), "{sample:?}");
    let inputs = config.inputs.unwrap();
    assert!(matches!(&inputs[..], [Input::PromptString { id, .. }] if id == "token"), "{inputs:?}");

    // A tool changes the list of tools: the MCP server tells its Computer, the Computer the office.
    assert_eq!(echo_description(&agent).await, "Gives the text back.");
    assert_eq!(call(&agent, "reword", json!({"description": "Repeats."})).await, "reworded");
    let update = ComputerUpdate { computer: "desk".into() };
    assert_eq!(news(&mut told, updated).await, Notification::UpdateToolList(update.clone()));
    assert_eq!(echo_description(&agent).await, "Repeats.");
    assert_eq!(call(&agent, "echo", json!({"text": "abc"})).await, "abc");

    desk.ask("update_config", json!({}));
    assert_eq!(news(&mut told, updated).await, Notification::UpdateConfig(update));

    // It moves to an empty office, and comes back.
    let gone = OfficeChange::of("o", Role::Computer, "desk");
    desk.ask("join", json!({"office": "elsewhere"}));
    assert_eq!(news(&mut told, left).await, gone);
    assert_not_found(&agent).await;
    desk.ask("join", json!({"office": "o"}));
    news(&mut told, entered).await;

    desk.ask("leave", json!({"office": "o"}));
    assert_eq!(news(&mut told, left).await, gone);
    assert_not_found(&agent).await;
    desk.ask("join", json!({"office": "o"}));
    news(&mut told, entered).await;

    desk.ask("disconnect", json!({}));
    assert_eq!(news(&mut told, left).await, gone);
    assert_not_found(&agent).await;
    agent.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_sdk_computer_that_crashes_leaves_its_office() {
    let hub = Hub::start();
    let agent = Agent::connect(&LinkOptions::new(hub.url()), "caller").await.unwrap();
    let mut told = agent.subscribe();
    agent.join("o").await.unwrap();
    let mut desk = desk(&hub, &json!(["polling", "websocket"]), "websocket");
    desk.ask("join", json!({"office": "o"}));
    desk.kill();
    assert_eq!(news(&mut told, left).await, OfficeChange::of("o", Role::Computer, "desk"));
    agent.close().await;
}

#[test]
fn an_sdk_computer_is_told_why_it_may_not_join() {
    let hub = Hub::start();
    let _ours = hub.address.computer("o", "desk", "auto");
    let mut desk = desk(&hub, &json!(["polling", "websocket"]), "websocket");
    let refused = desk.fail("join", json!({"office": "o"}));
    assert_eq!(refused["raised"], "RuntimeError");
    assert!(refused["message"].as_str().unwrap().contains("already has a computer named 'desk'"), "{refused}");
    desk.ask("join", json!({"office": "another"}));
}

fn desk(hub: &Hub, transports: &Value, transport: &str) -> Sdk {
    let mut desk = Sdk::start("sdk_computer.py", &json!({"url": hub.url(), "name": "desk"}));
    desk.ask("boot", json!({}));
    assert_eq!(desk.ask("connect", json!({"transports": transports}))["transport"], transport);
    desk
}

async fn call(agent: &Agent, tool: &str, params: Value) -> String {
    let params = params.as_object().unwrap().clone();
    let result = agent.call_tool("desk", tool, params, std::time::Duration::from_secs(30)).await.unwrap();
    assert!(!result.is_error, "{result:?}");
    result.text()
}

async fn echo_description(agent: &Agent) -> String {
    let tools = agent.tools("desk").await.unwrap();
    tools.into_iter().find(|tool| tool.name == "echo").unwrap().description
}

async fn assert_not_found(agent: &Agent) {
    match agent.tools("desk").await {
        Err(RequestError::Refused(error)) => assert_eq!(error.code, ErrorCode::NotFound),
        other => panic!("expected 404, got {other:?}"),
    }
}

fn entered(news: AgentEvent) -> Option<OfficeChange> {
    match news {
        AgentEvent::Notification(Notification::EnterOffice(change)) => Some(change),
        _ => None,
    }
}

fn left(news: AgentEvent) -> Option<OfficeChange> {
    match news {
        AgentEvent::Notification(Notification::LeaveOffice(change)) => Some(change),
        _ => None,
    }
}

fn updated(news: AgentEvent) -> Option<Notification> {
    match news {
        AgentEvent::Notification(n @ (Notification::UpdateConfig(_) | Notification::UpdateToolList(_))) => Some(n),
        _ => None,
    }
}
