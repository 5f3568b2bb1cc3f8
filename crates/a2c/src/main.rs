//! The `a2c` program: every role of A2C-SMCP in one binary.

mod agent;
mod audit;
mod computer;
mod connection;
mod output;
mod sample;
mod server;
mod stop;
mod up;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

/// The tools on people's computers, for AI agents.
///
/// A hub connects one Agent and any number of Computers per office. Computers run MCP servers; Agents call their tools.
/// Credentials stay on the Computer.
#[derive(Parser)]
#[command(name = "a2c", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// What to log on standard error: error, warn, info, debug, trace, off, or a filter such as `info,a2c_hub=debug`.
    /// Without this: info for server and computer, warn for the others.
    #[arg(long, global = true, env = "A2C_LOG", value_name = "LEVEL")]
    log: Option<String>,
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
    /// Run a hub.
    Server(server::ServerArgs),
    /// Run a Computer: MCP servers, offered to the Agent of an office.
    Computer(computer::ComputerArgs),
    /// Act as the Agent of an office.
    Agent(agent::AgentArgs),
    /// Check the audit log of a hub.
    Audit(audit::AuditArgs),
    /// Run the sample MCP server on standard input and output.
    #[command(name = "sample-server", hide = true)]
    SampleServer,
}

impl Command {
    /// Long-running roles tell what happens; one-shot commands speak through their output.
    fn default_log(&self) -> &'static str {
        match self {
            Self::Server(_) | Self::Computer(_) => "info",
            Self::Up(_) | Self::Agent(_) | Self::Audit(_) | Self::SampleServer => "warn",
        }
    }
}

/// A level, or directives such as `a2c_hub=debug`. A word that is neither would switch all logging off.
fn log_filter(text: &str) -> anyhow::Result<EnvFilter> {
    let is_level = |word: &str| word.trim().parse::<tracing::Level>().is_ok() || word.trim() == "off";
    if let Some(word) = text.split(',').find(|word| !word.contains('=') && !is_level(word)) {
        anyhow::bail!("--log: '{word}' is no level: write error, warn, info, debug, trace or off, or CRATE=LEVEL");
    }
    // The MCP library reports what it recovers from at WARN; ours says it once, in our words.
    EnvFilter::try_new(format!("rmcp=error,{text}")).context("--log")
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let filter = match log_filter(cli.log.as_deref().unwrap_or(cli.command.default_log())) {
        Ok(filter) => filter,
        Err(error) => return output::fail(&error),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .init();
    let outcome = match cli.command {
        Command::Up(args) => up::run(args).await,
        Command::Server(args) => server::run(args).await,
        Command::Computer(args) => computer::run(args).await,
        Command::Agent(args) => agent::run(args).await,
        Command::Audit(args) => audit::run(&args),
        Command::SampleServer => sample::run().await,
    };
    outcome.unwrap_or_else(|error| output::fail(&error))
}
