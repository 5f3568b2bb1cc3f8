//! `a2c computer changes` and `approve`: tools that are not what they were.

use std::process::ExitCode;

use a2c_computer::control::wire::{ChangeReport, ControlRequest};
use anyhow::{Result, bail};
use clap::Args;

use super::find::WhichArgs;
use crate::output;

/// Show which tools changed since they were agreed to, and how.
#[derive(Args)]
pub(crate) struct ChangesArgs {
    /// Print them as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn changes(args: &ChangesArgs) -> Result<ExitCode> {
    let changes: Vec<ChangeReport> = args.which.ask(&ControlRequest::Changes).await?;
    if args.json {
        output::json(&changes)?;
        return Ok(ExitCode::SUCCESS);
    }
    if changes.is_empty() {
        output::note("no tool has changed");
    }
    for ChangeReport { server, tool, diff, hash, .. } in &changes {
        let text = format!(
            "{tool} of {server}\n{diff}\nTo agree to exactly this: a2c computer approve {server} {tool} --hash {hash}\n"
        );
        output::line(&output::printable(&text));
    }
    Ok(ExitCode::SUCCESS)
}

/// Agree to what changed about the tools of a server.
#[derive(Args)]
pub(crate) struct ApproveArgs {
    /// The server.
    server: String,

    /// Only this tool, by its server's name for it.
    tool: Option<String>,

    /// Only if the change is still the one that `changes` showed.
    #[arg(long, requires = "tool", value_name = "HASH")]
    hash: Option<String>,

    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn approve(args: &ApproveArgs) -> Result<ExitCode> {
    let (server, tool, hash) = (args.server.clone(), args.tool.clone(), args.hash.clone());
    let approved: usize = args.which.ask(&ControlRequest::Approve { server, tool, hash }).await?;
    if approved == 0 {
        bail!("nothing waits for approval there, or it is another change by now: a2c computer changes");
    }
    output::note(&format!("{approved} changed tools are agreed to"));
    Ok(ExitCode::SUCCESS)
}
