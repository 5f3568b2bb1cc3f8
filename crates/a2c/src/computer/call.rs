//! `a2c computer call` and `logs`: a tool of a running Computer, and what a server says.

use std::process::ExitCode;
use std::time::Duration;

use a2c_computer::control::wire::{ControlRequest, LogEntry};
use a2c_protocol::tool::CallToolResult;
use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::Value;

use super::find::{SOON, WhichArgs};
use crate::{agent, output, stop};

/// Run a tool of a running Computer, as its owner.
///
/// It need not be confirmed, and no hub takes part. A tool that fails makes this command fail.
#[derive(Args)]
pub(crate) struct CallArgs {
    /// The tool's name, as `tools` lists it.
    tool: String,

    /// Its arguments, a JSON object; @FILE reads a file, - standard input.
    #[arg(value_name = "JSON", default_value = "{}")]
    arguments: String,

    /// How long the tool may run, in seconds.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600), value_name = "SECONDS")]
    timeout: u64,

    /// Print the result as JSON, as MCP has it.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn call(args: &CallArgs) -> Result<ExitCode> {
    let arguments = agent::object(&args.arguments)?;
    let mut client = args.which.connect().await?;
    let request = ControlRequest::Call { tool: args.tool.clone(), arguments, timeout: args.timeout };
    let limit = Duration::from_secs(args.timeout) + SOON;
    // To hang up tells the tool to stop.
    let answer = tokio::select! {
        answer = tokio::time::timeout(limit, client.ask::<Value>(&request)) => answer,
        () = stop::requested()? => return Ok(ExitCode::from(stop::INTERRUPTED)),
    };
    let result = answer.context("the Computer does not answer")??;
    if args.json {
        output::json(&result)?;
        return Ok(if result["isError"] == true { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    let result: CallToolResult = serde_json::from_value(result).context("the result has the wrong shape")?;
    output::tool_result(&result)
}

/// Show what an MCP server wrote, and what happened to it.
///
/// Each line says when it was read (in UTC), and who wrote it: the server on `stderr` or, where only MCP belongs, on `stdout`; or `a2c` itself.
#[derive(Args)]
pub(crate) struct LogsArgs {
    /// The server.
    #[arg(value_name = "NAME")]
    server: String,

    /// How many lines of the past; at most 500 are kept.
    #[arg(short = 'n', long, default_value_t = 50, value_name = "COUNT")]
    lines: usize,

    /// Go on with the lines that come, until Ctrl-C.
    #[arg(short, long)]
    follow: bool,

    /// Print each line as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn logs(args: &LogsArgs) -> Result<ExitCode> {
    let mut client = args.which.connect().await?;
    let request = ControlRequest::Logs { server: args.server.clone(), lines: args.lines, follow: args.follow };
    let show = |line: Value| {
        if args.json {
            return output::line(&output::harmless_json(&line.to_string()));
        }
        if let Ok(entry) = serde_json::from_value::<LogEntry>(line) {
            output::line(&output::printable(&told(&entry)));
        }
    };
    tokio::select! {
        ended = client.listen::<Value>(&request, show) => ended.map(drop)?,
        () = stop::requested()? => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// A line of a log, with its time in UTC. What has several lines cannot pass for several entries.
fn told(entry: &LogEntry) -> String {
    let seconds = entry.at_ms / 1000 % 86_400;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let text = entry.text.replace('\n', &format!("\n{:19}", ""));
    format!("{hours:02}:{minutes:02}:{seconds:02}Z  {:6}  {text}", entry.source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_time_and_what_goes_on_is_indented() {
        let entry = LogEntry { at_ms: 90_061_999, source: "a2c".into(), text: "one\ntwo".into() };
        assert_eq!(told(&entry), "01:01:01Z  a2c     one\n                   two");
    }
}
