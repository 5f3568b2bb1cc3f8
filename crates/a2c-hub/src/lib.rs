//! The A2C-SMCP Server role: offices, routing and broadcast.
//!
//! ```no_run
//! use a2c_hub::{Auth, Hub, HubConfig};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut config = HubConfig::on("127.0.0.1:7420".parse()?);
//! config.auth = Auth::Token(std::env::var("A2C_TOKEN")?);
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

mod auth;
mod http;
mod limits;
mod office;
mod origin;
mod route;
mod switchboard;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engineioxide::config::EngineIoConfig;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use auth::Auth;
pub use limits::Limits;
use switchboard::Switchboard;
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
    pub auth: Auth,
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
            auth: Auth::None,
            allowed_hosts: Vec::new(),
            ping_interval: Duration::from_secs(5),
            ping_timeout: Duration::from_secs(5),
            call_timeout: Duration::from_secs(30),
            limits: Limits::default(),
        }
    }
}

/// A hub that runs until it is shut down or dropped.
pub struct Hub {
    address: SocketAddr,
    switchboard: Arc<Switchboard>,
    stop: CancellationToken,
    server: JoinHandle<io::Result<()>>,
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
        if matches!(config.auth, Auth::None) && !config.listen.ip().is_loopback() {
            return Err(StartError::Open { address: config.listen });
        }
        let failed = |source| StartError::Listen { address: config.listen, source };
        let listener = TcpListener::bind(config.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;

        let switchboard = Arc::new(Switchboard::new(config.limits, config.call_timeout));
        let stop = CancellationToken::new();
        let wire = Wire {
            switchboard: switchboard.clone(),
            limits: config.limits,
            auth: config.auth.clone(),
            connect_timeout: config.ping_interval + config.ping_timeout,
            stop: stop.clone(),
        };
        let door = http::Door {
            on_loopback: address.ip().is_loopback(),
            allowed_hosts: config.allowed_hosts.clone().into(),
            limits: config.limits,
        };
        let router = http::router(&Arc::new(wire), engine_config(&config), door);
        #[cfg(target_os = "linux")]
        let patience = config.ping_interval + config.ping_timeout;
        let server = tokio::spawn(
            axum::serve(
                axum::serve::ListenerExt::tap_io(listener, move |stream| {
                    // Small packets go out at once: a call is a round trip, not a stream.
                    let _ = stream.set_nodelay(true);
                    // The engine notices a silent peer, but cannot drop it while it waits to write to it.
                    #[cfg(target_os = "linux")]
                    let _ = socket2::SockRef::from(&*stream).set_tcp_user_timeout(Some(patience));
                }),
                router,
            )
            .with_graceful_shutdown(stop.clone().cancelled_owned())
            .into_future(),
        );
        let ticker = tokio::spawn(tick(switchboard.clone()));
        Ok(Self { address, switchboard, stop, server, ticker })
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
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        self.switchboard.close_all();
        if tokio::time::timeout(FAREWELL, &mut self.server).await.is_err() {
            tracing::warn!("some connections did not close in time");
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.stop.cancel();
        self.switchboard.close_all();
        self.server.abort();
        self.ticker.abort();
    }
}

fn engine_config(config: &HubConfig) -> EngineIoConfig {
    EngineIoConfig {
        ping_interval: config.ping_interval,
        ping_timeout: config.ping_timeout,
        max_buffer_size: config.limits.max_queued.max(1),
        ws_max_message_size: config.limits.hard_max(),
        ws_max_frame_size: config.limits.hard_max(),
        ..EngineIoConfig::default()
    }
}

async fn tick(switchboard: Arc<Switchboard>) {
    let mut interval = tokio::time::interval(TICK);
    loop {
        interval.tick().await;
        switchboard.expire(Instant::now());
    }
}
