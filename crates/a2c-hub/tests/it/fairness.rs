//! What one member or one office does costs the others nothing.

use std::time::Duration;

use a2c_hub::{Hub, Rate};
use a2c_socketio::Payload;
use serde_json::json;

use crate::support::{Member, RawClient, assert_error, hub_with, within};

const LARGE: usize = 3 << 20;

/// A call with a large request and a large answer.
async fn exchange(agent: &Member, computer: &mut Member) {
    let text = "x".repeat(LARGE);
    let asked = agent.asking("client:x", json!({"computer": "c", "text": text}));
    within("the call", computer.answer("client:x", json!({"text": text}))).await;
    assert!(asked.await.unwrap()["text"] == text.as_str());
}

async fn narrow_hub() -> Hub {
    hub_with(|config| {
        config.limits.max_memory = 16 << 20;
        // Longer than the test: what helps the others is not that these members are disconnected.
        config.fair_time = Duration::from_secs(600);
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fragments_that_never_end_hold_no_memory() {
    let hub = narrow_hub().await;
    let mut lazy = Vec::new();
    for n in 0..8 {
        let mut client = RawClient::joined(&hub, "computer", &n.to_string(), "elsewhere").await;
        // The first frame of a text, one byte, more to come; then pongs.
        client.send_raw(&[0x01, 0x81, 0, 0, 0, 0, b'4']).await;
        client.send_raw(&[0x8a, 0x80, 0, 0, 0, 0]).await;
        lazy.push(client);
    }
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    exchange(&agent, &mut computer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_office_that_holds_its_share_leaves_the_rest() {
    let hub = narrow_hub().await;
    let mut lazy = Vec::new();
    for n in 0..8 {
        let mut client = RawClient::joined(&hub, "computer", &n.to_string(), "elsewhere").await;
        // Three MiB of six, as far as the hub takes them: its socket buffers may hold the rest.
        let sending = client.send_beginning(2 * LARGE);
        let _ = tokio::time::timeout(Duration::from_secs(1), sending).await;
        lazy.push(client);
    }
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    exchange(&agent, &mut computer).await;
}

#[tokio::test]
async fn a_message_that_does_not_arrive_ends_its_connection_also_among_pongs() {
    let hub = hub_with(|config| config.fair_time = Duration::from_secs(2)).await;
    let mut client = RawClient::joined(&hub, "computer", "c", "o").await;
    client.send_raw(&[0x01, 0x81, 0, 0, 0, 0, b'4']).await;
    let started = std::time::Instant::now();
    while hub.connections() > 0 {
        client.send_raw(&[0x8a, 0x80, 0, 0, 0, 0]).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(started.elapsed() < Duration::from_secs(60), "still there");
    }
    assert!(started.elapsed() >= Duration::from_secs(2), "it had a fair time");
}

#[tokio::test]
async fn attachments_that_do_not_arrive_end_their_connection() {
    let hub = hub_with(|config| config.fair_time = Duration::from_secs(1)).await;
    let mut client = RawClient::joined(&hub, "computer", "c", "o").await;
    client.send(r#"451-/smcp,["server:update_x",{"x":{"_placeholder":true,"num":0}}]"#).await;
    client.hung_up().await;
}

#[tokio::test]
async fn repeated_announcements_wait_once_and_the_last_one_comes() {
    let hub = hub_with(|config| config.limits.deliveries = Some(Rate::per_second(10))).await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let loud = Member::computer(&hub, "loud", "o").await;
    agent.event("notify:enter_office").await;
    for _ in 0..500 {
        let ack = loud.call("server:update_tool_list", Payload::json(&json!({"computer": "loud"})).unwrap()).await;
        assert!(ack.is_empty(), "none of them is refused");
    }
    loud.call("server:update_config", Payload::json(&json!({"computer": "loud"})).unwrap()).await;
    let mut heard = 0;
    while agent.next_event().await.name == "notify:update_tool_list" {
        heard += 1;
    }
    assert!((1..50).contains(&heard), "{heard} of 500 were delivered");
}

#[tokio::test]
async fn a_member_that_announces_ever_new_things_is_told_to_wait() {
    let hub = hub_with(|config| config.limits.deliveries = Some(Rate::per_second(1))).await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let loud = Member::computer(&hub, "loud", "o").await;
    let quiet = Member::computer(&hub, "quiet", "o").await;
    let mut accepted = 0;
    let refused = loop {
        let ack = loud.call("server:update_x", Payload::json(&json!({"n": accepted})).unwrap()).await;
        match ack.get::<serde_json::Value>(0) {
            Ok(refused) => break refused,
            Err(_) => accepted += 1,
        }
        assert!(accepted < 1000);
    };
    assert_eq!(assert_error(&refused, 429).fields["retry_after"], 1);
    // Others of the office are heard, each in its turn.
    let ack = quiet.call("server:update_x", Payload::json(&json!({"n": 0})).unwrap()).await;
    assert!(ack.is_empty());
    assert_eq!(agent.told("notify:enter_office").await["computer"], "loud");
}

#[tokio::test]
async fn every_computer_has_its_own_call_numbers() {
    let hub = hub_with(|_| {}).await;
    for office in ["o", "p"] {
        let agent = Member::agent(&hub, "a", office).await;
        for name in ["c", "d"] {
            let mut computer = RawClient::joined(&hub, "computer", name, office).await;
            for number in 1..=3 {
                let asked = agent.asking("client:x", json!({"computer": name}));
                assert_eq!(computer.request_id().await, number);
                computer.send(format!("43/smcp,{number}[{{}}]")).await;
                asked.await.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn placeholders_that_lead_nowhere_are_refused() {
    let hub = hub_with(|_| {}).await;
    let mut agent = RawClient::joined(&hub, "agent", "a", "o").await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    assert!(agent.text().await.contains("notify:enter_office"));
    for stray in [r#"{"_placeholder":true,"num":1}"#, r#"{"_placeholder":true}"#, r#"{"_placeholder":true,"num":-1}"#] {
        // A call.
        agent.send(format!(r#"451-/smcp,1["client:x",{{"computer":"c","x":{stray}}}]"#)).await;
        agent.send_binary(vec![1]).await;
        let answer = agent.text().await;
        assert!(answer.starts_with("43/smcp,1[") && answer.contains("400"), "{answer}");
        // An announcement.
        computer.send(format!(r#"451-/smcp,1["server:update_x",{{"x":{stray}}}]"#)).await;
        computer.send_binary(vec![1]).await;
        let answer = computer.text().await;
        assert!(answer.starts_with("43/smcp,1[") && answer.contains("400"), "{answer}");
        // An answer: the Agent that waits gets an error.
        agent.send(r#"42/smcp,2["client:x",{"computer":"c"}]"#).await;
        let id = computer.request_id().await;
        computer.send(format!(r#"461-/smcp,{id}[{{"x":{stray}}}]"#)).await;
        computer.send_binary(vec![1]).await;
        let answer = agent.text().await;
        assert!(answer.starts_with("43/smcp,2[") && answer.contains("placeholder"), "{answer}");
    }
    // A good one passes.
    agent.send(r#"451-/smcp,3["client:x",{"computer":"c","x":{"_placeholder":true,"num":0}}]"#).await;
    agent.send_binary(vec![7]).await;
    let text = computer.text().await;
    assert!(text.starts_with("451-/smcp,"), "{text}");
    assert_eq!(computer.binary().await, vec![7]);
}
