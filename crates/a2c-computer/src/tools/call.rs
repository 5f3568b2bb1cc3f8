//! Running a tool: from a public name to a result. Failures are results too, with their code in the metadata.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use a2c_protocol::ErrorCode;
use a2c_protocol::tool::CallToolResult;
use a2c_protocol::trace::TraceContext;
use a2c_vrl::Program;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::confirm::{CallToConfirm, Unconfirmed};
use super::gate;
use super::history::PastCall;
use super::large::A2C_RESULT;
use super::toolbox::Listed;
use crate::core::Core;
use crate::inputs::RedactModel as _;
use crate::servers::calling::{CallFailure, McpCall};
use crate::servers::upstream::RefusalKind;

/// Meta: the error of the MCP server as it sent it, `{code, message, data?}`.
const MCP_ERROR: &str = "mcp_error";
/// Meta: what the owner of the computer can do about a refused authorisation.
const AUTH_HINT: &str = "auth_hint";

/// Meta: what the owner's VRL program made of the result, a JSON string.
const RESHAPED: &str = "a2c_vrl_transformed";

/// What only this Computer says in the metadata of a result.
const RESERVED: [&str; 8] = [
    CallToolResult::ERROR_CODE,
    CallToolResult::MCP_SERVER,
    CallToolResult::TIMEOUT,
    CallToolResult::CANCELLED,
    MCP_ERROR,
    AUTH_HINT,
    A2C_RESULT,
    RESHAPED,
];

/// What is to be run.
pub(crate) struct Wanted {
    pub(crate) caller: Caller,
    /// The tool, by its public name.
    pub(crate) tool: String,
    pub(crate) params: Map<String, Value>,
    pub(crate) limit: Duration,
    /// The trace that the call is part of.
    pub(crate) trace: Option<TraceContext>,
}

/// Who calls.
pub(crate) enum Caller {
    /// An Agent of the office.
    Agent(String),
    /// The owner of the computer, who need not be asked.
    Owner,
}

/// Runs a tool, and remembers that.
pub(crate) async fn run(core: &Core, wanted: Wanted, cancel: &CancellationToken) -> CallToolResult {
    let begin = Instant::now();
    let agent = match &wanted.caller {
        Caller::Agent(agent) => Some(agent.as_str().into()),
        Caller::Owner => None,
    };
    let tool = wanted.tool.as_str().into();
    let server = core.tools.toolbox().find(&wanted.tool).map(|tool| tool.server().into());
    let (result, reached) = match attempt(core, wanted, cancel).await {
        Ok(result) => (result, true),
        Err(refusal) => (refusal, false),
    };
    core.history.record(PastCall {
        agent,
        server,
        tool,
        at: SystemTime::now(),
        duration: begin.elapsed(),
        failed: result.is_error,
        code: result.error_code().filter(|_| result.is_error),
        reached,
    });
    result
}

/// Runs a tool; an error is the result of a call that did not get as far as its server.
async fn attempt(core: &Core, wanted: Wanted, cancel: &CancellationToken) -> Result<CallToolResult, CallToolResult> {
    let Wanted { caller, tool: name, params, limit, trace } = wanted;
    let begin = Instant::now();
    let toolbox = core.tools.toolbox();
    let tool = toolbox.find(&name).ok_or_else(|| unknown(core, &name))?;
    if let Some(hidden) = tool.hidden {
        return Err(failure(tool, ErrorCode::ToolForbidden, &hidden.explain(&name)));
    }
    if let (Caller::Agent(agent), false) = (caller, gate::runs_unasked(tool.meta.as_ref())) {
        let question = question(agent, tool, &params);
        if let Err(unconfirmed) = core.confirmation.decide(question, limit, cancel).await {
            let explained = unconfirmed.explain(&name);
            return Err(match unconfirmed {
                Unconfirmed::Cancelled => cancelled(tool, &explained),
                _ => failure(tool, ErrorCode::ToolNeedsConfirmation, &explained),
            });
        }
        // What was agreed to must still be what is there.
        match core.tools.toolbox().find(&name) {
            Some(now) if now.hidden.is_none() && now.server() == tool.server() && now.tool() == tool.tool() => {}
            _ => {
                let message = format!("tool '{name}' changed while it waited for confirmation: call it again");
                return Err(failure(tool, ErrorCode::ToolNeedsConfirmation, &message));
            }
        }
    }
    let server = core.servers.get(tool.server()).ok_or_else(|| unknown(core, &name))?;
    let limit_left = limit.saturating_sub(begin.elapsed());
    let reshaping = server.program().map(|program| (program, params.clone()));
    let call = McpCall { tool: &tool.tool().name, arguments: params, limit: limit_left, trace };
    let mut result = match server.call(call, cancel).await {
        Ok(result) => to_wire(&result, tool.server()),
        Err(problem) => explain(tool, problem, limit),
    };
    if let Some((program, params)) = reshaping {
        result = reshape(program, tool, params, result).await;
    }
    server.credentials().redact_result(&mut result);
    server.counts().called(result.is_error);
    Ok(result)
}

