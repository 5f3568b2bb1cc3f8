//! Resolves documents: each one once at a time, and not again while the answer holds.
//!
//! A cached answer is given without asking the MCP server if the server announces changes, none came, and the address can
//! still be fetched. Otherwise the document is read again, and if its etag is the cached one, the cached address is given.
//! A change during a resolution makes its outcome an old one: requests that came before the change get it; a request
//! that comes after the change waits until the resolution is over and begins another.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2c_protocol::context::{A2cResource, Resource};
use a2c_protocol::error::ResolutionFailure;
use a2c_protocol::uri::{DpeDocumentUri, DpeUri};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};

use crate::clock::Clock;
use crate::error::GetDpeError;
use crate::reader::DocumentReader;
use crate::resolver::{DpeResolver, ResolveHint};
use cache::{AnswerCache, CachedAnswer};
use resolution::Resolution;

mod cache;
mod resolution;

type Outcome = Result<A2cResource, GetDpeError>;
type SharedOutcome = Shared<BoxFuture<'static, Outcome>>;

/// The limits of `get_dpe`.
#[derive(Debug, Clone)]
pub struct ResolutionLimits {
    /// The largest document, in bytes of its JSON.
    pub max_bytes: usize,
    /// How many answers are cached.
    pub max_cached: usize,
    /// How long before its expiry an address is no longer given: the Agent needs time to fetch.
    pub renew_before: Duration,
}

impl Default for ResolutionLimits {
    fn default() -> Self {
        Self { max_bytes: 256 << 20, max_cached: 10_000, renew_before: Duration::from_secs(60) }
    }
}

/// One request for a document.
#[derive(Debug, Clone)]
pub struct ResolveRequest<'a> {
    /// Which document.
    pub uri: &'a DpeDocumentUri,
    /// The resource as its MCP server lists it, if it does.
    pub listed: Option<Resource>,
    /// The Agent that asks, and the MCP server that has the document.
    pub hint: ResolveHint,
    /// Whether the MCP server announces changes of the document.
    pub is_watched: bool,
    /// How long the request may take.
    pub limit: Duration,
}

/// Resolves documents with the resolver that the owner chose.
#[derive(Clone)]
pub struct Resolutions {
    /// `None` if the owner chose no resolver.
    inner: Option<Arc<Inner>>,
}

/// What all resolutions share.
struct Inner {
    resolver: Arc<dyn DpeResolver>,
    limits: ResolutionLimits,
    clock: Clock,
    state: Mutex<State>,
}

struct State {
    cache: AnswerCache,
    running: HashMap<DpeDocumentUri, InFlight>,
    next_number: u64,
}

/// A resolution that runs. It is dropped when no request waits for it any more.
struct InFlight {
    number: u64,
    server: String,
    is_outdated: bool,
    outcome: WeakShared<BoxFuture<'static, Outcome>>,
}

/// How a request relates to the resolution that runs for its document.
enum Joined {
    /// The outcome answers the request.
    Answers(SharedOutcome),
    /// It began before a change, or for another server: the request waits for its end, then tries again.
    Precedes(SharedOutcome),
}

impl Resolutions {
    /// Resolves with a resolver; without one, every request is refused.
    pub fn new(resolver: Option<Arc<dyn DpeResolver>>, limits: ResolutionLimits) -> Self {
        Self::with_clock(resolver, limits, Clock::default())
    }

    fn with_clock(resolver: Option<Arc<dyn DpeResolver>>, limits: ResolutionLimits, clock: Clock) -> Self {
        let inner = resolver.map(|resolver| {
            let state = State { cache: AnswerCache::new(limits.max_cached), running: HashMap::new(), next_number: 0 };
            Arc::new(Inner { resolver, limits, clock, state: Mutex::new(state) })
        });
        Self { inner }
    }

    /// Whether there is a resolver.
    pub fn is_possible(&self) -> bool {
        self.inner.is_some()
    }

    /// Answers where a document can be fetched.
    pub async fn resolve(
        &self,
        request: ResolveRequest<'_>,
        reader: &impl DocumentReader,
    ) -> Result<A2cResource, GetDpeError> {
        let Some(inner) = &self.inner else { return Err(GetDpeError::NoResolver) };
        let limit = request.limit;
        let answered = async {
            loop {
                match inner.join(&request, reader) {
                    Joined::Answers(running) => return running.await,
                    Joined::Precedes(running) => drop(running.await),
                }
            }
        };
        tokio::time::timeout(limit, answered).await.unwrap_or_else(|_| {
            let message = format!("the document could not be read and published within {} s", limit.as_secs_f64());
            Err(GetDpeError::failed(ResolutionFailure::UpstreamUnavailable, message))
        })
    }

