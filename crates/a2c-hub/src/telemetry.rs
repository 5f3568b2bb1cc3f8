//! Telemetry: one place through which the hub reports what happens to its metrics, its audit log and its traces.
//!
//! The other modules report an event once, in terms of the hub; this module decides which of the three records it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2c_protocol::office::MAX_NAME;
use a2c_protocol::trace::TraceContext;
use a2c_protocol::{ErrorBody, ErrorCode};

use crate::audit::{Arguments, AuditEvent, AuditLog, Decision, Record};
use crate::limits::address_limits::{AddressLimits, RefusalNote};
use crate::metrics::{Label as _, LimitKind, Metrics, RefusalReason, RequestKind, RequestOutcome};
use crate::office::MemberSeat;
use crate::route::envelope::Envelope;
use crate::trace::{SpanAttributes, StartedSpan, Tracer};

/// Metrics, and the audit log and tracer where they are configured.
#[derive(Default)]
pub(crate) struct Telemetry {
    pub(crate) metrics: Metrics,
    pub(crate) audit: Option<AuditLog>,
    pub(crate) tracer: Option<Tracer>,
}

/// Whom a connection belongs to: its public session id, its authenticated subject and its address.
#[derive(Debug, Clone)]
pub(crate) struct ClientIdentity {
    pub(crate) sid: Arc<str>,
    pub(crate) subject: Arc<str>,
    pub(crate) address: SocketAddr,
}

/// What the hub keeps of a call in flight for its metrics, its audit record and its span.
#[derive(Debug)]
pub(crate) struct CallTelemetry {
    kind: RequestKind,
    started: Instant,
    request_bytes: u64,
    /// Present only where an audit log or a span needs more than numbers.
    details: Option<Box<CallDetails>>,
}

#[derive(Debug)]
struct CallDetails {
    identity: ClientIdentity,
    event: Arc<str>,
    agent: MemberSeat,
    computer: Arc<str>,
    tool: Option<Arc<str>>,
    req_id: Option<Arc<str>>,
    arguments: Option<Arguments>,
    span: Option<StartedSpan>,
}

impl CallTelemetry {
    /// The kind of the request.
    pub(crate) fn request(&self) -> &'static str {
        self.kind.value()
    }

    /// The name of the tool, where the hub keeps it.
    pub(crate) fn tool(&self) -> Option<&str> {
        self.details.as_ref()?.tool.as_deref()
    }

    /// The time since the call began.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }
}

/// A request that is about to be sent to a Computer.
pub(crate) struct CallStart<'a> {
    pub(crate) event: &'a str,
    pub(crate) identity: &'a ClientIdentity,
    pub(crate) agent: &'a MemberSeat,
    pub(crate) computer: &'a str,
    pub(crate) tool: Option<&'a str>,
    pub(crate) req_id: Option<&'a str>,
    pub(crate) arguments: Option<Arguments>,
    pub(crate) bytes: usize,
    pub(crate) span: Option<StartedSpan>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallEnd {
    pub(crate) outcome: RequestOutcome,
    pub(crate) code: Option<ErrorCode>,
    pub(crate) answer_bytes: Option<usize>,
}

impl CallEnd {
    pub(crate) fn answered(bytes: usize) -> Self {
        Self { outcome: RequestOutcome::Ok, code: None, answer_bytes: Some(bytes) }
    }

    /// The request was sent to the Computer and asked for no answer.
    pub(crate) fn passed_on() -> Self {
        Self { outcome: RequestOutcome::Ok, code: None, answer_bytes: None }
    }

    pub(crate) fn with(outcome: RequestOutcome, code: ErrorCode) -> Self {
        Self { outcome, code: Some(code), answer_bytes: None }
    }

    fn decision(&self) -> Decision {
        match self.outcome {
            RequestOutcome::Ok if self.answer_bytes.is_none() => Decision::Allowed,
            RequestOutcome::Ok => Decision::Answered,
            RequestOutcome::TimedOut => Decision::TimedOut,
            RequestOutcome::ComputerLeft | RequestOutcome::AgentLeft => Decision::Gone,
            RequestOutcome::Failed | RequestOutcome::Limited => Decision::Failed,
            RequestOutcome::Malformed | RequestOutcome::Forbidden | RequestOutcome::NotFound => Decision::Refused,
        }
    }
}

impl Telemetry {
    /// Begins the span of a request, where the tracer records it.
    pub(crate) fn span(&self, traceparent: Option<&str>) -> Option<StartedSpan> {
        self.tracer.as_ref()?.begin(traceparent.and_then(TraceContext::parse))
    }

