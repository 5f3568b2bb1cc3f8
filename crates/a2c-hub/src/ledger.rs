//! What is kept account of: counters for the operator's dashboards, records for the audit, spans for traces.
//!
//! Whatever happens in the hub is told here once, in the words of the hub; who is interested in what is decided here.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2c_protocol::office::MAX_NAME;
use a2c_protocol::trace::TraceContext;
use a2c_protocol::{ErrorBody, ErrorCode};

use crate::audit::{Arguments, AuditLog, Decision, Event, Record};
use crate::metrics::{Kind, Label as _, Limit, Metrics, Outcome, Refusal};
use crate::office::Seat;
use crate::route::envelope::Envelope;
use crate::trace::{Routed, Started, Tracer};

/// The books.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) metrics: Metrics,
    pub(crate) audit: Option<AuditLog>,
    pub(crate) tracer: Option<Tracer>,
}

/// Who is behind a connection.
#[derive(Debug, Clone)]
pub(crate) struct Who {
    pub(crate) sid: Arc<str>,
    pub(crate) subject: Arc<str>,
    pub(crate) address: SocketAddr,
}

/// What is written down about a call once it is over.
#[derive(Debug)]
pub(crate) struct Account {
    kind: Kind,
    started: Instant,
    request_bytes: u64,
    /// Only where somebody wants to know more than numbers.
    details: Option<Box<Details>>,
}

#[derive(Debug)]
struct Details {
    who: Who,
    event: Arc<str>,
    agent: Seat,
    computer: Arc<str>,
    tool: Option<Arc<str>>,
    req_id: Option<Arc<str>>,
    arguments: Option<Arguments>,
    span: Option<Started>,
}

impl Account {
    /// What kind of request it was.
    pub(crate) fn request(&self) -> &'static str {
        self.kind.value()
    }

    /// For which tool, where that is known.
    pub(crate) fn tool(&self) -> Option<&str> {
        self.details.as_ref()?.tool.as_deref()
    }

    /// How long it has been running.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }
}

/// A request on its way to a Computer.
pub(crate) struct Request<'a> {
    pub(crate) event: &'a str,
    pub(crate) who: &'a Who,
    pub(crate) agent: &'a Seat,
    pub(crate) computer: &'a str,
    pub(crate) tool: Option<&'a str>,
    pub(crate) req_id: Option<&'a str>,
    pub(crate) arguments: Option<&'a str>,
    pub(crate) bytes: usize,
    pub(crate) span: Option<Started>,
}

/// How a request ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) outcome: Outcome,
    pub(crate) code: Option<ErrorCode>,
    pub(crate) answer_bytes: Option<usize>,
}

impl End {
    pub(crate) fn answered(bytes: usize) -> Self {
        Self { outcome: Outcome::Ok, code: None, answer_bytes: Some(bytes) }
    }

    /// It went to the Computer, and nobody asked for an answer.
    pub(crate) fn passed_on() -> Self {
        Self { outcome: Outcome::Ok, code: None, answer_bytes: None }
    }

    pub(crate) fn with(outcome: Outcome, code: ErrorCode) -> Self {
        Self { outcome, code: Some(code), answer_bytes: None }
    }

    fn decision(&self) -> Decision {
        match self.outcome {
            Outcome::Ok if self.answer_bytes.is_none() => Decision::Allowed,
            Outcome::Ok => Decision::Answered,
            Outcome::TimedOut => Decision::TimedOut,
            Outcome::ComputerLeft | Outcome::AgentLeft => Decision::Gone,
            Outcome::Failed | Outcome::Limited => Decision::Failed,
            Outcome::Malformed | Outcome::Forbidden | Outcome::NotFound => Decision::Refused,
        }
    }
}

impl Ledger {
    /// Begins the span of a request where spans are recorded.
    pub(crate) fn span(&self, traceparent: Option<&str>) -> Option<Started> {
        self.tracer.as_ref()?.begin(traceparent.and_then(TraceContext::parse))
    }

    /// Opens the account of a call.
    pub(crate) fn open(&self, request: &Request<'_>) -> Account {
        let wanted = self.audit.is_some() || request.span.is_some();
        let details = wanted.then(|| {
            Box::new(Details {
                who: request.who.clone(),
                event: request.event.into(),
                agent: request.agent.clone(),
                computer: request.computer.into(),
                tool: request.tool.map(Into::into),
                req_id: request.req_id.map(Into::into),
                arguments: self.audit.as_ref().and(request.arguments).map(Arguments::of),
                span: request.span,
            })
        });
        let (kind, started) = (Kind::of(request.event), Instant::now());
        Account { kind, started, request_bytes: request.bytes as u64, details }
    }

