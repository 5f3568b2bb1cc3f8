//! The transports against servers of another project, and against hostile ones written for the purpose.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod conformance;
mod foreign;
mod hostile;
mod oauth;
mod refused;
mod session;
mod stdio;
mod without_initialize;

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use a2c_mcp::{sse, streamable};
use a2c_protocol::config::{IsoDuration, SseParameters, StreamableParameters};
use a2c_testbed::{Peer, python, workspace_root};
use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject};
use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::transport::Transport;
use rmcp::{Peer as McpPeer, RoleClient, ServiceError, ServiceExt};
use serde_json::{Value, json};

type Client = RunningService<RoleClient, ()>;

/// How long anything may take that ought to happen, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(120);

/// A Python script of the interop tests, once it is ready.
fn script(name: &str, arguments: &[&str]) -> Peer {
    let mut command = Command::new(python());
    command.arg(workspace_root().join("tests/interop/python").join(name)).args(arguments);
    Peer::ready(command)
}

fn seconds(seconds: f64) -> IsoDuration {
    IsoDuration::from_seconds(seconds).unwrap()
}

fn streamable_at(url: String) -> StreamableParameters {
    StreamableParameters {
        url,
        headers: None,
        timeout: seconds(120.0),
        sse_read_timeout: seconds(300.0),
        terminate_on_close: true,
        oauth: None,
    }
}

fn sse_at(url: String) -> SseParameters {
    SseParameters { url, headers: None, timeout: 120.0, sse_read_timeout: 300.0 }
}

fn headers(given: &[(&str, &str)]) -> Option<BTreeMap<String, String>> {
    Some(given.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// Shakes hands over a transport.
async fn connect(transport: impl Transport<RoleClient> + 'static) -> Result<Client, ClientInitializeError> {
    tokio::time::timeout(PATIENCE, ().serve(transport)).await.expect("an answer in time")
}

/// Connects to the server that `script` runs in a mode.
async fn connect_to(peer: &Peer, mode: &str) -> Client {
    let client = match mode {
        "sse" => connect(sse::open(&sse_at(format!("{}/sse", peer.address()))).unwrap()).await,
        _ => connect(streamable::open("demo", &streamable_at(format!("{}/mcp", peer.address())), None).unwrap()).await,
    };
    client.unwrap_or_else(|e| panic!("{mode}: {e}"))
}

async fn call(peer: &McpPeer<RoleClient>, tool: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
    let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    tokio::time::timeout(PATIENCE, peer.call_tool(params)).await.expect("an answer in time")
}

/// The text of a result.
fn text(result: &CallToolResult) -> String {
    serde_json::to_value(result).unwrap()["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// Tells a script what to do and waits until it does.
fn order(peer: &mut Peer, order: &str) {
    peer.write_line(order);
    peer.line_where(PATIENCE, |line| line == format!("now {order}"));
}

async fn echoes(client: &Client) {
    let result = call(client.peer(), "echo", json!({"text": "häh 语"})).await.unwrap();
    assert_eq!(text(&result), "häh 语");
}
