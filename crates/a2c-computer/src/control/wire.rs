//! What travels through the control socket: one JSON object per line, each way. Plain data.
//!
//! A request is `{"op": "status"}`, with further fields beside `op` where the operation takes some. The answer is
//! `{"ok": …}` or `{"error": {"kind", "message"}}`; an operation that goes on for a while says `{"line": …}` any number
//! of times before. Requests of one connection are answered one after the other. Who hangs up gives up: a tool that runs
//! for them is told to stop.
//!
//! Secrets go in (values of inputs, configurations), but never out.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2c_protocol::ErrorCode;
use a2c_protocol::config::McpServerConfig;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::diagnosis::Readiness;
use crate::tools::history::PastCall;
use a2c_mcp::log::LogLine;

/// The longest line, in bytes.
pub const MAX_LINE: usize = 16 << 20;

/// What the owner asks a running Computer.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ControlRequest {
    /// Who it is: [`Greeting`].
    Hello,
    /// How it is: [`StatusReport`].
    Status,
    /// All tools, hidden ones included: a list of [`ToolReport`].
    Tools,
    /// Runs a tool as the owner: the result as MCP has it.
    Call {
        /// The tool, as an Agent calls it.
        tool: String,
        /// Its arguments.
        #[serde(default)]
        arguments: Map<String, Value>,
        /// How long it may run, in seconds.
        #[serde(default = "a_minute")]
        timeout: u64,
    },
    /// What a server wrote: lines of [`LogEntry`], then null.
    Logs {
        /// Which server.
        server: String,
        /// How many lines of the past.
        #[serde(default = "some_lines")]
        lines: usize,
        /// Whether to go on with those that come.
        #[serde(default)]
        follow: bool,
    },
    /// Ends a server and starts it again: a [`ServerReport`], of a server that is starting.
    Restart {
        /// Which server.
        server: String,
    },
    /// Waits until a server is ready, or is known not to be: a [`ServerReport`].
    Settled {
        /// Which server.
        server: String,
    },
    /// Takes a server on: [`Changed`].
    Add {
        /// The server, by its `name`.
        server: Box<McpServerConfig>,
        /// Whether to write it into the file, too.
        #[serde(default)]
        save: bool,
    },
    /// Ends a server and forgets it: [`Changed`].
    Remove {
        /// Which server.
        server: String,
        /// Whether to take it out of the file, too.
        #[serde(default)]
        save: bool,
    },
    /// Switches a server on: [`Changed`].
    Enable {
        /// Which server.
        server: String,
        /// Whether to write that into the file, too.
        #[serde(default)]
        save: bool,
    },
    /// Switches a server off: [`Changed`].
    Disable {
        /// Which server.
        server: String,
        /// Whether to write that into the file, too.
        #[serde(default)]
        save: bool,
    },
    /// Takes the file as it is now: what changed, a list of [`ServerNews`].
    Reload,
    /// Tools whose definition is not the one that was agreed to: a list of [`ChangeReport`].
    Changes,
    /// Agrees to what changed: how many had.
    Approve {
        /// Which server.
        server: String,
        /// Only this tool, by its server's name for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// Only if the change is still this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hash: Option<String>,
    },
    /// The last calls, the newest first: a list of [`CallReport`].
    History,
    /// The declared inputs, without values: a list of inputs as in the configuration.
    Inputs,
    /// Gives an input its value; servers that wait for it start: the names of those that run with another value until
    /// they are started again.
    SetInput {
        /// Which input.
        id: String,
        /// Its value.
        value: Value,
    },
    /// Signs in to a server: a line with the address for the browser, then null.
    Login {
        /// Which server.
        server: String,
    },
    /// Forgets the sign-in to a server: null.
    Logout {
        /// Which server.
        server: String,
    },
    /// Looks for everything that is wrong: a list of [`Diagnosis`](crate::diagnosis::Diagnosis).
    Checkup,
}

impl ControlRequest {
    /// The name of the operation.
    pub fn op(&self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::Status => "status",
            Self::Tools => "tools",
            Self::Call { .. } => "call",
            Self::Logs { .. } => "logs",
            Self::Restart { .. } => "restart",
            Self::Settled { .. } => "settled",
            Self::Add { .. } => "add",
            Self::Remove { .. } => "remove",
            Self::Enable { .. } => "enable",
            Self::Disable { .. } => "disable",
            Self::Reload => "reload",
            Self::Changes => "changes",
            Self::Approve { .. } => "approve",
            Self::History => "history",
            Self::Inputs => "inputs",
            Self::SetInput { .. } => "set_input",
            Self::Login { .. } => "login",
            Self::Logout { .. } => "logout",
            Self::Checkup => "checkup",
        }
    }
}

