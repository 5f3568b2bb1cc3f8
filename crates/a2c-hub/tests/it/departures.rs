//! Calls whose other side goes away, or never answers.

use std::time::Duration;

use serde_json::json;

use crate::support::{Member, RawClient, assert_error, hub, hub_with, until_empty};

#[tokio::test]
async fn a_computer_that_is_gone_is_404_at_once() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    agent.told("notify:enter_office").await;
    let calls: Vec<_> = ["client:tool_call", "client:get_tools", "client:later"]
        .map(|event| agent.asking(event, json!({"computer": "c", "req_id": event, "timeout": 3600})))
        .into();
    for _ in 0..3 {
        computer.text().await;
    }
    computer.vanish();
    for call in calls {
        let error = assert_error(&call.await.unwrap(), 404);
        assert_eq!(error.fields["computer"], "c");
    }
    agent.told("notify:leave_office").await;
    assert_eq!(hub.calls_in_flight(), 0);
}

#[tokio::test]
async fn a_computer_that_leaves_or_moves_is_404_at_once() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    for how in ["leave", "move"] {
        let call = agent.asking("client:get_tools", json!({"computer": "c", "req_id": how}));
        let late = computer.event("client:get_tools").await.ack.unwrap();
        match how {
            "leave" => assert_eq!(computer.leave("o").await, (true, None)),
            _ => assert_eq!(computer.join("computer", "c", "p").await, (true, None)),
        }
        assert_error(&call.await.unwrap(), 404);
        // Its answer comes too late and is ignored.
        late.send(a2c_socketio::Payload::json(&json!({"late": true})).unwrap()).await.unwrap();
        computer.heard_nothing().await;
        assert_eq!(computer.join("computer", "c", "o").await, (true, None));
    }
    assert_eq!(hub.calls_in_flight(), 0);
}

#[tokio::test]
async fn the_calls_of_an_agent_that_is_gone_are_cancelled() {
    let hub = hub().await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    for how in ["vanishes", "closes", "leaves"] {
        let mut agent = RawClient::joined(&hub, "agent", "a", "o").await;
        computer.told("notify:enter_office").await;
        agent.send("42/smcp,1[\"client:tool_call\",{\"computer\":\"c\",\"req_id\":\"r\",\"timeout\":3600}]").await;
        let call = computer.event("client:tool_call").await;
        agent.send("42/smcp,2[\"client:get_tools\",{\"computer\":\"c\",\"req_id\":\"s\"}]").await;
        let listing = computer.event("client:get_tools").await;
        match how {
            "vanishes" => agent.vanish(),
            "closes" => agent.send("41/smcp,").await,
            _ => agent.send("42/smcp,[\"server:leave_office\",{\"office_id\":\"o\"}]").await,
        }
        // A listing cannot be cancelled, so nothing is said about it.
        assert_eq!(computer.told("notify:tool_call_cancel").await, json!({"agent": "a", "req_id": "r"}), "{how}");
        assert_eq!(computer.told("notify:leave_office").await, json!({"office_id": "o", "agent": "a"}), "{how}");
        for late in [call, listing] {
            late.ack.unwrap().send(a2c_socketio::Payload::json(&json!({})).unwrap()).await.unwrap();
        }
        computer.heard_nothing().await;
        assert_eq!(hub.calls_in_flight(), 0, "{how}");
    }
    computer.close().await;
    until_empty(&hub).await;
}

#[tokio::test]
async fn an_agent_that_leaves_its_office_is_answered_all_the_same() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let calls = ["client:tool_call", "client:get_tools"]
        .map(|event| agent.asking(event, json!({"computer": "c", "req_id": event, "timeout": 3600})));
    computer.event("client:tool_call").await;
    computer.event("client:get_tools").await;
    assert_eq!(agent.leave("o").await, (true, None));
    for call in calls {
        assert_error(&call.await.unwrap(), 4103);
    }
    assert_eq!(hub.calls_in_flight(), 0);
}

#[tokio::test]
async fn a_computer_that_does_not_answer_is_408() {
    let hub = hub_with(|config| config.call_timeout = Duration::from_millis(100)).await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    agent.told("notify:enter_office").await;
    for event in ["client:get_tools", "client:tool_call", "client:later"] {
        let call = agent.asking(event, json!({"computer": "c", "req_id": "r"}));
        let late = computer.event(event).await.ack.unwrap();
        let error = assert_error(&call.await.unwrap(), 408);
        assert_eq!(error.fields["computer"], "c");
        assert_eq!(hub.calls_in_flight(), 0);
        late.send(a2c_socketio::Payload::json(&json!({"late": true})).unwrap()).await.unwrap();
        computer.heard_nothing().await;
        agent.heard_nothing().await;
    }
    // The members are still there, and the key is free.
    assert_eq!(agent.roll("o").await, ["agent a", "computer c"]);
}

#[tokio::test]
async fn a_call_with_its_own_limit_outlives_the_default() {
    let hub = hub_with(|config| config.call_timeout = Duration::from_millis(1)).await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let patient = agent.asking("client:tool_call", json!({"computer": "c", "req_id": "patient", "timeout": 60}));
    let waiting = computer.event("client:tool_call").await.ack.unwrap();
    // By the time this one has run out, the hub has looked at the clock at least once.
    let hasty = agent.asking("client:get_tools", json!({"computer": "c", "req_id": "hasty"}));
    let _unanswered = computer.event("client:get_tools").await;
    assert_error(&hasty.await.unwrap(), 408);
    waiting.send(a2c_socketio::Payload::json(&json!({"content": []})).unwrap()).await.unwrap();
    assert_eq!(patient.await.unwrap(), json!({"content": []}));
}
