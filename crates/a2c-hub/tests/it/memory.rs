//! The memory of all connections together is bounded, and no client waits for ever because of it.

use std::time::Duration;

use serde_json::json;

use crate::support::{Member, RawClient, hub_with, until_empty, within};

const LARGE: usize = 3 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_messages_that_do_not_fit_together_pass_one_after_the_other() {
    let hub = hub_with(|config| config.limits.max_memory = 4 << 20).await;
    let mut offices = Vec::new();
    for office in 0..8 {
        let office = office.to_string();
        offices.push((Member::agent(&hub, "a", &office).await, Member::computer(&hub, "c", &office).await));
    }
    let text = "x".repeat(LARGE);
    let exchanges = offices.iter_mut().map(async |(agent, computer)| {
        let asked = agent.asking("client:x", json!({"computer": "c", "text": text}));
        computer.answer("client:x", json!({"text": text})).await;
        assert!(asked.await.unwrap()["text"] == text.as_str());
    });
    within("all of them", futures_util::future::join_all(exchanges)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_stops_within_a_message_is_disconnected() {
    let hub = hub_with(|config| {
        config.limits.max_memory = 4 << 20;
        config.ping_interval = Duration::from_secs(1);
        config.ping_timeout = Duration::from_secs(2);
    })
    .await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let mut lazy = Vec::new();
    for name in ["x", "y", "z"] {
        let mut client = RawClient::joined(&hub, "computer", name, "elsewhere").await;
        client.send_beginning(LARGE).await;
        lazy.push(client);
    }
    let text = "x".repeat(LARGE);
    let asked = agent.asking("client:x", json!({"computer": "c", "text": text}));
    within("the call", computer.answer("client:x", json!({}))).await;
    asked.await.unwrap();
    drop(lazy);
    agent.close().await;
    computer.close().await;
    until_empty(&hub).await;
}
