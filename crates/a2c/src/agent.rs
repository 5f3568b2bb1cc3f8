//! `a2c agent`: ask an office, from the command line.

mod read;

use std::io::Read as _;
use std::process::ExitCode;
use std::time::Duration;

use a2c_agent::{Agent, RequestError, TraceContext};
use a2c_protocol::context::ReadResourceRet;
use a2c_protocol::event;
use a2c_protocol::office::ListRoomRet;
use a2c_protocol::seconds::Seconds;
use a2c_protocol::tool::{CallToolResult, GetToolsRet, SmcpTool};
use anyhow::{Context as _, Result, anyhow};
use clap::{Args, Subcommand};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::connection::HubArgs;
use crate::output;

/// Act as the Agent of an office.
///
/// An office has at most one Agent: while another one sits there, this one is refused. The environment variable
/// TRACEPARENT (W3C trace context) makes the request part of a trace.
#[derive(Args)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    hub: HubArgs,

    /// The Agent's name.
    #[arg(long, global = true, default_value = "a2c", value_name = "NAME")]
    name: String,

    /// Print the answer as JSON, as it was received; also when it is an error of the hub or the Computer. What keeps the
    /// question from being asked is told on standard error.
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    ask: Ask,
}

#[derive(Subcommand)]
enum Ask {
    /// Who is in the office.
    Members,
    /// The tools of a Computer.
    Tools {
        /// The Computer's name.
        computer: String,
    },
    /// The configuration of a Computer, with secrets hidden.
    Config {
        /// The Computer's name.
        computer: String,
    },
    /// Read a result that was too large to be sent at once, and print all of it.
    ///
    /// Text is printed as it is. What is binary is printed as bytes where it is all there is, and else as JSON. With
    /// --json one answer is printed as it was received, and further pages are not read.
    Read {
        /// The Computer's name.
        computer: String,
        /// The a2c-result:// URI that stands in the result. Computers have no other resources to read for now.
        uri: String,
        /// Only this page, counted from 0.
        #[arg(long, value_name = "N")]
        page: Option<u64>,
    },
    /// Run a tool and print its result. A tool that fails makes this command fail.
    Call {
        /// The Computer's name.
        computer: String,
        /// The tool's name, as `tools` lists it.
        tool: String,
        /// Its arguments, a JSON object; @FILE reads a file, - standard input.
        #[arg(value_name = "JSON", default_value = "{}")]
        arguments: String,
        /// How long the tool may run, in seconds.
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600), value_name = "SECONDS")]
        timeout: u64,
    },
}