fn question(agent: String, tool: &Listed, params: &Map<String, Value>) -> CallToConfirm {
    CallToConfirm {
        agent,
        server: tool.server().to_owned(),
        tool: tool.name.clone(),
        description: tool.tool().description.as_deref().unwrap_or_default().to_owned(),
        arguments: params.clone(),
    }
}

fn explain(tool: &Listed, problem: CallFailure, limit: Duration) -> CallToolResult {
    let (name, server) = (&tool.name, tool.server());
    match problem {
        // Why it does not run is for the owner: what a server writes may hold what nobody else should see.
        CallFailure::NotRunning => {
            failure(tool, ErrorCode::ToolFailed, &format!("MCP server '{server}' is not running"))
        }
        CallFailure::Timeout => timed_out(tool, &format!("tool '{name}' did not finish within {} s", limit.as_secs())),
        CallFailure::Idle(idle) => {
            timed_out(tool, &format!("tool '{name}' reported no progress for {} s", idle.as_secs_f64()))
        }
        CallFailure::Cancelled => cancelled(tool, &format!("tool '{name}' was cancelled")),
        CallFailure::Failed(reason) => failure(tool, ErrorCode::ToolFailed, &reason),
        CallFailure::Unauthorised(refusal) => {
            let (code, what) = match refusal.kind {
                RefusalKind::Required => (ErrorCode::UpstreamAuthorizationRequired, "wants somebody to sign in"),
                RefusalKind::Failed => (ErrorCode::UpstreamAuthorizationFailed, "refused this computer"),
            };
            failure(tool, code, &format!("MCP server '{server}' {what}"))
                .with_meta(AUTH_HINT, json!({ "message": refusal.hint }))
        }
        CallFailure::Refused(error) => {
            let mut result = failure(tool, ErrorCode::ToolFailed, &error.message);
            if let Ok(details) = serde_json::to_value(&error) {
                result.meta.insert(MCP_ERROR.into(), details);
            }
            result
        }
    }
}

fn failure(tool: &Listed, code: ErrorCode, message: &str) -> CallToolResult {
    CallToolResult::failure(code, message).with_meta(CallToolResult::MCP_SERVER, tool.server())
}

fn timed_out(tool: &Listed, message: &str) -> CallToolResult {
    failure(tool, ErrorCode::ToolTimeout, message).with_meta(CallToolResult::TIMEOUT, true)
}

fn cancelled(tool: &Listed, message: &str) -> CallToolResult {
    failure(tool, ErrorCode::ToolFailed, message).with_meta(CallToolResult::CANCELLED, true)
}

/// Adds what the owner's program makes of a result. A program that fails changes nothing.
async fn reshape(
    program: Program,
    tool: &Listed,
    params: Map<String, Value>,
    result: CallToolResult,
) -> CallToolResult {
    let (name, server) = (tool.name.clone(), tool.server());
    let kept = Arc::new(result);
    let read = kept.clone();
    // It may compute for seconds.
    let outcome = tokio::task::spawn_blocking(move || program.apply_to_call(&name, &params, &read)).await;
    let result = Arc::unwrap_or_clone(kept);
    match outcome {
        Ok(Ok(reshaped)) => return result.with_meta(RESHAPED, reshaped),
        Ok(Err(error)) => {
            tracing::warn!(server, tool = tool.name, %error, "the VRL program has no outcome for a result")
        }
        Err(error) => tracing::error!(server, tool = tool.name, %error, "the VRL program panicked"),
    }
    result
}

/// A tool of that name is not there; one that the owner forbids says so even before its server has been started.
fn unknown(core: &Core, name: &str) -> CallToolResult {
    let forbids = |server: &crate::servers::server::Server| server.config().forbidden_tools.iter().any(|f| f == name);
    match core.servers.all().into_iter().find(|(_, server)| forbids(server)) {
        Some((server, _)) => CallToolResult::failure(ErrorCode::ToolForbidden, &format!("tool '{name}' is forbidden"))
            .with_meta(CallToolResult::MCP_SERVER, server),
        None => {
            // It may be there in a moment.
            let starting = core.servers.names_starting();
            let hint = match starting.is_empty() {
                true => String::new(),
                false => format!(" (still starting: {})", starting.join(", ")),
            };
            CallToolResult::failure(ErrorCode::ToolNotFound, &format!("there is no tool named '{name}'{hint}"))
        }
    }
}

/// The server's result as it travels; a failure of the tool gets its code and its server.
fn to_wire(result: &rmcp::model::CallToolResult, server: &str) -> CallToolResult {
    let wire = serde_json::to_value(result).and_then(serde_json::from_value::<CallToolResult>);
    let mut wire = match wire {
        Ok(wire) => wire,
        Err(e) => {
            return CallToolResult::failure(ErrorCode::ToolFailed, &format!("the result cannot be passed on: {e}"))
                .with_meta(CallToolResult::MCP_SERVER, server);
        }
    };
    // What these mean is ours to say: a server must not pass for another, or its answer for our own.
    for reserved in RESERVED {
        wire.meta.remove(reserved);
    }
    if wire.is_error {
        wire.meta.insert(CallToolResult::ERROR_CODE.into(), ErrorCode::ToolFailed.number().into());
        wire.meta.insert(CallToolResult::MCP_SERVER.into(), server.into());
    }
    wire
}
