//! Runs a tool: from its public name to a result. Failures are results too, with their code in the metadata.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use a2c_mcp::http::AccessReason;
use a2c_mcp::{CallFailure, LargeResult, RedactModel as _, ToolAnswer, ToolCall};
use a2c_protocol::ErrorCode;
use a2c_protocol::tool::CallToolResult;
use a2c_protocol::trace::TraceContext;
use a2c_vrl::Program;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::Tools;
use super::confirm::{CallToConfirm, Confirmation, Unconfirmed};
use super::history::{History, PastCall};
use super::large_answer::{self, AnswerMaker, CallOutput};
use super::result_limit::A2C_RESULT;
use super::result_store::ResultStore;
use super::toolbox::ListedTool;
use crate::config::tool_rules;
use crate::servers::Servers;
use crate::servers::server::Server;

/// Meta: the error of the MCP server as it sent it, `{code, message, data?}`.
const MCP_ERROR: &str = "mcp_error";
/// Meta: what the owner of the Computer can do about a refused authorisation.
const AUTH_HINT: &str = "auth_hint";

/// Meta: the outcome of the owner's VRL program, a JSON string.
const VRL_OUTCOME: &str = "a2c_vrl_transformed";

/// Metadata of a result that only this Computer sets.
const RESERVED: [&str; 8] = [
    CallToolResult::ERROR_CODE,
    CallToolResult::MCP_SERVER,
    CallToolResult::TIMEOUT,
    CallToolResult::CANCELLED,
    MCP_ERROR,
    AUTH_HINT,
    A2C_RESULT,
    VRL_OUTCOME,
];

/// A call of a tool.
pub(crate) struct CallRequest {
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
    /// The owner of the Computer, who need not confirm.
    Owner,
}

/// Runs tools with the parts of a Computer that a call needs.
#[derive(Clone, Copy)]
pub(crate) struct ToolRunner<'a> {
    pub(crate) tools: &'a Tools,
    pub(crate) servers: &'a Servers,
    pub(crate) confirmation: &'a Confirmation,
    pub(crate) history: &'a History,
    /// Where large results are kept.
    pub(crate) results: &'a Arc<ResultStore>,
    /// How large a result may be to be sent whole, in bytes.
    pub(crate) max_result: usize,
}

