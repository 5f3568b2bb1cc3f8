//! Spans as a collector gets them that decodes with OpenTelemetry's own messages.

use std::time::Duration;

use a2c_hub::metrics::RequestOutcome;
use a2c_hub::trace::{OtlpConfig, SpanAttributes, SpanCounts, TraceContext, Tracer};
use a2c_protocol::ErrorCode;
use a2c_testbed::{PATIENCE, Peer, python_script};
use serde_json::{Value, json};

const INCOMING: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn collector(answers: &[&str]) -> Peer {
    let mut command = python_script("otlp_collector.py");
    command.args(answers);
    Peer::ready(command)
}

/// A tracer whose spans go out when there are `batch` of them, or when it is shut down.
fn tracer(collector: &Peer, batch: usize) -> Tracer {
    let mut config = OtlpConfig::to(collector.address());
    config.headers = vec![("x-key".into(), "s3cret".into())];
    config.batch = batch;
    config.interval = PATIENCE;
    Tracer::start(config).unwrap()
}

fn routed(event: &str) -> SpanAttributes {
    SpanAttributes {
        event: event.into(),
        office: "o".into(),
        agent: "me".into(),
        computer: "desk 世界".into(),
        tool: Some("echo".into()),
        outcome: RequestOutcome::Ok,
        code: None,
        request_bytes: 120,
        answer_bytes: Some(1 << 53),
    }
}

fn record(tracer: &Tracer, count: usize) {
    for _ in 0..count {
        tracer.record(tracer.begin(None).unwrap().end(routed("client:tool_call")));
    }
}

/// The next request that the collector got.
fn got(collector: &Peer) -> Value {
    let line = collector.line_where(PATIENCE, |line| line.starts_with('{'));
    let request: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(request["error"], Value::Null, "the collector did not understand: {line}");
    request
}

