//! A request, and the trace that it is part of.

use a2c_protocol::trace::TraceContext;
use serde::Serialize;

/// A request with its trace context next to its other fields.
#[derive(Serialize)]
pub(crate) struct Traced<'a, R> {
    #[serde(flatten)]
    request: &'a R,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<String>,
}

impl<'a, R> Traced<'a, R> {
    pub(crate) fn new(request: &'a R, trace: Option<TraceContext>) -> Self {
        Self { request, traceparent: trace.map(|trace| trace.to_string()) }
    }
}