/// Only the operation: the rest may hold secrets.
impl fmt::Debug for ControlRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ControlRequest").field(&self.op()).finish()
    }
}

/// What comes back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// It was done; this is the outcome.
    Ok(Value),
    /// It was not done.
    Error(Refusal),
    /// More is to come.
    Line(Value),
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Which kind of reason, for programs.
    pub kind: RefusalKind,
    /// The reason, for people.
    pub message: String,
}

/// Kinds of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RefusalKind {
    /// The request cannot be understood.
    BadRequest,
    /// There is no such server, input or tool.
    NotFound,
    /// It cannot be done as things are.
    Invalid,
    /// It was tried and failed.
    Failed,
    /// Too many ask at the same time.
    Busy,
}

/// Who a Computer is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// Its name in the office.
    pub name: String,
    /// The office.
    pub office: String,
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// The file it was started with.
    pub config: Option<String>,
}

/// How a Computer is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatusReport {
    /// Who it is.
    #[serde(flatten)]
    pub greeting: Greeting,
    /// Whether it sits in its office.
    pub hub: HubReport,
    /// What it does with calls and tools that the owner has not approved.
    #[serde(default)]
    pub policy: PolicyReport,
    /// Its servers, in the order of their names.
    pub servers: Vec<ServerReport>,
}

/// What a Computer does with calls and tools that the owner has not approved; empty where it does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyReport {
    /// Tools without `auto_apply`: `ask`, `allow` or `deny`.
    pub confirm: String,
    /// Tools that changed: `warn` or `quarantine`.
    pub tool_changes: String,
}

/// How the connection to the hub is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HubReport {
    /// Whether there is one, and the seat is taken.
    pub connected: bool,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
}

/// How a server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerReport {
    /// Its name.
    pub name: String,
    /// How it is reached: `stdio`, `streamable` or `sse`.
    pub kind: String,
    /// Where it is in its life, in one word.
    pub state: String,
    /// Whether it can be used, or what it takes.
    pub readiness: Readiness,
    /// What is wrong, or what a person has to do.
    pub reason: Option<String>,
    /// Since when it is so, in milliseconds since 1970.
    pub since_ms: u64,
    /// When it is tried again, in milliseconds since 1970.
    pub retry_at_ms: Option<u64>,
    /// How often it was restarted.
    pub restarts: u64,
    /// How many tools it lists.
    pub tools: usize,
    /// How many windows it has on the Desktop.
    #[serde(default)]
    pub windows: usize,
    /// How many of its documents the Finder shows.
    #[serde(default)]
    pub documents: usize,
    /// How many of its tools are held back because they changed.
    pub quarantined: usize,
    /// How many calls went to it.
    pub calls: u64,
    /// How many of them failed.
    pub failed_calls: u64,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolReport {
    /// As an Agent calls it.
    pub name: String,
    /// The server that has it.
    pub server: String,
    /// As its server calls it.
    pub own_name: String,
    /// `offered`, `forbidden`, `off`, `quarantined` or `too large`.
    pub access: String,
    /// Whether it runs without asking.
    pub auto_apply: bool,
    /// Whether its definition is not the one that was agreed to.
    pub changed: bool,
    /// What the server says that it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

/// A line of a server's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// When it was read, in milliseconds since 1970.
    pub at_ms: u64,
    /// `stderr`, `stdout`, or `a2c` for our own remarks.
    pub source: String,
    /// The line.
    pub text: String,
}

/// What came of a change of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// The file the Computer was started with.
    pub file: Option<String>,
    /// Whether the change was written there.
    pub saved: bool,
    /// Why it was not, though it was to be, and what to do.
    pub unsaved: Option<String>,
}

/// What a changed file meant for a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerNews {
    /// Which server.
    pub server: String,
    /// `added`, `removed`, `enabled`, `disabled`, `restarted` or `new rules`.
    pub news: String,
}

/// A tool that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeReport {
    /// The server.
    pub server: String,
    /// The tool, by its server's name for it.
    pub tool: String,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
    /// What an approval of exactly this change names.
    pub hash: String,
    /// What changed, readable.
    pub diff: String,
}

