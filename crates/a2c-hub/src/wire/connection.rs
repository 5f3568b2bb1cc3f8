//! What the hub keeps with each connection.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use a2c_engineio::Text;
use a2c_protocol::{Version, version};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use bytes::Bytes;

use crate::http::query_value;
use crate::limits::address_limits::AddressSlot;
use crate::limits::token_bucket::TokenBucket;
use crate::limits::{HubLimits, Rate};
use crate::office::ConnId;
use crate::telemetry::Telemetry;

/// How much faster than its rate a client may be before it is disconnected.
const ABUSE: u32 = 10;

/// How long a client that does too much is not written down again.
const QUIET: Duration = Duration::from_secs(60);

/// Where a request comes from: put into it by the listener.
#[derive(Debug, Clone)]
pub(crate) struct RemotePeer {
    pub(crate) address: SocketAddr,
    /// The subject of its certificate, where it had to show one.
    pub(crate) certificate: Option<Arc<str>>,
}

/// What the hub keeps with each connection.
pub(crate) struct Connection {
    pub(crate) peer: RemotePeer,
    pub(crate) version: Option<Version>,
    /// Set by a successful CONNECT.
    pub(crate) member: OnceLock<ConnId>,
    pub(crate) telemetry: Arc<Telemetry>,
    state: Mutex<ConnectionState>,
    _address_slot: Option<Arc<AddressSlot>>,
}

/// What changes.
#[derive(Default)]
pub(crate) struct ConnectionState {
    /// What the client showed with its handshake; gone once it is let in.
    pub(crate) headers: HeaderMap,
    /// A credential was refused; the next one is not looked at.
    pub(crate) is_refused: bool,
    /// A binary packet whose attachments have not all come.
    pub(crate) partial: Option<PartialPacket>,
    requests: TokenBucket,
    abuse: TokenBucket,
    joins: TokenBucket,
    /// When the client was last written down as one that does too much.
    offended: Option<Instant>,
}

/// A packet that is followed by attachments.
pub(crate) enum PartialPacket {
    /// It is handled when they have come.
    Gathering { text: Text, expected: usize, received: Vec<Bytes>, bytes: usize },
    /// It was refused; they are passed over.
    Skipping { remaining: usize },
}

/// A client does more than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateExceeded {
    /// It has to wait.
    Wait(Duration),
    /// It does not care.
    Abuse,
}

impl Connection {
    pub(crate) fn new(request: &Parts, telemetry: Arc<Telemetry>) -> Self {
        let peer = request.extensions.get::<RemotePeer>().cloned();
        let query = request.uri.query().unwrap_or_default();
        Self {
            peer: peer.unwrap_or(RemotePeer { address: (Ipv4Addr::UNSPECIFIED, 0).into(), certificate: None }),
            version: query_value(query, version::VERSION_QUERY).and_then(|v| v.parse().ok()),
            member: OnceLock::new(),
            telemetry,
            state: Mutex::new(ConnectionState { headers: request.headers.clone(), ..ConnectionState::default() }),
            _address_slot: request.extensions.get::<Arc<AddressSlot>>().cloned(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request.
    pub(crate) fn request(&self, limits: &HubLimits) -> Result<(), RateExceeded> {
        let Some(rate) = limits.requests else { return Ok(()) };
        let (mut state, now) = (self.state(), Instant::now());
        let Err(wait) = state.requests.take(rate, now) else { return Ok(()) };
        let tenfold = Rate { count: rate.count.saturating_mul(ABUSE), ..rate };
        state.abuse.take(tenfold, now).map_err(|_| RateExceeded::Abuse)?;
        Err(RateExceeded::Wait(wait))
    }

    /// Whether it is worth writing down that this client does too much: once in a while, however much that is.
    pub(crate) fn should_log(&self, now: Instant) -> bool {
        let mut state = self.state();
        let should_log = state.offended.is_none_or(|at| now.saturating_duration_since(at) > QUIET);
        if should_log {
            state.offended = Some(now);
        }
        should_log
    }

    /// Counts an attempt to join; says how long to wait.
    pub(crate) fn join(&self, limits: &HubLimits) -> Result<(), Duration> {
        let Some(rate) = limits.joins else { return Ok(()) };
        self.state().joins.take(rate, Instant::now())
    }
}
