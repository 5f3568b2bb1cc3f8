//! The A2C-SMCP Server role: offices, routing and broadcast.
//!
//! The hub holds no tool, no credential of a Computer, and no payload longer than it takes to pass it on. It must not
//! depend on the Agent, the Computer or anything of MCP.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use a2c_hub::auth::{ApiKey, ApiKeyAuth};
//! use a2c_hub::{Hub, HubConfig};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut config = HubConfig::on("127.0.0.1:7420".parse()?);
//! config.auth = Arc::new(ApiKeyAuth::new(ApiKey::new(&std::env::var("A2C_TOKEN")?)?));
//! let hub = Hub::start(config).await?;
//! println!("ready {}", hub.url());
//! # std::future::pending::<()>().await;
//! hub.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! How a packet flows: `http` checks the origin and the version of a handshake, `wire` speaks Socket.IO on each
//! connection, the `switchboard` decides with the pure indexes `office` (seats) and `route::calls` (calls in flight), and
//! the mailbox of each member queues what the member has to receive.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod audit;
pub mod auth;
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod limits;
pub mod metrics;
mod office;
mod proxies;
mod proxy_header;
mod query;
mod route;
mod switchboard;
mod telemetry;
mod tls;
pub mod trace;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use a2c_engineio::{Engine, MemoryPool};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use audit::{AuditConfig, AuditLog};
use auth::{AccessRules, ApiKeyAuth, Authenticate, CurrentAccess, OpenAccess};
use limits::address_limits::AddressLimits;
pub use limits::{HubLimits, Rate};
pub use proxies::{ForwardedHeader, InvalidNetwork, Network, TrustedProxies};
use switchboard::Switchboard;
use telemetry::Telemetry;
use tls::ServerTls;
pub use tls::{TlsCheck, TlsConfig, TlsConfigError};
use tokio_util::task::TaskTracker;
pub use trace::OtlpConfig;
use trace::Tracer;
use wire::{HubSwitchboard, SocketIoHandler};

/// How often the hub looks for calls and grants that have expired.
const TICK: Duration = Duration::from_millis(250);

/// How long a shutdown waits for connections to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// The configuration of a hub.
#[derive(Debug, Clone)]
pub struct HubConfig {
    /// The address to listen on; port 0 takes a free port.
    pub listen: SocketAddr,
    /// Decides which clients may connect.
    pub auth: Arc<dyn Authenticate>,
    /// The keys for `/admin` and `/metrics`. Without a key, every program on the same machine may use them, as long as
    /// the hub listens on a loopback address and asks clients for no credential.
    pub admin: Option<ApiKeyAuth>,
    /// The TLS files; without them the hub speaks plain HTTP.
    pub tls: Option<TlsConfig>,
    /// Host names that a hub on a loopback address accepts, and whose web pages may use it.
    pub allowed_hosts: Vec<String>,
    /// The proxies in front of the hub that may say whose address a client has; without them, none is believed.
    pub proxies: Option<TrustedProxies>,
    /// The interval between two pings to a client.
    pub ping_interval: Duration,
    /// How long a client may take to answer a ping.
    pub ping_timeout: Duration,
    /// How long a `client:*` request without a limit of its own may take.
    pub call_timeout: Duration,
    /// How long a shutdown waits for calls in flight.
    pub drain: Duration,
    /// How long a client may take for a small message, and how long it may read far too slowly. A large message has more
    /// time, according to its size.
    pub fair_time: Duration,
    /// Bounds on what one client may send and hold.
    pub limits: HubLimits,
    /// The audit log; without it none is written.
    pub audit: Option<AuditConfig>,
    /// The collector that receives spans of routed requests.
    pub traces: Option<OtlpConfig>,
}

impl HubConfig {
    /// The default configuration on an address.
    pub fn on(listen: SocketAddr) -> Self {
        Self {
            listen,
            auth: Arc::new(OpenAccess),
            admin: None,
            tls: None,
            allowed_hosts: Vec::new(),
            proxies: None,
            ping_interval: Duration::from_secs(5),
            ping_timeout: Duration::from_secs(5),
            call_timeout: Duration::from_secs(30),
            drain: Duration::from_secs(10),
            fair_time: Duration::from_secs(20),
            limits: if listen.ip().is_loopback() { HubLimits::local() } else { HubLimits::public() },
            audit: None,
            traces: None,
        }
    }
}

