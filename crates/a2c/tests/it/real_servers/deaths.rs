//! Servers that are killed in the middle of a call: the call is answered at once, and the server comes back.

use std::time::Duration;

use a2c_computer::HeartbeatPolicy;
use a2c_protocol::ErrorCode;
use a2c_testbed::PATIENCE;
use a2c_testbed::processes::Mark;
use serde_json::{Value, json};

use super::peers;
use crate::in_process::{TestOffice, marked, sample, until};

/// Far longer than a test takes: a call that ends did not end by its limit.
const LONG: Duration = Duration::from_secs(3600);

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_a_call_and_back_again() {
    let mark = Mark::new("deaths");
    let mut servers = json!({ "sample": sample() });
    let names = ["one", "three", "two"];
    for name in names {
        servers[name] = peers::everything(&marked(&mark));
    }
    let office = TestOffice::new(&servers).await;
    for _ in 0..2 {
        let restarts = names.map(|name| office.status(name).restarts);
        let calls: Vec<_> = names
            .map(|name| (name, office.start_call(&format!("{name}_trigger-long-running-operation"), endless(), LONG)))
            .into();
        for name in names {
            let before = office.status(name).progress;
            until("the call", || office.status(name).progress > before).await;
        }
        assert_eq!(mark.kill(), 3);
        for (name, call) in calls {
            let result = tokio::time::timeout(PATIENCE, call).await.expect("it is answered at once").unwrap();
            assert_eq!(result.error_code(), Some(ErrorCode::ToolFailed), "{}", result.text());
            assert_eq!(result.meta["mcp_server"], name);
        }
        for (name, before) in names.into_iter().zip(restarts) {
            office.until_state(name, |status| status.restarts > before).await;
            assert_eq!(office.handle().settled(name).await.unwrap().state.word(), "ready");
            let sum = office.text(&format!("{name}_get-sum"), json!({"a": 1, "b": 2})).await;
            assert!(sum.contains('3'), "{sum}");
        }
        assert_eq!(office.text("sample_echo", json!({"text": "fine"})).await, "fine");
    }
    office.end().await;
    assert!(mark.living().is_empty(), "nothing is left behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_over_sse_is_found_again() {
    found_again("sse", "sse", LONG, ErrorCode::ToolFailed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_over_streamable_http_is_found_again() {
    // A stream that broke off may be taken up again: the call waits for that, until the server is known to be gone.
    found_again("streamableHttp", "streamable", PATIENCE, ErrorCode::ToolFailed).await;
}

async fn found_again(transport: &str, kind: &str, limit: Duration, code: ErrorCode) {
    let mut server = peers::everything_over(transport, 0);
    let url = server.address().to_owned();
    let office = TestOffice::with(&json!({"one": peers::at(kind, &url), "sample": sample()}), |options| {
        let brief = Duration::from_secs(1);
        options.limits.health = HeartbeatPolicy { every: brief, limit: brief, misses: 2 };
    })
    .await;
    let call = office.start_call("trigger-long-running-operation", endless(), limit);
    until("the call", || office.status("one").progress > 0).await;
    server.kill();
    let result = tokio::time::timeout(PATIENCE, call).await.expect("it is answered").unwrap();
    assert_eq!(result.error_code(), Some(code), "{}", result.text());
    let port = url.rsplit_once(':').unwrap().1.split('/').next().unwrap().parse().unwrap();
    let _again = peers::everything_over(transport, port);
    let works = async {
        // The Computer finds out in its own time: until then a call fails at once.
        loop {
            let result = office.call("get-sum", json!({"a": 1, "b": 2})).await;
            if !result.is_error {
                return result.text();
            }
            assert_eq!(result.error_code(), Some(ErrorCode::ToolFailed));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let found = tokio::time::timeout(PATIENCE, works).await;
    let sum = found.unwrap_or_else(|_| panic!("it was not found again: {}", office.state("one")));
    assert!(sum.contains('3'), "{sum}");
    assert_eq!(office.text("sample_echo", json!({"text": "fine"})).await, "fine");
    office.end().await;
}

/// Arguments of an operation that tells of its progress ten times in a second, and does not end.
fn endless() -> Value {
    json!({"duration": 3000, "steps": 30_000})
}
