//! A small MCP server, to have something to call, to look at and to read.

mod library;
mod render;

use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, JsonObject,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    Tool, UnsubscribeRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Serves until standard input ends.
pub(crate) async fn run() -> Result<ExitCode> {
    let service = Sample::default().serve(rmcp::transport::stdio()).await?;
    service.waiting().await?;
    Ok(ExitCode::SUCCESS)
}

struct Sample {
    note: Mutex<String>,
    /// The URIs that were subscribed to.
    followed: Mutex<HashSet<String>>,
}

impl Default for Sample {
    fn default() -> Self {
        let note = "Nothing is written here yet: call the tool `note`.".to_owned();
        Self { note: Mutex::new(note), followed: Mutex::default() }
    }
}

impl Sample {
    /// Rewrites the note; who follows it is told.
    async fn rewrite(&self, text: String, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        *lock(&self.note) = text;
        if !lock(&self.followed).contains(library::NOTE) {
            return Ok(());
        }
        let updated = ResourceUpdatedNotificationParam::new(library::NOTE);
        let told = context.peer.notify_resource_updated(updated).await;
        told.map_err(|e| ErrorData::internal_error(e.to_string(), None))
    }
}

#[derive(Deserialize)]
struct Echo {
    text: String,
}

#[derive(Deserialize)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(Deserialize)]
struct Wait {
    seconds: f64,
}

impl ServerHandler for Sample {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_resources_subscribe().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("a2c-sample", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        first_page(request)?;
        Ok(ListToolsResult::with_all_items(vec![
            tool("echo", "Gives the text back.", &[("text", "string")]),
            tool("add", "Adds two numbers.", &[("a", "number"), ("b", "number")]),
            tool("note", "Writes a note into the server's window.", &[("text", "string")]),
            tool("wait", "Answers after some seconds, or not at all when cancelled.", &[("seconds", "number")]),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text = match &*request.name {
            "echo" => parse::<Echo>(arguments)?.text,
            "add" => {
                let Add { a, b } = parse(arguments)?;
                (a + b).to_string()
            }
            "note" => {
                self.rewrite(parse::<Echo>(arguments)?.text, &context).await?;
                "written".to_owned()
            }
            "wait" => {
                let Wait { seconds } = parse(arguments)?;
                let pause = Duration::try_from_secs_f64(seconds)
                    .map_err(|e| ErrorData::invalid_params(format!("seconds: {e}"), None))?;
                tokio::select! {
                    () = tokio::time::sleep(pause) => format!("waited {seconds} s"),
                    () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
                }
            }
            other => return Err(ErrorData::invalid_params(format!("there is no tool named '{other}'"), None)),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        first_page(request)?;
        Ok(ListResourcesResult::with_all_items(library::resources()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let note = lock(&self.note).clone();
        Ok(ReadResourceResult::new(vec![library::read(&request.uri, &note)?]).into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        lock(&self.followed).insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        lock(&self.followed).remove(&request.uri);
        Ok(())
    }
}

/// The lists fit on one page, so no cursor was ever given out.
fn first_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(cursor) => Err(ErrorData::invalid_params(format!("the cursor '{cursor}' is unknown"), None)),
    }
}

fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, ErrorData> {
    serde_json::from_value(arguments).map_err(|e| ErrorData::invalid_params(e.to_string(), None))
}

fn tool(name: &'static str, description: &'static str, fields: &[(&str, &str)]) -> Tool {
    let properties: JsonObject = fields.iter().map(|(n, kind)| ((*n).to_owned(), json!({ "type": kind }))).collect();
    let required: Vec<&str> = fields.iter().map(|(n, _)| *n).collect();
    let mut schema = JsonObject::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    schema.insert("required".into(), required.into());
    Tool::new(name, description, Arc::new(schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_page_can_be_asked_for() {
        let with = |cursor: Option<&str>| {
            let mut request = PaginatedRequestParams::default();
            request.cursor = cursor.map(ToOwned::to_owned);
            Some(request)
        };
        for (request, code) in
            [(None, None), (with(None), None), (with(Some("c")), Some(-32602)), (with(Some("")), Some(-32602))]
        {
            assert_eq!(first_page(request).err().map(|error| error.code.0), code);
        }
    }
}