    /// The tool and the arguments of a request, where the audit log or the span needs them. They are decoded and copied
    /// here, before the switchboard takes its lock.
    pub(crate) fn tool_and_arguments(
        &self,
        envelope: &Envelope<'_>,
        has_span: bool,
    ) -> (Option<String>, Option<Arguments>) {
        let tool = if self.needs_details(has_span) { envelope.tool() } else { None };
        let arguments = self.audit.as_ref().and(envelope.params).map(|raw| Arguments::of(raw.get()));
        (tool, arguments)
    }

    fn needs_details(&self, has_span: bool) -> bool {
        self.audit.is_some() || has_span
    }

    /// Begins the telemetry of a call.
    pub(crate) fn begin_call(&self, request: CallStart<'_>) -> CallTelemetry {
        let wanted = self.needs_details(request.span.is_some());
        let (kind, started, request_bytes) = (RequestKind::of(request.event), Instant::now(), request.bytes as u64);
        let details = wanted.then(|| {
            Box::new(CallDetails {
                identity: request.identity.clone(),
                event: request.event.into(),
                agent: request.agent.clone(),
                computer: request.computer.into(),
                tool: request.tool.map(Into::into),
                req_id: request.req_id.map(Into::into),
                arguments: request.arguments,
                span: request.span,
            })
        });
        CallTelemetry { kind, started, request_bytes, details }
    }

    /// Reports the end of a call.
    pub(crate) fn end_call(&self, call: CallTelemetry, end: CallEnd) {
        let took = call.started.elapsed();
        self.metrics.call(call.kind, end.outcome, took);
        let Some(details) = call.details else { return };
        let answer_bytes = end.answer_bytes.map(|bytes| bytes as u64);
        if let (Some(tracer), Some(span)) = (&self.tracer, details.span) {
            tracer.record(span.end(SpanAttributes {
                event: details.event.clone(),
                office: details.agent.office.clone(),
                agent: details.agent.name.clone(),
                computer: details.computer.clone(),
                tool: details.tool.clone(),
                outcome: end.outcome,
                code: end.code,
                request_bytes: call.request_bytes,
                answer_bytes,
            }));
        }
        self.record(|| Record {
            tool: details.tool,
            request: Some(details.event),
            req_id: details.req_id,
            computer: Some(details.computer),
            decision: Some(end.decision()),
            code: end.code,
            duration: Some(took),
            request_bytes: Some(call.request_bytes),
            answer_bytes,
            arguments: details.arguments,
            ..seated(AuditEvent::Call, &details.identity, &details.agent)
        });
    }

    /// The hub itself answered a request.
    pub(crate) fn handled(&self, kind: RequestKind, outcome: RequestOutcome) {
        self.metrics.requests.of(kind, outcome).inc();
    }

    /// The hub refused a request to a Computer.
    pub(crate) fn call_refused(
        &self,
        identity: &ClientIdentity,
        seat: Option<&MemberSeat>,
        event: &str,
        envelope: Option<&Envelope<'_>>,
        error: &ErrorBody,
    ) {
        self.handled(RequestKind::of(event), RequestOutcome::of(error.code));
        if self.audit.is_none() && self.tracer.is_none() {
            return;
        }
        let brief = |text: String| -> Arc<str> { text[..text.floor_char_boundary(MAX_NAME)].into() };
        let computer = envelope.and_then(|e| e.computer_name().ok()).map(brief);
        let tool = envelope.and_then(Envelope::tool).map(brief);
        let req_id = envelope.and_then(|e| e.req_id.clone()).map(brief);
        let traceparent = envelope.and_then(|e| e.traceparent).map(|raw| raw.get().trim_matches('"'));
        if let (Some(tracer), Some(span), Some(seat)) = (&self.tracer, self.span(traceparent), seat) {
            tracer.record(span.end(SpanAttributes {
                event: event.into(),
                office: seat.office.clone(),
                agent: seat.name.clone(),
                computer: computer.clone().unwrap_or_default(),
                tool: tool.clone(),
                outcome: RequestOutcome::of(error.code),
                code: Some(error.code),
                request_bytes: 0,
                answer_bytes: None,
            }));
        }
        self.record(|| Record {
            request: Some(event.into()),
            computer,
            tool,
            req_id,
            decision: Some(Decision::Refused),
            code: Some(error.code),
            reason: Some(error.message.as_str().into()),
            ..match seat {
                Some(seat) => seated(AuditEvent::Call, identity, seat),
                None => of(AuditEvent::Call, identity),
            }
        });
    }

    /// The hub admitted a client.
    pub(crate) fn connected(&self, identity: &ClientIdentity) {
        self.metrics.accepted.inc();
        self.record(|| of(AuditEvent::Connected, identity));
    }

