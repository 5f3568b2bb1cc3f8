//! The metrics of the hub, and their text for Prometheus.
//!
//! How a number flows: the hub adds to a [`Counter`] of [`Metrics`], which costs a relaxed addition and neither a lock nor
//! a lookup; gauges (members, calls in flight) are taken as a [`Snapshot`] when the metrics are read. Labels are closed
//! lists ([`Label`]): no label value comes from a member.

mod cells;
mod exposition;
mod labels;
mod process;

use std::time::Duration;

use a2c_protocol::{PROTOCOL_VERSION, Role};

pub use cells::{Counter, CounterTable, Counters, Histogram};
use exposition::Exposition;
pub use labels::{DurationKind, Label, LimitKind, RefusalReason, RequestKind, RequestOutcome};
use process::ProcessStats;

/// The media type of [`Metrics::text`].
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All counters and histograms.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Admitted connections.
    pub accepted: Counter,
    /// Refused connections, by reason.
    pub refused: Counters<RefusalReason>,
    /// Finished requests, by kind and outcome. [`Metrics::call`] counts those that went to a Computer.
    pub requests: CounterTable<RequestKind, RequestOutcome>,
    /// Bytes of packets received, attachments included.
    pub received_bytes: Counter,
    /// Bytes of packets sent, attachments included.
    pub sent_bytes: Counter,
    /// Notifications to the members of an office; one counts once, for any number of members.
    pub broadcasts: Counter,
    /// Answers without a pending call: too late, sent twice, or never asked for.
    pub unclaimed_answers: Counter,
    /// Requests and connections that hit a limit, by limit.
    pub limit_hits: Counters<LimitKind>,
    /// Members that were disconnected because they read too slowly.
    pub slow_members: Counter,
    /// Failed TLS handshakes.
    pub tls_failures: Counter,
    tool_calls: Histogram,
    other_calls: Histogram,
}

/// The values of the gauges at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Open connections.
    pub connections: u64,
    /// Agents in an office.
    pub agents: u64,
    /// Computers in an office.
    pub computers: u64,
    /// Offices with at least one member.
    pub offices: u64,
    /// Calls that wait for their answer.
    pub calls_in_flight: u64,
    /// Audit records that could not be written.
    pub audit_records_lost: u64,
    /// Spans that the collector accepted.
    pub spans_exported: u64,
    /// Spans that did not reach the collector.
    pub spans_dropped: u64,
}

impl Metrics {
    /// Counts a finished call: its outcome and its duration from the request to the answer.
    ///
    /// A call that the hub refused has no duration and is counted only in [`Metrics::requests`].
    pub fn call(&self, kind: RequestKind, outcome: RequestOutcome, took: Duration) {
        self.requests.of(kind, outcome).inc();
        self.durations(kind.timed()).observe(took);
    }

    fn durations(&self, timed: DurationKind) -> &Histogram {
        match timed {
            DurationKind::ToolCall => &self.tool_calls,
            DurationKind::Other => &self.other_calls,
        }
    }

    /// The text for Prometheus, in the format of [`CONTENT_TYPE`].
    pub fn text(&self, now: Snapshot) -> String {
        let mut text = Exposition::default();
        let (version, protocol) = (env!("CARGO_PKG_VERSION"), PROTOCOL_VERSION.to_string());
        let build = [("version", version), ("protocol", &*protocol)];
        text.info("a2c_hub_build_info", "The version of the hub and of the protocol it speaks.", &build);
        text.gauge("a2c_hub_connections", "Open connections, members of an office or not.", now.connections);
        text.gauges("a2c_hub_members", "Members of offices.", |role| match role {
            Role::Agent => now.agents,
            Role::Computer => now.computers,
        });
        text.gauge("a2c_hub_offices", "Offices with at least one member.", now.offices);
        text.gauge("a2c_hub_calls_in_flight", "Calls that wait for the answer of a Computer.", now.calls_in_flight);

        text.counter("a2c_hub_connections_accepted_total", "Connections that were let in.", self.accepted.get());
        text.counters("a2c_hub_connections_refused_total", "Connections that were not let in.", &self.refused);
        text.counter("a2c_hub_tls_handshakes_failed_total", "TLS handshakes that failed.", self.tls_failures.get());
        text.grid("a2c_hub_requests_total", "Requests that are over.", &self.requests);
        let help = "How long routed calls took, from the request to its answer.";
        text.histograms("a2c_hub_call_duration_seconds", help, |timed| self.durations(timed));
        text.counter("a2c_hub_received_bytes_total", "Bytes of packets received.", self.received_bytes.get());
        text.counter("a2c_hub_sent_bytes_total", "Bytes of packets sent.", self.sent_bytes.get());
        text.counter("a2c_hub_broadcasts_total", "Notifications to the members of an office.", self.broadcasts.get());
        let help = "Answers without a pending call.";
        text.counter("a2c_hub_unclaimed_answers_total", help, self.unclaimed_answers.get());
        text.counters("a2c_hub_limit_hits_total", "How often a limit was met.", &self.limit_hits);
        let help = "Members that were disconnected because they did not read.";
        text.counter("a2c_hub_slow_members_disconnected_total", help, self.slow_members.get());
        let help = "Audit records that could not be written.";
        text.counter("a2c_hub_audit_records_lost_total", help, now.audit_records_lost);
        text.counter("a2c_hub_spans_exported_total", "Spans that the collector took.", now.spans_exported);
        text.counter("a2c_hub_spans_dropped_total", "Spans that never reached the collector.", now.spans_dropped);
        if let Some(process) = ProcessStats::read() {
            about(&mut text, process);
        }
        text.finish()
    }
}

/// The metrics of the process, under the names that all Prometheus clients use.
fn about(text: &mut Exposition, process: ProcessStats) {
    let start = process.start_time;
    text.gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", start);
    text.counter("process_cpu_seconds_total", "Processor time used.", process.cpu_seconds);
    text.gauge("process_resident_memory_bytes", "Memory in use.", process.resident_bytes);
    text.gauge("process_open_fds", "Open file descriptors.", process.open_fds);
    if let Some(max) = process.max_fds {
        text.gauge("process_max_fds", "How many file descriptors may be open.", max);
    }
}
