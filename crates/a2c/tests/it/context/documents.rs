//! Documents by their address, fetched as an Agent fetches them.

use std::sync::Arc;
use std::time::Duration;

use a2c_agent::{FetchOptions, Files};
use a2c_computer::async_trait;
use a2c_computer::dpe::{
    DpeContents, DpeResolver, HttpListener, HttpOptions, LocalDirectory, ResolveError, SourceDocument,
};
use a2c_computer::protocol::context::A2cResource;
use a2c_testbed::PATIENCE;
use serde_json::{Value, json};

use super::library::{document, of_finder, server_with, told_of};
use crate::in_process::{TestOffice, sample};

/// An office whose Computer publishes documents with this resolver.
async fn publishing(servers: &Value, resolver: impl DpeResolver + 'static) -> TestOffice {
    TestOffice::with(servers, |options| options.dpe = Some(Arc::new(resolver))).await
}

/// A resolver of the Computer's owner: it hands on external documents and refuses all others.
struct ExternalOnly;

#[async_trait]
impl DpeResolver for ExternalOnly {
    async fn resolve(&self, document: &SourceDocument) -> Result<A2cResource, ResolveError> {
        match &document.contents {
            DpeContents::External(external) => Ok(external.answer()),
            _ => Err(ResolveError::new("only external documents are published here")),
        }
    }
}

