//! One request, read from the command line.

use std::time::Duration;

use a2c_protocol::event;
use a2c_protocol::seconds::Seconds;
use a2c_protocol::uri::WindowUri;
use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use super::payload::{object, without_nulls};
use super::read::ReadArgs;
use super::{AgentCommand, dpe, read};

/// What goes to the hub.
pub(super) struct AgentRequest {
    pub(super) event: &'static str,
    pub(super) payload: Map<String, Value>,
    pub(super) limit: Duration,
}

impl AgentRequest {
    /// Reads everything from the command line before anything is connected.
    pub(super) fn new(command: &AgentCommand) -> Result<Self> {
        let (event, payload, limit) = match command {
            AgentCommand::Members => (event::LIST_ROOM, json!({}), Seconds::DEFAULT),
            AgentCommand::Tools { computer } => (event::GET_TOOLS, json!({ "computer": computer }), Seconds::DEFAULT),
            AgentCommand::Config { computer } => (event::GET_CONFIG, json!({ "computer": computer }), Seconds::DEFAULT),
            AgentCommand::Desktop { computer, size, window } => {
                if let Some(window) = window {
                    WindowUri::parse(window).context("which window? Give its URI, as `desktop` shows it")?;
                }
                let payload = json!({ "computer": computer, "desktop_size": size, "window": window });
                (event::GET_DESKTOP, payload, Seconds::DEFAULT)
            }
            AgentCommand::Finder(finder) => (event::GET_FINDER, finder.request().into(), Seconds::DEFAULT),
            AgentCommand::Read(ReadArgs { computer, uri, server, page, .. }) => {
                let uri = read::at_page(uri, *page)?;
                let payload = json!({ "computer": computer, "uri": uri, "mcp_server": server });
                (event::READ_RESOURCE, payload, Seconds::DEFAULT)
            }
            AgentCommand::Resources { computer, server, cursor, all: _ } => {
                let payload = json!({ "computer": computer, "mcp_server": server, "cursor": cursor });
                (event::GET_RESOURCES, payload, Seconds::DEFAULT)
            }
            AgentCommand::Dpe { computer, uri, timeout, output: _, files: _, from_hub: _ } => {
                let uri = dpe::document(uri)?;
                let limit = timeout.map(Seconds::new).transpose()?;
                let payload = json!({ "computer": computer, "uri": uri, "timeout": limit });
                (event::GET_DPE, payload, limit.unwrap_or(Seconds::DEFAULT))
            }
            AgentCommand::Watch { .. } | AgentCommand::Browse { .. } => {
                bail!("nothing is asked before the office is joined")
            }
            AgentCommand::Call { computer, tool, arguments, timeout } => {
                let params = object(arguments)?;
                let limit = Seconds::new(*timeout)?;
                let payload = json!({"computer": computer, "tool_name": tool, "params": params, "timeout": limit});
                (event::TOOL_CALL, payload, limit)
            }
        };
        Ok(Self { event, payload: without_nulls(payload), limit: limit.duration() })
    }
}
