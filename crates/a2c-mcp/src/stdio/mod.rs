//! MCP with a process: how a server is started, and how MCP is spoken on its standard streams.
//!
//! ```text
//! StdioParameters ──► a2c_process ── stdout ──► StdioTransport ──► rmcp
//!                         │  └────── stderr ──► StderrTail ──────► ServerLog
//!                         └───────── stdin ◄─── LineWriter ◄────── rmcp
//! ```

mod launch;
mod message;
mod start_hint;
mod transport;

pub use launch::{StartedServer, StdioLaunch, StdioStartError, start};
pub use transport::StdioTransport;