/// A call that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallReport {
    /// The Agent that called; none where the owner did.
    pub agent: Option<String>,
    /// The server that ran it, or would have; none where there is no such tool.
    pub server: Option<String>,
    /// The tool, as an Agent calls it.
    pub tool: String,
    /// When it was over, in milliseconds since 1970.
    pub at_ms: u64,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Whether it failed.
    pub failed: bool,
    /// The code of a failure.
    pub code: Option<i64>,
}

impl From<LogLine> for LogEntry {
    fn from(line: LogLine) -> Self {
        Self { at_ms: millis(line.at), source: line.source.to_string(), text: line.text.to_string() }
    }
}

impl From<PastCall> for CallReport {
    fn from(call: PastCall) -> Self {
        let took_ms = u64::try_from(call.duration.as_millis()).unwrap_or(u64::MAX);
        let text = |name: Option<Arc<str>>| name.map(|name| name.to_string());
        let code = call.code.map(ErrorCode::number);
        Self {
            agent: text(call.agent),
            server: text(call.server),
            tool: call.tool.to_string(),
            at_ms: millis(call.at),
            took_ms,
            failed: call.failed,
            code,
        }
    }
}

/// A time as it travels.
pub(super) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn a_minute() -> u64 {
    60
}

fn some_lines() -> usize {
    50
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn requests_travel() {
        let server = json!({"name": "s", "type": "stdio", "server_parameters": {"command": "x"}});
        let server: McpServerConfig = serde_json::from_value(server).unwrap();
        let (name, args) = ("s".to_owned(), Map::from_iter([("a".to_owned(), json!(1))]));
        let all = [
            ControlRequest::Hello,
            ControlRequest::Status,
            ControlRequest::Tools,
            ControlRequest::Call { tool: "t".into(), arguments: args, timeout: 3 },
            ControlRequest::Logs { server: name.clone(), lines: 5, follow: true },
            ControlRequest::Restart { server: name.clone() },
            ControlRequest::Settled { server: name.clone() },
            ControlRequest::Add { server: Box::new(server), save: true },
            ControlRequest::Remove { server: name.clone(), save: false },
            ControlRequest::Enable { server: name.clone(), save: true },
            ControlRequest::Disable { server: name.clone(), save: false },
            ControlRequest::Reload,
            ControlRequest::Changes,
            ControlRequest::Approve { server: name.clone(), tool: Some("t".into()), hash: None },
            ControlRequest::History,
            ControlRequest::Inputs,
            ControlRequest::SetInput { id: "i".into(), value: json!("v") },
            ControlRequest::Login { server: name.clone() },
            ControlRequest::Logout { server: name },
            ControlRequest::Checkup,
        ];
        for request in all {
            let text = serde_json::to_string(&request).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["op"], request.op());
            assert!(serde_json::from_str::<ControlRequest>(&text).unwrap() == request, "{text}");
        }
    }

    #[test]
    fn what_may_be_left_out_has_a_default() {
        let check = |text: &str, expected: &ControlRequest| {
            assert!(serde_json::from_str::<ControlRequest>(text).unwrap() == *expected, "{text}");
        };
        check(
            r#"{"op": "call", "tool": "t"}"#,
            &ControlRequest::Call { tool: "t".into(), arguments: Map::new(), timeout: 60 },
        );
        check(
            r#"{"op": "logs", "server": "s"}"#,
            &ControlRequest::Logs { server: "s".into(), lines: 50, follow: false },
        );
        check(r#"{"op": "status", "more": 1}"#, &ControlRequest::Status);
    }

    #[test]
    fn replies_look_as_documented() {
        let refusal = Refusal { kind: RefusalKind::NotFound, message: "m".into() };
        for (reply, text) in [
            (Reply::Ok(Value::Null), r#"{"ok":null}"#),
            (Reply::Line(json!(1)), r#"{"line":1}"#),
            (Reply::Error(refusal), r#"{"error":{"kind":"not_found","message":"m"}}"#),
        ] {
            assert_eq!(serde_json::to_string(&reply).unwrap(), text);
            assert_eq!(serde_json::from_str::<Reply>(text).unwrap(), reply);
        }
    }

    #[test]
    fn a_request_does_not_print_what_it_holds() {
        let request = ControlRequest::SetInput { id: "i".into(), value: json!("s3cret") };
        assert_eq!(format!("{request:?}"), "ControlRequest(\"set_input\")");
    }
}
