//! The MCP servers of this bench: many documents, or windows of which some hang.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, JsonObject,
    ListResourcesResult, ListToolsResult, MetaObject, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceUpdatedNotificationParam,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use tokio::sync::watch;

/// How many resources a page of the list has.
const PAGE: usize = 1_000;

/// How a server of this bench is started.
pub(crate) fn started(kind: &str, name: &str, count: usize) -> Value {
    let this = std::env::current_exe().expect("this program has a path");
    let args = json!(["serve", kind, name, count.to_string()]);
    json!({"type": "stdio", "server_parameters": {"command": this, "args": args}})
}

/// Serves until standard input ends.
pub(crate) async fn serve(args: &[String]) {
    let [kind, name, count] = args else { panic!("serve KIND NAME COUNT") };
    let count = count.parse().expect("a number");
    let (state, reads) = (AtomicU64::new(0), watch::Sender::new(0));
    let library = Library { kind: kind.clone(), name: name.clone(), count, state, reads };
    let service = library.serve(rmcp::transport::stdio()).await.expect("a client is connected");
    service.waiting().await.expect("it ends in order");
}

struct Library {
    /// `documents`, `windows`, or `hang`.
    kind: String,
    name: String,
    count: usize,
    /// What its windows say.
    state: AtomicU64,
    /// How often it was read from.
    reads: watch::Sender<u64>,
}

/// What a document says about itself: text of the usual length, and words that can be looked for.
pub(crate) fn summary(server: &str, number: usize) -> Value {
    let kind = ["pdf", "xlsx", "docx", "md", "pptx"][number % 5];
    let rare = if number % 1_000 == 7 { " quokka" } else { "" };
    json!({
        "doc_ref": format!("doc-{number:06}"), "uri": format!("dpe://com.example.{server}/doc-{number:06}"),
        "file_uri": format!("file:///srv/library/{server}/quarter-{}/report-{number:06}.{kind}", number % 4),
        "file_type": kind, "title": format!("Report {number:06} of {server}{rare}"), "page_count": number % 40 + 1,
        "keywords": ["finance", format!("team {}", number % 17), format!("project {}", number % 101), "internal"],
        "summary": format!("Figures, remarks and open questions of quarter {} for team {}, with tables of income and expense, collected by the people of {server}.", number % 4, number % 17),
        "last_modified": format!("2026-{:02}-{:02}T{:02}:{:02}:00Z", number % 12 + 1, number % 28 + 1, number % 24, number % 60),
    })
}

impl Library {
    fn resource(&self, number: usize) -> Resource {
        if self.kind != "documents" {
            return Resource::new(self.window(number), format!("window {number}"));
        }
        let said = summary(&self.name, number);
        let text = |key: &str| said[key].as_str().expect("it is a text").to_owned();
        let mut meta = JsonObject::new();
        for key in ["file_type", "file_uri", "page_count", "keywords"] {
            meta.insert(key.into(), said[key].clone());
        }
        let annotations = json!({ "lastModified": said["last_modified"] });
        Resource::new(text("uri"), text("title"))
            .with_description(text("summary"))
            .with_mime_type("application/json")
            .with_annotations(serde_json::from_value(annotations).expect("they are annotations"))
            .with_meta(MetaObject(meta))
    }

    fn window(&self, number: usize) -> String {
        format!("window://com.example.{}/{number}", self.name)
    }
}

impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder().enable_tools().enable_resources().enable_resources_subscribe();
        ServerConfig::new(can.build()).with_server_info(Implementation::new("bench", "1"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object"}).as_object().cloned().unwrap_or_default();
        Ok(ListToolsResult::with_all_items(vec![Tool::new("touch", "Changes a window so often.", schema)]))
    }

    /// Changes the first window, or document, `times` times and gives the moment when the last change was told. With
    /// `documents`, changes so many documents once and waits until all of them have been read.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let times = arguments.get("times").and_then(Value::as_u64).unwrap_or(1);
        if let Some(documents) = arguments.get("documents").and_then(Value::as_u64) {
            let mut reads = self.reads.subscribe();
            let all = *reads.borrow() + documents;
            self.state.fetch_add(1, Ordering::Relaxed);
            for number in 0..documents as usize {
                let updated = ResourceUpdatedNotificationParam::new(self.resource(number).uri);
                let _ = context.peer.notify_resource_updated(updated).await;
            }
            let _ = reads.wait_for(|reads| *reads >= all).await;
            return Ok(CallToolResult::success(vec![]).into());
        }
        let uri = self.resource(0).uri;
        let mut told = 0;
        for _ in 0..times {
            self.state.fetch_add(1, Ordering::Relaxed);
            told = nanos();
            let _ = context.peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri.clone())).await;
        }
        Ok(CallToolResult::success(vec![ContentBlock::text(told.to_string())]).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let from: usize = request.and_then(|r| r.cursor).map_or(0, |cursor| cursor.parse().expect("a cursor of mine"));
        let to = (from + PAGE).min(self.count);
        let mut resources: Vec<Resource> = (from..to).map(|number| self.resource(number)).collect();
        if from == 0 && self.kind == "documents" {
            resources.push(Resource::new(format!("dpe://com.example.{}", self.name), "all"));
        }
        let mut page = ListResourcesResult::with_all_items(resources);
        page.next_cursor = (to < self.count).then(|| to.to_string());
        Ok(page)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if self.kind == "hang" {
            std::future::pending::<()>().await;
        }
        self.reads.send_modify(|reads| *reads += 1);
        let state = self.state.load(Ordering::Relaxed);
        let text = match self.kind.as_str() {
            "documents" => json!({ "title": format!("Changed {state} times") }).to_string(),
            _ => state.to_string(),
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }
}

/// The time, the same for every process of this machine.
pub(crate) fn nanos() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is after 1970").as_nanos()
}