    /// Closes the account of a call: it is over.
    pub(crate) fn close(&self, account: Account, end: End) {
        let took = account.started.elapsed();
        self.metrics.call(account.kind, end.outcome, took);
        let Some(details) = account.details else { return };
        let answer_bytes = end.answer_bytes.map(|bytes| bytes as u64);
        if let (Some(tracer), Some(span)) = (&self.tracer, details.span) {
            tracer.record(span.end(Routed {
                event: details.event.clone(),
                office: details.agent.office.clone(),
                agent: details.agent.name.clone(),
                computer: details.computer.clone(),
                tool: details.tool.clone(),
                outcome: end.outcome,
                code: end.code,
                request_bytes: account.request_bytes,
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
            request_bytes: Some(account.request_bytes),
            answer_bytes,
            arguments: details.arguments,
            ..seated(Event::Call, &details.who, &details.agent)
        });
    }

    /// A request was answered by the hub itself.
    pub(crate) fn handled(&self, kind: Kind, outcome: Outcome) {
        self.metrics.requests.of(kind, outcome).inc();
    }

    /// A request to a Computer was refused.
    pub(crate) fn call_refused(
        &self,
        who: &Who,
        seat: Option<&Seat>,
        event: &str,
        envelope: Option<&Envelope<'_>>,
        error: &ErrorBody,
    ) {
        self.handled(Kind::of(event), Outcome::of(error.code));
        if self.audit.is_none() && self.tracer.is_none() {
            return;
        }
        let brief = |text: String| -> Arc<str> { text[..text.floor_char_boundary(MAX_NAME)].into() };
        let computer = envelope.and_then(|e| e.computer_name().ok()).map(brief);
        let tool = envelope.and_then(Envelope::tool).map(brief);
        let req_id = envelope.and_then(|e| e.req_id.clone()).map(brief);
        let traceparent = envelope.and_then(|e| e.traceparent).map(|raw| raw.get().trim_matches('"'));
        if let (Some(tracer), Some(span), Some(seat)) = (&self.tracer, self.span(traceparent), seat) {
            tracer.record(span.end(Routed {
                event: event.into(),
                office: seat.office.clone(),
                agent: seat.name.clone(),
                computer: computer.clone().unwrap_or_default(),
                tool: tool.clone(),
                outcome: Outcome::of(error.code),
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
                Some(seat) => seated(Event::Call, who, seat),
                None => of(Event::Call, who),
            }
        });
    }

    /// A client was let in.
    pub(crate) fn connected(&self, who: &Who) {
        self.metrics.accepted.inc();
        self.record(|| of(Event::Connected, who));
    }

    /// A client was not let in.
    pub(crate) fn refused(&self, address: SocketAddr, refusal: Refusal, why: &str) {
        self.metrics.refused.of(refusal).inc();
        self.refusal(address, why);
    }

    /// A client was not let in, which is only worth counting.
    pub(crate) fn turned_away(&self, refusal: Refusal) {
        self.metrics.refused.of(refusal).inc();
    }

    fn refusal(&self, address: SocketAddr, why: &str) {
        self.record(|| Record {
            address: Some(address),
            decision: Some(Decision::Refused),
            reason: Some(why.into()),
            ..Record::of(Event::Refused)
        });
    }

    /// A client is gone.
    pub(crate) fn disconnected(&self, who: &Who, why: &str) {
        self.record(|| Record { reason: Some(why.into()), ..of(Event::Disconnected, who) });
    }

    /// A member took a seat.
    pub(crate) fn joined(&self, who: &Who, seat: &Seat) {
        self.record(|| Record { decision: Some(Decision::Allowed), ..seated(Event::Joined, who, seat) });
    }

    /// It was not given one.
    pub(crate) fn join_refused(&self, who: &Who, wanted: &Seat, why: &str) {
        self.record(|| Record {
            decision: Some(Decision::Refused),
            reason: Some(why.into()),
            ..seated(Event::JoinRefused, who, wanted)
        });
    }

    /// A member gave up its seat.
    pub(crate) fn left(&self, who: &Who, seat: &Seat, why: &str) {
        self.record(|| Record { reason: Some(why.into()), ..seated(Event::Left, who, seat) });
    }

    /// A limit was met.
    pub(crate) fn limit(&self, limit: Limit) {
        self.metrics.limit_hits.of(limit).inc();
    }

    /// A limit was met by somebody of whom it is worth writing down.
    pub(crate) fn offender(&self, who: &Who, limit: &'static str) {
        self.record(|| Record { reason: Some(limit.into()), ..of(Event::Limit, who) });
    }

    /// Somebody used the admin API.
    pub(crate) fn admin(&self, subject: &str, address: SocketAddr, action: &str, decision: Decision) {
        self.record(|| Record {
            subject: (!subject.is_empty()).then(|| subject.into()),
            address: Some(address),
            request: Some(action.into()),
            decision: Some(decision),
            ..Record::of(Event::Admin)
        });
    }

    /// The hub begins or ends.
    pub(crate) fn hub(&self, event: Event) {
        self.record(|| Record::of(event));
    }

    /// Writes down what is left, and ends.
    pub(crate) async fn finish(self: &Arc<Self>, limit: Duration) {
        if let Some(tracer) = &self.tracer {
            tracer.shutdown(limit).await;
        }
        let ledger = self.clone();
        // The disk may take its time.
        let closing = tokio::task::spawn_blocking(move || ledger.audit.as_ref().map(AuditLog::close));
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

fn of(event: Event, who: &Who) -> Record {
    Record {
        subject: Some(who.subject.clone()),
        address: Some(who.address),
        sid: Some(who.sid.clone()),
        ..Record::of(event)
    }
}

fn seated(event: Event, who: &Who, seat: &Seat) -> Record {
    Record { role: Some(seat.role), name: Some(seat.name.clone()), office: Some(seat.office.clone()), ..of(event, who) }
}
