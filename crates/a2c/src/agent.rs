//! `a2c agent`: ask an office, from the command line.
//!
//! Most commands are one [`AgentRequest`]: its answer is printed as it was received or, by [`show`], for people. A command
//! that takes several requests or goes on for a while has its own module.

mod browse;
mod dpe;
mod finder;
mod pages;
mod payload;
mod read;
mod refusal;
mod request;
mod resources;
mod show;
mod watch;

use std::future::Future;
use std::path::PathBuf;
use std::process::ExitCode;

use a2c_agent::{Agent, RequestError, TraceContext};
use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::connection::{CONNECTION, HubArgs};
use crate::output;

pub(crate) use payload::object;
use request::AgentRequest;

/// Act as the Agent of an office.
///
/// An office has at most one Agent: while another one sits there, this one is refused. The environment variable
/// TRACEPARENT (W3C trace context) makes the request part of a trace.
#[derive(Args)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    hub: HubArgs,

    /// The Agent's name.
    #[arg(long, global = true, default_value = "a2c", value_name = "NAME", help_heading = CONNECTION)]
    name: String,

    /// Print the answer as JSON, as it was received; also when it is an error of the hub or the Computer. What keeps the
    /// question from being asked is told on standard error.
    // After what belongs to the command alone.
    #[arg(long, global = true, display_order = 100)]
    json: bool,

    #[command(subcommand)]
    command: AgentCommand,
}

#[derive(Subcommand)]
enum AgentCommand {
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
    /// The Desktop of a Computer: what its MCP servers show at the moment, the most important first.
    Desktop {
        /// The Computer's name.
        computer: String,
        /// At most so many windows.
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        size: Option<i64>,
        /// Only the window of this URI, such as window://com.example.editor/main.
        #[arg(long, value_name = "URI")]
        window: Option<String>,
    },
    /// The documents of a Computer: title, type, pages, last change, MCP server and URI.
    ///
    /// `read` prints a document, `browse` leafs through all of them, `dpe` says where a document can be had as a whole.
    Finder(finder::FinderArgs),
    /// Read a resource of a Computer, and print all of it.
    ///
    /// Text is printed as it is. What is binary is printed as bytes where it is all there is, and else as JSON. With
    /// --json one answer is printed as it was received, and further pages are not read.
    #[command(after_help = READ_HELP)]
    Read(read::ReadArgs),
    /// The resources of one MCP server, as it lists them: URI, name, type and size.
    Resources {
        /// The Computer's name.
        computer: String,
        /// The MCP server's name.
        server: String,
        /// Go on where an earlier list ended.
        #[arg(long, value_name = "C")]
        cursor: Option<String>,
        /// Follow the list to its end, and print each page as it comes. With --json, each answer is a line.
        #[arg(long)]
        all: bool,
    },
    /// Where a document can be had as a whole: prints its URL, and what is known of it on standard error.
    ///
    /// The Computer needs a resolver for this: see --dpe-resolver of `a2c computer`.
    Dpe {
        /// The Computer's name.
        computer: String,
        /// The document, such as dpe://com.example.docs/report; without a query.
        uri: String,
        /// How long the Computer may take, in seconds [default: 30].
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..=3600), value_name = "SECONDS")]
        timeout: Option<u64>,
        /// Fetch it, too, and write it into this file, or to standard output where it is -.
        #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
        output: Option<PathBuf>,
        /// A directory from which the Computer may have a file read by answering with its file:// URL. Can be given
        /// several times. Without it no file of this machine is read, since the Computer chooses which.
        #[arg(long, value_name = "DIR", requires = "output")]
        files: Vec<PathBuf>,
        /// Fetch it also from the hub itself, for a hub behind a host that serves documents, too. Without this a URL that
        /// leads to the hub is refused, since the Computer chooses it.
        #[arg(long, requires = "output")]
        from_hub: bool,
    },
    /// Print what happens in the office, one line each, until Ctrl-C.
    ///
    /// With --json a line is {"event": "notify:…", "data": {…}}. Lost connections are told on standard error.
    ///
    /// It takes the office's only Agent seat: other Agents are refused meanwhile. The owner's `a2c computer call` works
    /// beside it.
    Watch {
        /// Stop after so many.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        count: Option<u64>,
    },
    /// Leaf through the documents of a Computer on the terminal: documents, their pages, and what is on them.
    ///
    /// It takes the office's only Agent seat: other Agents are refused meanwhile.
    #[command(after_help = browse::keys_help())]
    Browse {
        /// The Computer's name; can be left out where the office has only one.
        computer: Option<String>,
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

const READ_HELP: &str = "\
A document, one of its pages as Markdown, all of them, and an element:
  a2c agent read desk 'dpe://com.example.docs/report?depth=pages'
  a2c agent read desk 'dpe://com.example.docs/report?format=markdown' --page 0
  a2c agent read desk dpe://com.example.docs/report --pages
  a2c agent read desk dpe://com.example.docs/report/elements/table-1";

impl AgentArgs {
    /// What is logged unless told otherwise. A log that shares a screen with the browser would destroy it.
    pub(crate) fn log_level(&self) -> &'static str {
        match self.command {
            AgentCommand::Browse { .. } => "off",
            _ => "warn",
        }
    }
}

