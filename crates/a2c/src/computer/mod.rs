//! `a2c computer`: MCP servers, offered to the Agent of an office; what belongs to their configuration; and operating a
//! Computer that runs, through its control socket.

#[cfg(unix)]
mod call;
#[cfg(unix)]
mod changes;
#[cfg(unix)]
mod confirm;
#[cfg(unix)]
mod doctor;
#[cfg(unix)]
mod find;
mod import;
#[cfg(unix)]
mod inputs;
#[cfg(unix)]
mod login;
#[cfg(unix)]
mod preflight;
mod resolver;
mod run;
mod schema;
#[cfg(unix)]
mod servers;
mod state;
#[cfg(unix)]
mod status;

use std::process::ExitCode;

use a2c_computer::GuardianProgram;
use anyhow::{Context as _, Result};
use clap::{Arg, Args, Subcommand};

/// Run a Computer, or operate one that runs.
///
/// Without a command it runs one: MCP servers, offered to the Agent of an office. It prints `ready NAME@OFFICE` on
/// standard output once the Agent can call its tools, logs to standard error, and stops cleanly on SIGINT, SIGTERM and
/// SIGHUP. An MCP server that fails is reported, tried again, and does not stop the others.
///
/// The commands operate a Computer that runs on this machine, of this user.
#[derive(Args)]
#[command(mut_args(required), subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ComputerArgs {
    #[command(subcommand)]
    command: Option<ComputerCommand>,

    #[command(flatten)]
    run: run::RunArgs,
}

const AFTER_HELP: &str = "\
Examples:
  a2c computer --url http://127.0.0.1:7420 --office demo --name desk --config computer.json
  a2c computer status
  a2c computer add time --save -- uvx mcp-server-time
  a2c computer logs time -f
  a2c computer doctor --config computer.json";

#[derive(Subcommand)]
enum ComputerCommand {
    #[cfg(unix)]
    Status(status::StatusArgs),
    #[cfg(unix)]
    Tools(status::ToolsArgs),
    #[cfg(unix)]
    Call(call::CallArgs),
    #[cfg(unix)]
    Logs(call::LogsArgs),
    #[cfg(unix)]
    History(status::HistoryArgs),
    #[cfg(unix)]
    Restart(servers::RestartArgs),
    #[cfg(unix)]
    Add(servers::AddArgs),
    #[cfg(unix)]
    Rm(servers::RemoveArgs),
    #[cfg(unix)]
    Enable(servers::EnableArgs),
    #[cfg(unix)]
    Disable(servers::DisableArgs),
    #[cfg(unix)]
    Reload(servers::ReloadArgs),
    #[cfg(unix)]
    Changes(changes::ChangesArgs),
    #[cfg(unix)]
    Approve(changes::ApproveArgs),
    #[cfg(unix)]
    Input(inputs::InputArgs),
    #[cfg(unix)]
    Secret(inputs::SecretArgs),
    #[cfg(unix)]
    Login(login::LoginArgs),
    #[cfg(unix)]
    Logout(login::LogoutArgs),
    #[cfg(unix)]
    Doctor(doctor::DoctorArgs),
    #[cfg(unix)]
    Preflight(preflight::PreflightArgs),
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
    /// What is logged by default: much while it runs until it is stopped, and nothing of what a doctor tells
    /// in other words.
    pub(crate) fn log_level(&self) -> &'static str {
        match &self.command {
            None => "info",
            #[cfg(unix)]
            Some(ComputerCommand::Doctor(_)) => "off",
            Some(_) => "warn",
        }
    }
}

pub(crate) async fn run(args: ComputerArgs) -> Result<ExitCode> {
    match &args.command {
        None => run::stay(args.run).await,
        #[cfg(unix)]
        Some(ComputerCommand::Status(args)) => status::status(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Tools(args)) => status::tools(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Call(args)) => call::call(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Logs(args)) => call::logs(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::History(args)) => status::history(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Restart(args)) => servers::restart(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Add(args)) => servers::add(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Rm(args)) => servers::remove(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Enable(args)) => servers::enable(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Disable(args)) => servers::disable(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Reload(args)) => servers::reload(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Changes(args)) => changes::changes(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Approve(args)) => changes::approve(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Input(args)) => inputs::input(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Secret(args)) => inputs::secret(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Login(args)) => login::login(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Logout(args)) => login::logout(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Doctor(args)) => doctor::doctor(args).await,
        #[cfg(unix)]
        Some(ComputerCommand::Preflight(args)) => preflight::preflight(args).await,
        Some(ComputerCommand::Schema(args)) => schema::run(args),
        Some(ComputerCommand::Import(args)) => import::run(args),
    }
}

/// The guardian is this very program, run once more.
pub(crate) fn guardian() -> Result<GuardianProgram> {
    let program = std::env::current_exe().context("cannot find this program")?;
    Ok(GuardianProgram { program, args: vec!["guard".into()] })
}
