//! The metrics as the official Python client of Prometheus reads them.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use a2c_hub::metrics::{Label as _, LimitKind, Metrics, RefusalReason, RequestKind, RequestOutcome, Snapshot};
use a2c_testbed::python_script;
use serde_json::{Value, json};

/// What a reader understands of a text.
fn read(text: &str) -> Value {
    let mut reader = python_script("prometheus_text.py")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    reader.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = reader.wait_with_output().unwrap();
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The value of the one sample with these labels.
fn value(families: &Value, family: &str, sample: &str, labels: &Value) -> f64 {
    let samples = families[family]["samples"].as_array().unwrap_or_else(|| panic!("{family} is not there"));
    let found: Vec<f64> = samples
        .iter()
        .filter(|candidate| candidate[0] == sample && candidate[1] == *labels)
        .map(|candidate| candidate[2].as_f64().unwrap())
        .collect();
    assert_eq!(found.len(), 1, "{sample} with {labels}: {samples:?}");
    found[0]
}

#[test]
fn the_prometheus_client_reads_every_metric() {
    let metrics = Metrics::default();
    metrics.accepted.add(7);
    metrics.refused.of(RefusalReason::Auth).add(2);
    metrics.requests.of(RequestKind::JoinOffice, RequestOutcome::Forbidden).inc();
    metrics.call(RequestKind::ToolCall, RequestOutcome::Ok, Duration::from_millis(1));
    metrics.call(RequestKind::ToolCall, RequestOutcome::TimedOut, Duration::from_secs(61));
    metrics.call(RequestKind::GetTools, RequestOutcome::Ok, Duration::from_micros(1_500));
    metrics.received_bytes.add(1 << 40);
    metrics.sent_bytes.add(3);
    metrics.broadcasts.inc();
    metrics.unclaimed_answers.add(4);
    metrics.limit_hits.of(LimitKind::Backlog).add(5);
    metrics.slow_members.add(6);
    metrics.tls_failures.add(8);
    let now = Snapshot {
        connections: 10,
        agents: 2,
        computers: 3,
        offices: 4,
        calls_in_flight: 5,
        audit_records_lost: 9,
        spans_exported: 11,
        spans_dropped: 12,
    };
    let families = read(&metrics.text(now));
    let check = |family: &str, kind: &str, labels: Value, expected: f64| {
        assert_eq!(families[family]["type"], kind, "{family}");
        let sample = if kind == "counter" { format!("{family}_total") } else { family.to_owned() };
        assert_eq!(value(&families, family, &sample, &labels), expected, "{family}");
    };
    let none = || json!({});
    check("a2c_hub_build_info", "gauge", json!({"version": env!("CARGO_PKG_VERSION"), "protocol": "0.2.0"}), 1.0);
    check("a2c_hub_connections", "gauge", none(), 10.0);
    check("a2c_hub_members", "gauge", json!({"role": "agent"}), 2.0);
    check("a2c_hub_members", "gauge", json!({"role": "computer"}), 3.0);
    check("a2c_hub_offices", "gauge", none(), 4.0);
    check("a2c_hub_calls_in_flight", "gauge", none(), 5.0);
    check("a2c_hub_connections_accepted", "counter", none(), 7.0);
    check("a2c_hub_connections_refused", "counter", json!({"reason": "auth"}), 2.0);
    check("a2c_hub_connections_refused", "counter", json!({"reason": "origin"}), 0.0);
    check("a2c_hub_requests", "counter", json!({"kind": "join_office", "outcome": "forbidden"}), 1.0);
    check("a2c_hub_requests", "counter", json!({"kind": "tool_call", "outcome": "ok"}), 1.0);
    check("a2c_hub_requests", "counter", json!({"kind": "tool_call", "outcome": "timed_out"}), 1.0);
    check("a2c_hub_received_bytes", "counter", none(), (1u64 << 40) as f64);
    check("a2c_hub_sent_bytes", "counter", none(), 3.0);
    check("a2c_hub_broadcasts", "counter", none(), 1.0);
    check("a2c_hub_unclaimed_answers", "counter", none(), 4.0);
    check("a2c_hub_limit_hits", "counter", json!({"limit": "backlog"}), 5.0);
    check("a2c_hub_slow_members_disconnected", "counter", none(), 6.0);
    check("a2c_hub_tls_handshakes_failed", "counter", none(), 8.0);
    check("a2c_hub_audit_records_lost", "counter", none(), 9.0);
    check("a2c_hub_spans_exported", "counter", none(), 11.0);
    check("a2c_hub_spans_dropped", "counter", none(), 12.0);

    let family = "a2c_hub_call_duration_seconds";
    assert_eq!(families[family]["type"], "histogram");
    let bucket = |kind: &str, le: &str| {
        value(&families, family, "a2c_hub_call_duration_seconds_bucket", &json!({"kind": kind, "le": le}))
    };
    assert_eq!([bucket("tool_call", "0.001"), bucket("tool_call", "60"), bucket("tool_call", "+Inf")], [1.0, 1.0, 2.0]);
    assert_eq!([bucket("other", "0.001"), bucket("other", "0.002")], [0.0, 1.0]);
    let of_kind = |sample: &str| value(&families, family, &format!("{family}_{sample}"), &json!({"kind": "tool_call"}));
    assert_eq!((of_kind("count"), of_kind("sum")), (2.0, 61.001));
}

#[cfg(target_os = "linux")]
#[test]
fn metrics_include_the_process() {
    let families = read(&Metrics::default().text(Snapshot::default()));
    let of = |family: &str, sample: &str| value(&families, family, sample, &json!({}));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let start = of("process_start_time_seconds", "process_start_time_seconds");
    // The system counts time since it was booted: the two clocks may differ by their rounding.
    assert!(start > now - 86_400.0 && start < now + 2.0, "{start} at {now}");
    assert!(of("process_resident_memory_bytes", "process_resident_memory_bytes") > 100_000.0);
    assert!(of("process_open_fds", "process_open_fds") >= 3.0);
    assert!(of("process_cpu_seconds", "process_cpu_seconds_total") >= 0.0);
}

#[test]
fn every_label_value_exists_from_the_start() {
    let text = Metrics::default().text(Snapshot::default());
    let lines = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!(lines("a2c_hub_requests_total{"), RequestKind::ALL.len() * RequestOutcome::ALL.len());
    assert_eq!(lines("a2c_hub_limit_hits_total{"), LimitKind::ALL.len());
    assert_eq!(lines("a2c_hub_connections_refused_total{"), RefusalReason::ALL.len());
}

#[test]
fn the_manual_has_every_metric_and_no_other() {
    let manual = a2c_testbed::workspace_root().join("docs/observability.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let described: BTreeSet<&str> =
        manual.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | ").map(|(name, _)| name)).collect();
    let text = Metrics::default().text(Snapshot::default());
    let exposed: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert!(exposed.is_subset(&described), "not described: {:?}", exposed.difference(&described));
    // What the system tells about the process is not the same everywhere.
    let gone: Vec<_> = described.difference(&exposed).filter(|name| name.starts_with("a2c_hub_")).collect();
    assert!(gone.is_empty(), "described, but not there: {gone:?}");
}
