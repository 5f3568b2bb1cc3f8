//! The state that the hub keeps with each connection.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use a2c_engineio::Text;
use a2c_protocol::{Version, version};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use bytes::Bytes;

use crate::limits::address_limits::AddressSlot;
use crate::limits::token_bucket::TokenBucket;
use crate::limits::{HubLimits, Rate};
use crate::query::query_value;
use crate::telemetry::Telemetry;
use crate::tls::VerifiedCertificate;
use crate::wire::HubMember;

/// The multiple of its rate at which a client is disconnected.
const ABUSE_FACTOR: u32 = 10;

/// The interval between two log entries about a client that exceeds its limits.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The origin of a connection; the listener adds it to each request.
#[derive(Debug, Clone)]
pub(crate) struct RemotePeer {
    pub(crate) address: SocketAddr,
    /// The connection came through a proxy by the PROXY protocol, whatever its address is.
    pub(crate) is_proxied: bool,
    /// The verified client certificate.
    pub(crate) certificate: Option<VerifiedCertificate>,
}

/// The state that the hub keeps with each connection.
pub(crate) struct ClientConnection {
    pub(crate) peer: RemotePeer,
    pub(crate) version: Option<Version>,
    /// Set by a successful CONNECT. The switchboard holds the member, which holds this connection.
    pub(crate) member: OnceLock<Weak<HubMember>>,
    pub(crate) telemetry: Arc<Telemetry>,
    state: Mutex<ConnectionState>,
    _address_slot: Option<Arc<AddressSlot>>,
}

/// The part of a connection that changes.
#[derive(Default)]
pub(crate) struct ConnectionState {
    /// The headers of the handshake, until the client is admitted.
    pub(crate) headers: HeaderMap,
    /// A credential was refused; the hub accepts no second one on this connection.
    pub(crate) is_refused: bool,
    /// A credential is judged once more when the hub has fresh keys; until then the client has to wait.
    pub(crate) is_awaiting_keys: bool,
    /// A binary packet whose attachments have not all arrived.
    pub(crate) partial: Option<PartialPacket>,
    requests: TokenBucket,
    abuse: TokenBucket,
    /// When the hub last logged that the client exceeds its limits.
    last_logged: Option<Instant>,
}

/// A packet that is followed by attachments.
pub(crate) enum PartialPacket {
    /// It is handled when all attachments have arrived.
    Gathering { text: Text, expected: usize, received: Vec<Bytes>, bytes: usize },
    /// It was refused; its attachments are skipped.
    Skipping { remaining: usize },
}

/// A client exceeds its rate of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateExceeded {
    /// It has to wait for this long.
    Wait(Duration),
    /// It exceeds ten times its rate.
    Abuse,
}

impl ClientConnection {
    pub(crate) fn new(request: &Parts, telemetry: Arc<Telemetry>) -> Self {
        let peer = request.extensions.get::<RemotePeer>().cloned();
        let query = request.uri.query().unwrap_or_default();
        Self {
            peer: peer.unwrap_or(RemotePeer {
                address: (Ipv4Addr::UNSPECIFIED, 0).into(),
                is_proxied: false,
                certificate: None,
            }),
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

    /// The member, while it is admitted.
    pub(crate) fn member(&self) -> Option<Arc<HubMember>> {
        self.member.get()?.upgrade()
    }

    /// Counts a request.
    pub(crate) fn request(&self, limits: &HubLimits) -> Result<(), RateExceeded> {
        let Some(rate) = limits.requests else { return Ok(()) };
        let (mut state, now) = (self.state(), Instant::now());
        let Err(wait) = state.requests.take(rate, now) else { return Ok(()) };
        let tenfold = Rate { count: rate.count.saturating_mul(ABUSE_FACTOR), ..rate };
        state.abuse.take(tenfold, now).map_err(|_| RateExceeded::Abuse)?;
        Err(RateExceeded::Wait(wait))
    }

    /// Whether to log that this client exceeds its limits: at most once a minute.
    pub(crate) fn should_log(&self, now: Instant) -> bool {
        let mut state = self.state();
        let should_log = state.last_logged.is_none_or(|at| now.saturating_duration_since(at) > LOG_INTERVAL);
        if should_log {
            state.last_logged = Some(now);
        }
        should_log
    }
}
