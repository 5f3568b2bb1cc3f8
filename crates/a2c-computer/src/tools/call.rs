//! Running a tool: from a public name to a result. Failures are results too, with their code in the metadata.

use std::time::Duration;

use a2c_protocol::ErrorCode;
use a2c_protocol::tool::CallToolResult;
use a2c_protocol::trace::TraceContext;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::gate::{self, Confirmation};
use super::listing::{Listed, Offer, list};
use crate::servers::Servers;
use crate::servers::connection::CallFailure;

/// Meta: the error of the MCP server as it sent it, `{code, message, data?}`.
const MCP_ERROR: &str = "mcp_error";

/// Every tool that is not forbidden. Names do not depend on which servers happen to run.
fn named(servers: &Servers) -> Vec<Listed> {
    let configured = servers.iter().filter(|(_, server)| !server.config().disabled);
    let offers: Vec<_> =
        configured.map(|(_, server)| Offer { config: server.config(), tools: server.tools() }).collect();
    list(&offers)
}

/// Every tool an Agent may see: those of servers that run, or are about to.
pub(crate) fn listed(servers: &Servers) -> Vec<Listed> {
    let mut tools = named(servers);
    tools.retain(|tool| servers.get(&tool.server).is_some_and(|server| !server.state().is_over()));
    tools
}

/// What is to be run.
pub(crate) struct Wanted<'a> {
    /// The tool, by its public name.
    pub(crate) tool: &'a str,
    pub(crate) params: Map<String, Value>,
    pub(crate) limit: Duration,
    /// The trace that the call is part of.
    pub(crate) trace: Option<TraceContext>,
}

/// Runs a tool.
pub(crate) async fn run(
    servers: &Servers,
    wanted: Wanted<'_>,
    confirmation: Confirmation,
    cancel: &CancellationToken,
) -> CallToolResult {
    let Wanted { tool: name, params, limit, trace } = wanted;
    let Some(tool) = named(servers).into_iter().find(|t| t.name == name) else {
        return not_listed(servers, name);
    };
    let failure = |code, message: &str| {
        CallToolResult::failure(code, message).with_meta(CallToolResult::MCP_SERVER, tool.server.as_str())
    };
    if !gate::may_run(tool.meta.as_ref(), confirmation) {
        let message = format!("tool '{name}' needs a confirmation: its owner has not set auto_apply for it");
        return failure(ErrorCode::ToolNeedsConfirmation, &message);
    }
    let Some(server) = servers.get(&tool.server) else { return not_listed(servers, name) };
    match server.call(&tool.tool.name, params, limit, trace, cancel).await {
        Ok(result) => to_wire(&result, &tool.server),
        // Why it does not run is for the owner: what a server writes may hold what nobody else should see.
        Err(CallFailure::NotReady) => {
            failure(ErrorCode::ToolFailed, &format!("MCP server '{}' is not running", tool.server))
        }
        Err(CallFailure::Timeout) => {
            let message = format!("tool '{name}' did not finish within {} s", limit.as_secs());
            failure(ErrorCode::ToolTimeout, &message).with_meta(CallToolResult::TIMEOUT, true)
        }
        Err(CallFailure::Cancelled) => failure(ErrorCode::ToolFailed, &format!("tool '{name}' was cancelled"))
            .with_meta(CallToolResult::CANCELLED, true),
        Err(CallFailure::Failed(reason)) => failure(ErrorCode::ToolFailed, &reason),
        Err(CallFailure::Refused(error)) => {
            let mut result = failure(ErrorCode::ToolFailed, &error.message);
            if let Ok(details) = serde_json::to_value(&error) {
                result.meta.insert(MCP_ERROR.into(), details);
            }
            result
        }
    }
}

/// A forbidden tool says so; anything else, tools of a server that is switched off included, is simply not there.
fn not_listed(servers: &Servers, name: &str) -> CallToolResult {
    let owner = servers.iter().find(|(_, server)| gate::is_forbidden(server.config(), name));
    match owner {
        Some((server, _)) => CallToolResult::failure(ErrorCode::ToolForbidden, &format!("tool '{name}' is forbidden"))
            .with_meta(CallToolResult::MCP_SERVER, server),
        None => CallToolResult::failure(ErrorCode::ToolNotFound, &format!("there is no tool named '{name}'")),
    }
}

/// The server's result as it travels; a failure of the tool gets its code and its server.
fn to_wire(result: &rmcp::model::CallToolResult, server: &str) -> CallToolResult {
    let wire = serde_json::to_value(result).and_then(serde_json::from_value::<CallToolResult>);
    let mut wire = match wire {
        Ok(wire) => wire,
        Err(e) => {
            return CallToolResult::failure(ErrorCode::ToolFailed, &format!("the result cannot be passed on: {e}"));
        }
    };
    // What these mean is ours to say: a server must not pass for another, or its answer for our own.
    for reserved in [CallToolResult::MCP_SERVER, CallToolResult::TIMEOUT, CallToolResult::CANCELLED] {
        wire.meta.remove(reserved);
    }
    if wire.is_error {
        wire.meta.insert(CallToolResult::ERROR_CODE.into(), ErrorCode::ToolFailed.number().into());
        wire.meta.insert(CallToolResult::MCP_SERVER.into(), server.into());
    }
    wire
}
