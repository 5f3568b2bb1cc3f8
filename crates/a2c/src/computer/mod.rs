//! `a2c computer`: MCP servers, offered to the Agent of an office; and what belongs to their configuration.

mod import;
mod schema;

use std::path::PathBuf;
use std::process::ExitCode;

use a2c_computer::config::ComputerConfig;
use a2c_computer::{
    Computer, ComputerOptions, Confirmation, Ended, GuardianProgram, LinkEnded, Seat, ServerState, StartError,
};
use anyhow::{Context as _, Result, anyhow, bail};
use clap::{Arg, Args, Subcommand};

use crate::connection::HubArgs;
use crate::{output, stop};

/// Run a Computer: MCP servers, offered to the Agent of an office.
///
/// Prints `ready NAME@OFFICE` on standard output once the Agent can call its tools, logs to standard error, and stops
/// cleanly on SIGINT, SIGTERM and SIGHUP. An MCP server that fails is reported and does not stop the others.
#[derive(Args)]
#[command(mut_args(required), subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
pub(crate) struct ComputerArgs {
    #[command(subcommand)]
    command: Option<ComputerCommand>,

    #[command(flatten)]
    hub: HubArgs,

    /// The Computer's name in the office.
    #[arg(long, required = true, value_name = "NAME")]
    name: Option<String>,

    /// The MCP servers to run: a file with `servers` (and `inputs`), or with the `mcpServers` of other MCP hosts. JSON,
    /// with comments allowed, or TOML if its name ends so.
    #[arg(long, required = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Run tools without confirmation. Without this, only tools that the configuration marks `auto_apply` run.
    #[arg(long)]
    yes: bool,
}

#[derive(Subcommand)]
enum ComputerCommand {
    Schema(schema::SchemaArgs),
    Import(import::ImportArgs),
}

/// What is needed to run a Computer is not needed by its other commands, nor known to them.
fn required(arg: Arg) -> Arg {
    let is_needed = matches!(arg.get_id().as_str(), "url" | "office");
    let arg = arg.global(false);
    if is_needed { arg.required(true) } else { arg }
}

impl ComputerArgs {
    /// Whether it runs until it is stopped.
    pub(crate) fn stays(&self) -> bool {
        self.command.is_none()
    }
}

pub(crate) async fn run(args: ComputerArgs) -> Result<ExitCode> {
    match &args.command {
        Some(ComputerCommand::Schema(args)) => schema::run(args),
        Some(ComputerCommand::Import(args)) => import::run(args),
        None => stay(args).await,
    }
}

async fn stay(args: ComputerArgs) -> Result<ExitCode> {
    // The parser asks for both where there is no subcommand.
    let (Some(name), Some(config)) = (args.name, args.config) else { bail!("--name and --config are missing") };
    let seat = Seat { office: args.hub.office()?.to_owned(), name };
    let mut options = ComputerOptions::new(args.hub.options()?, seat, ComputerConfig::load(&config)?);
    if args.yes {
        options.confirmation = Confirmation::Allow;
    }
    options.guardian = Some(guardian()?);
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

/// The guardian is this very program, run once more.
pub(crate) fn guardian() -> Result<GuardianProgram> {
    let program = std::env::current_exe().context("cannot find this program")?;
    Ok(GuardianProgram { program, args: vec!["guard".into()] })
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
