//! Running a tool: from a public name to a result. Failures are results too, with their code in the metadata.

use std::time::Duration;

use a2c_protocol::ErrorCode;
use a2c_protocol::tool::CallToolResult;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::gate::{self, Confirmation};
use super::listing::{Listed, Offer, list};
use crate::servers::Servers;
use crate::servers::connection::CallFailure;

/// Every tool an Agent may see.
pub(crate) fn listed(servers: &Servers) -> Vec<Listed> {
    let offers: Vec<_> =
        servers.iter().map(|(_, server)| Offer { config: &server.config, tools: server.tools() }).collect();
    list(&offers)
}

/// Runs a tool by its public name.
pub(crate) async fn run(
    servers: &Servers,
    name: &str,
    params: Map<String, Value>,
    limit: Duration,
    confirmation: Confirmation,
    cancel: &CancellationToken,
) -> CallToolResult {
    let Some(tool) = listed(servers).into_iter().find(|t| t.name == name) else {
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
    match server.call(&tool.tool.name, params, limit, cancel).await {
        Ok(result) => to_wire(&result, &tool.server),
        Err(CallFailure::NotReady(state)) => {
            failure(ErrorCode::ToolFailed, &format!("MCP server '{}' is not ready: {state}", tool.server))
        }
        Err(CallFailure::Timeout) => {
            let message = format!("tool '{name}' did not finish within {} s", limit.as_secs());
            failure(ErrorCode::ToolTimeout, &message).with_meta(CallToolResult::TIMEOUT, true)
        }
        Err(CallFailure::Cancelled) => failure(ErrorCode::ToolFailed, &format!("tool '{name}' was cancelled"))
            .with_meta(CallToolResult::CANCELLED, true),
        Err(CallFailure::Failed(reason)) => failure(ErrorCode::ToolFailed, &reason),
    }
}

/// A forbidden tool says so by its own name; anything else is simply not there.
fn not_listed(servers: &Servers, name: &str) -> CallToolResult {
    let owner = servers.iter().find(|(_, server)| {
        !gate::is_visible(&server.config, name)
            && (server.config.forbidden_tools.iter().any(|t| t == name)
                || server.tools().iter().any(|t| t.name == name))
    });
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
    if wire.is_error {
        wire.meta.entry(CallToolResult::ERROR_CODE).or_insert_with(|| ErrorCode::ToolFailed.number().into());
        wire.meta.entry(CallToolResult::MCP_SERVER).or_insert_with(|| server.into());
    }
    wire
}
