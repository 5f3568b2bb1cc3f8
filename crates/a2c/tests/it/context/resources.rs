//! Listing and reading what a server has.

use serde_json::json;

use super::library::{document, server, server_with, window};
use crate::in_process::{TestOffice, sample};

#[tokio::test]
async fn a_servers_list_is_passed_on_page_by_page_with_all_it_says() {
    let rich = json!({
        "uri": "window://a/rich", "name": "rich", "title": "Rich", "description": "d", "mimeType": "text/html", "size": 12,
        "annotations": {"audience": ["user"], "priority": 0.3, "lastModified": "2026-01-01T00:00:00Z", "later": 1},
        "_meta": {"fullscreen": false, "com.example/own": {"deep": [1, null]}},
        "icons": [{"src": "https://example.com/icon.png"}],
        "com.example/unknown": {"to": ["MCP", null]}, "rank": 0.1,
    });
    let list =
        [rich.clone(), window("demo://x", "1"), document("dpe://a/d", "D", "2026-01-01"), window("file:///y", "2")];
    let office = TestOffice::new(&json!({"a": server_with(&json!({"page": 3, "resources": list}))})).await;
    let first = office.ask("client:get_resources", json!({"mcp_server": "a"})).await;
    let uris = |page: &serde_json::Value| {
        page["resources"].as_array().unwrap().iter().map(|r| r["uri"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (uris(&first), &first["next_cursor"]),
        (vec![json!("window://a/rich"), json!("demo://x"), json!("dpe://a/d")], &json!("3"))
    );
    assert_eq!(first["resources"][0], rich);
    let last = office.ask("client:get_resources", json!({"mcp_server": "a", "cursor": "3"})).await;
    assert_eq!((uris(&last), last.get("next_cursor")), (vec![json!("file:///y")], None));
    assert_eq!(
        office.refused("client:get_resources", json!({"mcp_server": "a", "cursor": "2"})).await.code.number(),
        400
    );
    office.end().await;
}

#[tokio::test]
async fn resources_are_read_from_who_has_them() {
    let says = json!({
        "resources": [window("demo://x", ["1", "2"]), window("window://a", "w"), document("dpe://a/d", "D", "2026-01-01"), window("demo://blob", json!({"blob": "bytes"}))],
        "reads": {
            "dpe://a/d?depth=pages&limit=5": {"json": {"pages": []}},
            "dpe://a/d/pages/0?format=markdown": {"mime": "text/markdown", "text": "# Page"},
            "dpe://a/d/elements/%E8%A1%A8%201": {"json": {"element_id": "表 1"}},
            "secret://unlisted": "by name",
        },
    });
    let office = TestOffice::new(&json!({"a": server_with(&says), "b": server(&[window("demo://b", "b")])})).await;
    let read = async |uri: &str| office.ask("client:read_resource", json!({ "uri": uri })).await["contents"].clone();
    assert_eq!(read("demo://x").await[1], json!({"uri": "demo://x", "mimeType": "text/plain", "text": "2"}));
    assert_eq!(read("window://a").await[0]["text"], "w");
    assert_eq!(read("demo://b").await[0]["text"], "b");
    assert_eq!(read("demo://blob").await[0]["blob"], "Ynl0ZXM=");
    assert_eq!(read("dpe://a/d").await[0]["text"], "{}");
    assert_eq!(read("dpe://a/d?depth=pages&limit=5").await[0]["text"], r#"{"pages": []}"#);
    assert_eq!(read("dpe://a/d/pages/0?format=markdown").await[0]["mimeType"], "text/markdown");
    assert_eq!(read("dpe://a/d/elements/%E8%A1%A8%201").await[0]["text"], r#"{"element_id": "\u8868 1"}"#);
    let named = office.ask("client:read_resource", json!({"uri": "secret://unlisted", "mcp_server": "a"})).await;
    assert_eq!(named["contents"][0]["text"], "by name");
    office.end().await;
}

#[tokio::test]
async fn a_list_that_goes_round_in_circles_is_shown_and_left() {
    let says =
        json!({"circles": true, "resources": [document("dpe://a/d", "D", "2026-01-01"), window("window://a", "w")]});
    let office = TestOffice::new(&json!({"a": server_with(&says)})).await;
    assert_eq!(office.finder(json!({}), "title").await, ["D"]);
    assert_eq!(office.desktop().await, ["window://a\n\nw"]);
    office.ask("client:read_resource", json!({"uri": "dpe://a/d"})).await;
    assert_eq!(office.counts("counts").await["asked"]["list"], 2);
    office.end().await;
}

#[tokio::test]
async fn a_host_of_two_servers_leads_to_the_one_that_lists_the_document() {
    let says = |uri: &str, text: &str| {
        let mut document = document(uri, text, "2026-01-01");
        document["read"] = text.into();
        document
    };
    let office = TestOffice::new(&json!({
        "b": server(&[says("dpe://shared/both", "of b"), says("dpe://shared/only-b", "of b")]),
        "a": server(&[says("dpe://shared/both", "of a"), says("dpe://shared/only-a", "of a")]),
    }))
    .await;
    let read = async |uri: &str| {
        office.ask("client:read_resource", json!({ "uri": uri })).await["contents"][0]["text"].clone()
    };
    for _ in 0..2 {
        assert_eq!(read("dpe://shared/both").await, "of a", "the first by name was taken on first");
        assert_eq!(read("dpe://shared/only-b/#x").await, "of b");
        assert_eq!(read("dpe://shared/only-a").await, "of a");
        office.handle().restart("a").unwrap();
        office.handle().settled("a").await.unwrap();
    }
    office.end().await;
}

#[tokio::test]
async fn the_sample_has_a_note_and_a_handbook() {
    let office = TestOffice::new(&json!({"sample": sample()})).await;
    office.text("note", json!({"text": "milk"})).await;
    assert_eq!(office.desktop().await, ["window://a2c.sample/note\n\nmilk"]);
    assert_eq!(office.finder(json!({"keywords": ["handbook"]}), "page_count").await, [3]);
    for uri in [
        "dpe://a2c.sample",
        "dpe://a2c.sample/handbook?depth=pages",
        "dpe://a2c.sample/handbook/pages/2",
        "dpe://a2c.sample/handbook/elements/h-1",
    ] {
        office.ask("client:read_resource", json!({ "uri": uri })).await;
    }
    let past = office.refused("client:read_resource", json!({"uri": "dpe://a2c.sample/handbook/pages/3"})).await;
    assert_eq!((past.code.number(), &past.fields["page_count"]), (4202, &json!(3)));
    office.end().await;
}