pub(crate) async fn run(args: AgentArgs) -> Result<ExitCode> {
    let question = Question::new(&args.ask)?;
    let (link, office) = (args.hub.options()?, args.hub.office()?);
    let agent = Agent::connect(&link, &args.name).await.map_err(|error| args.hub.explain(&error))?;
    agent.join(office).await.with_context(|| format!("cannot join office '{office}'"))?;
    let asking = match trace() {
        Some(trace) => agent.traced(trace),
        None => agent.clone(),
    };
    if let (Ask::Read { computer, uri, page: None }, false) = (&args.ask, args.json) {
        let read = read::whole(&asking, computer, uri).await;
        agent.close().await;
        return match read {
            // A reader that went away has read enough.
            Err(error) if !is_broken_pipe(&error) => Err(error),
            _ => Ok(ExitCode::SUCCESS),
        };
    }
    let answer = asking.request(question.event, question.payload, question.limit).await;
    agent.close().await;
    match answer {
        Ok(answer) if args.json => {
            output::json(&answer)?;
            let failed = answer["isError"] == true;
            Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
        }
        Err(RequestError::Refused(error)) if args.json => {
            output::json(&error)?;
            Ok(ExitCode::FAILURE)
        }
        answer => show(&args.ask, answer?),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// What goes to the hub.
struct Question {
    event: &'static str,
    payload: Map<String, Value>,
    limit: Duration,
}

impl Question {
    /// Reads everything from the command line before anything is connected.
    fn new(ask: &Ask) -> Result<Self> {
        let (event, payload, limit) = match ask {
            Ask::Members => (event::LIST_ROOM, json!({}), Seconds::DEFAULT),
            Ask::Tools { computer } => (event::GET_TOOLS, json!({ "computer": computer }), Seconds::DEFAULT),
            Ask::Config { computer } => (event::GET_CONFIG, json!({ "computer": computer }), Seconds::DEFAULT),
            Ask::Read { computer, uri, page } => {
                let uri = read::at_page(uri, *page);
                (event::READ_RESOURCE, json!({ "computer": computer, "uri": uri }), Seconds::DEFAULT)
            }
            Ask::Call { computer, tool, arguments, timeout } => {
                let params = object(arguments)?;
                let limit = Seconds::new(*timeout)?;
                let payload = json!({"computer": computer, "tool_name": tool, "params": params, "timeout": limit});
                (event::TOOL_CALL, payload, limit)
            }
        };
        match payload {
            Value::Object(payload) => Ok(Self { event, payload, limit: limit.duration() }),
            _ => Err(anyhow!("a request is a JSON object")),
        }
    }
}

/// The trace that this command was started in. A tool that is asked for its result does not fail over one that cannot
/// be read.
fn trace() -> Option<TraceContext> {
    let text = std::env::var("TRACEPARENT").ok().filter(|text| !text.is_empty())?;
    let trace = TraceContext::parse(&text);
    if trace.is_none() {
        tracing::warn!("TRACEPARENT is ignored: it is no W3C trace context, such as 00-<32 hex>-<16 hex>-01");
    }
    trace
}

/// The arguments of a tool: given in place, in a file, or on standard input.
pub(crate) fn object(given: &str) -> Result<Map<String, Value>> {
    let text = match given.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?,
        None if given == "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
            text
        }
        None => given.to_owned(),
    };
    serde_json::from_str(&text).with_context(|| {
        format!("the tool's arguments are not a JSON object, such as '{{\"text\": \"hello\"}}': {}", excerpt(&text))
    })
}

fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

fn show(ask: &Ask, answer: Value) -> Result<ExitCode> {
    match ask {
        Ask::Members => {
            let answer: ListRoomRet = typed(answer)?;
            let row = |m: &a2c_protocol::office::SessionInfo| {
                vec![m.role.to_string(), m.name.clone(), m.a2c_version.map(|v| v.to_string()).unwrap_or_default()]
            };
            output::table(&answer.sessions.iter().map(row).collect::<Vec<_>>());
        }
        Ask::Tools { .. } => {
            let answer: GetToolsRet = typed(answer)?;
            let first_line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
            let row = |tool: &SmcpTool| vec![tool.name.clone(), parameters(tool), first_line(&tool.description)];
            output::table(&answer.tools.iter().map(row).collect::<Vec<_>>());
        }
        Ask::Config { .. } => output::line(&serde_json::to_string_pretty(&answer)?),
        Ask::Read { .. } => output::contents(&typed::<ReadResourceRet>(answer)?.contents)?,
        Ask::Call { .. } => return output::tool_result(&typed::<CallToolResult>(answer)?),
    }
    Ok(ExitCode::SUCCESS)
}

/// What a tool takes, in short: `{path, encoding?}`.
fn parameters(tool: &SmcpTool) -> String {
    let required = tool.params_schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let properties = tool.params_schema["properties"].as_object();
    let names = properties.into_iter().flat_map(|p| p.keys());
    let name = |name: &String| if required.iter().any(|r| r == name) { name.clone() } else { format!("{name}?") };
    format!("{{{}}}", names.map(name).collect::<Vec<_>>().join(", "))
}

fn typed<T: DeserializeOwned>(answer: Value) -> Result<T> {
    serde_json::from_value(answer).context("the answer has the wrong shape")
}