/// A server whose documents are of every kind that is accepted, and of some that are not.
fn every_kind() -> Value {
    let external =
        json!({"uri": "https://example.com/report.json", "mime_type": "application/json", "size": 12, "etag": "e1"});
    let kind = |name: &str, read: Value| {
        let mut kind = document(&format!("dpe://docs/{name}"), name, "2026-01-01");
        kind["read"] = read;
        kind
    };
    server_with(&json!({
        "resources": [
            kind("inline", json!({"mime": "application/vnd.a2c.dpe-inline+json", "text": r#"{"doc_ref": "inline", "pages": []}"#})),
            kind("external", json!({"mime": "application/vnd.a2c.dpe-uri+json", "text": external.to_string()})),
            kind("paged", json!({"json": {"doc_ref": "paged", "page_count": 2, "title": "Paged"}})),
            kind("torn", json!({"json": {"doc_ref": "torn", "page_count": 3}})),
            kind("odd", json!({"mime": "text/html", "text": "<p>"})),
            kind("broken", json!({"error": {"code": -32603, "message": "no"}})),
            kind("slow", json!({"hang": true})),
        ],
        "reads": {
            "dpe://docs/paged/pages/0": {"json": {"page_index": 0, "elements": [{"element_id": "a"}]}},
            "dpe://docs/paged/pages/1": {"json": {"page_index": 1, "elements": []}},
            "dpe://docs/torn/pages/0": {"json": {"page_index": 0}},
            "dpe://docs/torn/pages/1": {"error": {"code": -32002, "message": "no page", "data": {"code": 4202, "page_index": 1, "page_count": 1}}},
            "dpe://docs/torn/pages/2": {"json": {"page_index": 2}},
            "dpe://docs/a/deep/one": {"mime": "application/vnd.a2c.dpe-inline+json", "text": r#"{"doc_ref": "a/deep/one"}"#},
        },
    }))
}

#[tokio::test]
async fn a_document_that_went_and_came_back_is_read_again() {
    let report = |title: &str| {
        let mut report = document("dpe://docs/report", "Report", "2026-01-01");
        let text = json!({"doc_ref": "report", "title": title}).to_string();
        report["read"] = json!({"mime": "application/vnd.a2c.dpe-inline+json", "text": text});
        report
    };
    // The server is subscribed to for each document, or for all of them at once.
    for others in [vec![], vec![json!({"uri": "dpe://docs", "name": "all"})]] {
        let folder = tempfile::tempdir().unwrap();
        let options = FetchOptions::default().with_files(Files::Within(vec![folder.path().to_owned()]));
        let resources: Vec<Value> = others.iter().cloned().chain([report("one")]).collect();
        let docs = server_with(&json!({ "resources": resources }));
        let office = publishing(&json!({ "docs": docs }), LocalDirectory::open(folder.path()).unwrap()).await;
        let title = async || {
            let fetched = office.agent.fetch_dpe("desk", "dpe://docs/report", &options).await.unwrap();
            serde_json::from_slice::<Value>(&fetched.body).unwrap()["title"].clone()
        };
        assert_eq!(title().await, "one");
        let mut news = office.agent.subscribe();
        office.text("drop", json!({"uri": "dpe://docs/report"})).await;
        told_of(&mut news, of_finder).await;
        office.text("put", json!({"resource": report("two")})).await;
        told_of(&mut news, of_finder).await;
        // Subscribed to again: from here on, what is remembered would be given.
        while others.is_empty() && office.counts("counts").await["subscribed"]["dpe://docs/report"] != 1 {}
        assert_eq!(title().await, "two", "{others:?}");
        office.end().await;
    }
}

#[tokio::test]
async fn a_whole_document_is_fetched_over_http_and_again_only_when_it_changed() {
    let listener = HttpListener::start(HttpOptions::default()).await.unwrap();
    let office = publishing(&json!({"docs": every_kind(), "sample": sample()}), listener).await;
    let options = FetchOptions::default();
    let fetched = office.agent.fetch_dpe("desk", "dpe://docs/paged", &options).await.unwrap();
    let body: Value = serde_json::from_slice(&fetched.body).unwrap();
    // What the document does not say of itself, the list did.
    assert_eq!((&body["title"], &body["file_type"]), (&json!("Paged"), &json!("md")));
    assert_eq!((&body["page_count"], &body["pages"][0]["elements"][0]["element_id"]), (&json!(2), &json!("a")));
    assert!(fetched.resource.uri.starts_with("http://127.0.0.1:"), "{:?}", fetched.resource);
    let again = office.agent.resolve_dpe("desk", "dpe://docs/paged", PATIENCE).await.unwrap();
    assert_eq!(again.uri, fetched.resource.uri);
    let asked = &office.counts("counts").await["asked"];
    assert_eq!(asked["read dpe://docs/paged"], 1, "the server was not asked again");

    // It changes: the old address is gone, the new one leads to what is there now.
    let mut news = office.agent.subscribe();
    office.text("touch", json!({"uri": "dpe://docs/paged", "read": {"json": {"doc_ref": "paged", "page_count": 1, "title": "Shorter"}}})).await;
    told_of(&mut news, of_finder).await;
    let fetched = office.agent.fetch_dpe("desk", "dpe://docs/paged", &options).await.unwrap();
    let shorter = fetched.document().unwrap();
    assert_eq!(shorter.pages.len(), 1);
    assert_ne!(fetched.resource.uri, again.uri);

    // The sample lists its level 0, and its handbook is put together from its pages.
    let handbook = office.agent.fetch_dpe("desk", "dpe://a2c.sample/handbook", &options).await.unwrap();
    assert_eq!(handbook.document().unwrap().pages.len(), 3);
    let deep = office.agent.fetch_dpe("desk", "dpe://docs/a/deep/one", &options).await.unwrap();
    assert_eq!(&deep.body[..], br#"{"doc_ref": "a/deep/one"}"#);
    office.end().await;
}

#[tokio::test]
async fn documents_are_put_into_a_directory_and_external_ones_passed_through() {
    let dir = tempfile::tempdir().unwrap();
    let office = publishing(&json!({"docs": every_kind()}), LocalDirectory::open(dir.path()).unwrap()).await;
    let options = FetchOptions::default().with_files(Files::Within(vec![dir.path().to_owned()]));
    let fetched = office.agent.fetch_dpe("desk", "dpe://docs/inline", &options).await.unwrap();
    assert_eq!(&fetched.body[..], br#"{"doc_ref": "inline", "pages": []}"#);
    assert!(fetched.resource.uri.starts_with("file:///"), "{:?}", fetched.resource);
    let external = office.agent.resolve_dpe("desk", "dpe://docs/external", PATIENCE).await.unwrap();
    assert_eq!((external.uri.as_str(), external.size), ("https://example.com/report.json", Some(12)));
    assert_eq!(external.meta.unwrap()["etag"], "e1");
    // A document changes its file, and not its address.
    office
        .text(
            "touch",
            json!({"uri": "dpe://docs/inline", "read": {"mime": "application/vnd.a2c.dpe-inline+json", "text": "{}"}}),
        )
        .await;
    let changed = office.agent.fetch_dpe("desk", "dpe://docs/inline", &options).await.unwrap();
    assert_eq!(&changed.body[..], b"{}");
    office.end().await;
}

#[tokio::test]
async fn what_cannot_be_resolved_says_why() {
    let mute = server_with(&json!({"subscribe": false, "resources": [document("dpe://mute/d", "D", "2026-01-01")]}));
    let office = publishing(&json!({"docs": every_kind(), "mute": mute}), ExternalOnly).await;
    let check = async |uri: &str, code: i64, field: &str, value: &str| {
        let error = office.refused("client:get_dpe", json!({"uri": uri, "timeout": 1})).await;
        assert_eq!((error.code.number(), &error.fields[field]), (code, &json!(value)), "{uri}: {error:?}");
    };
    // A query is dropped.
    let external = office.ask("client:get_dpe", json!({"uri": "dpe://docs/external?x=1#y"})).await;
    assert_eq!(external["uri"], "https://example.com/report.json");
    check("dpe://docs/inline", 4013, "category", "resolver_error").await;
    check("dpe://docs/odd", 4013, "category", "invalid_dpe_mime").await;
    check("dpe://docs/broken", 4013, "category", "upstream_unavailable").await;
    check("dpe://docs/slow", 4013, "category", "upstream_unavailable").await;
    check("dpe://docs/nowhere", 4201, "doc_ref", "nowhere").await;
    check("dpe://missing/d", 4014, "mcp_server_name", "missing").await;
    check("dpe://mute/d", 4015, "capability", "resources.subscribe").await;
    check("dpe://docs/", 4012, "reason", "no_document").await;
    check("http://docs/d", 4012, "uri", "http://docs/d").await;
    let torn = office.refused("client:get_dpe", json!({"uri": "dpe://docs/torn"})).await;
    assert_eq!((torn.code.number(), &torn.fields["page_count"]), (4202, &json!(1)));
    office.end().await;
}

#[tokio::test]
async fn many_who_ask_at_once_share_one_resolution() {
    let listener = HttpListener::start(HttpOptions::default()).await.unwrap();
    let office = publishing(&json!({"docs": every_kind()}), listener).await;
    let asks = (0..20).map(|_| office.agent.resolve_dpe("desk", "dpe://docs/paged", Duration::from_secs(60)));
    let answers = futures_util::future::join_all(asks).await;
    let first = answers[0].as_ref().unwrap().uri.clone();
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap().uri == first));
    assert_eq!(office.counts("counts").await["asked"]["read dpe://docs/paged/pages/0"], 1);
    office.end().await;
}
