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

/// The configuration of the export of spans.
#[derive(Clone)]
pub struct OtlpConfig {
    /// The address of the collector for OTLP over HTTP, such as `http://127.0.0.1:4318`; the hub adds `/v1/traces`.
    pub endpoint: String,
    /// HTTP headers of every export, for example the key of a hosted collector.
    pub headers: Vec<(String, String)>,
    /// The service name of the hub.
    pub service: String,
    /// The share of new traces that are recorded, from 0 to 1. A request with a trace context is recorded when its sender
    /// records it.
    pub ratio: f64,
    /// The number of spans that may wait; further ones are dropped.
    pub queue: usize,
    /// The number of spans in one export.
    pub batch: usize,
    /// How long a span waits for others.
    pub interval: Duration,
    /// How long one export may take.
    pub timeout: Duration,
}

impl OtlpConfig {
    /// The default configuration for a collector.
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
        // Address and headers may contain a credential.
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

/// Why the export of spans cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TraceStartError {
    /// The address of the collector is unusable.
    #[error("the address of the trace collector cannot be used: {problem}")]
    Endpoint {
        /// What is wrong with the address.
        problem: &'static str,
    },
    /// A header cannot be sent.
    #[error("the header '{name}' for the trace collector cannot be sent: its name or its value is no HTTP header")]
    Header {
        /// The name of the header.
        name: String,
    },
    /// The ratio is not between 0 and 1.
    #[error("the share of traces to record is {0}: write a number from 0 to 1")]
    Ratio(f64),
    /// The TLS settings could not be made.
    #[error("cannot prepare TLS for the trace collector: {0}")]
    Tls(#[source] a2c_net::tls::TlsError),
    /// The HTTP client could not be made.
    #[error("cannot prepare HTTP for the trace collector: {0}")]
    Client(#[source] reqwest::Error),
}

/// Numbers of spans so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanCounts {
    /// Spans that the collector accepted.
    pub exported: u64,
    /// Spans that did not reach the collector: the queue was full, or the collector refused them.
    pub dropped: u64,
}

/// A recorded span is exported, dropped or queued.
#[derive(Debug, Default)]
struct SpanCounters {
    recorded: Counter,
    exported: Counter,
    dropped: Counter,
}

/// Records and exports spans. Cheap to clone.
#[derive(Clone)]
pub struct Tracer {
    shared: Arc<TracerState>,
}

struct TracerState {
    ids: Ids,
    /// Traces whose sampling number is below this are recorded.
    threshold: u64,
    queue: mpsc::Sender<Span>,
    counts: Arc<SpanCounters>,
    stop: CancellationToken,
    exporter: Mutex<Option<JoinHandle<()>>>,
}

impl Tracer {
    /// Starts the export; the collector need not be reachable yet. Must be called within a Tokio runtime.
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

    /// Begins the span of a request; `None` if the request is not recorded and passes unchanged.
    ///
    /// `incoming` is the trace context of the request, whose sender has decided for the whole trace. A request without a
    /// context starts a trace, as often as the configured ratio says.
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

    /// Queues a span, or drops it when the queue is full.
    pub fn record(&self, span: Span) {
        let counts = &self.shared.counts;
        counts.recorded.inc();
        if self.shared.queue.try_send(span).is_err() {
            counts.dropped.inc();
        }
    }

    /// The numbers of spans so far.
    pub fn counts(&self) -> SpanCounts {
        let counts = &self.shared.counts;
        SpanCounts { exported: counts.exported.get(), dropped: counts.dropped.get() }
    }

    /// Exports the queued spans, for at most `limit`. Spans that are left then, or that are recorded later, are dropped.
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
