//! What a crash leaves, and what becomes of it.

use std::fs::OpenOptions;
use std::io::Write as _;

use a2c_hub::audit::{AuditEvent, Decision, Record};

use super::{LogDir, gist, parsed};

#[track_caller]
fn check(whole: &[&str], unfinished: &[u8]) {
    let dir = LogDir::with(whole);
    let mut file = OpenOptions::new().append(true).open(dir.path()).expect("the log is there");
    file.write_all(unfinished).expect("it can be written");
    let seen = dir.verify().expect("no tampering");
    assert_eq!((seen.records, seen.unfinished_bytes), (whole.len() as u64, unfinished.len() as u64));

    dir.add(&["next"]);
    let lines = dir.lines();
    assert_eq!(gist(&lines), [whole, &["recovered", "next"]].concat());
    let recovered = &parsed(&lines)[whole.len()];
    let kept = format!("audit.jsonl.unfinished-{}", whole.len() + 1);
    assert_eq!(recovered["count"], unfinished.len());
    assert!(recovered["reason"].as_str().expect("a reason").ends_with(&kept), "{recovered}");
    assert_eq!(std::fs::read(dir.beside(&kept)).expect("it is kept"), unfinished);
    let seen = dir.verify().expect("no tampering");
    assert_eq!((seen.records, seen.recovered, seen.unfinished_bytes), (whole.len() as u64 + 2, 1, 0));
}

#[test]
fn an_unfinished_line_is_moved_away_and_reported() {
    check(&["a", "b"], br#"{"seq":3,"time":"2026-"#);
    check(&["a"], b"{");
    check(&[], br#"{"seq":1,"ti"#);
}

#[test]
fn an_end_full_of_zeros_is_moved_away() {
    check(&["a", "b"], &[0; 4096]);
    check(&["a"], &vec![0; 1 << 20]);
    check(&[], &[0; 3]);
}

#[test]
fn a_line_that_only_lacks_its_break_is_moved_away() {
    let donor = LogDir::with(&["a", "b"]).lines();
    check(&["x"], donor[1].as_bytes());
}

/// The test program itself, started as another process, is killed while it writes.
#[test]
#[cfg(unix)]
fn a_killed_hub_leaves_a_log_that_goes_on() {
    const ROLE: &str = "A2C_TEST_AUDIT_VICTIM";
    if let Some(path) = std::env::var_os(ROLE) {
        let log = a2c_hub::AuditLog::open(&a2c_hub::AuditConfig::at(path)).unwrap();
        let call =
            Record { decision: Some(Decision::Answered), tool: Some("echo".into()), ..Record::of(AuditEvent::Call) };
        // It ends by itself if the test does not kill it.
        for _ in 0..1000 {
            (0..500).for_each(|_| log.record(call.clone()));
            log.flush().unwrap();
        }
        panic!("the victim was not killed");
    }
    let dir = LogDir::new();
    let mut records = 0;
    for _ in 0..3 {
        let size = || std::fs::metadata(dir.path()).map_or(0, |found| found.len());
        let before = size();
        let mut victim = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "audit::crash::a_killed_hub_leaves_a_log_that_goes_on"])
            .env(ROLE, dir.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while size() < before + (1 << 20) {
            assert!(victim.try_wait().unwrap().is_none(), "the victim ended by itself");
            std::thread::yield_now();
        }
        victim.kill().unwrap();
        victim.wait().unwrap();
        let seen = dir.verify().unwrap();
        assert!(seen.records > records);
        records = seen.records;
    }
    dir.add(&["survivor"]);
    assert!(dir.verify().unwrap().records > records);
    assert_eq!(gist(&dir.lines()).last().map(String::as_str), Some("survivor"));
}
