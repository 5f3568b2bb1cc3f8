//! `a2c computer`: MCP servers, offered to the Agent of an office.

use std::path::PathBuf;
use std::process::ExitCode;

use a2c_computer::config::ComputerConfig;
use a2c_computer::{Computer, ComputerOptions, Confirmation, Ended, LinkEnded, Seat, ServerState, StartError};
use anyhow::{Result, anyhow};
use clap::{Arg, Args};

use crate::connection::HubArgs;
use crate::{output, stop};

/// Run a Computer: MCP servers, offered to the Agent of an office.
///
/// Prints `ready NAME@OFFICE` on standard output once the Agent can call its tools, logs to standard error, and stops
/// cleanly on SIGINT, SIGTERM and SIGHUP. An MCP server that fails is reported and does not stop the others.
#[derive(Args)]
#[command(mut_args(required))]
pub(crate) struct ComputerArgs {
    #[command(flatten)]
    hub: HubArgs,

    /// The Computer's name in the office.
    #[arg(long, value_name = "NAME")]
    name: String,

    /// The MCP servers to run: a JSON file with `servers` (and `inputs`), or with the `mcpServers` of other MCP hosts.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,

    /// Run tools without confirmation. Without this, only tools that the configuration marks `auto_apply` run.
    #[arg(long)]
    yes: bool,
}

/// Without subcommands, the parser itself can ask for what is missing.
fn required(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "url" | "office" => arg.global(false).required(true),
        _ => arg,
    }
}

pub(crate) async fn run(args: ComputerArgs) -> Result<ExitCode> {
    let options = ComputerOptions {
        link: args.hub.options()?,
        seat: Seat { office: args.hub.office()?.to_owned(), name: args.name },
        config: ComputerConfig::load(&args.config)?,
        confirmation: if args.yes { Confirmation::Allow } else { Confirmation::Refuse },
    };
    let mut stop = std::pin::pin!(stop::requested()?);
    let Some(mut computer) =
        Computer::start_unless(options, &mut stop).await.map_err(|error| explain_start(&args.hub, error))?
    else {
        return Ok(ExitCode::SUCCESS);
    };
    let servers = computer.servers();
    if !servers.iter().any(|(_, state)| *state == ServerState::Ready) {
        tracing::warn!("no MCP server is running: the agent will find no tools");
    }
    let seat = computer.seat();
    output::line(&format!("ready {}@{}", seat.name, seat.office));
    tokio::select! {
        ended = computer.ended() => {
            computer.stop().await;
            Err(explain_end(&args.hub, &ended))
        }
        () = stop => {
            tracing::info!("stopping");
            computer.stop().await;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn explain_start(hub: &HubArgs, error: StartError) -> anyhow::Error {
    match error {
        StartError::Connect(error) => hub.explain(&error),
        other => other.into(),
    }
}

/// Adds what the owner can do about the end.
fn explain_end(hub: &HubArgs, ended: &Ended) -> anyhow::Error {
    let hint = match ended {
        Ended::Link(LinkEnded::Dismissed { .. }) => "the log of the hub says why; to come back, start it again",
        Ended::Link(LinkEnded::Refused(error)) => match hub.hint(error) {
            Some(hint) => hint,
            None => return anyhow!("{ended}"),
        },
        _ => return anyhow!("{ended}"),
    };
    anyhow!("{ended} ({hint})")
}
