//! Members that do not read: the others are told, not kept waiting.

use std::time::Duration;

use a2c_socketio::Payload;
use serde_json::json;

use crate::support::{Member, RawClient, assert_error, hub_with, until_empty};

/// More than the socket buffers between the hub and a member take in a few of them.
const BIG: usize = 1 << 20;

#[tokio::test]
async fn a_member_that_never_reads_is_gone_after_the_ping_timeout() {
    let hub = hub_with(|config| {
        config.ping_interval = Duration::from_secs(1);
        config.ping_timeout = Duration::from_secs(2);
    })
    .await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let deaf = RawClient::joined(&hub, "computer", "deaf", "o").await;
    agent.told("notify:enter_office").await;
    let big = "x".repeat(BIG);
    let calls: Vec<_> = (0..12)
        .map(|i| agent.asking("client:get_tools", json!({"computer": "deaf", "req_id": i.to_string(), "big": big})))
        .collect();
    for call in calls {
        assert_error(&call.await.unwrap(), 404);
    }
    assert_eq!(agent.told("notify:leave_office").await, json!({"office_id": "o", "computer": "deaf"}));
    agent.close().await;
    until_empty(&hub).await;
    drop(deaf);
}

#[tokio::test]
async fn a_computer_whose_queue_is_full_is_429_and_the_agent_stays() {
    let hub = hub_with(|config| {
        config.ping_interval = Duration::from_secs(600);
        config.limits.max_backlog = 4 * BIG;
    })
    .await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let deaf = RawClient::joined(&hub, "computer", "deaf", "o").await;
    agent.told("notify:enter_office").await;
    let big = Payload::json(&json!({"computer": "deaf", "big": "x".repeat(BIG)})).unwrap();
    for _ in 0..40 {
        agent.client.emit("client:nudge", big.clone()).await.unwrap();
    }
    let answer =
        agent.ask("client:get_tools", json!({"computer": "deaf", "req_id": "r", "big": "x".repeat(BIG)})).await;
    assert_eq!(assert_error(&answer, 429).fields["computer"], "deaf");
    assert_eq!(hub.calls_in_flight(), 0);
    deaf.vanish();
    assert_eq!(agent.told("notify:leave_office").await, json!({"office_id": "o", "computer": "deaf"}));
    assert_error(&agent.ask("client:get_tools", json!({"computer": "deaf", "req_id": "r"})).await, 404);
}

#[tokio::test]
async fn a_member_that_cannot_be_told_is_disconnected_and_the_others_are_not() {
    let hub = hub_with(|config| {
        config.ping_interval = Duration::from_secs(600);
        // Longer than it takes to fill every buffer, on a machine that has much else to do.
        config.fair_time = Duration::from_secs(10);
        config.limits.max_payload = 16 * BIG;
    })
    .await;
    let mut deaf = RawClient::joined(&hub, "agent", "deaf", "o").await;
    let lab = Member::computer(&hub, "lab", "o").await;
    let mut desk = Member::computer(&hub, "desk", "o").await;
    let big = "x".repeat(BIG);
    let update =
        async |n: usize| lab.call("server:update_x", Payload::json(&json!({"n": n, "big": big})).unwrap()).await;
    // No member waits for the one that does not read: every update that is accepted reaches the others at once.
    let mut n = 0;
    let refused = loop {
        let ack = update(n).await;
        if !ack.is_empty() {
            break ack;
        }
        assert_eq!(desk.told("notify:update_x").await["n"], n);
        n += 1;
        assert!(n < 200, "more than any buffer holds");
    };
    assert!(n >= 12, "{n} updates");
    let refused: serde_json::Value = refused.get(0).unwrap();
    assert_eq!(assert_error(&refused, 429).fields["retry_after"], 1);
    // It has a fair time. Then the office goes on without it.
    assert_eq!(desk.told("notify:leave_office").await, json!({"office_id": "o", "agent": "deaf"}));
    deaf.hung_up().await;
    assert!(update(n).await.is_empty());
    assert_eq!(desk.told("notify:update_x").await["n"], n);
    assert_eq!(lab.roll("o").await, ["computer desk", "computer lab"]);
}

#[tokio::test]
async fn calls_in_flight_are_bounded_per_agent_and_end_together() {
    const CALLS: usize = 32;
    let hub = hub_with(|config| config.limits.max_calls = CALLS).await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    let ask = |n: usize| agent.asking("client:x", json!({"computer": "c", "req_id": n.to_string()}));
    let calls: Vec<_> = (0..CALLS).map(ask).collect();
    for _ in 0..CALLS {
        computer.request_id().await;
    }
    let refused = ask(CALLS).await.unwrap();
    assert_eq!(assert_error(&refused, 429).fields["limit"], CALLS);
    // All answers at once, for a Computer that goes: the Agent is told, not taken for one that does not read.
    computer.vanish();
    for call in calls {
        assert_error(&call.await.unwrap(), 404);
    }
    assert_eq!(agent.roll("o").await, ["agent a"]);
}
