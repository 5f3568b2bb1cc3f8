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
use crate::ledger::Ledger;
use crate::limits::bucket::Bucket;
use crate::limits::guests::Guest;
use crate::limits::{Limits, Rate};
use crate::office::ConnId;

/// How much faster than its rate a client may be before it is disconnected.
const ABUSE: u32 = 10;

/// How long a client that does too much is not written down again.
const QUIET: Duration = Duration::from_secs(60);

/// Where a request comes from: put into it by the listener.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    /// The subject of its certificate, where it had to show one.
    pub(crate) certificate: Option<Arc<str>>,
}

/// What the hub keeps with each connection.
pub(crate) struct Connection {
    pub(crate) peer: Peer,
    pub(crate) version: Option<Version>,
    /// Set by a successful CONNECT.
    pub(crate) member: OnceLock<ConnId>,
    pub(crate) ledger: Arc<Ledger>,
    state: Mutex<State>,
    _guest: Option<Arc<Guest>>,
}

/// What changes.
#[derive(Default)]
pub(crate) struct State {
    /// What the client showed with its handshake; gone once it is let in.
    pub(crate) headers: HeaderMap,
    /// A credential was refused; the next one is not looked at.
    pub(crate) is_refused: bool,
    /// A binary packet whose attachments have not all come.
    pub(crate) partial: Option<Partial>,
    requests: Bucket,
    abuse: Bucket,
    joins: Bucket,
    /// When the client was last written down as one that does too much.
    offended: Option<Instant>,
}

/// A packet that is followed by attachments.
pub(crate) enum Partial {
    /// It is handled when they have come.
    Gathering { text: Text, expected: usize, received: Vec<Bytes>, bytes: usize },
    /// It was refused; they are passed over.
    Skipping { remaining: usize },
}

/// A client does more than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooMuch {
    /// It has to wait.
    Wait(Duration),
    /// It does not care.
    Abuse,
}

impl Connection {
    pub(crate) fn new(request: &Parts, ledger: Arc<Ledger>) -> Self {
        let peer = request.extensions.get::<Peer>().cloned();
        let query = request.uri.query().unwrap_or_default();
        Self {
            peer: peer.unwrap_or(Peer { address: (Ipv4Addr::UNSPECIFIED, 0).into(), certificate: None }),
            version: query_value(query, version::VERSION_QUERY).and_then(|v| v.parse().ok()),
            member: OnceLock::new(),
            ledger,
            state: Mutex::new(State { headers: request.headers.clone(), ..State::default() }),
            _guest: request.extensions.get::<Arc<Guest>>().cloned(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request.
    pub(crate) fn request(&self, limits: &Limits) -> Result<(), TooMuch> {
        let Some(rate) = limits.requests else { return Ok(()) };
        let (mut state, now) = (self.state(), Instant::now());
        let Err(wait) = state.requests.take(rate, now) else { return Ok(()) };
        let tenfold = Rate { count: rate.count.saturating_mul(ABUSE), ..rate };
        state.abuse.take(tenfold, now).map_err(|_| TooMuch::Abuse)?;
        Err(TooMuch::Wait(wait))
    }

    /// Whether it is worth writing down that this client does too much: once in a while, however much that is.
    pub(crate) fn is_news(&self, now: Instant) -> bool {
        let mut state = self.state();
        let is_news = state.offended.is_none_or(|at| now.saturating_duration_since(at) > QUIET);
        if is_news {
            state.offended = Some(now);
        }
        is_news
    }

    /// Counts an attempt to join; says how long to wait.
    pub(crate) fn join(&self, limits: &Limits) -> Result<(), Duration> {
        let Some(rate) = limits.joins else { return Ok(()) };
        self.state().joins.take(rate, Instant::now())
    }
}
