//! A Computer that answers by a script: whatever the real ones offer, and what they never would.

use std::sync::mpsc::{self, Receiver};

use a2c_link::{Incoming, Link, LinkOptions, Seat};
use a2c_protocol::Role;
use a2c_socketio::Payload;
use a2c_testbed::{PATIENCE, Peer};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// A Computer in office `o`. Its seat is free again when it is dropped.
pub(crate) struct Scripted {
    link: Link,
    /// Everything that reached it.
    heard: Receiver<(String, Value)>,
    runtime: Runtime,
}

impl Scripted {
    /// Takes a seat. `answer` gets the event and the request; what it returns is sent back, with the request's key.
    pub(crate) fn join(hub: &Peer, name: &str, answer: impl Fn(&str, &Value) -> Value + Send + 'static) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let (tell, heard) = mpsc::channel();
        let options = LinkOptions::new(hub.address());
        let (link, mut inbox) = runtime.block_on(Link::connect(&options, Role::Computer)).expect("connected");
        let seat = Seat { office: "o".into(), name: name.into() };
        runtime.block_on(link.join(&seat)).expect("seated");
        runtime.spawn(async move {
            while let Some(incoming) = inbox.recv().await {
                let Incoming::Event(event) = incoming else { continue };
                let request: Value = event.payload.get(0).unwrap_or_default();
                if let Some(ack) = event.ack {
                    let mut answer = answer(&event.name, &request);
                    answer["req_id"] = request["req_id"].clone();
                    let _ = ack.send(Payload::json(&answer).expect("JSON")).await;
                }
                let _ = tell.send((event.name, request));
            }
        });
        Self { link, heard, runtime }
    }

    /// Announces something.
    pub(crate) fn emit(&self, event: &str, name: &str) {
        self.runtime.block_on(self.link.emit(event, &json!({ "computer": name }))).expect("sent");
    }

    /// The next that reaches it and is wanted; others are dropped.
    #[track_caller]
    pub(crate) fn heard(&self, wanted: impl Fn(&str, &Value) -> bool) -> Value {
        loop {
            let (event, payload) = self.heard.recv_timeout(PATIENCE).expect("it was not heard");
            if wanted(&event, &payload) {
                return payload;
            }
        }
    }

    /// Waits until an Agent has come.
    #[track_caller]
    pub(crate) fn agent_came(&self) {
        self.heard(|event, payload| event == "notify:enter_office" && payload["agent"].is_string());
    }

    /// Waits until the Agent has gone.
    #[track_caller]
    pub(crate) fn agent_went(&self) {
        self.heard(|event, payload| event == "notify:leave_office" && payload["agent"].is_string());
    }
}

/// A library: documents `doc-0` to `doc-1233`, each of two pages with an element; one window; three resources.
pub(crate) fn library(event: &str, request: &Value) -> Value {
    match event {
        "client:get_desktop" if request["desktop_size"] == 0 || request["window"] == "window://none" => {
            json!({ "desktops": [] })
        }
        "client:get_desktop" => json!({ "desktops": ["window://a\n\none\u{7}", "window://b\n\n二"] }),
        "client:get_finder" => finder(request),
        "client:get_resources" if request["mcp_server"] != "files" => {
            json!({"code": 404, "message": "there is no MCP server named 'x'", "mcp_server_name": "x"})
        }
        "client:get_resources" => resources(request["cursor"].as_str()),
        "client:get_dpe" if request["uri"] == "dpe://h/none" => {
            json!({"code": 4011, "message": "this Computer has no DPE resolver"})
        }
        "client:get_dpe" => json!({
            "uri": "http://127.0.0.1:1/x", "mime_type": "application/json", "size": 2048,
            "_meta": {"expires_at": "2026-11-16T12:00:00Z", "etag": "e1"}
        }),
        "client:read_resource" => read(request["uri"].as_str().unwrap_or_default()),
        _ => json!({"code": 400, "message": "not in the script"}),
    }
}

fn finder(request: &Value) -> Value {
    let keywords: Vec<&str> = request["keywords"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let file_type = request["file_type"].as_str();
    let documents: Vec<Value> = (0..1234).map(document).collect();
    let is_wanted = |document: &&Value| {
        let title = document["title"].as_str().unwrap_or_default();
        (keywords.is_empty() || keywords.iter().any(|keyword| title.contains(keyword)))
            && file_type.is_none_or(|file_type| document["file_type"] == file_type)
    };
    let found: Vec<&Value> = documents.iter().filter(is_wanted).collect();
    let number = |field: &str, default: u64| request[field].as_u64().unwrap_or(default) as usize;
    let page: Vec<&&Value> = found.iter().skip(number("offset", 0)).take(number("limit", 20).min(100)).collect();
    json!({ "documents": page, "total_count": found.len() })
}

fn document(index: u64) -> Value {
    let title = if index == 0 { "年度报告\u{1b}[2J".to_owned() } else { format!("Report {index}") };
    json!({
        "doc_ref": format!("doc-{index}"), "uri": format!("dpe://h/doc-{index}"), "file_uri": "file:///x",
        "file_type": if index.is_multiple_of(2) { "pdf" } else { "xlsx" }, "title": title, "page_count": 2,
        "summary": "Quarterly.", "server": "files", "last_modified": "2026-01-15T08:30:00+00:00"
    })
}

fn resources(cursor: Option<&str>) -> Value {
    let resource =
        |name: &str| json!({"uri": format!("file:///{name}"), "name": name, "mimeType": "text/plain", "size": 3});
    match cursor {
        None => json!({"resources": [resource("a"), resource("b")], "next_cursor": "c1"}),
        Some("c1") => json!({"resources": [resource("c")]}),
        Some(_) => json!({"resources": [], "next_cursor": "round"}),
    }
}

fn read(uri: &str) -> Value {
    let blob = json!({"uri": uri, "mimeType": "image/x", "blob": "YWJj"});
    match uri {
        "file:///blob" => return json!({ "contents": [blob] }),
        "file:///both" => return json!({"contents": [{"uri": uri, "text": "one"}, blob]}),
        "file:///empty" => return json!({"contents": []}),
        _ => {}
    }
    let text = match uri.split_once("/doc-").map(|(_, rest)| rest) {
        Some(rest) if rest.contains("/pages/") && rest.contains("format=markdown") => format!("# Markdown of {uri}"),
        Some(rest) if rest.contains("/pages/") => json!({
            "page_index": 0, "title": "Cover",
            "elements": [{"element_id": "e1", "category": "heading", "summary": "Hello", "content": {"text": "Salutations"}}]
        })
        .to_string(),
        Some(rest) if rest.contains("/elements/") => "The-whole-element".to_owned(),
        Some(rest) if rest.contains("depth=pages") => json!({
            "pages": [{"page_index": 0, "title": "Cover", "element_count": 1}, {"page_index": 1, "title": "Figures"}],
            "page_total": 2
        })
        .to_string(),
        _ if uri == "window://a" => "one".to_owned(),
        _ => return json!({"code": 4201, "message": format!("there is no document {uri}"), "uri": uri}),
    };
    json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]})
}
