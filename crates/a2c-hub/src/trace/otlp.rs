//! Encodes spans as OTLP JSON: resource → scope → spans.
//!
//! The encoding is protobuf's JSON with two rules of OTLP: ids are hexadecimal digits (not base64), enums are numbers.
//! 64-bit numbers are strings, as in all of protobuf's JSON. Fields with their default value are left out.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use serde::Serialize;

use super::span::{Span, SpanAttributes};
use crate::metrics::{Label as _, RequestKind, RequestOutcome};

/// `SPAN_KIND_SERVER`: the parent span belongs to another process.
const KIND_SERVER: u8 = 2;

/// `STATUS_CODE_ERROR`.
const STATUS_ERROR: u8 = 2;

/// `SpanFlags`: the field says whether the parent is in another process; the parent is.
const HAS_IS_REMOTE: u32 = 0x100;
const IS_REMOTE: u32 = 0x200;

/// The longest text of an attribute, in bytes, so that no client can make a span large.
const MAX_TEXT: usize = 256;

/// The hub as the sender of spans.
#[derive(Debug)]
pub(super) struct TraceResource {
    pub(super) service: String,
    /// The id of this run of the hub.
    pub(super) instance: String,
}

/// The body of an export request.
pub(super) fn body(resource: &TraceResource, spans: &[Span]) -> Result<Bytes, serde_json::Error> {
    let version = env!("CARGO_PKG_VERSION");
    let attributes = vec![
        text("service.name", &resource.service),
        text("service.version", version),
        text("service.instance.id", &resource.instance),
    ];
    let scope = Scope { name: env!("CARGO_PKG_NAME"), version };
    let scope_spans = [ScopeSpans { scope, spans: spans.iter().map(wire).collect() }];
    let export = Export { resource_spans: [ResourceSpans { resource: Attributes { attributes }, scope_spans }] };
    serde_json::to_vec(&export).map(Bytes::from)
}

fn wire(span: &Span) -> WireSpan<'_> {
    let routed = &span.routed;
    let remote = if span.parent.is_some() { IS_REMOTE } else { 0 };
    let failed = (routed.outcome != RequestOutcome::Ok).then(|| routed.outcome.value());
    WireSpan {
        trace_id: span.context.trace_id().to_string(),
        span_id: span.context.span_id().to_string(),
        parent_span_id: span.parent.map(|parent| parent.to_string()),
        flags: u32::from(span.context.flags()) | HAS_IS_REMOTE | remote,
        // Span names group spans, so an event name from a client is only an attribute.
        name: format!("client:{}", RequestKind::of(&routed.event).value()),
        kind: KIND_SERVER,
        start_time_unix_nano: nanos(span.start),
        end_time_unix_nano: nanos(span.end),
        attributes: attributes(routed),
        status: failed.map(|message| SpanStatus { code: STATUS_ERROR, message }),
    }
}

fn attributes(routed: &SpanAttributes) -> Vec<Attribute<'_>> {
    let mut attributes = vec![
        text("a2c.event", &routed.event),
        text("a2c.office", &routed.office),
        text("a2c.agent", &routed.agent),
        text("a2c.computer", &routed.computer),
        text("a2c.outcome", routed.outcome.value()),
        number("a2c.request.size", routed.request_bytes),
    ];
    attributes.extend(routed.tool.as_deref().map(|tool| text("a2c.tool", tool)));
    attributes.extend(routed.answer_bytes.map(|size| number("a2c.answer.size", size)));
    attributes.extend(routed.code.map(|code| number("a2c.code", code.number())));
    if routed.outcome != RequestOutcome::Ok {
        attributes.push(text("error.type", routed.outcome.value()));
    }
    attributes
}

fn text<'a>(key: &'static str, value: &'a str) -> Attribute<'a> {
    Attribute { key, value: AnyValue::StringValue(&value[..value.floor_char_boundary(MAX_TEXT)]) }
}

fn number(key: &'static str, value: impl Into<i128>) -> Attribute<'static> {
    Attribute { key, value: AnyValue::IntValue(value.into().to_string()) }
}

fn nanos(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Export<'a> {
    resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a> {
    resource: Attributes<'a>,
    scope_spans: [ScopeSpans<'a>; 1],
}

#[derive(Serialize)]
struct Attributes<'a> {
    attributes: Vec<Attribute<'a>>,
}

#[derive(Serialize)]
struct ScopeSpans<'a> {
    scope: Scope,
    spans: Vec<WireSpan<'a>>,
}

#[derive(Serialize)]
struct Scope {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireSpan<'a> {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    flags: u32,
    name: String,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<Attribute<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<SpanStatus>,
}

#[derive(Serialize)]
struct SpanStatus {
    code: u8,
    message: &'static str,
}

#[derive(Serialize)]
struct Attribute<'a> {
    key: &'static str,
    value: AnyValue<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum AnyValue<'a> {
    StringValue(&'a str),
    IntValue(String),
}
