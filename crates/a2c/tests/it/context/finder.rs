//! What the Finder finds.

use serde_json::{Value, json};

use super::library::{document, level_one, of_finder, quiet_document, server, server_with, told_of};
use crate::in_process::TestOffice;

#[tokio::test]
async fn documents_of_all_servers_are_found_filtered_and_paged() {
    let mut report = document("dpe://a/report", "Report", "2026-03-01T12:00:00+02:00");
    report["description"] = "Zahlen über alles".into();
    report["_meta"]["file_type"] = "xlsx".into();
    let office = TestOffice::new(&json!({
        "a": server_with(&json!({"page": 1, "resources": [document("dpe://a/old", "Old", "2020-01-01"), report, {"uri": "dpe://a", "name": "all"}]})),
        "b": server(&[document("dpe://b/notes", "Notes", "2026-03-01T09:59:59.5Z"), {
            let mut tagged = document("dpe://b/tagged", "Tagged", "not a date");
            tagged["_meta"]["keywords"] = json!(["Straße", "road"]);
            tagged
        }]),
    }))
    .await;
    let titles = async |fields: Value| office.finder(fields, "title").await;
    assert_eq!(titles(json!({})).await, ["Report", "Old", "Notes", "Tagged"]);
    assert_eq!(titles(json!({"keywords": ["ZAHLEN"]})).await, ["Report"]);
    assert_eq!(titles(json!({"keywords": ["STRASSE", "nothing"]})).await, ["Tagged"]);
    assert_eq!(titles(json!({"keywords": []})).await.len(), 4);
    assert_eq!(titles(json!({"file_type": "xlsx"})).await, ["Report"]);
    assert_eq!(titles(json!({"file_type": "XLSX"})).await, [""; 0]);
    assert_eq!(titles(json!({"offset": 1, "limit": 2})).await, ["Old", "Notes"]);
    assert_eq!(titles(json!({"offset": 9})).await, [""; 0]);
    assert_eq!(titles(json!({"limit": 0})).await, [""; 0]);
    let page = office.ask("client:get_finder", json!({"limit": 1, "keywords": ["o"]})).await;
    assert_eq!((page["total_count"].as_u64(), page["documents"].as_array().unwrap().len()), (Some(4), 1));
    let expected = json!({
        "doc_ref": "report", "uri": "dpe://a/report", "file_uri": "file:///Report.md", "file_type": "xlsx", "title": "Report",
        "page_count": 2, "summary": "Zahlen über alles", "server": "a", "last_modified": "2026-03-01T12:00:00+02:00",
    });
    assert_eq!(page["documents"][0], expected);
    for wrong in [json!({"offset": -1}), json!({"limit": -1}), json!({"limit": 1.5}), json!({"offset": "1"})] {
        assert_eq!(office.refused("client:get_finder", wrong.clone()).await.code.number(), 400, "{wrong}");
    }
    office.end().await;
}

#[tokio::test]
async fn documents_that_declare_nothing_are_read_once_and_remembered() {
    let office = TestOffice::new(&json!({"docs": server(&[
        quiet_document("dpe://docs/one", &level_one("one", "The first")),
        quiet_document("dpe://docs/two", &level_one("two", "The second")),
        quiet_document("dpe://docs/broken", &json!({"error": {"code": -32603, "message": "no"}})),
        quiet_document("dpe://docs/text", &json!("not JSON")),
        quiet_document("dpe://docs/poor", &json!({"json": {"title": "says too little"}})),
    ])}))
    .await;
    for _ in 0..3 {
        assert_eq!(office.finder(json!({}), "page_count").await, [3, 3]);
    }
    // The list names them, and that counts more than what they say of themselves.
    assert_eq!(office.finder(json!({}), "title").await, ["one", "two"]);
    let asked = &office.counts("counts").await["asked"];
    for document in ["one", "two", "broken", "text", "poor"] {
        assert_eq!(asked[format!("read dpe://docs/{document}")], 1, "{document}");
    }
    assert_eq!(asked["list"], 1, "no request lists");
    office.end().await;
}

#[tokio::test]
async fn a_document_that_could_not_be_read_is_tried_again_when_it_changes() {
    let broken = json!({"error": {"code": -32603, "message": "no"}});
    let office = TestOffice::new(&json!({"docs": server(&[quiet_document("dpe://docs/d", &broken)])})).await;
    assert_eq!(office.finder(json!({}), "title").await, [""; 0]);
    let mut news = office.agent.subscribe();
    office.text("touch", json!({"uri": "dpe://docs/d", "read": level_one("d", "D")})).await;
    while office.finder(json!({}), "title").await.is_empty() {
        told_of(&mut news, of_finder).await;
    }
    assert_eq!(office.finder(json!({}), "file_type").await, ["pdf"]);
    office.end().await;
}

#[tokio::test]
async fn a_changed_document_is_read_again_and_nothing_else() {
    let office = TestOffice::new(&json!({"docs": server(&[
        document("dpe://docs/a", "A", "2026-01-01T00:00:00Z"),
        document("dpe://docs/b", "B", "2026-01-02T00:00:00Z"),
    ])}))
    .await;
    assert_eq!(office.finder(json!({}), "title").await, ["B", "A"]);
    let mut news = office.agent.subscribe();
    let changed = json!({"json": {"title": "A, rewritten", "page_count": 7, "last_modified": "2026-05-01T00:00:00Z"}});
    office.text("touch", json!({"uri": "dpe://docs/a", "read": changed})).await;
    while office.finder(json!({}), "title").await != ["A, rewritten", "B"] {
        told_of(&mut news, of_finder).await;
    }
    assert_eq!(office.finder(json!({}), "page_count").await, [7, 2]);
    let asked = &office.counts("counts").await["asked"];
    assert_eq!(
        (&asked["list"], &asked["read dpe://docs/a"], &asked["read dpe://docs/b"]),
        (&json!(1), &json!(1), &Value::Null)
    );
    office.end().await;
}
