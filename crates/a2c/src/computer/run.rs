//! Running a Computer until it is stopped.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use a2c_computer::config::ComputerConfig;
#[cfg(unix)]
use a2c_computer::control::{About, BindError, ControlSocket};
use a2c_computer::diagnosis::runs_some_unasked;
use a2c_computer::inputs::{InputSources, OsKeyring, Prompter};
use a2c_computer::oauth::FileStore;
use a2c_computer::{
    Computer, ComputerOptions, ConfigFile, Confirmation, Ended, LinkEnded, Seat, ServerState, StartError, ToolChanges,
};
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};

use super::resolver;
use super::state::{self, PathOrNone};
use crate::connection::HubArgs;
#[cfg(unix)]
use crate::terminal::Terminal;
use crate::{output, stop};

#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    hub: HubArgs,

    /// The Computer's name in the office.
    #[arg(long, required = true, value_name = "NAME")]
    name: Option<String>,

    /// The MCP servers to run: a file with `servers` (and `inputs`), or with the `mcpServers` of other MCP hosts. JSON,
    /// with comments allowed, or TOML if its name ends so. It is watched: what changes in it is taken over.
    #[arg(long, required = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Do not watch the configuration file.
    #[arg(long)]
    no_watch: bool,

    /// Run tools without confirmation, as --confirm allow.
    #[arg(long, conflicts_with = "confirm")]
    yes: bool,

    /// What happens with tools that the configuration does not mark `auto_apply`. Without this they are asked for where
    /// there is a terminal, and refused elsewhere.
    #[arg(long, value_enum, env = "A2C_CONFIRM", value_name = "HOW")]
    confirm: Option<ConfirmArg>,

    /// What happens with tools whose definition is not the one that was first seen.
    #[arg(long, value_enum, default_value = "warn", env = "A2C_TOOL_CHANGES", value_name = "POLICY")]
    tool_changes: ChangesArg,

    /// Where the definitions of tools and the tokens of sign-ins are remembered, or `none`
    /// Default: a2c/computers/NAME@OFFICE in $XDG_STATE_HOME or ~/.local/state.
    #[arg(long, env = "A2C_STATE", value_name = "DIR", value_parser = PathOrNone::parse)]
    state: Option<PathOrNone>,

    /// The socket through which the other commands operate this Computer, or `none`
    /// Default: NAME@OFFICE.sock in $XDG_RUNTIME_DIR/a2c.
    #[cfg(unix)]
    #[arg(long, env = "A2C_CONTROL", value_name = "PATH", value_parser = PathOrNone::parse)]
    control: Option<PathOrNone>,

    /// Where documents are put for Agents that ask for the address of one: `dir:PATH` (files, for Agents on this
    /// machine), `http` or `http:ADDR` (served by this Computer, on this machine or at that IP address and port),
    /// `store:URL` (an object store: `s3://BUCKET/PREFIX` with the usual AWS_… variables, or `file:///DIRECTORY`), or
    /// `none`: then they get none.
    #[arg(long, env = "A2C_DPE_RESOLVER", hide_env_values = true, value_name = "HOW", default_value = "none")]
    dpe_resolver: String,

    /// How long an MCP server may take to start.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    start_timeout: u64,

    /// How long a tool may run without a word of progress, within the limit that the Agent sets.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    idle_timeout: Option<u64>,

    /// How long a window of the Desktop may take to be read; one that takes longer is left out.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=25))]
    window_timeout: u64,

    /// How large a result may be to be sent at once; the Agent reads a larger one page by page.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(4096..=1 << 30))]
    max_result: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ConfirmArg {
    /// Ask on the terminal, call by call.
    Ask,
    /// Run them.
    Allow,
    /// Refuse them.
    Deny,
}

#[derive(Clone, Copy, ValueEnum)]
enum ChangesArg {
    /// It is announced, and can be used.
    Warn,
    /// It is announced, and held back until it is approved.
    Quarantine,
}

/// Where the values of inputs come from.
pub(super) fn sources(prompter: Option<Arc<dyn Prompter>>) -> InputSources {
    InputSources { keyring: Some(Arc::new(OsKeyring::new())), prompter, ..InputSources::default() }
}

