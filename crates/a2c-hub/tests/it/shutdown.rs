//! The end of a hub: all clients see it, and the port is free again.

use a2c_hub::{Hub, HubConfig};
use a2c_socketio::Transport;
use serde_json::json;

use crate::support::{Member, RawClient, hub, within};

#[tokio::test]
async fn members_see_the_disconnect_and_the_port_is_free() {
    let hub = hub().await;
    let address = hub.address();
    let mut members = Vec::new();
    for (i, transport) in
        [Transport::Websocket, Transport::PollingThenWebsocket, Transport::Polling].into_iter().enumerate()
    {
        let options = Member::options(&hub).transport(transport);
        members.push(Member::joined(options, "computer", &i.to_string(), "o").await);
    }
    let mut agent = Member::agent(&hub, "a", "o").await;
    let call = agent.client.call(
        "client:tool_call",
        a2c_socketio::Payload::json(&json!({"computer": "0", "req_id": "r"})).unwrap(),
        crate::support::PATIENCE,
    );
    let (answer, ()) = tokio::join!(call, within("the shutdown", hub.shutdown()));
    // It came before the end or after it began; either way the Agent does not wait, and is told why.
    if let Ok(answer) = answer {
        let answer = answer.get::<serde_json::Value>(0).unwrap();
        assert!(answer["code"] == 500 && answer["message"].as_str().unwrap().contains("the hub"), "{answer}");
    }
    agent.disconnected().await;
    for member in &mut members {
        member.disconnected().await;
    }
    let again = Hub::start(HubConfig::on(address)).await.unwrap();
    assert_eq!(again.address(), address);
    Member::agent(&again, "a", "o").await;
}

#[tokio::test]
async fn a_client_before_connect_is_closed_too() {
    let hub = hub().await;
    let mut undecided = RawClient::open(&hub).await;
    let mut connected = RawClient::connect(&hub).await;
    within("the shutdown", hub.shutdown()).await;
    connected.hung_up().await;
    // Not a CONNECT that is welcomed by a hub that is no more.
    undecided.send("40/smcp,").await;
    undecided.hung_up_without_welcome().await;
}

#[tokio::test]
async fn a_dropped_hub_is_gone_as_well() {
    let hub = hub().await;
    let mut member = Member::computer(&hub, "c", "o").await;
    let address = hub.address();
    drop(hub);
    member.disconnected().await;
    let listening = async {
        // The listener is dropped by its task, a moment later.
        loop {
            if let Ok(hub) = Hub::start(HubConfig::on(address)).await {
                return hub;
            }
            tokio::task::yield_now().await;
        }
    };
    within("the port", listening).await;
}

#[tokio::test]
async fn calls_in_flight_come_to_their_end_and_nothing_new_begins() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    agent.told("notify:enter_office").await;
    let asked = agent.asking("client:tool_call", json!({"computer": "c", "req_id": "r"}));
    let ack = computer.event("client:tool_call").await.ack.unwrap();
    let (address, target) = (hub.address(), "/smcp/?EIO=4&transport=polling&a2c_version=0.2.0");
    let ending = tokio::spawn(hub.shutdown());
    // From the first refusal on, the hub is ending.
    let refused = within("a hub that takes nothing new", async {
        loop {
            let answer = agent.ask("client:tool_call", json!({"computer": "c", "req_id": "r2"}));
            tokio::select! {
                answer = answer => break answer,
                event = computer.event("client:tool_call") => drop(event.ack),
            }
        }
    })
    .await;
    assert_eq!(refused["code"], 500, "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("going away"), "{refused}");
    let (status, ..) = crate::support::http_at(address, "GET", target, "", "").await;
    assert!(status.contains("503"), "{status}");
    let (status, _, body) = crate::support::http_at(address, "GET", "/readyz", "", "").await;
    assert!(status.contains("503") && body.contains("going away"), "{status}");

    ack.send(a2c_socketio::Payload::json(&json!({"content": ["late"]})).unwrap()).await.unwrap();
    assert_eq!(asked.await.unwrap(), json!({"content": ["late"]}), "the call that was running is answered");
    assert_eq!(agent.told("notify:leave_office").await, json!({"office_id": "o", "computer": "c"}));
    agent.disconnected().await;
    within("the shutdown", ending).await.unwrap();
}

#[tokio::test]
async fn a_call_that_does_not_end_is_not_waited_for_forever() {
    let hub = crate::support::hub_with(|config| config.drain = std::time::Duration::from_millis(200)).await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let asked = agent.asking("client:tool_call", json!({"computer": "c", "req_id": "r"}));
    computer.event("client:tool_call").await;
    within("the shutdown", hub.shutdown()).await;
    let answer = asked.await.unwrap();
    assert_eq!(answer["code"], 500, "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("the hub stopped"), "{answer}");
    assert_eq!(computer.told("notify:tool_call_cancel").await, json!({"agent": "a", "req_id": "r"}));
}
