//! Traces: routed requests as spans, sent to an OpenTelemetry collector.
//!
//! How a span flows: [`Tracer::begin`] decides whether the request is recorded and gives it its place in the trace, the
//! request goes on with that place as its `traceparent`, and when the answer has passed, [`StartedSpan::end`] makes a
//! [`Span`] of it that [`Tracer::record`] puts into a bounded queue. A task takes spans from there in batches, writes
//! them as OTLP (`otlp`) and posts them (`collector`). Nothing that routes ever waits for any of this: what does not fit
//! is dropped and counted.

mod collector;
mod export;
mod ids;
mod otlp;
mod span;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

pub use a2c_protocol::trace::TraceContext;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::metrics::Counter;
use collector::Collector;
use export::Exporter;
use ids::{DRAWS, Ids};
use otlp::TraceResource;
pub use span::{Span, SpanAttributes, StartedSpan};

/// Where spans go, and which.
#[derive(Clone)]
pub struct OtlpConfig {
    /// The collector's address for OTLP over HTTP, such as `http://127.0.0.1:4318`; `/v1/traces` is added.
    pub endpoint: String,
    /// What every export carries, the key of a hosted collector for one.
    pub headers: Vec<(String, String)>,
    /// The name under which the hub shows up.
    pub service: String,
    /// How much of what begins here is recorded, from 0 to 1. A request that comes with a trace is recorded when its
    /// sender records it.
    pub ratio: f64,
    /// How many spans may wait; what comes on top is dropped.
    pub queue: usize,
    /// How many spans go out together at most.
    pub batch: usize,
    /// How long a span waits for others to go out with.
    pub interval: Duration,
    /// How long one export may take.
    pub timeout: Duration,
}

impl OtlpConfig {
    /// The defaults, for a collector.
    pub fn to(endpoint: impl Into<String>) -> Self {
        Self {
            endpoint: endpoint.into(),
            headers: Vec::new(),
            service: "a2c-hub".into(),
            ratio: 1.0,
            queue: 4096,
            batch: 512,
            interval: Duration::from_secs(2),
            timeout: Duration::from_secs(10),
        }
    }
}

impl fmt::Debug for OtlpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may be mistyped with a credential in it, and headers are made for them.
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("OtlpConfig")
            .field("headers", &headers)
            .field("service", &self.service)
            .field("ratio", &self.ratio)
            .field("queue", &self.queue)
            .field("batch", &self.batch)
            .field("interval", &self.interval)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Why spans cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum TraceStartError {
    /// The address of the collector.
    #[error("the address of the trace collector cannot be used: {problem}")]
    Endpoint {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A header cannot be sent.
    #[error("the header '{name}' for the trace collector cannot be sent: its name or its value is no HTTP header")]
    Header {
        /// Which one.
        name: String,
    },
    /// The ratio is no share.
    #[error("the share of traces to record is {0}: write a number from 0 to 1")]
    Ratio(f64),
    /// TLS is not available.
    #[error("cannot prepare TLS for the trace collector: {0}")]
    Tls(#[source] a2c_net::tls::TlsError),
    /// HTTP is not available.
    #[error("cannot prepare HTTP for the trace collector: {0}")]
    Client(#[source] reqwest::Error),
}

/// What became of the spans so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanCounts {
    /// The collector took them.
    pub exported: u64,
    /// They never reached it: too many at once, or it did not take them.
    pub dropped: u64,
}

/// Every recorded span is exported, dropped or on its way.
#[derive(Debug, Default)]
struct SpanCounters {
    recorded: Counter,
    exported: Counter,
    dropped: Counter,
}

/// Records spans and sends them. Cheap to clone.
#[derive(Clone)]
pub struct Tracer {
    shared: Arc<TracerState>,
}

struct TracerState {
    ids: Ids,
    /// Draws below this are recorded.
    threshold: u64,
    queue: mpsc::Sender<Span>,
    counts: Arc<SpanCounters>,
    stop: CancellationToken,
    exporter: Mutex<Option<JoinHandle<()>>>,
}

impl Tracer {
    /// Starts to send; the collector need not be there yet. Call it within a Tokio runtime.
    pub fn start(config: OtlpConfig) -> Result<Self, TraceStartError> {
        if !(0.0..=1.0).contains(&config.ratio) {
            return Err(TraceStartError::Ratio(config.ratio));
        }
        let collector = Collector::new(&config)?;
        let (sender, queue) = mpsc::channel(config.queue.max(1));
        let (counts, stop) = (Arc::<SpanCounters>::default(), CancellationToken::new());
        let exporter = Exporter {
            collector,
            resource: TraceResource { service: config.service, instance: uuid::Uuid::new_v4().to_string() },
            queue,
            counts: counts.clone(),
            batch: config.batch.max(1),
            interval: config.interval,
            stop: stop.clone(),
        };
        let shared = TracerState {
            ids: Ids::new(),
            threshold: (config.ratio * DRAWS as f64) as u64,
            queue: sender,
            counts,
            stop,
            exporter: Mutex::new(Some(tokio::spawn(exporter.run()))),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Begins the span of a request, unless it is not to be recorded: then the request passes as it is.
    ///
    /// `incoming` is what the request came with. Who sent it has decided for the whole trace; a request without any
    /// starts a trace of its own, as often as the configured ratio says.
    pub fn begin(&self, incoming: Option<TraceContext>) -> Option<StartedSpan> {
        let shared = &self.shared;
        let context = match incoming {
            Some(parent) => parent.is_sampled().then(|| parent.child(shared.ids.span()))?,
            None => {
                let (trace, draw) = shared.ids.trace();
                (draw < shared.threshold).then(|| TraceContext::root(trace, shared.ids.span(), true))?
            }
        };
        let parent = incoming.map(TraceContext::span_id);
        Some(StartedSpan { context, parent, time: SystemTime::now(), begin: Instant::now() })
    }

    /// Puts a span into the queue; when that is full, the span is dropped.
    pub fn record(&self, span: Span) {
        let counts = &self.shared.counts;
        counts.recorded.inc();
        if self.shared.queue.try_send(span).is_err() {
            counts.dropped.inc();
        }
    }

    /// What became of the spans so far.
    pub fn counts(&self) -> SpanCounts {
        let counts = &self.shared.counts;
        SpanCounts { exported: counts.exported.get(), dropped: counts.dropped.get() }
    }

    /// Sends what is left, for as long as `limit` at most. Spans that are recorded later, or that are still there then,
    /// are dropped.
    pub async fn shutdown(&self, limit: Duration) {
        let exporter = self.shared.exporter.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut exporter) = exporter else { return };
        self.shared.stop.cancel();
        if tokio::time::timeout(limit, &mut exporter).await.is_err() {
            exporter.abort();
            let _ = exporter.await;
            let counts = &self.shared.counts;
            let left = counts.recorded.get().saturating_sub(counts.exported.get() + counts.dropped.get());
            counts.dropped.add(left);
            tracing::warn!(spans = left, "the trace collector did not take the last spans in time");
        }
    }
}
