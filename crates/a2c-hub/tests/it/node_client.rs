//! The Node `socket.io-client` as Agent and as Computer, over every transport.

use a2c_hub::Hub;
use a2c_testbed::{Peer, node};
use serde_json::json;

use crate::support::{PATIENCE, hub, until_empty};

/// How a Node client connects, and the transport it ends up with.
#[derive(Debug, Clone, Copy)]
struct Way {
    path: &'static str,
    transports: &'static [&'static str],
    ends_with: &'static str,
}

const UPGRADE: Way = Way { path: "/socket.io", transports: &["polling", "websocket"], ends_with: "websocket" };
const WEBSOCKET: Way = Way { path: "/smcp", transports: &["websocket"], ends_with: "websocket" };
const POLLING: Way = Way { path: "/smcp", transports: &["polling"], ends_with: "polling" };

fn member(hub: &Hub, role: &str, way: Way) -> Peer {
    let upgraded = way.transports.len() > 1;
    let options = json!({
        "url": hub.url(), "path": way.path, "transports": way.transports, "role": role, "upgraded": upgraded
    });
    let mut command = node().script("hub_member.mjs");
    command.arg(options.to_string());
    let peer = Peer::ready(command);
    assert_eq!(peer.address(), way.ends_with);
    peer
}

fn expect(peer: &Peer, line: &str) {
    peer.line_where(PATIENCE, |said| said == line);
}

/// Peers are awaited with blocking reads; the hub runs on other threads meanwhile.
async fn a_node_agent_calls_a_node_computer(agents: Way, computers: Way) {
    let hub = hub().await;
    let hub = tokio::task::spawn_blocking(move || {
        let mut agent = member(&hub, "agent", agents);
        let mut computer = member(&hub, "computer", computers);
        expect(&agent, "entered node computer");
        agent.write_line("call node computer");
        expect(&agent, "called");
        computer.write_line("close");
        expect(&agent, "left node computer");
        agent.write_line("close");
        expect(&agent, "disconnected io client disconnect");
        hub
    })
    .await
    .unwrap();
    until_empty(&hub).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn polling_then_upgrade() {
    a_node_agent_calls_a_node_computer(UPGRADE, UPGRADE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn websocket_only() {
    a_node_agent_calls_a_node_computer(WEBSOCKET, WEBSOCKET).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn polling_only() {
    a_node_agent_calls_a_node_computer(POLLING, POLLING).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mixed() {
    a_node_agent_calls_a_node_computer(POLLING, WEBSOCKET).await;
    a_node_agent_calls_a_node_computer(WEBSOCKET, POLLING).await;
}
