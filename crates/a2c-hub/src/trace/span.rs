//! One routed request as a span.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use a2c_protocol::ErrorCode;
use a2c_protocol::trace::{SpanId, TraceContext};

use crate::metrics::RequestOutcome;

/// A span that has begun: what the Computer gets to see of it, and what is needed to end it.
#[derive(Debug, Clone, Copy)]
pub struct StartedSpan {
    pub(super) context: TraceContext,
    pub(super) parent: Option<SpanId>,
    pub(super) time: SystemTime,
    pub(super) begin: Instant,
}

impl StartedSpan {
    /// The `traceparent` to pass on.
    pub fn context(&self) -> TraceContext {
        self.context
    }

    /// Ends the span now.
    pub fn end(self, routed: SpanAttributes) -> Span {
        // The clock on the wall may be set in between.
        let end = self.time + self.begin.elapsed();
        Span { context: self.context, parent: self.parent, start: self.time, end, routed }
    }
}

/// What is told about a routed request. Arguments and answers are not: what is in them is between the Agent and the
/// Computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanAttributes {
    /// The event, such as `client:tool_call`.
    pub event: Arc<str>,
    /// In which office.
    pub office: Arc<str>,
    /// Who asked.
    pub agent: Arc<str>,
    /// Who was asked.
    pub computer: Arc<str>,
    /// For which tool.
    pub tool: Option<Arc<str>>,
    /// What became of it.
    pub outcome: RequestOutcome,
    /// The code of the error that the hub answered with.
    pub code: Option<ErrorCode>,
    /// The size of the request, attachments included.
    pub request_bytes: u64,
    /// The size of the answer, where one came.
    pub answer_bytes: Option<u64>,
}

/// A span that is over.
#[derive(Debug, Clone)]
pub struct Span {
    pub(super) context: TraceContext,
    pub(super) parent: Option<SpanId>,
    pub(super) start: SystemTime,
    pub(super) end: SystemTime,
    pub(super) routed: SpanAttributes,
}
