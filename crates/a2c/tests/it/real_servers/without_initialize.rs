//! A server of the TypeScript SDK that speaks revision 2026-07-28 only, over both of its transports.

use a2c_agent::DesktopQuery;
use a2c_computer::ServerState;
use serde_json::{Value, json};

use super::peers;
use crate::in_process::{TestOffice, told_of_tools, until_async};

/// Its tools are called, its window is shown and followed, its new tools are listed, and it starts again.
async fn is_like_all_others(server: Value) {
    let office = TestOffice::new(&json!({ "new": server })).await;
    let mut news = office.agent.subscribe();
    assert_eq!(office.names().await, ["echo", "grow", "touch"]);
    assert_eq!(office.text("echo", json!({})).await, "hello");
    let desktop = || async { office.agent.desktop("desk", DesktopQuery::default()).await.unwrap().join("\n") };
    until_async("the window", || async { desktop().await.contains("touched 0 times") }).await;
    office.text("touch", json!({})).await;
    until_async("the changed window", || async { desktop().await.contains("touched 1 times") }).await;
    office.text("grow", json!({})).await;
    told_of_tools(&mut news).await;
    assert_eq!(office.names().await, ["echo", "grow", "more_1", "touch"]);
    office.handle().restart("new").unwrap();
    assert!(matches!(office.handle().settled("new").await.unwrap().state, ServerState::Ready));
    assert_eq!(office.text("echo", json!({})).await, "hello");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_standard_streams() {
    is_like_all_others(peers::without_initialize()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_streamable_http() {
    let server = peers::without_initialize_over_http();
    is_like_all_others(peers::at("streamable", server.address())).await;
}