impl ToolRunner<'_> {
    /// Runs a tool, and records the call in the history.
    pub(crate) async fn run(&self, call: CallRequest, cancel: &CancellationToken) -> CallOutput {
        let begin = Instant::now();
        let agent = match &call.caller {
            Caller::Agent(agent) => Some(agent.as_str().into()),
            Caller::Owner => None,
        };
        let tool = call.tool.as_str().into();
        let server = self.tools.toolbox().find(&call.tool).map(|tool| tool.server().into());
        let (result, reached) = match self.attempt(call, cancel).await {
            Ok(result) => (result, true),
            Err(refusal) => (CallOutput::Result(refusal), false),
        };
        self.history.record(PastCall {
            agent,
            server,
            tool,
            at: SystemTime::now(),
            duration: begin.elapsed(),
            failed: result.is_error(),
            code: result.error_code().filter(|_| result.is_error()),
            reached,
        });
        result
    }

    /// Runs a tool; an error is the result of a call that did not reach its server.
    async fn attempt(&self, call: CallRequest, cancel: &CancellationToken) -> Result<CallOutput, CallToolResult> {
        let CallRequest { caller, tool: name, params, limit, trace } = call;
        let begin = Instant::now();
        let toolbox = self.tools.toolbox();
        let tool = toolbox.find(&name).ok_or_else(|| self.unknown(&name))?;
        if let Some(hidden) = tool.hidden {
            return Err(failure(tool, ErrorCode::ToolForbidden, &hidden.explain(&name)));
        }
        if let (Caller::Agent(agent), false) = (caller, tool_rules::runs_unasked(tool.meta.as_ref())) {
            let question = question(agent, tool, &params);
            if let Err(unconfirmed) = self.confirmation.decide(question, limit, cancel).await {
                let explained = unconfirmed.explain(&name);
                return Err(match unconfirmed {
                    Unconfirmed::Cancelled => cancelled(tool, &explained),
                    _ => failure(tool, ErrorCode::ToolNeedsConfirmation, &explained),
                });
            }
            // The tool must still be the one that was confirmed.
            match self.tools.toolbox().find(&name) {
                Some(now) if now.hidden.is_none() && now.server() == tool.server() && now.tool() == tool.tool() => {}
                _ => {
                    let message = format!("tool '{name}' changed while it waited for confirmation: call it again");
                    return Err(failure(tool, ErrorCode::ToolNeedsConfirmation, &message));
                }
            }
        }
        let server = self.servers.get(tool.server()).ok_or_else(|| self.unknown(&name))?;
        let limit_left = limit.saturating_sub(begin.elapsed());
        let program = server.program().map(|program| (program, params.clone()));
        let call = ToolCall { tool: &tool.tool().name, arguments: params, trace };
        let mut result = match server.call(call, limit_left, cancel).await {
            Ok(ToolAnswer::Result(result)) => to_wire(&result, tool.server()),
            Ok(ToolAnswer::Large(result)) => match self.large(result, tool, program.is_some()).await {
                // The owner's program needs the tree.
                CallOutput::Result(result) => result,
                answer => {
                    server.counts().called(answer.is_error());
                    return Ok(answer);
                }
            },
            Err(problem) => explain(tool, problem, limit),
        };
        if let Some((program, params)) = program {
            result = with_vrl_outcome(program, tool, params, result).await;
        }
        server.credentials().redact_result(&mut result);
        server.counts().called(result.is_error);
        Ok(CallOutput::Result(result))
    }

    /// What becomes of a large result: an answer, or a tree where a program is to work on it.
    async fn large(&self, result: LargeResult, tool: &ListedTool, has_program: bool) -> CallOutput {
        let (store, limit, server) = (self.results.clone(), self.max_result, tool.server().to_owned());
        let made = tokio::task::spawn_blocking(move || {
            if has_program {
                match large_answer::build(result.text()) {
                    Some(mut built) => {
                        own_meta(&mut built.meta, built.is_error, &server);
                        return Ok(CallOutput::Result(built));
                    }
                    None => tracing::warn!(server, "a result has too many values for the VRL program"),
                }
            }
            let own_meta = |meta: &mut Map<String, Value>, is_error: bool| own_meta(meta, is_error, &server);
            AnswerMaker { own_meta: &own_meta, limit, store: &store }.answer(&result).map(CallOutput::Large)
        });
        let cannot = |error: &dyn std::fmt::Display| {
            CallOutput::Result(failure(
                tool,
                ErrorCode::ToolFailed,
                &format!("the result cannot be passed on: {error}"),
            ))
        };
        match made.await {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => cannot(&error),
            Err(error) => cannot(&error),
        }
    }

    /// The result for a tool that does not exist. One that the owner forbids says so even before its server has started.
    fn unknown(&self, name: &str) -> CallToolResult {
        let forbids = |server: &Server| server.config().forbidden_tools.iter().any(|forbidden| forbidden == name);
        match self.servers.all().into_iter().find(|(_, server)| forbids(server)) {
            Some((server, _)) => {
                CallToolResult::failure(ErrorCode::ToolForbidden, &format!("tool '{name}' is forbidden"))
                    .with_meta(CallToolResult::MCP_SERVER, server)
            }
            None => {
                // A server that starts may have it in a moment.
                let starting = self.servers.names_starting();
                let hint = match starting.is_empty() {
                    true => String::new(),
                    false => format!(" (still starting: {})", starting.join(", ")),
                };
                CallToolResult::failure(ErrorCode::ToolNotFound, &format!("there is no tool named '{name}'{hint}"))
            }
        }
    }
}

fn question(agent: String, tool: &ListedTool, params: &Map<String, Value>) -> CallToConfirm {
    CallToConfirm {
        agent,
        server: tool.server().to_owned(),
        tool: tool.name.clone(),
        description: tool.tool().description.as_deref().unwrap_or_default().to_owned(),
        arguments: params.clone(),
    }
}