pub(crate) async fn run(args: AgentArgs) -> Result<ExitCode> {
    let outcome = execute(&args).await;
    let Err(error) = outcome else { return outcome };
    match error.downcast_ref::<RequestError>() {
        // A reader that went away has read enough.
        _ if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        Some(RequestError::Refused(refusal)) if args.json => {
            output::json(refusal)?;
            Ok(ExitCode::FAILURE)
        }
        Some(RequestError::Refused(refusal)) => Err(refusal::explained(refusal)),
        // It is printed as it came: no structure of it is needed.
        Some(RequestError::TooManyValues { answer, .. }) if args.json => {
            output::line(answer.json());
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(error),
    }
}

async fn execute(args: &AgentArgs) -> Result<ExitCode> {
    // Mistakes of the command line are reported before anything is connected.
    let mut task = Task::new(args)?;
    let (link, office) = (args.hub.options()?, args.hub.office()?);
    let seated = async {
        let agent = Agent::connect(&link, &args.name).await.map_err(|error| args.hub.explain(&error))?;
        let events = agent.subscribe();
        agent.join(office).await.map_err(|error| refusal::no_seat(office, error))?;
        Ok::<_, anyhow::Error>((agent, events))
    };
    let (agent, events) = tokio::select! {
        seated = seated => seated?,
        () = task.stopped() => return Ok(ExitCode::SUCCESS),
    };
    let asking = match trace() {
        Some(trace) => agent.traced(trace),
        None => agent.clone(),
    };
    let answer = match task {
        Task::Watch(watch) => {
            output::note(&format!("a2c: watching office '{office}'; Ctrl-C ends it"));
            return closing(&agent, watch.run(events)).await;
        }
        Task::Browse(browse) => return closing(&agent, browse.run(&asking, events)).await,
        Task::Read(read) => return closing(&agent, read.run(&asking)).await,
        Task::Pages(pages) => return closing(&agent, pages.run(&asking)).await,
        Task::Documents(finder) => return closing(&agent, finder.list_all(&asking, args.json)).await,
        Task::Fetch(fetch) => return closing(&agent, fetch.run(&asking)).await,
        Task::Resources(list) => return closing(&agent, list.run(&asking, args.json)).await,
        Task::Request(request) => {
            closing(&agent, asking.request(request.event, request.payload, request.limit)).await?
        }
    };
    if !args.json {
        return show::answer(&args.command, answer);
    }
    output::json(&answer)?;
    let failed = answer["isError"] == true;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Gives the seat up as soon as the work is done, and before anything else can fail.
async fn closing<T>(agent: &Agent, asking: impl Future<Output = T>) -> T {
    let outcome = asking.await;
    agent.close().await;
    outcome
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// What is to be done in the office.
enum Task<'a> {
    Request(AgentRequest),
    Read(read::WholeResource<'a>),
    Pages(pages::Pages<'a>),
    Documents(&'a finder::FinderArgs),
    Resources(resources::ResourceList<'a>),
    Fetch(dpe::Fetch<'a>),
    Watch(watch::Watch),
    Browse(browse::Browse),
}

impl<'a> Task<'a> {
    fn new(args: &'a AgentArgs) -> Result<Self> {
        Ok(match &args.command {
            AgentCommand::Watch { count } => Self::Watch(watch::Watch::new(*count, args.json)?),
            AgentCommand::Browse { computer } => Self::Browse(browse::Browse::new(computer.clone(), args.json)?),
            AgentCommand::Read(read) if read.pages => Self::Pages(pages::Pages::new(read)?),
            AgentCommand::Read(read) if read.page.is_none() && !args.json => {
                Self::Read(read::WholeResource::new(read)?)
            }
            AgentCommand::Finder(finder) if finder.all => Self::Documents(finder),
            AgentCommand::Resources { computer, server, cursor, all: true } => {
                Self::Resources(resources::ResourceList { computer, server, cursor: cursor.clone() })
            }
            AgentCommand::Dpe { computer, uri, timeout, output: Some(output), files, from_hub } => {
                let (uri, timeout, from_hub) = (dpe::document(uri)?, *timeout, *from_hub);
                Self::Fetch(dpe::Fetch { computer, uri, timeout, output, files, from_hub })
            }
            command => Self::Request(AgentRequest::new(command)?),
        })
    }

    /// Resolves when a signal came, for a task that handles signals itself; a signal ends every other task at once.
    async fn stopped(&mut self) {
        match self {
            Self::Watch(watch) => watch.stop.as_mut().await,
            Self::Browse(browse) => browse.stop.as_mut().await,
            _ => std::future::pending().await,
        }
    }
}

/// The trace that this command was started in. A trace that cannot be read does not make the command fail.
fn trace() -> Option<TraceContext> {
    let text = std::env::var("TRACEPARENT").ok().filter(|text| !text.is_empty())?;
    let trace = TraceContext::parse(&text);
    if trace.is_none() {
        tracing::warn!("TRACEPARENT is ignored: it is no W3C trace context, such as 00-<32 hex>-<16 hex>-01");
    }
    trace
}

fn typed<T: DeserializeOwned>(answer: Value) -> Result<T> {
    serde_json::from_value(answer).context("the answer has the wrong shape")
}
