//! MCP servers made to give trouble: each harms no other server, and each rule about it holds.

use std::path::Path;
use std::time::Duration;

use a2c_computer::{Approval, HeartbeatPolicy, ServerState, ToolAccess, ToolChanges};
use a2c_protocol::ErrorCode;
use a2c_testbed::PATIENCE;
use a2c_testbed::processes::{Mark, kill, runs};
use serde_json::{Value, json};

use crate::in_process::{self, TestOffice, marked, sample, stdio, stdio_with, told_of_tools, until, within};

/// Far longer than a test takes: a call that ends did not end by its limit.
const LONG: Duration = Duration::from_secs(3600);

/// A server that gives trouble in its own way.
fn unruly(mode: &[&str]) -> Value {
    let script = a2c_testbed::workspace_root().join("tests/hostile/unruly.py");
    stdio(a2c_testbed::python(), &[&[script.to_str().unwrap()], mode].concat())
}

/// It, and the sample beside it.
fn beside_the_sample(mode: &[&str]) -> Value {
    json!({"unruly": unruly(mode), "sample": sample()})
}

/// Finds the one tool of the unruly server.
fn tool(office: &TestOffice) -> a2c_computer::ToolStatus {
    office.handle().tools().into_iter().find(|tool| tool.own_name == "tool").expect("it is known to its owner")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poisoned_description_is_passed_on_as_it_is_and_noted() {
    let log = in_process::log::Log::keep();
    let office = TestOffice::new(&beside_the_sample(&["poisoned"])).await;
    let seen = office.tools().await.into_iter().find(|tool| tool.name == "tool").expect("it is listed");
    assert!(seen.description.contains("<IMPORTANT>"), "what the Agent judges is what the server said");
    assert_eq!(office.text("tool", json!({})).await, "done");
    until("the owner is told", || log.text().contains("suspicious")).await;
    let log = log.text();
    assert!(log.contains("unruly") && !log.contains("\u{202e}") && !log.contains("\x1b[8m"), "{log:?}");
    office.others_are_well().await;
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_tool_is_marked_and_announced() {
    let office = TestOffice::new(&beside_the_sample(&["rugpull"])).await;
    let mut news = office.agent.subscribe();
    assert!(!tool(&office).changed);
    office.text("tool", json!({})).await;
    within(told_of_tools(&mut news)).await;
    let listed = office.tools().await.into_iter().find(|tool| tool.name == "tool").expect("it stays");
    assert_eq!(listed.meta.unwrap()["a2c_changed"], true);
    assert_eq!(office.text("tool", json!({})).await, "done");
    assert_eq!(office.handle().pending_changes().len(), 1);
    office.others_are_well().await;
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_tool_in_quarantine_is_gone_until_it_is_approved() {
    let office =
        TestOffice::with(&beside_the_sample(&["rugpull"]), |options| options.tool_changes = ToolChanges::Quarantine)
            .await;
    let mut news = office.agent.subscribe();
    office.text("tool", json!({})).await;
    within(told_of_tools(&mut news)).await;
    assert!(!office.names().await.contains(&"tool".to_owned()));
    let refused = office.call("tool", json!({})).await;
    assert_eq!(refused.error_code(), Some(ErrorCode::ToolForbidden), "{}", refused.text());
    assert_eq!(tool(&office).access, ToolAccess::Quarantined);
    office.others_are_well().await;

    assert_eq!(office.handle().approve("unruly", Approval::Tool("tool")).await, 1);
    within(told_of_tools(&mut news)).await;
    assert_eq!(office.text("tool", json!({})).await, "done");
    assert!(!tool(&office).changed);
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_while_the_computer_was_away_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let (sign, pins) = (dir.path().join("changed"), dir.path().join("pins.json"));
    let servers = beside_the_sample(&["rugpull", sign.to_str().unwrap()]);
    let start = async || {
        TestOffice::with(&servers, |options| {
            options.tool_changes = ToolChanges::Quarantine;
            options.pins = Some(pins.clone());
        })
        .await
    };
    let office = start().await;
    assert_eq!(office.text("tool", json!({})).await, "done");
    office.end().await;
    std::fs::write(&sign, "").unwrap();
    let office = start().await;
    let refused = office.call("tool", json!({})).await;
    assert_eq!(refused.error_code(), Some(ErrorCode::ToolForbidden), "{}", refused.text());
    assert_eq!(office.handle().approve("unruly", Approval::Everything).await, 1);
    until("the approval", || tool(&office).access == ToolAccess::Offered).await;
    office.end().await;
    let office = start().await;
    assert_eq!(office.text("tool", json!({})).await, "done", "an approval is remembered");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_result_is_read_page_by_page() {
    const SIZE: usize = 3_000_000;
    let office =
        TestOffice::with(&beside_the_sample(&["huge", &SIZE.to_string()]), |options| options.max_result = 100_000)
            .await;
    let result = office.call("tool", json!({})).await;
    assert!(!result.is_error, "{}", result.text());
    assert!(json!(result).to_string().len() <= 100_000, "it is within the limit");
    let preview = result.text();
    assert!(preview.contains("line 0000000"), "the head is shown: {preview:.100}");
    let about = &result.meta["a2c_result"];
    let (uri, pages) = (about["uri"].as_str().unwrap(), about["pages"].as_u64().unwrap());
    assert!(uri.starts_with("a2c-result://") && pages > 1, "{about}");
    let mut whole = String::new();
    for page in 0..pages {
        let contents = office.agent.read_resource("desk", &format!("{uri}?page={page}")).await.unwrap();
        whole += contents[0]["text"].as_str().unwrap();
    }
    let expected = numbered_lines(SIZE);
    assert!(whole == expected, "{} bytes instead of {}", whole.len(), expected.len());
    assert!(preview.contains(expected.lines().last().unwrap()), "the tail is shown");
    let beyond = office.agent.read_resource("desk", &format!("{uri}?page={pages}")).await;
    assert!(beyond.is_err(), "there is no page {pages}");
    office.others_are_well().await;
    office.end().await;
}

/// What the server says: numbered lines, cut between two characters.
fn numbered_lines(size: usize) -> String {
    let mut text: String = (0..=size / 10).map(|n| format!("line {n:07} – ✓\n")).collect();
    text.truncate(text.floor_char_boundary(size));
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_between_messages_disturbs_no_call() {
    let office = TestOffice::new(&beside_the_sample(&["garbage"])).await;
    assert_eq!(office.state("unruly").to_string(), "ready");
    for _ in 0..20 {
        assert_eq!(office.text("tool", json!({})).await, "done");
    }
    office.others_are_well().await;
    assert_eq!(office.status("unruly").restarts, 0);
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_the_wrong_shape_fails_at_once() {
    for shape in ["text", "number", "null", "list", "content", "nothing"] {
        let office = TestOffice::new(&beside_the_sample(&["badresult", shape])).await;
        let call = office.start_call("tool", json!({}), LONG);
        let result =
            tokio::time::timeout(PATIENCE, call).await.unwrap_or_else(|_| panic!("{shape}: no answer")).unwrap();
        assert_eq!(result.error_code(), Some(ErrorCode::ToolFailed), "{shape}: {}", result.text());
        office.others_are_well().await;
        office.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_crashes_is_started_again_and_its_tools_stay_listed() {
    let office = TestOffice::new(&beside_the_sample(&["crash", "0.3"])).await;
    let seen_down = std::cell::Cell::new(false);
    until("two restarts", || {
        let status = office.status("unruly");
        if let ServerState::Failed { reason } = &status.state {
            seen_down.set(true);
            assert!(reason.to_string().contains("exit status: 3"), "{reason}");
            assert!(status.retry_at.is_some(), "it is tried again");
        }
        assert!(office.handle().tools().iter().any(|t| t.own_name == "tool"), "its tools stay");
        status.restarts >= 2
    })
    .await;
    assert!(seen_down.get(), "it was seen to be down");
    assert!(office.names().await.contains(&"tool".to_owned()));
    office.others_are_well().await;
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_falls_silent_is_restarted() {
    let office = TestOffice::with(&beside_the_sample(&["mute"]), |options| {
        let brief = Duration::from_millis(200);
        options.limits.health = HeartbeatPolicy { every: brief, limit: brief, misses: 2 };
    })
    .await;
    office.until_state("unruly", |status| matches!(status.state, ServerState::Degraded { .. })).await;
    office.others_are_well().await;
    office.until_state("unruly", |status| status.restarts > 0).await;
    assert!(office.names().await.contains(&"tool".to_owned()), "its tools stay");
    assert_eq!(office.status("sample").restarts, 0, "who answers is left alone");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_to_a_server_that_is_silent_ends_with_its_time() {
    let office = TestOffice::new(&beside_the_sample(&["mute"])).await;
    let call = office.start_call("tool", json!({}), Duration::from_secs(1));
    office.others_are_well().await;
    assert_eq!(within(call).await.unwrap().error_code(), Some(ErrorCode::ToolTimeout));
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_read_blocks_no_other_and_can_be_ended() {
    let office = TestOffice::new(&beside_the_sample(&["deaf"])).await;
    // More than a pipe holds, several times.
    let large = "x".repeat(1 << 20);
    let calls: Vec<_> =
        (0..4).map(|_| office.start_call("tool", json!({"note": large}), Duration::from_secs(2))).collect();
    office.others_are_well().await;
    for call in calls {
        assert_eq!(within(call).await.unwrap().error_code(), Some(ErrorCode::ToolTimeout));
    }
    office.others_are_well().await;
    office.handle().restart("unruly").unwrap();
    assert_eq!(within(office.handle().settled("unruly")).await.unwrap().state, ServerState::Ready);
    within(office.end()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_floods_its_lists_is_asked_now_and_then() {
    let office = TestOffice::new(&beside_the_sample(&["flood", "5000"])).await;
    let mut news = office.agent.subscribe();
    for _ in 0..3 {
        within(told_of_tools(&mut news)).await;
        office.others_are_well().await;
        assert_eq!(office.text("tool", json!({})).await, "done");
    }
    // The list of each moment has a number: it was asked a few times, not thousands of times.
    let numbers = office.names().await.into_iter().filter_map(|name| name.strip_prefix("tool_")?.parse::<u32>().ok());
    let asked = numbers.max().expect("the changing tool is listed");
    assert!(asked < 100, "it was asked {asked} times for its list");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_floods_standard_error_is_kept_within_bounds() {
    let office = TestOffice::new(&beside_the_sample(&["stderr-flood"])).await;
    let log = office.handle().log("unruly").unwrap();
    until("lines", || log.tail(10_000).len() > 100).await;
    for _ in 0..100 {
        assert_eq!(office.text("tool", json!({})).await, "done");
        office.others_are_well().await;
    }
    assert!(log.tail(1_000_000).len() <= 10_000, "what is kept is bounded");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_keeps_a_call_alive_and_silence_ends_it() {
    let office = TestOffice::with(&beside_the_sample(&["progress", "8"]), |options| {
        options.limits.idle = Some(Duration::from_secs(2));
    })
    .await;
    // Four seconds in all, though two of silence are the limit.
    let told = office.text("tool", json!({"pause": 0.5})).await;
    assert_eq!((told.as_str(), office.status("unruly").progress), ("done", 8));
    let silent = office.start_call("tool", json!({"pause": 0, "silence": 3000}), LONG);
    let result = within(silent).await.unwrap();
    assert_eq!(result.error_code(), Some(ErrorCode::ToolTimeout), "{}", result.text());
    office.others_are_well().await;
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_office_is_joined_without_a_server_that_is_slow_to_start() {
    let dir = tempfile::tempdir().unwrap();
    let sign = dir.path().join("go");
    let servers = beside_the_sample(&["slow-start", sign.to_str().unwrap()]);
    let office = TestOffice::with(&servers, |options| options.join_patience = Duration::from_millis(500)).await;
    assert_eq!(office.state("unruly"), ServerState::Starting);
    let mut news = office.agent.subscribe();
    // The sample may be slower than that, too.
    within(office.handle().settled("sample")).await.unwrap();
    office.others_are_well().await;
    assert!(!office.names().await.contains(&"tool".to_owned()));
    std::fs::write(&sign, "").unwrap();
    until("the server", || office.state("unruly") == ServerState::Ready).await;
    while !office.names().await.contains(&"tool".to_owned()) {
        within(told_of_tools(&mut news)).await;
    }
    assert_eq!(office.text("tool", json!({})).await, "done");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_of_a_long_list_is_read() {
    let office = TestOffice::new(&beside_the_sample(&["many", "230"])).await;
    let names = office.names().await;
    assert_eq!(names.len(), 234);
    let last = office.tools().await.into_iter().find(|tool| tool.name == "tool_229").expect("the last one");
    let schema = last.params_schema.value().unwrap();
    assert!(schema["properties"]["field_5"]["description"].as_str().unwrap().contains("tool 229"));
    assert_eq!(office.text("tool_229", json!({})).await, "done");
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_is_another_process_afterwards() {
    let office = TestOffice::new(&beside_the_sample(&["pid"])).await;
    let pid: u32 = office.text("tool", json!({})).await.parse().unwrap();
    kill(pid);
    office.until_state("unruly", |status| status.restarts > 0 && status.state == ServerState::Ready).await;
    assert_ne!(office.text("tool", json!({})).await, pid.to_string());
    assert!(!runs(pid));
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_restarts_leave_no_process_behind() {
    const SERVERS: usize = 20;
    const TIMES: usize = 50;
    let mark = Mark::new("restarts");
    let program = Path::new(env!("CARGO_BIN_EXE_a2c"));
    let name = |n: usize| format!("s{n:02}");
    let servers: serde_json::Map<_, _> =
        (0..SERVERS).map(|n| (name(n), stdio_with(program, &["sample-server"], &marked(&mark)))).collect();
    let office = TestOffice::new(&servers.into()).await;
    assert_eq!(mark.living().len(), SERVERS);
    let handle = office.handle();
    for round in 0..TIMES {
        for n in 0..SERVERS {
            handle.restart(&name(n)).unwrap();
        }
        for n in 0..SERVERS {
            let status = tokio::time::timeout(PATIENCE, handle.settled(&name(n))).await.unwrap().unwrap();
            assert_eq!(status.state, ServerState::Ready, "round {round}, {}", name(n));
        }
        assert_eq!(mark.living().len(), SERVERS, "round {round}");
    }
    assert!(handle.servers().iter().all(|status| status.restarts == TIMES as u64));
    office.end().await;
    assert!(mark.living().is_empty(), "nothing is left behind");
}
