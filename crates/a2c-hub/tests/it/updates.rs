//! What a Computer announces and what an Agent gives up reaches the others of the office, under the right name.

use a2c_socketio::Payload;
use serde_json::{Value, json};

use crate::support::{Member, assert_error, hub, json_text};

#[tokio::test]
async fn any_update_becomes_a_notification_to_the_others() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut desk = Member::computer(&hub, "desk", "o").await;
    let mut lab = Member::computer(&hub, "lab", "o").await;
    let mut elsewhere = Member::computer(&hub, "desk", "p").await;
    agent.told("notify:enter_office").await;
    agent.told("notify:enter_office").await;
    desk.told("notify:enter_office").await;
    for what in ["config", "tool_list", "desktop", "finder", "skills", "名"] {
        let sent = json!({"computer": "desk"});
        let ack = desk.call(&format!("server:update_{what}"), Payload::json(&sent).unwrap()).await;
        assert!(ack.is_empty(), "{ack:?}");
        for member in [&mut agent, &mut lab] {
            assert_eq!(member.told(&format!("notify:update_{what}")).await, sent);
        }
    }
    for member in [&mut desk, &mut elsewhere] {
        member.heard_nothing().await;
    }
}

#[tokio::test]
async fn the_computer_is_stamped_and_the_rest_is_kept_to_the_byte() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let desk = Member::computer(&hub, "desk", "o").await;
    agent.told("notify:enter_office").await;
    for (sent, expected) in [
        (r#"{"computer":"lab","n": 1.0e2,"b":{},"a":[ ]}"#, r#"{"computer":"desk","n": 1.0e2,"b":{},"a":[ ]}"#),
        (r#"{"n":10000000000000000000000}"#, r#"{"computer":"desk","n":10000000000000000000000}"#),
        (r#"{"computer":null}"#, r#"{"computer":"desk"}"#),
        ("{}", r#"{"computer":"desk"}"#),
        (r#"{"agent":"other","x":1}"#, r#"{"computer":"desk","agent":"other","x":1}"#),
        // Fields that mean something elsewhere mean nothing here.
        (r#"{"timeout":0,"req_id":7}"#, r#"{"computer":"desk","timeout":0,"req_id":7}"#),
    ] {
        desk.call("server:update_skills", json_text(sent)).await;
        let event = agent.event("notify:update_skills").await;
        assert_eq!(event.payload.raw(0).unwrap().get(), expected);
    }
}

#[tokio::test]
async fn a_cancellation_reaches_the_computers_under_the_agents_own_name() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut desk = Member::computer(&hub, "desk", "o").await;
    let mut lab = Member::computer(&hub, "lab", "o").await;
    desk.told("notify:enter_office").await;
    agent.told("notify:enter_office").await;
    agent.told("notify:enter_office").await;

    let running = agent.asking("client:tool_call", json!({"computer": "desk", "req_id": "r", "timeout": 60}));
    let call = desk.event("client:tool_call").await;
    let cancel = json!({"agent": "another agent", "req_id": "r"});
    let ack = agent.call("server:tool_call_cancel", Payload::json(&cancel).unwrap()).await;
    assert!(ack.is_empty(), "{ack:?}");
    for member in [&mut desk, &mut lab] {
        assert_eq!(member.told("notify:tool_call_cancel").await, json!({"agent": "a", "req_id": "r"}));
    }
    agent.heard_nothing().await;
    // The call is still the Computer's to answer.
    let cancelled = json!({"content": [], "isError": true, "meta": {"a2c_cancelled": true}});
    call.ack.unwrap().send(Payload::json(&cancelled).unwrap()).await.unwrap();
    assert_eq!(running.await.unwrap(), cancelled);
}

#[tokio::test]
async fn the_rest_of_a_cancellation_is_kept_to_the_byte() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut desk = Member::computer(&hub, "desk", "o").await;
    agent.call("server:tool_call_cancel", json_text(r#"{"why": 1.0,"agent":"b","req_id":"r","timeout":0}"#)).await;
    let event = desk.event("notify:tool_call_cancel").await;
    assert_eq!(event.payload.raw(0).unwrap().get(), r#"{"why": 1.0,"agent":"a","req_id":"r","timeout":0}"#);
}

#[tokio::test]
async fn attachments_of_an_update_reach_all_members() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut lab = Member::computer(&hub, "lab", "o").await;
    let desk = Member::computer(&hub, "desk", "o").await;
    lab.told("notify:enter_office").await;
    agent.told("notify:enter_office").await;
    agent.told("notify:enter_office").await;
    let mut payload = Payload::empty();
    let picture = payload.attach(vec![1, 2, 3]);
    desk.call("server:update_picture", payload.arg(&json!({"picture": picture})).unwrap()).await;
    for member in [&mut agent, &mut lab] {
        let event = member.event("notify:update_picture").await;
        let picture = json!({"_placeholder": true, "num": 0});
        assert_eq!(event.payload.get::<Value>(0).unwrap(), json!({"computer": "desk", "picture": picture}));
        assert_eq!(event.payload.attachments()[0], [1, 2, 3][..]);
    }
}

#[tokio::test]
async fn a_cancellation_needs_its_key() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut desk = Member::computer(&hub, "desk", "o").await;
    assert_error(&agent.ask("server:tool_call_cancel", json!({"agent": "a"})).await, 400);
    desk.heard_nothing().await;
    let ack = agent.call("server:tool_call_cancel", json_text(r#"{"agent":"","req_id":"r"}"#)).await;
    assert!(ack.is_empty());
    let told: Value = desk.told("notify:tool_call_cancel").await;
    assert_eq!(told, json!({"agent": "a", "req_id": "r"}));
}
