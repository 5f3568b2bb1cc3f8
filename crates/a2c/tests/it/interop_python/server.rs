//! Our Agent and our Computer with the SDK's server.

use a2c_agent::protocol::Role;
use a2c_agent::protocol::notification::{Notification, OfficeChange};
use a2c_agent::{Agent, AgentEvent, ConnectError, LinkOptions, Transport};
use serde_json::json;

use super::peers::{HubAddress, Sdk, field, news, tool_names};

const TOKEN: &str = "correct horse";

#[test]
fn our_processes_work_with_the_sdk_server_after_an_upgrade_to_websocket() {
    check("auto");
}

#[test]
fn our_processes_work_with_the_sdk_server_by_websocket_alone() {
    check("websocket");
}

#[test]
fn our_processes_work_with_the_sdk_server_by_polling() {
    check("polling");
}

fn check(transport: &str) {
    let server = start();
    let address = address(&server);
    let desk = address.computer("o", "desk", transport);

    let (ok, members) = address.ask("o", transport, &["members"]);
    assert!(ok, "{members}");
    assert_eq!(field(&members["sessions"], "name"), ["desk", "teller"]);
    assert_eq!(field(&members["sessions"], "a2c_version"), ["0.2.0", "0.2.0"]);

    // Each of these Agents has left before the next comes, or that one would be refused.
    let (ok, tools) = address.ask("o", transport, &["tools", "desk"]);
    assert!(ok, "{tools}");
    assert_eq!(field(&tools["tools"], "name"), ["add", "echo", "note", "wait"]);

    let (ok, echoed) = address.ask("o", transport, &["call", "desk", "echo", r#"{"text": "grüße 🌍"}"#]);
    assert!(ok, "{echoed}");
    assert_eq!(echoed["content"][0]["text"], "grüße 🌍");

    let (ok, failed) = address.ask("o", transport, &["call", "desk", "add", r#"{"a": "two"}"#]);
    assert!(!ok, "{failed}");
    assert_eq!((&failed["isError"], &failed["_meta"]["error_code"]), (&json!(true), &json!(4003)));

    let (ok, unknown) = address.ask("o", transport, &["tools", "missing"]);
    assert!(!ok);
    assert_eq!(unknown["code"], 404);

    desk.stop();
    let (ok, members) = address.ask("o", transport, &["members"]);
    assert!(ok, "{members}");
    assert_eq!(field(&members["sessions"], "name"), ["teller"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_agent_follows_an_office_of_the_sdk_server() {
    let server = start();
    let address = address(&server);
    let agent = Agent::connect(&options(&server, TOKEN), "caller").await.unwrap();
    let mut told = agent.subscribe();
    agent.join("o").await.unwrap();

    let desk = address.computer("o", "desk", "auto");
    let change = OfficeChange::of("o", Role::Computer, "desk");
    assert_eq!(news(&mut told, office).await, Notification::EnterOffice(change.clone()));
    assert_eq!(tool_names(&agent, "desk").await, ["add", "echo", "note", "wait"]);
    let config = agent.config("desk").await.unwrap();
    assert_eq!(config.servers.keys().collect::<Vec<_>>(), ["sample"]);

    // The seat is taken until it is given up.
    let (ok, refusal) = address.ask("o", "auto", &["members"]);
    assert!(!ok && refusal["stderr"].as_str().unwrap().contains("Agent already in room"), "{refusal}");

    desk.stop();
    assert_eq!(news(&mut told, office).await, Notification::LeaveOffice(change));
    agent.leave().await.unwrap();
    let (ok, members) = address.ask("o", "auto", &["members"]);
    assert!(ok, "{members}");
    agent.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credential_that_the_sdk_server_refuses_is_an_error_of_connecting() {
    let server = start();
    for transport in [Transport::PollingThenWebsocket, Transport::Websocket, Transport::Polling] {
        let mut options = options(&server, "wrong");
        options.transport = transport;
        match Agent::connect(&options, "caller").await {
            Err(ConnectError::Refused(reason)) => assert!(reason.contains("refused"), "{reason}"),
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("connected with the wrong token"),
        }
    }
}

fn start() -> Sdk {
    Sdk::start("sdk_server.py", &json!({"token": TOKEN}))
}

fn url(server: &Sdk) -> String {
    server.greeting()["url"].as_str().map(str::to_owned).unwrap()
}

fn address(server: &Sdk) -> HubAddress {
    HubAddress { url: url(server), path: "/socket.io", token: Some(TOKEN) }
}

fn options(server: &Sdk, token: &str) -> LinkOptions {
    let mut options = LinkOptions::new(url(server));
    options.path = "/socket.io".into();
    options.token = Some(token.into());
    options
}

fn office(news: AgentEvent) -> Option<Notification> {
    match news {
        AgentEvent::Notification(n @ (Notification::EnterOffice(_) | Notification::LeaveOffice(_))) => Some(n),
        _ => None,
    }
}
