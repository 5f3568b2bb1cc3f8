//! What the hub counts, and the text in which Prometheus reads it.
//!
//! How a number flows: whoever does something adds to a [`Counter`] of [`Metrics`], which costs a relaxed addition and
//! neither a lock nor a lookup; what can be counted at any time (members, calls in flight) is not counted along the way
//! but handed over as a [`Snapshot`] when somebody reads. Labels are closed lists ([`Label`]): nothing that a member
//! sends becomes part of a name.

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

/// Everything that is counted while it happens.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Connections that were let in.
    pub accepted: Counter,
    /// Connections that were not, by reason.
    pub refused: Counters<RefusalReason>,
    /// Requests that are over, by kind and outcome. See [`Metrics::call`] for those that went to a Computer.
    pub requests: CounterTable<RequestKind, RequestOutcome>,
    /// Bytes of packets received, attachments included.
    pub received_bytes: Counter,
    /// Bytes of packets sent, attachments included.
    pub sent_bytes: Counter,
    /// Notifications to the members of an office; one counts once, however many members hear it.
    pub broadcasts: Counter,
    /// Answers that nobody waited for: too late, sent twice, or never asked for.
    pub unclaimed_answers: Counter,
    /// How often a limit was met.
    pub limit_hits: Counters<LimitKind>,
    /// Members that were disconnected because they did not read what was sent to them.
    pub slow_members: Counter,
    /// TLS handshakes that did not come to an end.
    pub tls_failures: Counter,
    tool_calls: Histogram,
    other_calls: Histogram,
}

/// What is not counted along the way, as it is when somebody reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Open connections, members or not.
    pub connections: u64,
    /// Agents that sit in an office.
    pub agents: u64,
    /// Computers that sit in an office.
    pub computers: u64,
    /// Offices with at least one member.
    pub offices: u64,
    /// Calls that wait for their answer.
    pub calls_in_flight: u64,
    /// Audit records that could not be written.
    pub audit_records_lost: u64,
    /// Spans that the collector took.
    pub spans_exported: u64,
    /// Spans that never reached it.
    pub spans_dropped: u64,
}

impl Metrics {
    /// Counts a routed call that is over: its outcome, and how long it took from the request to the answer.
    ///
    /// A call that was refused before it was sent to a Computer took no time worth knowing; it goes to
    /// [`Metrics::requests`] alone.
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

    /// Everything, as Prometheus reads it; [`CONTENT_TYPE`] says which format that is.
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
        let help = "Answers that nobody waited for.";
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

/// The process, under the names that every Prometheus client uses and dashboards expect.
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
