//! The Computer: its servers, its link to the hub, and the life of both.

use std::sync::Arc;
use std::time::Duration;

use a2c_link::{ConnectError, Ended as LinkEnded, Inbox, Incoming, JoinError, Link, LinkOptions, Seat};
use a2c_protocol::notification::ComputerUpdate;
use a2c_protocol::{Role, event};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::config::ComputerConfig;
use crate::office::Desk;
use crate::servers::Servers;
use crate::servers::connection::Change;
use crate::servers::state::ServerState;
use crate::tools::gate::Confirmation;

/// How long the hub may take to confirm that we leave.
const FAREWELL: Duration = Duration::from_secs(2);

/// What a Computer needs to start.
#[derive(Debug, Clone)]
pub struct ComputerOptions {
    /// Where the hub is.
    pub link: LinkOptions,
    /// Where to sit.
    pub seat: Seat,
    /// What to run.
    pub config: ComputerConfig,
    /// What happens with tools that are not marked `auto_apply`.
    pub confirmation: Confirmation,
}

/// Why a Computer did not start.
#[derive(Debug, thiserror::Error)]
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
    desk: Arc<Desk>,
    link: Link,
    seat: Seat,
    stop: CancellationToken,
    task: JoinHandle<Ended>,
    /// What the task came to, once somebody has asked.
    ended: Option<Ended>,
}

impl Drop for Computer {
    fn drop(&mut self) {
        // The task holds the desk, the desk the servers: all of them end with it.
        self.stop.cancel();
    }
}

impl Computer {
    /// Connects, starts every server, waits until each is ready or has failed, and joins the office.
    ///
    /// A server that fails does not keep the Computer from starting: see [`Computer::servers`].
    pub async fn start(options: ComputerOptions) -> Result<Self, StartError> {
        let started = Self::start_unless(options, std::future::pending()).await?;
        Ok(started.expect("a stop that never comes has not come first"))
    }

    /// [`Computer::start`], given up when `stop` comes first: then all processes are gone when this returns `None`.
    pub async fn start_unless(
        options: ComputerOptions,
        stop: impl Future<Output = ()>,
    ) -> Result<Option<Self>, StartError> {
        let ComputerOptions { link, seat, config, confirmation } = options;
        let mut stop = std::pin::pin!(stop);
        // First the hub: where it refuses us, no process is started in vain.
        let (link, inbox) = tokio::select! {
            connected = Link::connect(&link, Role::Computer) => connected?,
            () = &mut stop => return Ok(None),
        };
        let (changes, mut changed) = mpsc::unbounded_channel();
        let servers = Servers::start(&config, &changes);
        let joined = tokio::select! {
            joined = async {
                servers.settled().await;
                // Whoever sees us enter asks for our tools: what changed before is no news.
                while changed.try_recv().is_ok() {}
                link.join(&seat).await
            } => Some(joined),
            () = &mut stop => None,
        };
        match joined {
            Some(Ok(())) => {}
            Some(Err(source)) => {
                servers.stop().await;
                return Err(StartError::Join { office: seat.office, name: seat.name, source });
            }
            None => {
                servers.stop().await;
                link.close().await;
                return Ok(None);
            }
        }
        let desk = Arc::new(Desk::new(config, servers, confirmation));
        let stop = CancellationToken::new();
        let office = Office { desk: desk.clone(), link: link.clone(), seat: seat.clone() };
        let task = tokio::spawn(office.run(inbox, changed, stop.clone()));
        Ok(Some(Self { desk, link, seat, stop, task, ended: None }))
    }

    /// Where the Computer sits.
    pub fn seat(&self) -> &Seat {
        &self.seat
    }

    /// The state of every server.
    pub fn servers(&self) -> Vec<(String, ServerState)> {
        self.desk.servers.iter().map(|(name, server)| (name.to_owned(), server.state())).collect()
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
        self.desk.servers.stop().await;
    }
}

/// Reads what the hub sends and announces what changes here.
struct Office {
    desk: Arc<Desk>,
    link: Link,
    seat: Seat,
}

impl Office {
    async fn run(
        self,
        mut inbox: Inbox,
        mut changed: mpsc::UnboundedReceiver<Change>,
        stop: CancellationToken,
    ) -> Ended {
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ended::Stopped,
                incoming = inbox.recv() => match incoming {
                    Some(Incoming::Event(event)) => self.desk.receive(event),
                    Some(Incoming::Connected { reconnected: true, .. }) => self.rejoin(),
                    Some(Incoming::Connected { .. }) => {}
                    Some(Incoming::Disconnected(reason)) => tracing::warn!(%reason, "lost the hub"),
                    Some(Incoming::Closed(closed)) => return self.link.ended(closed).into(),
                    None => return LinkEnded::Requested.into(),
                },
                Some(change) = changed.recv() => self.announce(change).await,
            }
        }
    }

    fn rejoin(&self) {
        let (link, seat) = (self.link.clone(), self.seat.clone());
        tokio::spawn(async move {
            let (office, name) = (&seat.office, &seat.name);
            loop {
                match link.rejoin(&seat).await {
                    Ok(()) => return tracing::info!(office, name, "joined again"),
                    // Somebody else may sit there now. A Computer without a seat is of no use: it keeps asking.
                    Err(JoinError::Refused(reason)) => tracing::error!(office, name, reason, "the seat is taken"),
                    // The connection is lost again; the next one brings the next attempt.
                    Err(JoinError::Request(error)) => return tracing::debug!(%error, "could not join again"),
                }
            }
        });
    }

    async fn announce(&self, change: Change) {
        let event = match change {
            Change::Tools => event::UPDATE_TOOL_LIST,
        };
        let update = ComputerUpdate { computer: self.seat.name.clone() };
        if let Err(error) = self.link.emit(event, &update).await {
            tracing::debug!(%error, event, "not announced");
        }
    }
}
