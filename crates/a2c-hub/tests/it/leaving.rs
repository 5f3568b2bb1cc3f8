//! Giving a seat up: on purpose, by closing, by vanishing.

use std::time::Duration;

use a2c_socketio::Transport;
use serde_json::json;

use crate::support::{Member, RawClient, http, hub, hub_with, until_empty};

#[tokio::test]
async fn a_leave_is_told_to_the_others() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut desk = Member::computer(&hub, "desk", "o").await;
    agent.told("notify:enter_office").await;
    assert_eq!(desk.leave("o").await, (true, None));
    assert_eq!(agent.told("notify:leave_office").await, json!({"office_id": "o", "computer": "desk"}));
    desk.heard_nothing().await;

    assert_eq!(desk.join("computer", "desk", "o").await, (true, None), "the name is free again");
    agent.told("notify:enter_office").await;
    assert_eq!(agent.leave("o").await, (true, None));
    assert_eq!(desk.told("notify:leave_office").await, json!({"office_id": "o", "agent": "a"}));
    agent.heard_nothing().await;
    let next = Member::agent(&hub, "b", "o").await;
    assert_eq!(next.roll("o").await, ["agent b", "computer desk"]);
}

#[tokio::test]
async fn leaving_an_office_one_is_not_in_changes_nothing() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut desk = Member::computer(&hub, "desk", "o").await;
    agent.told("notify:enter_office").await;
    let mut elsewhere = Member::computer(&hub, "c", "p").await;
    let (ok, reason) = desk.leave("p").await;
    assert!(!ok && reason.is_some_and(|r| r.contains('p')));
    assert!(!Member::connect(&hub).await.leave("o").await.0);
    for member in [&mut agent, &mut desk, &mut elsewhere] {
        member.heard_nothing().await;
    }
    assert_eq!(agent.roll("o").await, ["agent a", "computer desk"]);
}

#[tokio::test]
async fn closing_is_leaving() {
    let hub = hub().await;
    for transport in [Transport::Websocket, Transport::PollingThenWebsocket, Transport::Polling] {
        let mut agent = Member::agent(&hub, "a", "o").await;
        let options = Member::options(&hub).transport(transport);
        let desk = Member::joined(options, "computer", "desk", "o").await;
        agent.told("notify:enter_office").await;
        desk.close().await;
        assert_eq!(agent.told("notify:leave_office").await, json!({"office_id": "o", "computer": "desk"}));
        assert_eq!(agent.roll("o").await, ["agent a"]);
        agent.close().await;
        until_empty(&hub).await;
    }
}

#[tokio::test]
async fn a_killed_connection_is_noticed_at_once() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let desk = RawClient::joined(&hub, "computer", "desk", "o").await;
    agent.told("notify:enter_office").await;
    desk.vanish();
    assert_eq!(agent.told("notify:leave_office").await, json!({"office_id": "o", "computer": "desk"}));
    let again = Member::computer(&hub, "desk", "o").await;
    assert_eq!(again.roll("o").await, ["agent a", "computer desk"]);
}

#[tokio::test]
async fn a_member_that_falls_silent_is_gone_after_the_ping_timeout() {
    let hub = hub_with(|config| {
        config.ping_interval = Duration::from_millis(300);
        config.ping_timeout = Duration::from_millis(1500);
    })
    .await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    // Neither of these ever answers a ping again; their connections stay open.
    let silent = RawClient::joined(&hub, "computer", "silent", "o").await;
    assert_eq!(agent.told("notify:enter_office").await, json!({"office_id": "o", "computer": "silent"}));
    assert_eq!(agent.told("notify:leave_office").await, json!({"office_id": "o", "computer": "silent"}));

    let (_, _, open) = http(&hub, "GET", "/smcp/?EIO=4&transport=polling&a2c_version=0.2.0", "", "").await;
    let open: serde_json::Value = serde_json::from_str(&open[1..]).unwrap();
    let target = format!("/smcp/?EIO=4&transport=polling&sid={}", open["sid"].as_str().unwrap());
    let join = r#"42/smcp,["server:join_office",{"role":"computer","name":"poller","office_id":"o"}]"#;
    http(&hub, "POST", &target, "", &format!("40/smcp,\u{1e}{join}")).await;
    assert_eq!(agent.told("notify:enter_office").await, json!({"office_id": "o", "computer": "poller"}));
    assert_eq!(agent.told("notify:leave_office").await, json!({"office_id": "o", "computer": "poller"}));
    drop(silent);
}

#[tokio::test]
async fn a_socketio_disconnect_is_leaving() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut desk = RawClient::joined(&hub, "computer", "desk", "o").await;
    agent.told("notify:enter_office").await;
    desk.send("41/smcp,").await;
    assert_eq!(agent.told("notify:leave_office").await, json!({"office_id": "o", "computer": "desk"}));
}
