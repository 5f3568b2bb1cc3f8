//! `a2c computer status`, `tools` and `history`: what a running Computer has.

use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2c_computer::control::wire::{CallReport, ControlRequest, PolicyReport, ServerReport, StatusReport, ToolReport};
use anyhow::Result;
use clap::Args;

use super::find::WhichArgs;
use crate::output;

/// Show how a running Computer and its MCP servers are.
#[derive(Args)]
pub(crate) struct StatusArgs {
    /// Print it as JSON.
    #[arg(long)]
    json: bool,

    /// Show reasons in full, with what the server wrote last.
    #[arg(long, short)]
    verbose: bool,

    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn status(args: &StatusArgs) -> Result<ExitCode> {
    let status: StatusReport = args.which.ask(&ControlRequest::Status).await?;
    if args.json {
        output::json(&status)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (seat, hub) = (&status.greeting, status.hub);
    let link = if hub.connected { "connected" } else { "not connected" };
    let PolicyReport { confirm, tool_changes } = &status.policy;
    output::line(&output::printable(&format!(
        "{}@{}  hub {link} for {}  confirm {confirm}  tool changes {tool_changes}",
        seat.name,
        seat.office,
        ago(hub.since_ms)
    )));
    let titles = ["SERVER", "KIND", "STATE", "FOR", "RESTARTS", "TOOLS", "WINDOWS", "DOCUMENTS", "CALLS", "REASON"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(status.servers.iter().map(|server| row(server, args.verbose)));
    output::table(&rows);
    if args.verbose {
        for server in &status.servers {
            if let Some(reason) = &server.reason {
                output::line(&output::printable(&format!("\n{}: {reason}", server.name)));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn row(server: &ServerReport, verbose: bool) -> Vec<String> {
    let calls = match server.failed_calls {
        0 => server.calls.to_string(),
        failed => format!("{} ({failed} failed)", server.calls),
    };
    // The whole of it stands below the table.
    let reason = if verbose { None } else { server.reason.as_deref() };
    vec![
        server.name.clone(),
        server.kind.clone(),
        server.state.clone(),
        ago(server.since_ms),
        server.restarts.to_string(),
        server.tools.to_string(),
        server.windows.to_string(),
        server.documents.to_string(),
        calls,
        first_line(reason.unwrap_or_default()),
    ]
}

/// List the tools of a running Computer.
#[derive(Args)]
pub(crate) struct ToolsArgs {
    /// Only tools with this text in their name or description.
    pattern: Option<String>,

    /// Only tools of this server.
    #[arg(long, value_name = "NAME")]
    server: Option<String>,

    /// Also tools that no Agent can use: forbidden, held back, or of a server that is switched off.
    #[arg(long)]
    all: bool,

    /// Print them as JSON, with their schemas.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn tools(args: &ToolsArgs) -> Result<ExitCode> {
    let mut tools: Vec<ToolReport> = args.which.ask(&ControlRequest::Tools).await?;
    tools.retain(|tool| args.wants(tool));
    if args.json {
        output::json(&tools)?;
        return Ok(ExitCode::SUCCESS);
    }
    let titles = ["TOOL", "SERVER", "OWN NAME", "ACCESS", "AUTO", "DESCRIPTION"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(tools.iter().map(|tool| {
        let own = if tool.own_name == tool.name { String::new() } else { tool.own_name.clone() };
        let access = if tool.changed { format!("{}, changed", tool.access) } else { tool.access.clone() };
        let auto = if tool.auto_apply { "yes" } else { "no" };
        vec![tool.name.clone(), tool.server.clone(), own, access, auto.to_owned(), cut_line(&tool.description, 100)]
    }));
    output::table(&rows);
    Ok(ExitCode::SUCCESS)
}

impl ToolsArgs {
    fn wants(&self, tool: &ToolReport) -> bool {
        let pattern = self.pattern.as_deref().unwrap_or_default().to_lowercase();
        let has_pattern = |text: &str| text.to_lowercase().contains(&pattern);
        (self.all || tool.access == "offered")
            && self.server.as_ref().is_none_or(|server| *server == tool.server)
            && (has_pattern(&tool.name) || has_pattern(&tool.own_name) || has_pattern(&tool.description))
    }
}

/// List the last tool calls of a running Computer, the newest first.
#[derive(Args)]
pub(crate) struct HistoryArgs {
    /// Print them as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn history(args: &HistoryArgs) -> Result<ExitCode> {
    let calls: Vec<CallReport> = args.which.ask(&ControlRequest::History).await?;
    if args.json {
        output::json(&calls)?;
        return Ok(ExitCode::SUCCESS);
    }
    let titles = ["AGO", "CALLER", "TOOL", "SERVER", "TOOK", "OUTCOME"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(calls.iter().map(|call| {
        let outcome = match (call.failed, call.code) {
            (false, _) => "ok".to_owned(),
            (true, Some(code)) => format!("failed ({code})"),
            (true, None) => "failed".to_owned(),
        };
        let caller = call.agent.clone().unwrap_or_else(|| "(owner)".to_owned());
        let (server, took) = (call.server.clone().unwrap_or_default(), format!("{} ms", call.took_ms));
        vec![ago(call.at_ms), caller, call.tool.clone(), server, took, outcome]
    }));
    output::table(&rows);
    Ok(ExitCode::SUCCESS)
}

/// The first line of a reason, which ends with what to do.
pub(super) fn first_line(text: &str) -> String {
    cut_line(text, 400)
}

/// The first line of a text, cut after this many characters.
fn cut_line(text: &str, width: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// How long ago a time is, in its largest unit.
fn ago(millis: u64) -> String {
    let then = UNIX_EPOCH + Duration::from_millis(millis);
    let seconds = SystemTime::now().duration_since(then).unwrap_or_default().as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_where_characters_end() {
        assert_eq!(first_line("one\ntwo"), "one");
        assert_eq!(cut_line(&"ü".repeat(101), 100), format!("{}…", "ü".repeat(100)));
        assert_eq!(cut_line(&"ü".repeat(100), 100), "ü".repeat(100));
    }
}