fn counts(exported: u64, dropped: u64) -> SpanCounts {
    SpanCounts { exported, dropped }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_span_names_agent_computer_and_tool() {
    let collector = collector(&[]);
    let tracer = tracer(&collector, 2);
    let parent = TraceContext::parse(INCOMING).unwrap();
    let started = tracer.begin(Some(parent)).unwrap();
    let forwarded = started.context();
    assert_eq!(forwarded.trace_id(), parent.trace_id());
    assert_ne!(forwarded.span_id(), parent.span_id());
    tracer.record(started.end(routed("client:tool_call")));
    let gone = SpanAttributes {
        tool: None,
        outcome: RequestOutcome::ComputerLeft,
        code: Some(ErrorCode::NotFound),
        answer_bytes: None,
        ..routed("client:get_skills")
    };
    tracer.record(tracer.begin(None).unwrap().end(gone));

    let request = got(&collector);
    assert_eq!(request["key"], "s3cret");
    let (call, skills) = (&request["spans"][0], &request["spans"][1]);
    assert_eq!(call["name"], "client:tool_call");
    assert_eq!((&call["kind"], &call["scope"]), (&json!(2), &json!("a2c-hub")));
    assert_eq!(call["resource"]["service.name"], "a2c-hub");
    assert_eq!(call["resource"]["service.version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(call["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(call["span_id"], forwarded.span_id().to_string());
    assert_eq!(call["parent_span_id"], "00f067aa0ba902b7");
    assert_eq!(call["flags"], 0x301);
    assert!(call["start"].as_u64().unwrap() <= call["end"].as_u64().unwrap(), "{call}");
    let expected = json!({
        "a2c.event": "client:tool_call", "a2c.office": "o", "a2c.agent": "me", "a2c.computer": "desk 世界",
        "a2c.tool": "echo", "a2c.outcome": "ok", "a2c.request.size": 120, "a2c.answer.size": 1u64 << 53,
    });
    assert_eq!(call["attributes"], expected);
    assert_eq!(call["status"], json!([0, ""]));

    assert_eq!(skills["name"], "client:other");
    assert_eq!((&skills["parent_span_id"], &skills["flags"]), (&json!(""), &json!(0x101)));
    let expected = json!({
        "a2c.event": "client:get_skills", "a2c.office": "o", "a2c.agent": "me", "a2c.computer": "desk 世界",
        "a2c.outcome": "computer_left", "a2c.code": 404, "a2c.request.size": 120, "error.type": "computer_left",
    });
    assert_eq!(skills["attributes"], expected);
    assert_eq!(skills["status"], json!([2, "computer_left"]));
    tracer.shutdown(PATIENCE).await;
    assert_eq!(tracer.counts(), counts(2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sender_decides_whether_a_trace_is_recorded() {
    let collector = collector(&[]);
    let tracer = |ratio| {
        let mut config = OtlpConfig::to(collector.address());
        config.ratio = ratio;
        Tracer::start(config)
    };
    let unsampled = TraceContext::parse(&INCOMING.replace("-01", "-00"));
    assert!(unsampled.is_some());
    let (all, none) = (tracer(1.0).unwrap(), tracer(0.0).unwrap());
    assert!(all.begin(unsampled).is_none());
    assert!(all.begin(None).is_some_and(|started| started.context().is_sampled()));
    assert!(none.begin(TraceContext::parse(INCOMING)).is_some());
    assert!((0..1000).all(|_| none.begin(None).is_none()));
    assert!(tracer(1.5).is_err() && tracer(f64::NAN).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_sends_the_queued_spans() {
    let collector = collector(&[]);
    let tracer = tracer(&collector, 4);
    record(&tracer, 10);
    tracer.shutdown(PATIENCE).await;
    assert_eq!(tracer.counts(), counts(10, 0));
    let sizes: Vec<usize> = (0..3).map(|_| got(&collector)["spans"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [4, 4, 2]);
    record(&tracer, 1);
    assert_eq!(tracer.counts(), counts(10, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_collector_is_tried_again() {
    let collector = collector(&["503", "429", "200"]);
    let tracer = tracer(&collector, 4);
    record(&tracer, 3);
    tracer.shutdown(PATIENCE).await;
    assert_eq!(tracer.counts(), counts(3, 0));
    let requests = [got(&collector), got(&collector), got(&collector)];
    assert!(requests.iter().all(|request| request["spans"] == requests[0]["spans"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_spans_are_dropped_and_counted() {
    let collector = collector(&["400", "partial:2", "307", "200"]);
    let tracer = tracer(&collector, 3);
    record(&tracer, 10);
    tracer.shutdown(PATIENCE).await;
    // All three, two of three, all three, none of the last one.
    assert_eq!(tracer.counts(), counts(2, 8));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_drops_and_never_blocks() {
    let collector = collector(&["hang"]);
    let mut config = OtlpConfig::to(collector.address());
    (config.queue, config.batch, config.interval, config.timeout) = (8, 4, PATIENCE, PATIENCE);
    let tracer = Tracer::start(config).unwrap();
    record(&tracer, 4);
    // The first batch is with the collector and stays there; the queue takes eight more.
    assert_eq!(got(&collector)["spans"].as_array().unwrap().len(), 4);
    record(&tracer, 10);
    assert_eq!(tracer.counts(), counts(0, 2));
    tracer.shutdown(Duration::from_millis(10)).await;
    assert_eq!(tracer.counts(), counts(0, 14));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_collector_costs_only_spans() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let tracer = Tracer::start(OtlpConfig::to(endpoint)).unwrap();
    record(&tracer, 3);
    tracer.shutdown(Duration::from_millis(10)).await;
    assert_eq!(tracer.counts(), counts(0, 3));
}

#[test]
fn no_credential_shows_in_the_configuration() {
    let mut config = OtlpConfig::to("http://me:s3cret@collector:4318");
    config.headers = vec![("authorization".into(), "Bearer s3cret".into())];
    let shown = format!("{config:?}");
    assert!(shown.contains("authorization") && !shown.contains("s3cret"), "{shown}");
}
