//! The A2C-SMCP Server role: offices, routing and broadcast.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use a2c_hub::auth::{ApiKey, Key};
//! use a2c_hub::{Hub, HubConfig};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut config = HubConfig::on("127.0.0.1:7420".parse()?);
//! config.auth = Arc::new(ApiKey::new(Key::new(&std::env::var("A2C_TOKEN")?)?));
//! let hub = Hub::start(config).await?;
//! println!("ready {}", hub.url());
//! # std::future::pending::<()>().await;
//! hub.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! How a packet flows: `http` judges where a handshake comes from and which version it speaks, `wire` speaks Socket.IO on
//! each connection, the `switchboard` decides with the pure indexes `office` (who sits where) and `route::calls` (who
//! waits for whom), and the outbox of each member takes what has to be sent.
//!
//! For contributors: the hub holds no tool, no credential of a Computer, and no payload longer than it takes to pass it
//! on. It must not depend on the Agent, the Computer or anything of MCP.

pub mod audit;
pub mod auth;
mod http;
mod limits;
pub mod metrics;
mod office;
mod route;
mod switchboard;
pub mod trace;
#[cfg_attr(not(test), expect(dead_code, reason = "the listener does not speak TLS yet"))]
mod tls;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2c_engineio::Engine;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use audit::{AuditConfig, AuditLog};
use auth::{Anybody, Authenticate};
use limits::guests::Guests;
pub use limits::{Limits, Rate};
use switchboard::Switchboard;
use tokio_util::task::TaskTracker;
pub use tls::{TlsConfig, TlsError};
use wire::Wire;

/// How often calls are checked for having run out of time.
const TICK: Duration = Duration::from_millis(250);

/// How long a shutdown waits for connections to close.
const FAREWELL: Duration = Duration::from_secs(3);

/// How a hub behaves.
#[derive(Debug, Clone)]
pub struct HubConfig {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Who may connect.
    pub auth: Arc<dyn Authenticate>,
    /// Names under which a hub on a loopback address may be asked for, and whose web pages may use it.
    pub allowed_hosts: Vec<String>,
    /// How often a client is asked whether it is there.
    pub ping_interval: Duration,
    /// How long it may take to say so.
    pub ping_timeout: Duration,
    /// How long a `client:*` request without a limit of its own may take.
    pub call_timeout: Duration,
    /// What is taken from a stranger at most.
    pub limits: Limits,
}

impl HubConfig {
    /// The defaults, on an address.
    pub fn on(listen: SocketAddr) -> Self {
        Self {
            listen,
            auth: Arc::new(Anybody),
            allowed_hosts: Vec::new(),
            ping_interval: Duration::from_secs(5),
            ping_timeout: Duration::from_secs(5),
            call_timeout: Duration::from_secs(30),
            limits: if listen.ip().is_loopback() { Limits::local() } else { Limits::public() },
        }
    }
}

/// A hub that runs until it is shut down or dropped.
pub struct Hub {
    address: SocketAddr,
    engine: Arc<Engine<Wire>>,
    switchboard: Arc<Switchboard>,
    stop: CancellationToken,
    /// Connections that speak HTTP.
    tasks: TaskTracker,
    server: JoinHandle<()>,
    ticker: JoinHandle<()>,
}

/// The hub could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Which address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// Beyond loopback, somebody has to be kept out.
    #[error("refusing to listen on {address} without authentication: set a token, or listen on a loopback address")]
    Open {
        /// Which address.
        address: SocketAddr,
    },
}

impl Hub {
    /// Starts to listen; once this returns, clients can connect.
    pub async fn start(config: HubConfig) -> Result<Self, StartError> {
        if config.auth.is_open() && !config.listen.ip().is_loopback() {
            return Err(StartError::Open { address: config.listen });
        }
        let failed = |source| StartError::Listen { address: config.listen, source };
        let listener = TcpListener::bind(config.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;

        let switchboard = Arc::new(Switchboard::new(config.limits, config.call_timeout));
        let guests = Guests::new(&config.limits);
        let stop = CancellationToken::new();
        let wire = Wire {
            switchboard: switchboard.clone(),
            limits: config.limits,
            auth: config.auth.clone(),
            guests: guests.clone(),
            stop: stop.clone(),
        };
        let engine = Engine::new(wire, engine_config(&config));
        let door = http::Door {
            on_loopback: address.ip().is_loopback(),
            allowed_hosts: config.allowed_hosts.clone(),
            guests: guests.clone(),
        };
        let router = http::router(engine.clone(), door);
        let tasks = TaskTracker::new();
        let listener = http::listener::Listener {
            tcp: listener,
            guests: guests.clone(),
            patience: config.ping_interval + config.ping_timeout,
            stop: stop.clone(),
            tasks: tasks.clone(),
        };
        let server = tokio::spawn(listener.serve(router));
        let ticker = tokio::spawn(tick(switchboard.clone(), guests));
        Ok(Self { address, engine, switchboard, stop, tasks, server, ticker })
    }

    /// Where the hub listens; the real port where 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL clients connect to.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many clients are connected.
    pub fn connections(&self) -> usize {
        self.switchboard.counts().0
    }

    /// How many calls wait for their answer.
    pub fn calls_in_flight(&self) -> usize {
        self.switchboard.counts().1
    }

    /// Takes no new connections, closes the open ones and ends.
    pub async fn shutdown(self) {
        self.stop.cancel();
        self.tasks.close();
        let farewell = async {
            self.engine.close().await;
            self.tasks.wait().await;
        };
        if tokio::time::timeout(FAREWELL, farewell).await.is_err() {
            tracing::warn!("some connections did not close in time");
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.stop.cancel();
        self.engine.dismiss();
        self.server.abort();
        self.ticker.abort();
    }
}

fn engine_config(config: &HubConfig) -> a2c_engineio::Config {
    a2c_engineio::Config {
        ping_interval: config.ping_interval,
        ping_timeout: config.ping_timeout,
        max_payload: config.limits.max_payload,
        stranger_message: wire::MAX_CONNECT,
        stranger_stay: config.ping_interval + config.ping_timeout,
        max_backlog: config.limits.max_backlog,
    }
}

async fn tick(switchboard: Arc<Switchboard>, guests: Arc<Guests>) {
    let mut interval = tokio::time::interval(TICK);
    loop {
        interval.tick().await;
        let now = Instant::now();
        switchboard.expire(now);
        guests.tidy(now);
    }
}