/// A hub that runs until it is shut down or dropped.
pub struct Hub {
    address: SocketAddr,
    engine: Arc<Engine<SocketIoHandler>>,
    switchboard: Arc<HubSwitchboard>,
    telemetry: Arc<Telemetry>,
    access: Arc<CurrentAccess>,
    tls: Option<ServerTls>,
    stop: CancellationToken,
    drain: Duration,
    /// The tasks of HTTP connections.
    tasks: TaskTracker,
    /// The tasks that accept connections, expire calls and watch the TLS files.
    background: Vec<JoinHandle<()>>,
}

/// Why a hub could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubStartError {
    /// The hub cannot listen on the address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The hub cannot use the TLS files.
    #[error(transparent)]
    Tls(#[from] TlsConfigError),
    /// The hub cannot write the audit log.
    #[error("cannot open the audit log: {0}")]
    Audit(#[from] audit::AuditOpenError),
    /// The hub cannot send spans.
    #[error("cannot send traces: {0}")]
    Traces(#[from] trace::TraceStartError),
    /// The hub listens beyond loopback only with authentication.
    #[error("refusing to listen on {address} without authentication: set a token, or listen on a loopback address")]
    Open {
        /// The address.
        address: SocketAddr,
    },
}

impl Hub {
    /// Starts a hub. Clients can connect when this returns.
    pub async fn start(config: HubConfig) -> Result<Self, HubStartError> {
        if config.auth.is_open() && !config.listen.ip().is_loopback() {
            return Err(HubStartError::Open { address: config.listen });
        }
        let failed = |source| HubStartError::Listen { address: config.listen, source };
        let listener = TcpListener::bind(config.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;

        let tls = config.tls.as_ref().map(ServerTls::load).transpose()?;
        let telemetry = Arc::new(Telemetry {
            metrics: metrics::Metrics::default(),
            audit: config.audit.as_ref().map(AuditLog::open).transpose()?,
            tracer: config.traces.clone().map(Tracer::start).transpose()?,
        });
        let memory = MemoryPool::new(config.limits.max_memory);
        let switchboard =
            Arc::new(Switchboard::new(config.limits, memory.clone(), config.call_timeout, telemetry.clone()));
        let address_limits = AddressLimits::new(&config.limits);
        let stop = CancellationToken::new();
        let access = CurrentAccess::new(AccessRules { clients: config.auth.clone(), operators: config.admin.clone() });
        let wire = SocketIoHandler {
            switchboard: switchboard.clone(),
            limits: config.limits,
            access: access.clone(),
            address_limits: address_limits.clone(),
            stop: stop.clone(),
        };
        let engine = Engine::new(wire, engine_config(&config, memory));
        let handshake = http::HandshakePolicy {
            on_loopback: address.ip().is_loopback(),
            allowed_hosts: config.allowed_hosts.clone(),
            address_limits: address_limits.clone(),
            switchboard: switchboard.clone(),
        };
        let tasks = TaskTracker::new();
        let connections = http::listener::ConnectionServer {
            http: http::listener::http1(),
            router: http::router(&engine, handshake),
            tls: tls.clone(),
            proxies: config.proxies.clone().map(Arc::new),
            address_limits: address_limits.clone(),
            telemetry: telemetry.clone(),
            patience: config.ping_interval + config.ping_timeout,
            stop: stop.clone(),
            tasks: tasks.clone(),
        };
        let announcing = switchboard.clone();
        let mut background = vec![
            tokio::spawn(connections.accept_from(listener)),
            tokio::spawn(tick(switchboard.clone(), address_limits)),
            tokio::spawn(async move { announcing.deliver_waiting().await }),
        ];
        background.extend(tls.as_ref().map(|tls| tokio::spawn(tls.watch())));
        telemetry.hub_event(audit::AuditEvent::HubStarted);
        Ok(Self { address, engine, switchboard, telemetry, access, tls, stop, drain: config.drain, tasks, background })
    }

    /// The address that the hub listens on, with the port that the system chose where the configuration says 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL clients connect to.
    pub fn url(&self) -> String {
        format!("{}://{}", if self.tls.is_some() { "https" } else { "http" }, self.address)
    }

    /// The number of connected clients.
    pub fn connections(&self) -> usize {
        self.switchboard.counts().0
    }

    /// The number of calls that wait for their answer.
    pub fn calls_in_flight(&self) -> usize {
        self.switchboard.counts().1
    }

    /// Reads the TLS files again; new connections use them.
    pub fn reload(&self) -> Result<(), TlsConfigError> {
        self.tls.as_ref().map_or(Ok(false), ServerTls::reload).map(drop)
    }

    /// Replaces who may connect and who may operate the hub. Clients that are connected stay.
    ///
    /// # Errors
    /// Without authentication, a hub listens on loopback only; then nothing changes.
    pub fn replace_access(&self, auth: Arc<dyn Authenticate>, admin: Option<ApiKeyAuth>) -> Result<(), HubStartError> {
        if auth.is_open() && !self.address.ip().is_loopback() {
            return Err(HubStartError::Open { address: self.address });
        }
        self.access.replace(AccessRules { clients: auth, operators: admin });
        Ok(())
    }

    /// Continues the audit log in a new file after the old one was moved away. Blocks until the disk has answered.
    pub fn reopen_audit(&self) -> Result<(), audit::ReopenError> {
        self.telemetry.audit.as_ref().map_or(Ok(()), AuditLog::reopen)
    }

    /// Ends the hub: it begins no new call, waits for the calls in flight as long as the configuration says, announces
    /// all departures and closes all connections.
    pub async fn shutdown(self) {
        self.shutdown_sooner(std::future::pending()).await;
    }

    /// Waits until the last call has ended and its answer is written.
    async fn drained(&self) {
        self.switchboard.idle().await;
        self.engine.drained().await;
    }

    /// Like [`Self::shutdown`], but stops waiting for calls when `hurry` completes.
    pub async fn shutdown_sooner(self, hurry: impl Future<Output = ()>) {
        self.switchboard.begin_shutdown();
        let calls = self.calls_in_flight();
        if calls > 0 {
            tracing::info!(calls, seconds = self.drain.as_secs(), "waiting for calls in flight");
        }
        tokio::select! {
            drained = tokio::time::timeout(self.drain, self.drained()) => if drained.is_err() {
                tracing::warn!(calls = self.calls_in_flight(), "some calls were still in flight when the time to drain was over");
            },
            () = hurry => {}
        }
        self.stop.cancel();
        self.switchboard.fail_remaining_calls();
        self.switchboard.announce_departures();
        self.tasks.close();
        let closed = async {
            self.engine.close().await;
            self.tasks.wait().await;
        };
        if tokio::time::timeout(CLOSE_TIMEOUT, closed).await.is_err() {
            tracing::warn!("some connections did not close in time");
        }
        self.telemetry.hub_event(audit::AuditEvent::HubStopped);
        self.telemetry.finish(CLOSE_TIMEOUT).await;
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.stop.cancel();
        self.engine.close_all();
        self.background.iter().for_each(JoinHandle::abort);
    }
}

fn engine_config(config: &HubConfig, memory: Arc<MemoryPool>) -> a2c_engineio::Config {
    a2c_engineio::Config {
        ping_interval: config.ping_interval,
        ping_timeout: config.ping_timeout,
        max_payload: config.limits.max_payload,
        unadmitted_max_message: wire::MAX_CONNECT,
        unadmitted_timeout: config.ping_interval + config.ping_timeout,
        max_backlog: config.limits.max_backlog,
        fair_time: config.fair_time,
        memory,
    }
}

async fn tick(switchboard: Arc<HubSwitchboard>, address_limits: Arc<AddressLimits>) {
    let mut interval = tokio::time::interval(TICK);
    loop {
        interval.tick().await;
        let now = Instant::now();
        switchboard.expire(now);
        switchboard.close_expired(SystemTime::now());
        address_limits.remove_idle(now);
    }
}
