//! `a2c computer add`, `rm`, `enable`, `disable`, `restart` and `reload`: changing what a running Computer runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use a2c_computer::config::ComputerConfig;
use a2c_computer::control::wire::{Changed, ControlRequest, ServerNews, ServerReport, StatusReport};
use a2c_protocol::config::McpServerConfig;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::{Map, Value, json};

use super::find::WhichArgs;
use crate::output;

/// Start MCP servers again, also those that failed and wait for their next try.
///
/// Waits until it is known what came of it, and fails if one of them did not become ready.
#[derive(Args)]
pub(crate) struct RestartArgs {
    /// The servers.
    #[arg(value_name = "NAME", required_unless_present = "all")]
    servers: Vec<String>,

    /// All that are switched on.
    #[arg(long, conflicts_with = "servers")]
    all: bool,

    /// Do not wait for the outcome.
    #[arg(long)]
    no_wait: bool,

    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn restart(args: &RestartArgs) -> Result<ExitCode> {
    let servers = match args.all {
        false => args.servers.clone(),
        true => {
            let status: StatusReport = args.which.ask(&ControlRequest::Status).await?;
            status.servers.into_iter().filter(|s| s.state != "disabled").map(|s| s.name).collect()
        }
    };
    let mut client = args.which.connect().await?;
    // All of them first, so that they start at the same time.
    for server in &servers {
        let request = ControlRequest::Restart { server: server.clone() };
        let _: ServerReport = client.ask(&request).await?;
    }
    if args.no_wait {
        return Ok(ExitCode::SUCCESS);
    }
    let mut all_ready = true;
    for server in &servers {
        let report: ServerReport = client.ask(&ControlRequest::Settled { server: server.clone() }).await?;
        all_ready &= report.state == "ready";
        let reason = report.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        output::line(&output::printable(&format!("{server}  {}{reason}", report.state)));
    }
    Ok(if all_ready { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Switch an MCP server on.
#[derive(Args)]
pub(crate) struct EnableArgs {
    #[command(flatten)]
    one: OneArgs,
}

/// Switch an MCP server off: it ends, and its tools are not offered any more.
#[derive(Args)]
pub(crate) struct DisableArgs {
    #[command(flatten)]
    one: OneArgs,
}

/// End an MCP server and forget it.
#[derive(Args)]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    one: OneArgs,
}

#[derive(Args)]
struct OneArgs {
    /// The server.
    #[arg(value_name = "NAME")]
    server: String,

    /// Write it into the Computer's configuration file, too; comments in it stay.
    #[arg(long)]
    save: bool,

    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn enable(EnableArgs { one }: &EnableArgs) -> Result<ExitCode> {
    one.change("is switched on", ControlRequest::Enable { server: one.server.clone(), save: one.save }).await
}

pub(crate) async fn disable(DisableArgs { one }: &DisableArgs) -> Result<ExitCode> {
    one.change("is switched off", ControlRequest::Disable { server: one.server.clone(), save: one.save }).await
}

pub(crate) async fn remove(RemoveArgs { one }: &RemoveArgs) -> Result<ExitCode> {
    one.change("is removed", ControlRequest::Remove { server: one.server.clone(), save: one.save }).await
}

impl OneArgs {
    async fn change(&self, done: &str, request: ControlRequest) -> Result<ExitCode> {
        let changed: Changed = self.which.ask(&request).await?;
        Ok(told(&format!("{} {done}", self.server), &changed))
    }
}

/// Says what was done and how long it lasts. What was to be saved and was not is a failure.
fn told(done: &str, changed: &Changed) -> ExitCode {
    let lasting = match (&changed.file, changed.saved) {
        (Some(file), true) => format!("and {file} says so"),
        (Some(file), false) => format!("until the Computer ends (--save writes {file})"),
        (None, _) => "until the Computer ends".to_owned(),
    };
    match &changed.unsaved {
        None => {
            output::note(&format!("{done}, {lasting}"));
            ExitCode::SUCCESS
        }
        Some(why) => {
            output::note(&format!("{done} until the Computer ends. Not saved: {why}"));
            ExitCode::FAILURE
        }
    }
}

/// Take an MCP server on and start it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2c computer add time -- uvx mcp-server-time
  a2c computer add files --cwd ~/work --save -- npx -y @modelcontextprotocol/server-filesystem .
  a2c computer add search --url https://example.com/mcp --header 'Authorization=Bearer ${input:search-key}'
  a2c computer add --json servers.json

A value that is a secret does not belong on the command line, where others can see it: write ${env:VAR} or ${input:ID}.")]
pub(crate) struct AddArgs {
    /// The server's name.
    #[arg(value_name = "NAME", required_unless_present = "json")]
    server: Option<String>,

    /// An environment variable for the command. Can be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, requires = "command")]
    env: Vec<(String, String)>,

    /// Where the command runs.
    #[arg(long, value_name = "DIR", requires = "command")]
    cwd: Option<String>,

    /// The address of a server over HTTP.
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,

    /// An HTTP header of every request to it. Can be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, requires = "url")]
    header: Vec<(String, String)>,

    /// It speaks the older HTTP with server-sent events.
    #[arg(long, requires = "url")]
    sse: bool,

    /// Take the servers in this configuration file instead; - is standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["server", "url", "command"])]
    json: Option<PathBuf>,

    /// Write it into the Computer's configuration file, too; comments in it stay.
    #[arg(long)]
    save: bool,

    #[command(flatten)]
    which: WhichArgs,

    /// The command of a server that is started here, and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write it as KEY=VALUE".to_owned()),
    }
}

pub(crate) async fn add(args: &AddArgs) -> Result<ExitCode> {
    let servers = match &args.json {
        Some(file) => servers_of(file)?,
        None => vec![args.server()?],
    };
    let mut outcome = ExitCode::SUCCESS;
    for server in servers {
        let request = ControlRequest::Add { server: Box::new(server.clone()), save: args.save };
        let changed: Changed = args.which.ask(&request).await?;
        let code = told(&format!("{} is added", server.name), &changed);
        if changed.unsaved.is_some() {
            outcome = code;
            // For the owner to put into the file.
            let one = ComputerConfig { servers: [(server.name.clone(), server)].into(), ..Default::default() };
            output::line(&output::harmless_json(one.to_json().trim_end()));
        }
    }
    Ok(outcome)
}

impl AddArgs {
    fn server(&self) -> Result<McpServerConfig> {
        let name = self.server.as_deref().unwrap_or_default();
        let texts = |pairs: &[(String, String)]| pairs.iter().cloned().collect::<BTreeMap<_, _>>();
        let mut server = Map::new();
        let mut set = |key: &str, value: Value| server.insert(key.to_owned(), value);
        match (&self.url, self.command.as_slice()) {
            (Some(url), _) => {
                set("url", json!(url));
                set("type", json!(if self.sse { "sse" } else { "streamable" }));
                if !self.header.is_empty() {
                    set("headers", json!(texts(&self.header)));
                }
            }
            (None, [command, arguments @ ..]) => {
                set("command", json!(command));
                set("args", json!(arguments));
                if !self.env.is_empty() {
                    set("env", json!(texts(&self.env)));
                }
                if let Some(cwd) = &self.cwd {
                    set("cwd", json!(cwd));
                }
            }
            (None, []) => bail!("what is it? Give --url URL, or its command after --"),
        }
        // Held to the rules of a file, in the same words.
        let config = ComputerConfig::parse(&json!({"mcpServers": {name: server}}).to_string())?;
        config.servers.into_values().next().context("a server is there after it was put in")
    }
}

fn servers_of(file: &std::path::Path) -> Result<Vec<McpServerConfig>> {
    let config = match file.as_os_str() == "-" {
        true => ComputerConfig::parse(&std::io::read_to_string(std::io::stdin())?).context("standard input")?,
        false => ComputerConfig::load(file)?,
    };
    if !config.inputs.is_empty() {
        bail!(
            "{} declares inputs, which only a configuration file can: put it together with the Computer's with \
             `a2c computer import FILE --into CONFIG`",
            file.display()
        );
    }
    Ok(config.servers.into_values().collect())
}

/// Take a running Computer's configuration file as it is now.
///
/// What was changed at run time and not saved is undone. A Computer does this by itself when its file changes, except
/// that it keeps what was changed at run time.
#[derive(Args)]
pub(crate) struct ReloadArgs {
    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) async fn reload(args: &ReloadArgs) -> Result<ExitCode> {
    let news: Vec<ServerNews> = args.which.ask(&ControlRequest::Reload).await?;
    if news.is_empty() {
        output::note("nothing has changed");
    }
    output::table(&news.into_iter().map(|ServerNews { server, news }| vec![server, news]).collect::<Vec<_>>());
    Ok(ExitCode::SUCCESS)
}
