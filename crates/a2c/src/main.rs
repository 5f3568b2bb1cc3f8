//! The `a2c` program: every role of A2C-SMCP in one binary.
//!
//! It must not know how a role works: it reads command lines, environment and files, runs a role from its crate, and tells
//! what happened.

mod agent;
mod audit;
mod computer;
mod connection;
mod documents;
mod logging;
mod output;
mod sample;
mod server;
mod stop;
#[cfg(unix)]
mod terminal;
mod up;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use logging::LogDefaults;

/// The tools on people's computers, for AI agents.
///
/// A hub connects one Agent and any number of Computers per office. Computers run MCP servers; Agents call their tools.
/// Credentials stay on the Computer.
#[derive(Parser)]
#[command(name = "a2c", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    logging: logging::LogArgs,
}

const AFTER_HELP: &str = "\
Try it:
  a2c up --call echo '{\"text\": \"hello\"}'

Each role on its own:
  a2c server --listen 127.0.0.1:7420 --auth none
  a2c computer --url http://127.0.0.1:7420 --office demo --name desk --config computer.json --yes
  a2c agent --url http://127.0.0.1:7420 --office demo tools desk";

#[derive(Subcommand)]
enum Command {
    /// Run a hub, a Computer and a sample MCP server together, to see everything work.
    Up(up::UpArgs),
    Server(Box<server::ServerArgs>),
    Computer(Box<computer::ComputerArgs>),
    Agent(Box<agent::AgentArgs>),
    Documents(documents::DocumentsArgs),
    /// Check the audit log of a hub.
    Audit(audit::AuditArgs),
    /// Run the sample MCP server on standard input and output.
    #[command(name = "sample-server")]
    SampleServer,
    /// End what a Computer leaves behind when it is killed. Computers start it by themselves.
    #[command(hide = true)]
    Guard,
}

impl Command {
    /// Long-running roles tell what happens; one-shot commands speak through their output. A hub may have a file that
    /// says what to log.
    fn log_defaults(&self) -> LogDefaults {
        match self {
            Self::Server(args) => args.log_defaults(),
            Self::Computer(args) => LogDefaults::at(args.log_level()),
            Self::Agent(args) => LogDefaults::at(args.log_level()),
            Self::Up(_) | Self::Documents(_) | Self::Audit(_) | Self::SampleServer | Self::Guard => {
                LogDefaults::at("warn")
            }
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if matches!(cli.command, Command::Guard) {
        // No threads, no logs: it must not depend on anything that can fail together with its Computer.
        return a2c_computer::guard();
    }
    if let Command::Documents(args) = &cli.command
        && args.is_worker()
    {
        // No threads: its limits have to hold before anything else happens.
        return a2c_document_worker::run_worker();
    }
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(run(cli)),
        Err(error) => output::fail(&anyhow::Error::new(error).context("cannot start")),
    }
}

async fn run(cli: Cli) -> ExitCode {
    let (log_format, log) = match cli.logging.start(&cli.command.log_defaults()) {
        Ok(started) => started,
        Err(error) => return output::fail(&error),
    };
    let outcome = match cli.command {
        Command::Up(args) => up::run(args).await,
        Command::Server(args) => server::run(*args).await,
        Command::Computer(args) => computer::run(*args).await,
        Command::Agent(args) => agent::run(*args).await,
        Command::Documents(args) => documents::run(args).await,
        Command::Audit(args) => audit::run(&args),
        Command::SampleServer => sample::run().await,
        Command::Guard => Ok(a2c_computer::guard()),
    };
    outcome.unwrap_or_else(|error| match log_format.tells_machines() {
        true => output::log_failure(&error),
        false => {
            // What was logged before stands before it.
            drop(log);
            output::fail(&error)
        }
    })
}
