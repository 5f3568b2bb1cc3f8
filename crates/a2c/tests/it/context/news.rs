//! What is announced, and when.

use std::time::Duration;

use a2c_agent::{AgentEvent, AgentEvents};
use a2c_protocol::notification::Notification;
use serde_json::{Value, json};

use super::library::{document, of_desktop, of_finder, server, told_of, window};
use crate::in_process::{TestOffice, within};

/// What is heard until the server's tools changed, which is announced after it.
async fn heard_until_quiet(news: &mut AgentEvents) -> Vec<Notification> {
    let mut heard = Vec::new();
    while let Ok(Some(AgentEvent::Notification(notification))) =
        tokio::time::timeout(Duration::from_millis(700), news.recv()).await
    {
        heard.push(notification);
    }
    heard
}

#[tokio::test]
async fn windows_and_documents_that_come_go_and_change_are_announced() {
    let office =
        TestOffice::new(&json!({"a": server(&[window("window://a", "1"), document("dpe://a/d", "D", "2026-01-01")])}))
            .await;
    let mut news = office.agent.subscribe();

    office.text("touch", json!({"uri": "window://a", "read": "2"})).await;
    told_of(&mut news, of_desktop).await;
    assert_eq!(office.desktop().await, ["window://a\n\n2"]);

    office.text("put", json!({"resource": window("window://b", "new")})).await;
    told_of(&mut news, of_desktop).await;
    assert_eq!(office.desktop().await.len(), 2);

    office.text("drop", json!({"uri": "window://a"})).await;
    told_of(&mut news, of_desktop).await;
    assert_eq!(office.desktop().await, ["window://b\n\nnew"]);

    office.text("put", json!({"resource": document("dpe://a/e", "E", "2026-01-02")})).await;
    told_of(&mut news, of_finder).await;
    assert_eq!(office.finder(json!({}), "title").await, ["E", "D"]);

    office.text("drop", json!({"uri": "dpe://a/d"})).await;
    told_of(&mut news, of_finder).await;
    assert_eq!(office.finder(json!({}), "title").await, ["E"]);

    office.text("touch", json!({"uri": "dpe://a/e/pages/1"})).await;
    told_of(&mut news, of_finder).await;
    office.end().await;
}

#[tokio::test]
async fn a_list_that_says_the_same_is_no_news() {
    let office = TestOffice::new(&json!({"a": server(&[document("dpe://a/d", "D", "2026-01-01"), document("dpe://a/e", "E", "2026-01-02"), window("demo://x", "other")])})).await;
    let mut news = office.agent.subscribe();
    office.text("swap", json!({})).await;
    office.text("touch", json!({"uri": "demo://x"})).await;
    // The list was looked at again before this is announced.
    while office.counts("counts").await["asked"]["list"] != 2 {}
    assert_eq!(heard_until_quiet(&mut news).await, []);
    office.end().await;
}

#[tokio::test]
async fn each_resource_is_subscribed_to_once_and_a_level_zero_stands_for_its_documents() {
    let office = TestOffice::new(&json!({"a": server(&[
        window("window://a/w", "1"),
        document("dpe://a/d", "D", "2026-01-01"),
        json!({"uri": "dpe://b", "name": "all of b"}),
        document("dpe://b/e", "E", "2026-01-01"),
        window("demo://x", "other"),
    ])}))
    .await;
    let subscribed = async || office.counts("counts").await["subscribed"].clone();
    assert_eq!(subscribed().await, json!({"window://a/w": 1, "dpe://a/d": 1, "dpe://b": 1}));
    let mut news = office.agent.subscribe();
    office.text("put", json!({"resource": window("window://a/new", "2")})).await;
    told_of(&mut news, of_desktop).await;
    office.text("drop", json!({"uri": "window://a/w"})).await;
    told_of(&mut news, of_desktop).await;
    let expected = json!({"window://a/w": 0, "dpe://a/d": 1, "dpe://b": 1, "window://a/new": 1});
    within(async { while subscribed().await != expected {} }).await;
    office.end().await;
}

#[tokio::test]
async fn a_burst_is_a_few_announcements_and_the_last_state_is_seen() {
    let office = TestOffice::new(&json!({"a": server(&[window("window://a", "none")])})).await;
    let mut news = office.agent.subscribe();
    let (agent, begin) = (office.agent.clone(), std::time::Instant::now());
    let burst = tokio::spawn(async move {
        agent.call_tool("desk", "burst", json!({"uri": "window://a", "count": 1000}), Duration::from_secs(60)).await
    });
    let mut announced = 0;
    let mut desktop: Vec<String> = Vec::new();
    while desktop != ["window://a\n\n999"] {
        told_of(&mut news, of_desktop).await;
        announced += 1;
        desktop = office.desktop().await;
    }
    burst.await.unwrap().unwrap();
    // At most one every 50 ms, and one at the end.
    let allowed = begin.elapsed().as_millis() / 50 + 2;
    assert!(announced <= allowed, "{announced} announcements, {allowed} allowed");
    office.end().await;
}

#[tokio::test]
async fn servers_that_come_and_go_are_announced_with_what_they_show() {
    let office =
        TestOffice::new(&json!({"a": server(&[window("window://a", "1"), document("dpe://a/d", "D", "2026-01-01")])}))
            .await;
    let mut news = office.agent.subscribe();
    office.handle().disable("a").await.unwrap();
    let (mut desktop, mut finder) = (false, false);
    while !(desktop && finder) {
        match within(news.recv()).await.unwrap() {
            AgentEvent::Notification(Notification::UpdateDesktop(_)) => desktop = true,
            AgentEvent::Notification(Notification::UpdateFinder(_)) => finder = true,
            _ => {}
        }
    }
    assert_eq!(office.finder(json!({}), "title").await, Vec::<Value>::new());
    office.handle().enable("a").await.unwrap();
    told_of(&mut news, of_finder).await;
    while office.finder(json!({}), "title").await != ["D"] || office.desktop().await.is_empty() {}
    office.end().await;
}
