//! MCP servers that nobody here wrote, through hub, Computer and Agent: from npm and PyPI, over every transport.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod deaths;
mod everything;
mod local;
mod peers;
mod python_http;
#[path = "../stage/mod.rs"]
mod stage;
mod together;
