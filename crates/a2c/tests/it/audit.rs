//! `a2c audit verify`, as operators run it.

use a2c_hub::audit::{AuditConfig, AuditEvent, AuditLog, Record};
use serde_json::{Value, json};

use crate::program::{a2c, ran, run};

/// A log of three records, and its path.
fn log() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("audit.jsonl").to_str().expect("a path in UTF-8").to_owned();
    let log = AuditLog::open(&AuditConfig::at(&path)).expect("the log opens");
    for office in ["a", "b", "c"] {
        log.record(Record { office: Some(office.into()), ..Record::of(AuditEvent::Joined) });
    }
    log.close();
    (dir, path)
}

fn lines(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("the log is text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

fn text<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().expect("a text")
}

#[test]
fn a_log_in_order() {
    let (_dir, path) = log();
    let lines = lines(&path);
    let (first, last) = (&lines[0], &lines[2]);
    let (from, to, hash) = (text(first, "time"), text(last, "time"), text(last, "hash"));
    let expected = format!("ok 3 records, from {from} to {to}, last hash {hash}\n");
    assert_eq!(run(&["audit", "verify", &path]).ok(), expected);
    assert_eq!(run(&["audit", "verify", &path, "--holds", text(first, "hash")]).ok(), expected);
    assert_eq!(run(&["audit", "verify", &path, "--since-hash", &"0".repeat(64)]).ok(), expected);
    let from_pipe = a2c(&["audit", "verify", "-"]).stdin(std::fs::File::open(&path).unwrap()).output().unwrap();
    assert_eq!(ran(from_pipe).ok(), expected);

    let report: Value = serde_json::from_str(&run(&["audit", "verify", &path, "--json"]).ok()).unwrap();
    let expected = json!({
        "ok": true, "records": 3, "from": from, "to": to, "follows": "0".repeat(64), "last_hash": hash,
        "lost": 0, "recovered": 0, "unfinished_bytes": 0,
    });
    assert_eq!(report, expected);
}

#[test]
fn a_log_that_was_changed() {
    let (_dir, path) = log();
    let changed = std::fs::read_to_string(&path).unwrap().replace("\"office\":\"b\"", "\"office\":\"x\"");
    std::fs::write(&path, changed).unwrap();
    let seen = run(&["audit", "verify", &path]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""));
    assert_eq!(seen.stderr, format!("a2c: {path}: line 2: was changed: its hash is that of other bytes\n"));
    let seen = run(&["audit", "verify", &path, "--json"]);
    let report: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!((seen.code, &report["ok"], &report["line"]), (Some(1), &json!(false), &json!(2)));
}

#[test]
fn a_log_whose_end_was_cut() {
    let (_dir, path) = log();
    let noted = text(&lines(&path)[2], "hash").to_owned();
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 20]).unwrap();
    let seen = run(&["audit", "verify", &path]).ok();
    assert!(seen.starts_with("ok 2 records") && seen.contains("\nunfinished "), "{seen}");
    let seen = run(&["audit", "verify", &path, "--holds", &noted]);
    assert_eq!(seen.code, Some(1));
    seen.fails_saying(&[&noted, "cut off"]);
}

#[test]
fn what_cannot_be_read_is_not_called_changed() {
    let seen = run(&["audit", "verify", "/no/such/file"]);
    assert_eq!(seen.code, Some(2));
    seen.fails_saying(&["/no/such/file", "cannot read", "No such file"]);
    assert_eq!(run(&["audit", "verify", "/"]).code, Some(2));
    let (_dir, path) = log();
    let seen = run(&["audit", "verify", &path, "--holds", "1234"]);
    assert_eq!(seen.code, Some(2));
    seen.fails_saying(&["--holds", "64"]);
}