    /// The hub refused a client: counted, and written to the log and the audit log once a minute for an address and a
    /// reason, so that strangers cannot fill the disk.
    pub(crate) fn refused(&self, limits: &AddressLimits, address: SocketAddr, refusal: RefusalReason, why: &str) {
        match limits.note_refusal(address.ip(), why, Instant::now()) {
            RefusalNote::Logged { repeated } => {
                let repeated = (repeated > 0).then_some(repeated);
                tracing::warn!(%address, why, repeated, "a client was refused");
                self.record_refusal(address, why);
            }
            RefusalNote::Counted => tracing::debug!(%address, why, "a client was refused"),
        }
        self.metrics.refused.of(refusal).inc();
    }

    /// The hub refused a wrong credential, whose rate is limited: each is counted and written.
    pub(crate) fn refused_guess(&self, address: SocketAddr, why: &str) {
        tracing::warn!(%address, why, "a client was refused");
        self.metrics.refused.of(RefusalReason::Auth).inc();
        self.record_refusal(address, why);
    }

    /// The hub refused a client without an address, as there is in tests without a network.
    pub(crate) fn count_refusal(&self, refusal: RefusalReason) {
        self.metrics.refused.of(refusal).inc();
    }

    fn record_refusal(&self, address: SocketAddr, why: &str) {
        self.record(|| Record {
            address: Some(address),
            decision: Some(Decision::Refused),
            reason: Some(why.into()),
            ..Record::of(AuditEvent::Refused)
        });
    }

    /// A client disconnected.
    pub(crate) fn disconnected(&self, identity: &ClientIdentity, why: &str) {
        self.record(|| Record { reason: Some(why.into()), ..of(AuditEvent::Disconnected, identity) });
    }

    /// A member joined an office.
    pub(crate) fn joined(&self, identity: &ClientIdentity, seat: &MemberSeat) {
        self.record(|| Record { decision: Some(Decision::Allowed), ..seated(AuditEvent::Joined, identity, seat) });
    }

    /// The hub refused a join.
    pub(crate) fn join_refused(&self, identity: &ClientIdentity, wanted: &MemberSeat, why: &str) {
        self.record(|| Record {
            decision: Some(Decision::Refused),
            reason: Some(why.into()),
            ..seated(AuditEvent::JoinRefused, identity, wanted)
        });
    }

    /// A member left its office.
    pub(crate) fn left(&self, identity: &ClientIdentity, seat: &MemberSeat, why: &str) {
        self.record(|| Record { reason: Some(why.into()), ..seated(AuditEvent::Left, identity, seat) });
    }

    /// Counts a request or connection that hit a limit.
    pub(crate) fn count_limit(&self, limit: LimitKind) {
        self.metrics.limit_hits.of(limit).inc();
    }

    /// Writes to the audit log that a client hit a limit.
    pub(crate) fn limit_reached(&self, identity: &ClientIdentity, limit: &'static str) {
        self.record(|| Record { reason: Some(limit.into()), ..of(AuditEvent::Limit, identity) });
    }

    /// A client used the admin API.
    pub(crate) fn admin(&self, subject: &str, address: SocketAddr, action: &str, decision: Decision) {
        self.record(|| Record {
            subject: (!subject.is_empty()).then(|| subject.into()),
            address: Some(address),
            request: Some(action.into()),
            decision: Some(decision),
            ..Record::of(AuditEvent::Admin)
        });
    }

    /// The hub started or stopped.
    pub(crate) fn hub_event(&self, event: AuditEvent) {
        self.record(|| Record::of(event));
    }

    /// Sends the last spans, writes the last audit records and closes both.
    pub(crate) async fn finish(self: &Arc<Self>, limit: Duration) {
        if let Some(tracer) = &self.tracer {
            tracer.shutdown(limit).await;
        }
        let telemetry = self.clone();
        // Closing waits for the disk.
        let closing = tokio::task::spawn_blocking(move || telemetry.audit.as_ref().map(AuditLog::close));
        if tokio::time::timeout(limit, closing).await.is_err() {
            tracing::error!("the audit log did not close in time: its last records may be lost");
        }
    }

    fn record(&self, record: impl FnOnce() -> Record) {
        if let Some(audit) = &self.audit {
            audit.record(record());
        }
    }
}

fn of(event: AuditEvent, identity: &ClientIdentity) -> Record {
    Record {
        subject: Some(identity.subject.clone()),
        address: Some(identity.address),
        sid: Some(identity.sid.clone()),
        ..Record::of(event)
    }
}

fn seated(event: AuditEvent, identity: &ClientIdentity, seat: &MemberSeat) -> Record {
    Record {
        role: Some(seat.role),
        name: Some(seat.name.clone()),
        office: Some(seat.office.clone()),
        ..of(event, identity)
    }
}
