//! The task that exports spans: it sends them in batches, one after the other, and drops what the collector refuses.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::SpanCounters;
use super::collector::{Collector, ExportFailure, ExportRefusal};
use super::otlp::{self, TraceResource};
use super::span::Span;

/// The number of attempts for a batch, and the first pause between two; each further pause is twice as long.
const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The task that sends spans.
pub(super) struct Exporter {
    pub(super) collector: Collector,
    pub(super) resource: TraceResource,
    pub(super) queue: mpsc::Receiver<Span>,
    pub(super) counts: Arc<SpanCounters>,
    /// The largest batch, and how long its first span waits for the others.
    pub(super) batch: usize,
    pub(super) interval: Duration,
    /// Cancelled at the end: the task sends the queued spans at once.
    pub(super) stop: CancellationToken,
}

impl Exporter {
    /// Exports until the queue is closed and empty.
    pub(super) async fn run(mut self) {
        let mut is_failing = false;
        loop {
            let batch = self.next_batch().await;
            if batch.is_empty() {
                return;
            }
            let outcome = self.deliver(&batch).await;
            // A collector that fails for hours is logged once.
            match (&outcome, is_failing) {
                (Err(reason), false) => {
                    tracing::warn!(%reason, spans = batch.len(), "the trace collector does not take spans");
                }
                (Ok(()), true) => tracing::info!("the trace collector takes spans again"),
                (Err(reason), true) => tracing::debug!(%reason, spans = batch.len(), "spans dropped"),
                (Ok(()), false) => {}
            }
            is_failing = outcome.is_err();
        }
    }

    async fn next_batch(&mut self) -> Vec<Span> {
        let mut batch = Vec::new();
        let mut due = None;
        while batch.len() < self.batch {
            let room = self.batch - batch.len();
            let is_closed = self.queue.is_closed();
            tokio::select! {
                taken = self.queue.recv_many(&mut batch, room) => match taken {
                    0 => break,
                    _ => due = due.or_else(|| Some(Instant::now() + self.interval)),
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => break,
                () = self.stop.cancelled(), if !is_closed => self.queue.close(),
            }
        }
        batch
    }

    async fn deliver(&self, batch: &[Span]) -> Result<(), ExportFailure> {
        let count = batch.len() as u64;
        let body = match otlp::body(&self.resource, batch) {
            Ok(body) => body,
            Err(error) => {
                self.counts.dropped.add(count);
                return Err(ExportFailure::Encoding(error));
            }
        };
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            match self.collector.post(body.clone()).await {
                Ok(rejected) => {
                    let rejected = rejected.min(count);
                    self.counts.dropped.add(rejected);
                    self.counts.exported.add(count - rejected);
                    return Ok(());
                }
                Err(ExportRefusal::ForNow(reason, after)) if attempt < ATTEMPTS => {
                    tracing::debug!(%reason, attempt, "the trace collector is asked again");
                    sleep(after.unwrap_or(pause)).await;
                    pause *= 2;
                }
                Err(ExportRefusal::ForNow(reason, _) | ExportRefusal::Forever(reason)) => {
                    self.counts.dropped.add(count);
                    return Err(reason);
                }
            }
        }
        Ok(())
    }
}
