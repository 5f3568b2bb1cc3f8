//! The Computer: its machine, its link to the hub, and the life of both.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use a2c_dpe::{DpeResolver, ResolutionLimits, Resolutions};
use a2c_link::{ConnectError, Inbox, Incoming, JoinError, Link, LinkEnded, LinkOptions, RequestError, Seat};
use a2c_mcp::oauth::TokenStore;
use a2c_process::{GuardianError, GuardianProgram, Processes};
use a2c_protocol::Role;
use a2c_supervise::ChangeSignal;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::announcer::announce;
use crate::catalogue::Catalogue;
use crate::config::ComputerConfig;
use crate::core::{Core, CoreOptions};
use crate::handle::ComputerHandle;
use crate::inputs::{InputSources, Inputs};
use crate::responder::Responder;
use crate::servers::ServerState;
use crate::servers::{ServerContext, ServerLimits};
use crate::tools::Tools;
use crate::tools::confirm::Confirmation;
use crate::tools::pins::{OpenError, Pins, ToolChanges};

/// How long the hub may take to confirm that we leave.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long to wait before the seat is asked for again, where the hub did not answer.
const REJOIN_PAUSE: Duration = Duration::from_secs(1);

/// What a Computer needs to start.
#[derive(Clone)]
#[non_exhaustive]
pub struct ComputerOptions {
    /// Where the hub is.
    pub link: LinkOptions,
    /// Where to sit.
    pub seat: Seat,
    /// What to run.
    pub config: ComputerConfig,
    /// What happens with tools that are not marked `auto_apply`.
    pub confirmation: Confirmation,
    /// What happens with tools that are not what they were.
    pub tool_changes: ToolChanges,
    /// The file that remembers what tools were; without one, it is forgotten with this Computer.
    pub pins: Option<PathBuf>,
    /// Where the values of inputs come from.
    pub inputs: InputSources,
    /// Where the tokens of servers that require signing in are kept.
    pub tokens: Option<Arc<dyn TokenStore>>,
    /// Where documents are put for Agents that ask for their address; without one, `get_dpe` is refused.
    pub dpe: Option<Arc<dyn DpeResolver>>,
    /// How long to wait for MCP servers.
    pub limits: ServerLimits,
    /// How long servers may take to start before the office is joined without them.
    pub join_patience: Duration,
    /// How large a result may be to be sent in one piece, in bytes; the Agent reads a larger one page by page.
    pub max_result: usize,
    /// The program that ends every MCP server when this process is killed; see [`GuardianProgram`].
    pub guardian: Option<GuardianProgram>,
}

impl ComputerOptions {
    /// The defaults: nothing runs that is not marked `auto_apply`, and a changed tool is warned of.
    pub fn new(link: LinkOptions, seat: Seat, config: ComputerConfig) -> Self {
        Self {
            link,
            seat,
            config,
            confirmation: Confirmation::default(),
            tool_changes: ToolChanges::default(),
            pins: None,
            inputs: InputSources::default(),
            tokens: None,
            dpe: None,
            limits: ServerLimits::default(),
            join_patience: Duration::from_secs(10),
            // 16 MiB of text, and what stands around it.
            max_result: (16 << 20) + (32 << 10),
            guardian: None,
        }
    }

    /// The same, with another answer to tools that are not marked `auto_apply`.
    pub fn confirmation(mut self, confirmation: Confirmation) -> Self {
        self.confirmation = confirmation;
        self
    }
}

