//! An MCP server that is a process of ours: how it is started, and how MCP is spoken on its streams.
//!
//! ```text
//! StdioParameters ──► a2c_process ── stdout ──► StdioTransport ──► rmcp
//!                         │  └────── stderr ──► StderrTail ──────► ServerLog
//!                         └───────── stdin ◄─── LineWriter ◄────── rmcp
//! ```

mod launch;
mod message;
pub(crate) mod stdio;
#[cfg(test)]
mod tests;
mod unread;

pub(crate) use launch::{Started, StdioLaunch, start};
pub(crate) use stdio::StdioTransport;
