//! Opens a session with a server, lists its tools, calls one and closes the session. The server is a task of this program
//! that reads and writes lines, as a process would on its standard streams.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use a2c_mcp::log::ServerLog;
use a2c_mcp::model::Tool;
use a2c_mcp::stdio::StdioTransport;
use a2c_mcp::{
    CallLimits, Degradation, Handshake, HeartbeatPolicy, Session, SessionEvents, SessionOptions, ToolAnswer, ToolCall,
};
use a2c_process::LineWriter;
use a2c_protocol::config::EncodingErrors;
use a2c_secrets::Redactor;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Prints what the session tells.
struct Print;

impl SessionEvents for Print {
    fn tools_changed(&self, tools: Vec<Tool>) {
        println!("The server has {} tools now.", tools.len());
    }

    fn resource_list_changed(&self) {}

    fn resource_updated(&self, uri: &str) {
        println!("{uri} changed.");
    }

    fn progress(&self) {}

    fn degraded(&self, problem: &Degradation) {
        println!("The server is not well: {problem}.");
    }

    fn recovered(&self) {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (to_server, server_in) = tokio::io::duplex(1 << 16);
    let (server_out, from_server) = tokio::io::duplex(1 << 16);
    tokio::spawn(serve(server_in, server_out));

    let (log, secrets) = (Arc::new(ServerLog::new()), Redactor::default());
    let writer = LineWriter::new(to_server);
    let transport = StdioTransport::new("echo", from_server, writer, EncodingErrors::Strict, log, secrets.clone());
    let second = Duration::from_secs(1);
    let options = SessionOptions {
        name: "echo".into(),
        handshake: Handshake::Initialize,
        start: 10 * second,
        health: HeartbeatPolicy { every: 30 * second, limit: 10 * second, misses: 3 },
        secrets,
        credentials: Redactor::default(),
    };
    let (session, tools) = Session::open(transport, options, Arc::new(Print)).await?;
    println!("The server has a tool named {}.", tools[0].name);

    let arguments = json!({"text": "hello"}).as_object().cloned().unwrap_or_default();
    let call = ToolCall { tool: "echo", arguments, trace: None };
    let limits = CallLimits { deadline: Instant::now() + 10 * second, idle: None };
    match session.connection().call_tool(call, limits, &CancellationToken::new()).await? {
        ToolAnswer::Result(result) => println!("It answers {}.", serde_json::to_value(&result)?["content"][0]["text"]),
        ToolAnswer::Large(result) => println!("It answers with {} bytes.", result.text().len()),
    }
    session.close().await;
    Ok(())
}

/// A server with one tool.
async fn serve(input: DuplexStream, mut output: DuplexStream) -> Result<(), std::io::Error> {
    let mut lines = BufReader::new(input).lines();
    while let Some(line) = lines.next_line().await? {
        let request: Value = serde_json::from_str(&line)?;
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "echo", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
            Some("tools/call") => {
                json!({"content": [{"type": "text", "text": request["params"]["arguments"]["text"]}]})
            }
            _ => continue,
        };
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        output.write_all(format!("{answer}\n").as_bytes()).await?;
    }
    Ok(())
}
