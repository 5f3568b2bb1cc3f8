//! What the owner is warned of.

use serde_json::json;

use super::library::{document, quiet_document, server, server_with, window};
use crate::in_process::log::Log;
use crate::in_process::{TestOffice, until};

#[tokio::test]
async fn the_owner_is_warned_of_what_servers_do_wrong() {
    let log = Log::keep();
    let odd = |uri: &str, extra: serde_json::Value| {
        let mut odd = window(uri, "text");
        odd.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        odd
    };
    let office = TestOffice::new(&json!({
        "first": server(&[window("window://shared.host/a", "1"), document("dpe://own.host/d", "D", "2026-01-01")]),
        "mute": server_with(&json!({"subscribe": false, "resources": [window("window://mute", "unseen")]})),
        "second": server(&[document("dpe://shared.host/b", "B", "2026-01-01")]),
        "odd": server(&[
            odd("window://odd/priority", json!({"annotations": {"priority": 7}})),
            odd("window://odd/audience", json!({"annotations": {"audience": ["user"]}})),
            odd("window://odd/fullscreen", json!({"_meta": {"fullscreen": "yes"}})),
            odd("window://odd/query?x=1", json!({})),
            window("window://odd/blob", json!({"blob": "x"})),
            quiet_document("dpe://odd/unread", &json!({"error": {"code": -32603, "message": "it broke"}})),
        ]),
    }))
    .await;
    let desktop = office.desktop().await;
    assert_eq!(desktop.len(), 5, "a warning hides nothing: {desktop:?}");
    let expected: [&[&str]; 8] = [
        &["resources.subscribe", "mute", "windows=1"],
        &["two MCP servers use the same host", "shared.host", "first", "second"],
        &["window://odd/priority", "priority"],
        &["window://odd/audience", "audience"],
        &["window://odd/fullscreen", "fullscreen"],
        &["window://odd/query", "query"],
        &["window://odd/blob"],
        &["dpe://odd/unread", "it broke", "left out"],
    ];
    for parts in expected {
        let is_there =
            || log.text().lines().any(|line| line.contains("WARN") && parts.iter().all(|part| line.contains(part)));
        until(&format!("a warning with {parts:?}"), is_there).await;
    }
    assert!(!log.text().contains("own.host"), "{}", log.text());
    office.end().await;
}
