//! Answers of Computers that misbehave.

use a2c_socketio::Payload;
use serde_json::{Value, json};

use crate::support::{Member, RawClient, assert_error, hub};

#[tokio::test]
async fn an_answer_that_is_no_object_is_500() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    for body in ["[]", "[null]", "[7]", "[\"text\"]", "[[{}]]", "{}", "", "[{]", "[{}", "null", "[{}]]", "[{\"a\":01}]"]
    {
        let asked = agent.asking("client:get_tools", json!({"computer": "c", "req_id": "r"}));
        let id = computer.request_id().await;
        computer.send(format!("43/smcp,{id}{body}")).await;
        assert_error(&asked.await.unwrap(), 500);
    }
    assert_eq!(hub.calls_in_flight(), 0);
}

#[tokio::test]
async fn only_the_computer_that_was_asked_can_answer_and_only_once() {
    let hub = hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut asked = RawClient::joined(&hub, "computer", "asked", "o").await;
    let mut rival = RawClient::joined(&hub, "computer", "rival", "o").await;
    assert!(asked.text().await.contains("notify:enter_office"));
    agent.told("notify:enter_office").await;
    agent.told("notify:enter_office").await;

    let answer = agent.asking("client:get_tools", json!({"computer": "asked", "req_id": "r"}));
    let id = asked.request_id().await;
    for near in id.saturating_sub(3)..id + 3 {
        rival.send(format!("43/smcp,{near}[{{\"from\":\"rival\"}}]")).await;
    }
    // The rival's words have been heard once its question is answered.
    rival.ask("a fence", &json!({})).await;
    assert_eq!(hub.calls_in_flight(), 1);
    asked.send(format!("43/smcp,{id}[{{\"from\":\"asked\"}}]")).await;
    assert_eq!(answer.await.unwrap(), json!({"from": "asked"}));

    asked.send(format!("43/smcp,{id}[{{\"from\":\"asked, again\"}}]")).await;
    asked.ask("a fence", &json!({})).await;
    agent.heard_nothing().await;
    let next = agent.asking("client:get_tools", json!({"computer": "asked", "req_id": "r"}));
    let id = asked.request_id().await;
    asked.send(format!("43/smcp,{id}[{{\"n\":2}}]")).await;
    assert_eq!(next.await.unwrap(), json!({"n": 2}));
}

#[tokio::test]
async fn an_answer_from_the_agent_itself_is_ignored() {
    let hub = hub().await;
    let mut agent = RawClient::joined(&hub, "agent", "a", "o").await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    assert!(agent.text().await.contains("notify:enter_office"));
    agent.send("42/smcp,5[\"client:x\",{\"computer\":\"c\"}]").await;
    let id = computer.request_id().await;
    agent.send(format!("43/smcp,{id}[{{\"from\":\"myself\"}}]")).await;
    agent.send("43/smcp,5[{\"from\":\"myself\"}]").await;
    agent.send("43/smcp,[{\"from\":\"no id\"}]").await;
    agent.ask("a fence", &json!({})).await;
    computer.send(format!("43/smcp,{id}[{{\"from\":\"c\"}}]")).await;
    assert_eq!(agent.text().await, "43/smcp,5[{\"from\":\"c\"}]");
}

#[tokio::test]
async fn answers_find_their_calls_in_any_order() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let asked: Vec<_> =
        (0..50).map(|n| agent.asking("client:x", json!({"computer": "c", "req_id": n.to_string(), "n": n}))).collect();
    let mut waiting = Vec::new();
    for _ in 0..50 {
        waiting.push(computer.event("client:x").await);
    }
    for event in waiting.into_iter().rev() {
        let n = event.payload.get::<Value>(0).unwrap()["n"].clone();
        event.ack.unwrap().send(Payload::json(&json!({"n": n})).unwrap()).await.unwrap();
    }
    for (n, answer) in asked.into_iter().enumerate() {
        assert_eq!(answer.await.unwrap(), json!({"n": n}));
    }
}