fn explain(tool: &ListedTool, problem: CallFailure, limit: Duration) -> CallToolResult {
    let (name, server) = (&tool.name, tool.server());
    match problem {
        // Why it does not run is for the owner only: it may quote what the server wrote.
        CallFailure::NotRunning => {
            failure(tool, ErrorCode::ToolFailed, &format!("MCP server '{server}' is not running"))
        }
        CallFailure::Timeout => timed_out(tool, &format!("tool '{name}' did not finish within {} s", limit.as_secs())),
        CallFailure::Idle(idle) => {
            timed_out(tool, &format!("tool '{name}' reported no progress for {} s", idle.as_secs_f64()))
        }
        CallFailure::Cancelled => cancelled(tool, &format!("tool '{name}' was cancelled")),
        CallFailure::Access(error) => {
            let (code, what) = match error.reason {
                AccessReason::Required => (ErrorCode::UpstreamAuthorizationRequired, "requires a sign-in"),
                _ => (ErrorCode::UpstreamAuthorizationFailed, "refused this computer"),
            };
            failure(tool, code, &format!("MCP server '{server}' {what}"))
                .with_meta(AUTH_HINT, json!({ "message": error.hint() }))
        }
        CallFailure::Refused(error) => {
            let mut result = failure(tool, ErrorCode::ToolFailed, &error.message);
            if let Ok(details) = serde_json::to_value(&error) {
                result.meta.insert(MCP_ERROR.into(), details);
            }
            result
        }
        other => failure(tool, ErrorCode::ToolFailed, &other.to_string()),
    }
}

fn failure(tool: &ListedTool, code: ErrorCode, message: &str) -> CallToolResult {
    CallToolResult::failure(code, message).with_meta(CallToolResult::MCP_SERVER, tool.server())
}

fn timed_out(tool: &ListedTool, message: &str) -> CallToolResult {
    failure(tool, ErrorCode::ToolTimeout, message).with_meta(CallToolResult::TIMEOUT, true)
}

fn cancelled(tool: &ListedTool, message: &str) -> CallToolResult {
    failure(tool, ErrorCode::ToolFailed, message).with_meta(CallToolResult::CANCELLED, true)
}

/// Adds the outcome of the owner's program to a result. A program that fails changes nothing.
async fn with_vrl_outcome(
    program: Program,
    tool: &ListedTool,
    params: Map<String, Value>,
    result: CallToolResult,
) -> CallToolResult {
    let (name, server) = (tool.name.clone(), tool.server());
    let result = Arc::new(result);
    let event = result.clone();
    // It may compute for seconds.
    let outcome = tokio::task::spawn_blocking(move || program.apply_to_call(&name, &params, &event)).await;
    let result = Arc::unwrap_or_clone(result);
    match outcome {
        Ok(Ok(outcome)) => return result.with_meta(VRL_OUTCOME, outcome),
        Ok(Err(error)) => {
            tracing::warn!(server, tool = tool.name, %error, "the VRL program has no outcome for a result")
        }
        Err(error) => tracing::error!(server, tool = tool.name, %error, "the VRL program panicked"),
    }
    result
}

/// The server's result as the Agent gets it; a failure of the tool gets its code and its server.
fn to_wire(result: &a2c_mcp::model::CallToolResult, server: &str) -> CallToolResult {
    let wire = serde_json::to_value(result).and_then(serde_json::from_value::<CallToolResult>);
    let mut wire = match wire {
        Ok(wire) => wire,
        Err(e) => {
            return CallToolResult::failure(ErrorCode::ToolFailed, &format!("the result cannot be passed on: {e}"))
                .with_meta(CallToolResult::MCP_SERVER, server);
        }
    };
    own_meta(&mut wire.meta, wire.is_error, server);
    wire
}

/// Only this Computer sets these: a server must not pass for another, or its answer for the Computer's own.
fn own_meta(meta: &mut Map<String, Value>, is_error: bool, server: &str) {
    for reserved in RESERVED {
        meta.remove(reserved);
    }
    if is_error {
        meta.insert(CallToolResult::ERROR_CODE.into(), ErrorCode::ToolFailed.number().into());
        meta.insert(CallToolResult::MCP_SERVER.into(), server.into());
    }
}
