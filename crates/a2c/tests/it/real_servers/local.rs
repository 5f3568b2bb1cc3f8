//! Servers that do something on this machine: files, a graph in a file, time zones, a repository, a page.

use a2c_protocol::ErrorCode;
use a2c_protocol::tool::CallToolResult;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};

use super::peers;
use crate::in_process::TestOffice;

/// A failure of the tool: a result that says so, with the server's own words.
#[track_caller]
fn failed(result: &CallToolResult, server: &str, words: &str) {
    assert!(result.is_error, "{}", result.text());
    assert_eq!(result.error_code(), Some(ErrorCode::ToolFailed));
    assert_eq!(result.meta[CallToolResult::MCP_SERVER], server);
    assert!(result.text().to_lowercase().contains(words), "{words:?} is not in: {}", result.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_filesystem_server_writes_files_where_it_may() {
    let dir = tempfile::tempdir().unwrap();
    // It compares real paths.
    let root = dir.path().canonicalize().unwrap();
    let office = TestOffice::new(&json!({ "files": peers::filesystem(&root) })).await;
    let tools = office.tools().await;
    let read = tools.iter().find(|tool| tool.name == "read_text_file").expect("it is listed");
    let annotations: Value =
        serde_json::from_str(read.meta.as_ref().unwrap()["MCP_TOOL_ANNOTATION"].as_str().unwrap()).unwrap();
    assert_eq!(annotations["readOnlyHint"], true, "what the server says of its tool arrives");
    assert_eq!(read.params_schema.value().unwrap()["properties"]["path"]["type"], "string");

    let file = root.join("note.txt");
    office.text("write_file", json!({"path": file, "content": "Grüße\n第二行\n"})).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "Grüße\n第二行\n");
    assert_eq!(office.text("read_text_file", json!({"path": file})).await, "Grüße\n第二行\n");
    let edits = json!([{"oldText": "Grüße", "newText": "Hello"}]);
    office.text("edit_file", json!({"path": file, "edits": edits})).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "Hello\n第二行\n");
    assert_eq!(office.text("list_directory", json!({"path": root})).await, "[FILE] note.txt");
    failed(&office.call("read_text_file", json!({"path": "/etc/hostname"})).await, "files", "access denied");
    failed(&office.call("read_text_file", json!({"path": root.join("no")})).await, "files", "enoent");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_memory_server_keeps_its_graph() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("graph.jsonl");
    let office = TestOffice::new(&json!({ "memory": peers::memory(&file) })).await;
    let entities = json!([
        {"name": "hub", "entityType": "process", "observations": ["routes calls"]},
        {"name": "computer", "entityType": "process", "observations": ["runs servers"]},
    ]);
    office.text("create_entities", json!({ "entities": entities })).await;
    let relations = json!([{"from": "computer", "to": "hub", "relationType": "connects to"}]);
    office.text("create_relations", json!({ "relations": relations })).await;
    assert!(std::fs::read_to_string(&file).unwrap().contains("routes calls"));
    // What it wrote is there for its next run.
    office.handle().restart("memory").unwrap();
    office.handle().settled("memory").await.unwrap();
    let graph = office.call("read_graph", json!({})).await;
    let graph: Value = serde_json::from_str(&graph.text()).unwrap();
    assert_eq!(graph["entities"].as_array().unwrap().len(), 2);
    assert_eq!(graph["relations"][0]["relationType"], "connects to");
    let found = office.text("search_nodes", json!({"query": "routes"})).await;
    assert!(found.contains("hub") && !found.contains("runs servers"), "{found}");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_server_knows_time_zones() {
    let office = TestOffice::new(&json!({ "time": peers::time() })).await;
    assert_eq!(office.names().await, ["convert_time", "get_current_time"]);
    let arguments = json!({"source_timezone": "Asia/Tokyo", "time": "12:30", "target_timezone": "Asia/Kolkata"});
    let converted: Value = serde_json::from_str(&office.text("convert_time", arguments).await).unwrap();
    assert_eq!(converted["time_difference"], "-3.5h");
    assert!(converted["target"]["datetime"].as_str().unwrap().contains("T09:00:00"), "{converted}");
    failed(&office.call("get_current_time", json!({"timezone": "Mars/Olympus"})).await, "time", "timezone");
    failed(&office.call("convert_time", json!({"time": "12:30"})).await, "time", "required");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_git_server_works_on_a_repository() {
    let Some(dir) = peers::repository() else { return };
    let repository = dir.path();
    let office = TestOffice::new(&json!({ "git": peers::git(repository) })).await;
    let status = office.text("git_status", json!({"repo_path": repository})).await;
    assert!(status.contains("Untracked files") && status.contains("new.txt"), "{status}");
    office.text("git_add", json!({"repo_path": repository, "files": ["new.txt"]})).await;
    let staged = office.text("git_diff_staged", json!({"repo_path": repository})).await;
    assert!(staged.contains("+new"), "{staged}");
    let log = office.text("git_log", json!({"repo_path": repository})).await;
    assert!(log.contains("Keep a file"), "{log}");
    let elsewhere = tempfile::tempdir().unwrap();
    failed(&office.call("git_status", json!({"repo_path": elsewhere.path()})).await, "git", "outside");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fetch_server_reads_a_page_where_it_may() {
    let page = "<html><head><title>Desk</title></head><body><article><h1>Opening hours</h1>\
                <p>The <b>desk</b> opens at nine.</p></article></body></html>";
    let site = Router::new()
        .route("/", get(move || async move { Html(page) }))
        .route("/private", get(|| async { "secret" }))
        .route("/robots.txt", get(|| async { "User-agent: *\nDisallow: /private\n" }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move { axum::serve(listener, site).await });

    let servers = json!({"near": peers::fetch(&["--allow-private-ips"]), "far": peers::fetch(&[])});
    let office = TestOffice::new(&servers).await;
    assert_eq!(office.names().await, ["far_fetch", "near_fetch"], "two servers with a tool of the same name");
    let text = office.text("near_fetch", json!({"url": url})).await;
    assert!(text.contains("Opening hours") && text.contains("**desk** opens at nine"), "{text}");
    let raw = office.text("near_fetch", json!({"url": url, "raw": true})).await;
    assert!(raw.contains("<b>desk</b>"), "{raw}");
    failed(&office.call("near_fetch", json!({"url": format!("{url}/private")})).await, "near", "robots.txt");
    failed(&office.call("near_fetch", json!({"url": format!("{url}/none")})).await, "near", "404");
    failed(&office.call("far_fetch", json!({"url": url})).await, "far", "not a public address");
    office.end().await;
    serving.abort();
}
