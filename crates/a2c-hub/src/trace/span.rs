//! The span of a routed request.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use a2c_protocol::ErrorCode;
use a2c_protocol::trace::{SpanId, TraceContext};

use crate::metrics::RequestOutcome;

/// A span that has begun.
#[derive(Debug, Clone, Copy)]
pub struct StartedSpan {
    pub(super) context: TraceContext,
    pub(super) parent: Option<SpanId>,
    pub(super) time: SystemTime,
    pub(super) begin: Instant,
}

impl StartedSpan {
    /// The `traceparent` for the Computer.
    pub fn context(&self) -> TraceContext {
        self.context
    }

    /// Ends the span now.
    pub fn end(self, routed: SpanAttributes) -> Span {
        // The system clock may be set in between.
        let end = self.time + self.begin.elapsed();
        Span { context: self.context, parent: self.parent, start: self.time, end, routed }
    }
}

/// The attributes of a routed request. They contain neither arguments nor answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanAttributes {
    /// The event, such as `client:tool_call`.
    pub event: Arc<str>,
    /// The office.
    pub office: Arc<str>,
    /// The Agent.
    pub agent: Arc<str>,
    /// The Computer.
    pub computer: Arc<str>,
    /// The tool.
    pub tool: Option<Arc<str>>,
    /// The outcome.
    pub outcome: RequestOutcome,
    /// The code of the error that the hub answered with.
    pub code: Option<ErrorCode>,
    /// The size of the request, attachments included.
    pub request_bytes: u64,
    /// The size of the answer, where there was one.
    pub answer_bytes: Option<u64>,
}

/// A finished span.
#[derive(Debug, Clone)]
pub struct Span {
    pub(super) context: TraceContext,
    pub(super) parent: Option<SpanId>,
    pub(super) start: SystemTime,
    pub(super) end: SystemTime,
    pub(super) routed: SpanAttributes,
}
