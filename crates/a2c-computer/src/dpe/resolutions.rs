//! Resolving documents: each once at a time, and not again while the answer holds.
//!
//! An answer is given again without a word to the MCP server while that server would have told us of a change, none came,
//! and the address can still be fetched. Otherwise the document is read again, and if its etag is the remembered one, the
//! remembered address is given. A change that comes while a document is being resolved outdates what comes of it: those
//! who asked before get it, whoever asks after waits until it is over and begins anew.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2c_protocol::context::{A2cResource, Resource};
use a2c_protocol::error::ResolutionFailure;
use a2c_protocol::uri::{DpeDocumentUri, DpeUri};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};

use super::assemble::DocumentReader;
use super::clock::Clock;
use super::failure::DpeFailure;
use super::resolver::{DpeResolver, ResolveHint};
use super::shelf::{Remembered, ResolutionLimits, Shelf};

mod flight;

use flight::Flight;

type Outcome = Result<A2cResource, DpeFailure>;
type Running = Shared<BoxFuture<'static, Outcome>>;

/// What is asked for.
pub(crate) struct Wanted<'a> {
    /// Which document.
    pub(crate) uri: &'a DpeDocumentUri,
    /// The resource as its server lists it, if it does.
    pub(crate) listed: Option<Resource>,
    /// Who wants it, and who has it.
    pub(crate) hint: ResolveHint,
    /// Whether the server tells us when the document changes.
    pub(crate) is_watched: bool,
    /// How long all of it may take.
    pub(crate) limit: Duration,
}

/// Resolves documents with the resolver that the owner chose.
#[derive(Clone)]
pub(crate) struct Resolutions {
    /// `None` where the owner chose none.
    desk: Option<Arc<Desk>>,
}

/// What all resolutions share.
struct Desk {
    resolver: Arc<dyn DpeResolver>,
    limits: ResolutionLimits,
    clock: Clock,
    state: Mutex<State>,
}

struct State {
    shelf: Shelf,
    running: HashMap<DpeDocumentUri, InFlight>,
    next: u64,
}

/// A document that is being resolved. It goes on as long as somebody waits for it, and is dropped with the last.
struct InFlight {
    number: u64,
    server: String,
    is_outdated: bool,
    outcome: WeakShared<BoxFuture<'static, Outcome>>,
}

/// What is there for somebody who asks.
enum Turn {
    /// The answer comes from here.
    Mine(Running),
    /// This has to be over first.
    After(Running),
}

impl Resolutions {
    pub(crate) fn new(resolver: Option<Arc<dyn DpeResolver>>, limits: ResolutionLimits) -> Self {
        Self::with_clock(resolver, limits, Clock::default())
    }

    fn with_clock(resolver: Option<Arc<dyn DpeResolver>>, limits: ResolutionLimits, clock: Clock) -> Self {
        let desk = resolver.map(|resolver| {
            let state = State { shelf: Shelf::new(limits.remembered), running: HashMap::new(), next: 0 };
            Arc::new(Desk { resolver, limits, clock, state: Mutex::new(state) })
        });
        Self { desk }
    }

    /// Whether there is a resolver at all.
    pub(crate) fn is_possible(&self) -> bool {
        self.desk.is_some()
    }

    /// Says where a document can be fetched.
    pub(crate) async fn resolve(&self, wanted: Wanted<'_>, reader: &impl DocumentReader) -> Outcome {
        let Some(desk) = &self.desk else { return Err(DpeFailure::NoResolver) };
        let limit = wanted.limit;
        let answered = async {
            loop {
                match desk.turn(&wanted, reader) {
                    Turn::Mine(running) => return running.await,
                    Turn::After(running) => drop(running.await),
                }
            }
        };
        tokio::time::timeout(limit, answered).await.unwrap_or_else(|_| {
            let message = format!("the document could not be had within {} s", limit.as_secs_f64());
            Err(DpeFailure::failed(ResolutionFailure::UpstreamUnavailable, message))
        })
    }