/// Why a Computer did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The hub could not be reached, or refused.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The hub did not give the seat.
    #[error("cannot join office '{office}' as '{name}': {source}")]
    Join {
        /// Which office.
        office: String,
        /// Under which name.
        name: String,
        /// Why not.
        source: JoinError,
    },
    /// The connection ended for good before the seat was taken.
    #[error("the connection to the hub is over: {0}")]
    Link(#[from] LinkEnded),
    /// What it remembers of tools cannot be used.
    #[error(transparent)]
    Pins(#[from] OpenError),
    /// There is no guardian, though there should be one.
    #[error(transparent)]
    Guardian(#[from] GuardianError),
}

/// Why a Computer is over.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Ended {
    /// It was stopped.
    #[error("stopped")]
    Stopped,
    /// The connection to the hub is over for good.
    #[error("the connection to the hub is over: {0}")]
    Link(#[from] LinkEnded),
    /// Its own task failed.
    #[error("an error of this program: {0}")]
    Failed(String),
}

/// A Computer that answers until it is stopped.
pub struct Computer {
    core: Arc<Core>,
    link: Link,
    seat: Seat,
    stop: CancellationToken,
    task: JoinHandle<Ended>,
    /// How the task ended, once a caller has asked.
    ended: Option<Ended>,
}

impl Drop for Computer {
    fn drop(&mut self) {
        // The task holds the machine, the machine the servers: all of them end with it.
        self.stop.cancel();
    }
}

impl Computer {
    /// Connects (where [`LinkOptions::retry_first`] is set, as soon as the hub is there), starts every server, waits until each is ready or has failed (but not for long), and joins the office.
    ///
    /// A server that fails does not keep the Computer from starting, and is tried again: see [`Computer::servers`].
    pub async fn start(options: ComputerOptions) -> Result<Self, StartError> {
        let started = Self::start_unless(options, std::future::pending()).await?;
        Ok(started.expect("a stop that never comes has not come first"))
    }

    /// [`Computer::start`], given up when `stop` comes first: then all processes are gone when this returns `None`.
    pub async fn start_unless(
        options: ComputerOptions,
        stop: impl Future<Output = ()>,
    ) -> Result<Option<Self>, StartError> {
        let (link_options, seat, patience) = (options.link.clone(), options.seat.clone(), options.join_patience);
        let mut stop = std::pin::pin!(stop);
        // First the hub: where it refuses us, no process is started in vain.
        let (link, mut inbox) = tokio::select! {
            connected = Link::connect(&link_options, Role::Computer) => connected?,
            () = &mut stop => return Ok(None),
        };
        let core = Arc::new(Core::start(parts(options).await?));
        let joined = tokio::select! {
            joined = async {
                if tokio::time::timeout(patience, core.servers.settled()).await.is_err() {
                    let servers = core.servers.names_starting().join(", ");
                    tracing::warn!(servers, "joining the office without MCP servers that are still starting");
                }
                // An Agent that sees the Computer enter asks for its tools.
                core.refresh_tools().await;
                core.tools_changed.take();
                core.context.catalogue.take_changes();
                join_first(&link, &mut inbox, &seat, link_options.retry_first).await
            } => Some(joined),
            () = &mut stop => None,
        };
        match joined {
            Some(Ok(())) => core.put_hub(true),
            Some(Err(error)) => {
                core.end().await;
                return Err(error);
            }
            None => {
                core.end().await;
                link.close().await;
                return Ok(None);
            }
        }
        let stop = CancellationToken::new();
        let office = Office {
            responder: Arc::new(Responder::new(core.clone())),
            link: link.clone(),
            seat: seat.clone(),
            joined: watch::Sender::new(0),
        };
        let task = tokio::spawn(office.run(inbox, stop.clone()));
        Ok(Some(Self { core, link, seat, stop, task, ended: None }))
    }

    /// Where the Computer sits.
    pub fn seat(&self) -> &Seat {
        &self.seat
    }

    /// Operates it while it runs.
    pub fn handle(&self) -> ComputerHandle {
        ComputerHandle { core: self.core.clone() }
    }

    /// The state of every server.
    pub fn servers(&self) -> Vec<(String, ServerState)> {
        self.core.servers.all().into_iter().map(|(name, server)| (name, server.state())).collect()
    }

    /// Waits until the connection to the hub is over for good.
    pub async fn ended(&mut self) -> Ended {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let ended = match (&mut self.task).await {
            Ok(ended) => ended,
            Err(error) => Ended::Failed(error.to_string()),
        };
        self.ended.insert(ended).clone()
    }

    /// Leaves the office, stops every server and waits until all processes are gone.
    pub async fn stop(mut self) {
        // A hub that does not answer must not keep our processes alive.
        match tokio::time::timeout(FAREWELL, self.link.leave(&self.seat.office)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "the seat was not given up in order"),
            Err(_) => tracing::debug!("the hub did not say farewell"),
        }
        self.stop.cancel();
        self.ended().await;
        self.link.close().await;
        self.core.end().await;
    }
}

/// Takes the seat for the first time. A hub that goes away meanwhile is waited for, where the options say so.
async fn join_first(link: &Link, inbox: &mut Inbox, seat: &Seat, retry: bool) -> Result<(), StartError> {
    loop {
        match link.join(seat).await {
            Ok(()) => return Ok(()),
            Err(JoinError::Request(error @ (RequestError::Lost | RequestError::NotConnected))) if retry => {
                tracing::warn!(%error, "lost the hub before the office was joined");
            }
            Err(source) => {
                let Seat { office, name } = seat.clone();
                return Err(StartError::Join { office, name, source });
            }
        }
        // Without a seat nothing else arrives.
        loop {
            match inbox.recv().await {
                Some(Incoming::Connected { reconnected: true, .. }) => break,
                Some(Incoming::Closed(closed)) => return Err(link.ended(closed).into()),
                None => return Err(LinkEnded::Requested.into()),
                Some(_) => {}
            }
        }
    }
}

async fn parts(options: ComputerOptions) -> Result<CoreOptions, StartError> {
    let pins = match options.pins {
        Some(path) => Pins::open(path)?,
        None => Pins::in_memory(),
    };
    let processes = Processes::guarded_by(options.guardian.as_ref()).await?;
    let context = ServerContext {
        inputs: Inputs::with_processes(options.config.inputs.clone(), options.inputs, processes.clone()),
        processes,
        tokens: options.tokens,
        limits: options.limits,
        changed: ChangeSignal::new(),
        catalogue: Catalogue::default(),
        documents: Resolutions::new(options.dpe, ResolutionLimits::default()),
    };
    Ok(CoreOptions {
        config: options.config,
        context: Arc::new(context),
        tools: Tools::new(pins, options.tool_changes),
        confirmation: options.confirmation,
        max_result: options.max_result,
    })
}

/// Reads what the hub sends; beside it, what changes here is announced.
struct Office {
    responder: Arc<Responder>,
    link: Link,
    seat: Seat,
    /// How often the seat was taken again.
    joined: watch::Sender<u64>,
}

impl Office {
    async fn run(self, inbox: Inbox, stop: CancellationToken) -> Ended {
        let core = self.responder.core.clone();
        let announcing = announce(core, self.link.clone(), self.seat.clone(), self.joined.subscribe());
        tokio::select! {
            () = stop.cancelled() => Ended::Stopped,
            ended = self.listen(inbox) => ended,
            never = announcing => match never {},
        }
    }

    async fn listen(&self, mut inbox: Inbox) -> Ended {
        loop {
            match inbox.recv().await {
                Some(Incoming::Event(event)) => self.responder.receive(event),
                Some(Incoming::Connected { reconnected: true, .. }) => self.rejoin(),
                Some(Incoming::Connected { .. }) => {}
                Some(Incoming::Disconnected(reason)) => {
                    self.responder.core.put_hub(false);
                    tracing::warn!(%reason, "lost the hub");
                }
                Some(Incoming::Closed(closed)) => return self.link.ended(closed).into(),
                None => return LinkEnded::Requested.into(),
            }
        }
    }

    fn rejoin(&self) {
        let (link, seat, joined) = (self.link.clone(), self.seat.clone(), self.joined.clone());
        let core = self.responder.core.clone();
        tokio::spawn(async move {
            let (office, name) = (&seat.office, &seat.name);
            loop {
                match link.rejoin(&seat).await {
                    Ok(()) => {
                        core.put_hub(true);
                        joined.send_modify(|times| *times += 1);
                        return tracing::info!(office, name, "joined again");
                    }
                    // Another Computer may have the seat now. A Computer without a seat is of no use: it keeps asking.
                    Err(JoinError::Refused(reason)) => {
                        tracing::error!(office, name, reason, "the hub refuses the seat")
                    }
                    // The connection is lost again; the next one brings the next attempt.
                    Err(JoinError::Request(error @ (RequestError::Lost | RequestError::NotConnected))) => {
                        return tracing::debug!(%error, "could not join again");
                    }
                    Err(error) => {
                        tracing::warn!(%error, "could not join again");
                        tokio::time::sleep(REJOIN_PAUSE).await;
                    }
                }
            }
        });
    }
}
