//! Published MCP servers, through hub, Computer and Agent: from npm and PyPI, over every transport.

mod deaths;
mod everything;
mod local;
mod peers;
mod python_http;
mod together;
mod without_initialize;