    /// Something changed, says a server: a document, a place in one, or (without a doc-ref) anything of a host. Only what
    /// came from that server is outdated by it.
    pub(crate) fn changed(&self, server: &str, uri: &str) {
        let Some(desk) = &self.desk else { return };
        let gone: Vec<Remembered> = if let Ok(parsed) = DpeDocumentUri::parse(uri) {
            let mut state = desk.state();
            // It may be a page or an element of the document that is left without the last two segments.
            let (host, segments) = (parsed.uri.host(), parsed.uri.segments());
            let around = segments.len().checked_sub(2).filter(|length| *length > 0);
            let around = around.and_then(|length| DpeDocumentUri::new(host.clone(), &segments[..length]).ok());
            [around, Some(parsed.uri)].iter().flatten().filter_map(|document| state.outdate(server, document)).collect()
        } else if let Ok(parsed) = DpeUri::parse(uri) {
            let mut state = desk.state();
            let host = parsed.uri.host();
            let affected = state.running.iter_mut().filter(|(uri, f)| uri.host() == host && f.server == server);
            affected.for_each(|(_, in_flight)| in_flight.is_outdated = true);
            state.shelf.take_host(host, server)
        } else {
            Vec::new()
        };
        desk.let_go(&gone);
    }

    /// Forgets everything that came from a server, for instance since it was started anew: changes may have been missed.
    pub(crate) fn forget(&self, server: &str) {
        let Some(desk) = &self.desk else { return };
        let gone = {
            let mut state = desk.state();
            state.running.values_mut().filter(|f| f.server == server).for_each(|f| f.is_outdated = true);
            state.shelf.take_server(server)
        };
        desk.let_go(&gone);
    }

    /// The Computer stops.
    pub(crate) async fn close(&self) {
        if let Some(desk) = &self.desk {
            desk.resolver.close().await;
        }
    }
}

impl State {
    /// Outdates what is known of a document of a server, and what will be of the resolution that runs.
    fn outdate(&mut self, server: &str, uri: &DpeDocumentUri) -> Option<Remembered> {
        if let Some(running) = self.running.get_mut(uri).filter(|running| running.server == server) {
            running.is_outdated = true;
        }
        self.shelf.get(uri).filter(|remembered| remembered.server == server)?;
        self.shelf.take(uri)
    }
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half done: every change under the lock is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn let_go(&self, gone: &[Remembered]) {
        gone.iter().for_each(|remembered| self.resolver.outdated(&remembered.answer));
    }

    /// Joins the resolution that runs, or begins one.
    fn turn(self: &Arc<Self>, wanted: &Wanted<'_>, reader: &impl DocumentReader) -> Turn {
        let mut state = self.state();
        if let Some(in_flight) = state.running.get(wanted.uri)
            && let Some(running) = in_flight.outcome.upgrade()
        {
            let is_theirs = in_flight.is_outdated || in_flight.server != wanted.hint.mcp_server_name;
            return if is_theirs { Turn::After(running) } else { Turn::Mine(running) };
        }
        let number = state.next;
        state.next += 1;
        let flight = Flight::new(self.clone(), number, wanted, reader.clone());
        let panicked = |_| {
            tracing::error!("the resolver of documents panicked");
            Err(DpeFailure::failed(ResolutionFailure::ResolverError, "the resolver of this Computer failed"))
        };
        let caught = AssertUnwindSafe(flight.fly()).catch_unwind();
        let running = caught.map(move |outcome| outcome.unwrap_or_else(panicked)).boxed().shared();
        let outcome = running.downgrade().expect("it has not been polled");
        let server = wanted.hint.mcp_server_name.clone();
        state.running.insert(wanted.uri.clone(), InFlight { number, server, is_outdated: false, outcome });
        Turn::Mine(running)
    }

    /// A resolution is over, or was given up.
    fn landed(&self, uri: &DpeDocumentUri, number: u64) {
        let mut state = self.state();
        if state.running.get(uri).is_some_and(|in_flight| in_flight.number == number) {
            state.running.remove(uri);
        }
    }

    /// Remembers an answer, unless a change made it an old one.
    fn remember(&self, uri: &DpeDocumentUri, number: u64, mut remembered: Remembered) {
        let gone = {
            let mut state = self.state();
            let is_current =
                state.running.get(uri).is_some_and(|in_flight| in_flight.number == number && !in_flight.is_outdated);
            remembered.is_watched &= is_current;
            let etag = remembered.etag.clone();
            let mut gone = state.shelf.put(uri.clone(), remembered);
            // The same state at another address: whoever has the old address may still use it.
            gone.retain(|old| old.etag.is_none() || old.etag != etag);
            gone
        };
        self.let_go(&gone);
    }
}

#[cfg(test)]
mod tests;
