//! The Python package's own server over HTTP.

use a2c_protocol::ErrorCode;
use serde_json::json;

use super::peers;
use crate::in_process::{TestOffice, told_of_tools, until};

#[tokio::test(flavor = "multi_thread")]
async fn over_streamable_http() {
    over("streamable-http", "streamable").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_legacy_sse() {
    over("sse", "sse").await;
}

async fn over(transport: &str, kind: &str) {
    let server = peers::fastmcp_over(transport);
    let office = TestOffice::new(&json!({ "python": peers::at(kind, server.address()) })).await;
    assert_eq!(office.names().await, ["fail", "grow", "picture", "repeat", "steps"]);
    assert_eq!(office.text("repeat", json!({"text": "née ", "times": 3})).await, "née née née ");
    let long = office.text("repeat", json!({"text": "0123456789", "times": 100_000})).await;
    assert_eq!(long, "0123456789".repeat(100_000));
    let picture = json!(office.call("picture", json!({"size": 1000})).await);
    assert_eq!(picture["content"][0]["mimeType"], "image/png");
    let failed = office.call("fail", json!({"text": "no luck"})).await;
    assert_eq!(failed.error_code(), Some(ErrorCode::ToolFailed));
    assert!(failed.text().contains("no luck"), "{}", failed.text());
    office.text("steps", json!({"count": 4})).await;
    until("progress", || office.status("python").progress == 4).await;

    let mut news = office.agent.subscribe();
    office.text("grow", json!({"name": "grown"})).await;
    told_of_tools(&mut news).await;
    assert!(office.names().await.contains(&"grown".to_owned()));
    assert_eq!(office.text("grown", json!({})).await, "grown");
    office.end().await;
}
