//! Starts the MCP servers of a configuration once, without a hub, and prints what is wrong with them and what to do about it.
//!
//! One server is this program itself, one is a program that does not exist, one ends at once.
//!
//! `cargo run -p a2c-computer --example diagnose`

#![expect(clippy::print_stdout, reason = "an example shows what it does, and a server writes to standard output")]

use std::error::Error;
use std::io::{BufRead as _, stdin};
use std::path::Path;

use a2c_computer::config::ComputerConfig;
use a2c_computer::diagnosis::{DiagnosisOptions, of_file};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return serve();
    }
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(diagnose())
}

async fn diagnose() -> Result<(), Box<dyn Error>> {
    let config = json!({"mcpServers": {
        "echo": {"command": std::env::current_exe()?, "args": ["serve"]},
        "misspelt": {"command": "no-such-mcp-server"},
        "hasty": {"command": std::env::current_exe()?, "args": ["serve", "nothing"]},
    }});
    let config = ComputerConfig::parse(&config.to_string())?;
    for found in of_file(&config, Path::new("computer.json"), DiagnosisOptions::default()).await? {
        let server = found.server.as_deref().unwrap_or("all servers");
        println!("{:?}: {server}: {}", found.grade, found.what);
        if !found.advice.is_empty() {
            println!("  {}", found.advice);
        }
    }
    Ok(())
}

/// An MCP server with one tool on the standard streams.
fn serve() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(2).is_some() {
        return Err("there is nothing to serve".into());
    }
    for line in stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "echo", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
            _ => continue,
        };
        println!("{}", json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }
    Ok(())
}
