//! `a2c up`: everything together, to see it work.

use std::net::SocketAddr;
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use a2c_agent::Agent;
use a2c_computer::config::ComputerConfig;
#[cfg(unix)]
use a2c_computer::control::{About, ControlSocket, folder, socket_in};
use a2c_computer::dpe::{HttpListener, HttpOptions};
use a2c_computer::{Computer, ComputerOptions, Confirmation, LinkOptions, Seat};
use a2c_hub::{Hub, HubConfig};
use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::{Map, Value};

use crate::output::shell_word;
use crate::{agent, computer, output, stop};

// (No documentation comment: the list of commands has one, which would hide it.)
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct UpArgs {
    /// Where the hub listens; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDR:PORT", value_parser = loopback)]
    listen: SocketAddr,

    /// The office that hub, Computer and Agents share.
    #[arg(long, default_value = "demo", value_name = "ID")]
    office: String,

    /// The Computer's name.
    #[arg(long, default_value = "desk", value_name = "NAME")]
    name: String,

    /// Run the MCP servers of this file instead of the sample.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Run the tools of --config without confirmation. Without this, only tools that it marks `auto_apply` run.
    #[arg(long, requires = "config")]
    yes: bool,

    /// The socket through which `a2c computer status`, `call` and the like operate the Computer, or `none`
    /// Default: NAME@OFFICE.sock in $XDG_RUNTIME_DIR/a2c.
    #[cfg(unix)]
    #[arg(long, env = "A2C_CONTROL", value_name = "PATH")]
    control: Option<PathBuf>,

    /// Call this tool with these arguments as an Agent, print the result and stop. The sample has `echo {text}`,
    /// `add {a, b}`, `note {text}` and `wait {seconds}`. As JSON, @FILE reads a file and - standard input.
    #[arg(long, num_args = 2, value_names = ["TOOL", "JSON"])]
    call: Option<Vec<String>>,

    /// How long the tool of --call may run, in seconds.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600), value_name = "SECONDS")]
    timeout: u64,
}

const HELP: &str = "\
The hub listens on a loopback address without authentication: every program on this machine may use it. Documents that an \
Agent asks for as a whole (`a2c agent dpe`) are served on a loopback address, too, while it runs.

Stop it with Ctrl-C; with --call it stops by itself.";

/// Without authentication, every program that reaches the hub may use the Computer.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|_| "write ADDR:PORT, such as 127.0.0.1:7420".to_owned())?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err("only a loopback address: for others run `a2c server` with A2C_TOKEN and `a2c computer`".into())
}

pub(crate) async fn run(args: UpArgs) -> Result<ExitCode> {
    let call = args.call.as_deref().map(|call| Ok::<_, anyhow::Error>((call[0].clone(), agent::object(&call[1])?)));
    let call = call.transpose()?;
    let config = match &args.config {
        Some(file) => ComputerConfig::load(file)?,
        None => sample_config()?,
    };
    // The sample is ours; what else runs is for its owner to say.
    let may_run = args.config.is_none() || args.yes;
    let mut stop = std::pin::pin!(stop::requested()?);
    let hub = Hub::start(HubConfig::on(args.listen)).await?;
    let seat = Seat { office: args.office.clone(), name: args.name.clone() };
    #[cfg(unix)]
    let control = match call {
        Some(_) => None,
        None => control(args.control.as_deref(), &seat).await,
    };
    let mut options = ComputerOptions::new(LinkOptions::new(hub.url()), seat, config);
    if may_run {
        options.confirmation = Confirmation::Allow;
    }
    options.guardian = Some(computer::guardian()?);
    options.dpe = Some(Arc::new(HttpListener::start(HttpOptions::default()).await?));
    #[cfg(unix)]
    let tool_changes = options.tool_changes;
    let Some(running) = Computer::start_unless(options, &mut stop).await? else {
        hub.shutdown().await;
        return Ok(ExitCode::from(stop::INTERRUPTED));
    };
    #[cfg(unix)]
    let control = control.map(|socket| {
        let about = About { seat: running.seat().clone(), file: None, tool_changes };
        socket.serve(running.handle(), about)
    });
    #[cfg(unix)]
    let which = control.is_some().then(|| match &args.control {
        Some(socket) => format!("--socket {}", shell_word(&socket.display().to_string())),
        None => format!("--name {} --office {}", shell_word(&args.name), shell_word(&args.office)),
    });
    #[cfg(not(unix))]
    let which = None;
    let outcome = match call {
        Some((tool, params)) => tokio::select! {
            outcome = call_once(&hub, &args, &tool, params) => outcome,
            () = stop => Ok(ExitCode::from(stop::INTERRUPTED)),
        },
        None => {
            welcome(&hub, &args, which);
            stop.await;
            Ok(ExitCode::SUCCESS)
        }
    };
    #[cfg(unix)]
    if let Some(control) = control {
        control.close().await;
    }
    running.stop().await;
    hub.shutdown().await;
    outcome
}

/// Takes the place of the control socket. There is something to see without one, too.
#[cfg(unix)]
async fn control(place: Option<&Path>, seat: &Seat) -> Option<ControlSocket> {
    let path = match place {
        Some(path) if path == Path::new("none") => return None,
        Some(path) => path.to_owned(),
        None => socket_in(&folder(), seat),
    };
    match ControlSocket::bind(&path).await {
        Ok(socket) => Some(socket),
        Err(error) => {
            let error = anyhow::Error::from(error);
            tracing::warn!("`a2c computer` cannot operate this Computer while it runs: {error:#}");
            None
        }
    }
}

async fn call_once(hub: &Hub, args: &UpArgs, tool: &str, params: Map<String, Value>) -> Result<ExitCode> {
    let agent = Agent::connect(&LinkOptions::new(hub.url()), "up").await?;
    agent.join(&args.office).await.context("cannot join the office")?;
    let result = agent.call_tool(&args.name, tool, params, Duration::from_secs(args.timeout)).await;
    agent.close().await;
    output::tool_result(&result?)
}

/// What to type next; `which` says to the owner's commands which Computer is meant, where they work. The program is named as it was called: it need not be on the PATH.
fn welcome(hub: &Hub, args: &UpArgs, which: Option<String>) {
    output::line(&format!("ready {}", hub.url()));
    let program = std::env::args().next().unwrap_or_else(|| "a2c".into());
    let (office, name) = (shell_word(&args.office), shell_word(&args.name));
    let program = shell_word(&program);
    let agent = format!("  {program} agent --url {} --office {office}", hub.url());
    output::note(&format!("Computer {name} sits in office {office}. Try, in another terminal:"));
    output::note(&format!("{agent} tools {name}"));
    if args.config.is_none() {
        output::note(&format!("{agent} call {name} echo '{{\"text\": \"hello\"}}'"));
    }
    output::note(&format!("{agent} desktop {name}"));
    output::note(&format!("{agent} finder {name}"));
    output::note(&format!("{agent} browse {name}"));
    if let (Some(which), None) = (which, &args.config) {
        output::note("An office has one Agent at a time; its owner works beside it. Watch in one terminal:");
        output::note(&format!("{agent} watch"));
        output::note("and rewrite the note in another:");
        output::note(&format!("  {program} computer call note '{{\"text\": \"hi\"}}' {which}"));
    }
    output::note("Stop with Ctrl-C.");
}

/// The sample is this very program, run once more.
fn sample_config() -> Result<ComputerConfig> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let config = serde_json::json!({
        "servers": {"sample": {"type": "stdio", "server_parameters": {"command": program, "args": ["sample-server"]}}}
    });
    Ok(ComputerConfig::parse(&config.to_string())?)
}