pub(super) async fn stay(args: RunArgs) -> Result<ExitCode> {
    // The parser asks for both where there is no subcommand.
    let (Some(name), Some(config)) = (&args.name, &args.config) else { bail!("--name and --config are missing") };
    let seat = Seat { office: args.hub.office()?.to_owned(), name: name.clone() };
    let says = ComputerConfig::load(config)?;
    let file = Arc::new(ConfigFile::new(config, says.clone()));
    let mut options = options(&args, &seat, says)?;
    options.dpe = resolver::open(&args.dpe_resolver).await?;
    if matches!(options.confirmation, Confirmation::Refuse) && !runs_some_unasked(&options.config) {
        tracing::warn!(
            "every call will be refused, because the owner is not asked and no tool has auto_apply: use --yes, --confirm ask, or \
             auto_apply in the configuration"
        );
    }
    let tool_changes = options.tool_changes;
    let mut stop = std::pin::pin!(stop::requested()?);
    // Before the hub is bothered: two Computers of one name are a mistake.
    #[cfg(unix)]
    let control = control(args.control.as_ref(), &seat).await?;
    let started = Computer::start_unless(options, &mut stop).await;
    let Some(mut computer) = started.map_err(|error| explain_start(&args.hub, error))? else {
        return Ok(ExitCode::SUCCESS);
    };
    #[cfg(unix)]
    let control = control.map(|socket| {
        let about = About { seat: computer.seat().clone(), file: Some(file.clone()), tool_changes };
        socket.serve(computer.handle(), about)
    });
    let servers = computer.servers();
    if !servers.iter().any(|(_, state)| *state == ServerState::Ready) {
        tracing::warn!("no MCP server is running: the agent will find no tools");
    }
    let seat = computer.seat();
    output::line(&format!("ready {}@{}", seat.name, seat.office));
    let watching = file.watch(computer.handle());
    let ended = tokio::select! {
        never = watching, if !args.no_watch => match never {},
        ended = computer.ended() => Some(ended),
        () = stop => None,
    };
    #[cfg(unix)]
    if let Some(control) = control {
        control.close().await;
    }
    if ended.is_none() {
        tracing::info!("stopping");
    }
    computer.stop().await;
    match ended {
        Some(ended) => Err(explain_end(&args.hub, &ended)),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn options(args: &RunArgs, seat: &Seat, says: ComputerConfig) -> Result<ComputerOptions> {
    let mut link = args.hub.options()?;
    // A Computer is started once, by a system that may start the hub later.
    link.retry_first = true;
    let mut options = ComputerOptions::new(link, seat.clone(), says);
    #[cfg(unix)]
    let terminal = Terminal::open().map(Arc::new);
    #[cfg(unix)]
    let (prompter, confirmer) = (terminal.clone().map(|t| t as Arc<dyn Prompter>), terminal.map(|t| t as _));
    #[cfg(not(unix))]
    let (prompter, confirmer) = (None, None);
    options.inputs = sources(prompter);
    let confirm = if args.yes { Some(ConfirmArg::Allow) } else { args.confirm };
    options.confirmation = match (confirm, confirmer) {
        (Some(ConfirmArg::Allow), _) => Confirmation::Allow,
        (None | Some(ConfirmArg::Ask), Some(confirmer)) => Confirmation::Ask(confirmer),
        (Some(ConfirmArg::Ask), None) => bail!("--confirm ask needs a terminal, and there is none: use allow or deny"),
        (None | Some(ConfirmArg::Deny), _) => Confirmation::Refuse,
    };
    options.tool_changes = match args.tool_changes {
        ChangesArg::Warn => ToolChanges::Warn,
        ChangesArg::Quarantine => ToolChanges::Quarantine,
    };
    if let Some(folder) = state::folder(args.state.as_ref(), seat)? {
        options.pins = Some(folder.join("pins.json"));
        options.tokens = Some(Arc::new(FileStore::new(folder.join("tokens"))));
    }
    options.limits.start = Duration::from_secs(args.start_timeout);
    options.limits.idle = args.idle_timeout.map(Duration::from_secs);
    options.limits.window = Duration::from_secs(args.window_timeout);
    if let Some(limit) = args.max_result {
        options.max_result = usize::try_from(limit)?;
    }
    options.guardian = Some(super::guardian()?);
    Ok(options)
}

/// Takes the place of the control socket. The default one does not have to work; but a Computer that has it
/// already is always a mistake.
#[cfg(unix)]
async fn control(place: Option<&PathOrNone>, seat: &Seat) -> Result<Option<ControlSocket>> {
    use a2c_computer::control::{folder, socket_in};
    let (path, is_asked_for) = match place {
        Some(PathOrNone::None) => return Ok(None),
        Some(PathOrNone::At(path)) => (path.clone(), true),
        None => (socket_in(&folder(), seat), false),
    };
    match ControlSocket::bind(&path).await {
        Ok(socket) => Ok(Some(socket)),
        Err(BindError::Taken { path }) => Err(anyhow!(
            "another Computer named '{}' runs in office '{}' on this machine (it answers at {}): stop it, give this one \
             another name, or give it a socket of its own with --control PATH or none with --control none",
            seat.name,
            seat.office,
            path.display()
        )),
        Err(error) if is_asked_for => Err(error.into()),
        Err(error) => {
            let error = anyhow::Error::from(error);
            tracing::warn!("this Computer cannot be operated while it runs: {error:#}");
            Ok(None)
        }
    }
}

fn explain_start(hub: &HubArgs, error: StartError) -> anyhow::Error {
    match error {
        StartError::Connect(error) => hub.explain(&error),
        StartError::Link(ended) => explain_end(hub, &ended.into()),
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
