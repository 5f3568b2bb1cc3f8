//! The example that authors of MCP servers begin with.

use std::sync::Arc;

use a2c_agent::FetchOptions;
use a2c_computer::dpe::{HttpListener, HttpOptions};
use serde_json::{Value, json};

use super::library::{of_desktop, of_finder, told_of};
use crate::in_process::{TestOffice, stdio};

#[tokio::test]
async fn the_example_server_shows_windows_and_documents_of_all_levels() {
    let script = a2c_testbed::workspace_root().join("examples/desk_server.py");
    let servers = json!({"desk": stdio(a2c_testbed::python(), &[script.to_str().unwrap()])});
    let listener = HttpListener::start(HttpOptions::default()).await.unwrap();
    let office = TestOffice::with(&servers, |options| options.dpe = Some(Arc::new(listener))).await;
    let mut news = office.agent.subscribe();

    office.text("note", json!({"text": "milk"})).await;
    told_of(&mut news, of_desktop).await;
    let desktop = office.desktop().await;
    assert_eq!(desktop, ["window://com.example.desk/note\n\nmilk", "window://com.example.desk/clock\n\nIt is late."]);

    assert_eq!(office.finder(json!({"keywords": ["desk"]}), "doc_ref").await, ["report", "to do"]);
    let read = async |rest: &str| {
        let uri = format!("dpe://com.example.desk{rest}");
        office.ask("client:read_resource", json!({ "uri": uri })).await["contents"][0].clone()
    };
    let value = async |rest: &str| serde_json::from_str::<Value>(read(rest).await["text"].as_str().unwrap()).unwrap();
    assert_eq!(value("").await["total_count"], 2);
    assert_eq!(value("/to%20do").await["page_count"], 1);
    assert_eq!(value("/report?depth=pages&offset=1").await["pages"][0]["title"], "Details");
    assert_eq!(value("/report/pages/1?categories=text").await["element_count"], 2);
    assert_eq!(value("/report/elements/h-Details").await["content"]["text"], "Details");
    let rendered = read("/report/pages/0?format=markdown").await;
    assert_eq!(
        (&rendered["text"], &rendered["_meta"]["title"]),
        (&json!("# Overview\n\nAll is well."), &json!("Overview"))
    );
    for (rest, code) in [("/nothing", 4201), ("/report/pages/9", 4202), ("/report/elements/none", 4203)] {
        let uri = format!("dpe://com.example.desk{rest}");
        assert_eq!(office.refused("client:read_resource", json!({ "uri": uri })).await.code.number(), code, "{rest}");
    }

    office.text("add_document", json!({"doc_ref": "new", "text": "fresh"})).await;
    told_of(&mut news, of_finder).await;
    assert_eq!(office.finder(json!({}), "doc_ref").await.len(), 3);
    let whole =
        office.agent.fetch_dpe("desk", "dpe://com.example.desk/report", &FetchOptions::default()).await.unwrap();
    assert_eq!(whole.document().unwrap().pages.len(), 2);
    office.end().await;
}