    /// A server announces a change: of a document, of a page or element of one, or (without a doc-ref) of any document of a
    /// host. It outdates only answers that came from this server.
    pub fn changed(&self, server: &str, uri: &str) {
        let Some(inner) = &self.inner else { return };
        let outdated: Vec<CachedAnswer> = if let Ok(parsed) = DpeDocumentUri::parse(uri) {
            let mut state = inner.state();
            // The URI may name a page or an element: its document is the URI without the last two segments.
            let (host, segments) = (parsed.uri.host(), parsed.uri.segments());
            let around = segments.len().checked_sub(2).filter(|length| *length > 0);
            let around = around.and_then(|length| DpeDocumentUri::new(host.clone(), &segments[..length]).ok());
            [around, Some(parsed.uri)].iter().flatten().filter_map(|document| state.outdate(server, document)).collect()
        } else if let Ok(parsed) = DpeUri::parse(uri) {
            let mut state = inner.state();
            let host = parsed.uri.host();
            let affected = state.running.iter_mut().filter(|(uri, f)| uri.host() == host && f.server == server);
            affected.for_each(|(_, in_flight)| in_flight.is_outdated = true);
            state.cache.take_host(host, server)
        } else {
            Vec::new()
        };
        inner.discard(&outdated);
    }

    /// Forgets every answer that came from a server, for instance because it was restarted and changes may have been
    /// missed.
    pub fn forget(&self, server: &str) {
        let Some(inner) = &self.inner else { return };
        let outdated = {
            let mut state = inner.state();
            state.running.values_mut().filter(|f| f.server == server).for_each(|f| f.is_outdated = true);
            state.cache.take_server(server)
        };
        inner.discard(&outdated);
    }

    /// The Computer stops: closes the resolver.
    pub async fn close(&self) {
        if let Some(inner) = &self.inner {
            inner.resolver.close().await;
        }
    }
}

impl State {
    /// Outdates the cached answer for a document of a server, and the outcome of the resolution that runs.
    fn outdate(&mut self, server: &str, uri: &DpeDocumentUri) -> Option<CachedAnswer> {
        if let Some(running) = self.running.get_mut(uri).filter(|running| running.server == server) {
            running.is_outdated = true;
        }
        self.cache.get(uri).filter(|cached| cached.server == server)?;
        self.cache.take(uri)
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change under the lock is one step, so a panic leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn discard(&self, outdated: &[CachedAnswer]) {
        outdated.iter().for_each(|cached| self.resolver.outdated(&cached.answer));
    }

    /// Joins the resolution that runs, or begins one.
    fn join(self: &Arc<Self>, request: &ResolveRequest<'_>, reader: &impl DocumentReader) -> Joined {
        let mut state = self.state();
        if let Some(in_flight) = state.running.get(request.uri)
            && let Some(running) = in_flight.outcome.upgrade()
        {
            let is_other = in_flight.is_outdated || in_flight.server != request.hint.mcp_server_name;
            return if is_other { Joined::Precedes(running) } else { Joined::Answers(running) };
        }
        let number = state.next_number;
        state.next_number += 1;
        let resolution = Resolution::new(self.clone(), number, request, reader.clone());
        let panicked = |_| {
            tracing::error!("the resolver of documents panicked");
            Err(GetDpeError::failed(ResolutionFailure::ResolverError, "the resolver of this Computer failed"))
        };
        let caught = AssertUnwindSafe(resolution.run()).catch_unwind();
        let running = caught.map(move |outcome| outcome.unwrap_or_else(panicked)).boxed().shared();
        let outcome = running.downgrade().expect("it has not been polled");
        let server = request.hint.mcp_server_name.clone();
        state.running.insert(request.uri.clone(), InFlight { number, server, is_outdated: false, outcome });
        Joined::Answers(running)
    }

    /// A resolution is over, or was dropped.
    fn ended(&self, uri: &DpeDocumentUri, number: u64) {
        let mut state = self.state();
        if state.running.get(uri).is_some_and(|in_flight| in_flight.number == number) {
            state.running.remove(uri);
        }
    }

    /// Caches an answer. After a change during the resolution it is not given again without reading the document.
    fn cache(&self, uri: &DpeDocumentUri, number: u64, mut cached: CachedAnswer) {
        let outdated = {
            let mut state = self.state();
            let is_current =
                state.running.get(uri).is_some_and(|in_flight| in_flight.number == number && !in_flight.is_outdated);
            cached.is_watched &= is_current;
            let etag = cached.etag.clone();
            let mut outdated = state.cache.put(uri.clone(), cached);
            // The same state at another address: an Agent that has the old address may still use it.
            outdated.retain(|old| old.etag.is_none() || old.etag != etag);
            outdated
        };
        self.discard(&outdated);
    }
}

#[cfg(test)]
mod tests;
