//! Calls of one Agent reach a Computer in the order in which they were made, and so do the answers.

use a2c_socketio::{Payload, Transport};
use serde_json::{Value, json};

use crate::support::{Member, RawClient, hub};

const CALLS: u64 = 1_000;

/// Every third call is for one Computer, the others are for the other.
fn computer_of(n: u64) -> &'static str {
    if n.is_multiple_of(3) { "one" } else { "two" }
}

#[tokio::test]
async fn a_thousand_pipelined_calls_and_their_answers_keep_their_order() {
    let hub = hub().await;
    let mut one = Member::computer(&hub, "one", "o").await;
    let mut two = Member::computer(&hub, "two", "o").await;
    one.told("notify:enter_office").await;
    let mut agent = RawClient::joined(&hub, "agent", "a", "o").await;
    one.told("notify:enter_office").await;
    two.told("notify:enter_office").await;

    for n in 0..CALLS {
        let request = json!({"computer": computer_of(n), "req_id": n.to_string(), "n": n});
        agent.send(format!("42/smcp,{n}[\"client:tool_call\",{request}]")).await;
    }
    // All of one, then all of the other: each Computer's calls and answers have an order of their own.
    for (name, computer) in [("one", &mut one), ("two", &mut two)] {
        for n in (0..CALLS).filter(|n| computer_of(*n) == name) {
            let seen = computer.answer("client:tool_call", json!({"n": n})).await;
            assert_eq!(seen["n"], n);
        }
        for n in (0..CALLS).filter(|n| computer_of(*n) == name) {
            assert_eq!(agent.text().await, format!("43/smcp,{n}[{{\"n\":{n}}}]"));
        }
    }
    assert_eq!(hub.calls_in_flight(), 0);
}

/// Emits, whose order the client guarantees, over any transport.
async fn emits_keep_their_order(agents: Transport, computers: Transport) {
    let hub = hub().await;
    let agent = Member::joined(Member::options(&hub).transport(agents), "agent", "a", "o").await;
    let mut computer = Member::joined(Member::options(&hub).transport(computers), "computer", "c", "o").await;
    let emitting = async {
        for n in 0..CALLS {
            let request = Payload::json(&json!({"computer": "c", "n": n})).unwrap();
            agent.client.emit("client:x", request).await.unwrap();
        }
    };
    let reading = async {
        for n in 0..CALLS {
            let event = computer.event("client:x").await;
            assert_eq!(event.payload.get::<Value>(0).unwrap()["n"], n);
        }
    };
    tokio::join!(emitting, reading);
}

#[tokio::test]
async fn over_polling() {
    emits_keep_their_order(Transport::Polling, Transport::Polling).await;
}

#[tokio::test]
async fn while_the_transport_is_upgraded() {
    emits_keep_their_order(Transport::PollingThenWebsocket, Transport::PollingThenWebsocket).await;
}
