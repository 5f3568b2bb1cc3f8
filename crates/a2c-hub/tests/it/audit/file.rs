//! One file, one hub, one chain.

use std::sync::Arc;

use a2c_hub::audit::{AuditConfig, AuditLog, AuditOpenError, Hash};

use super::{LogDir, gist, joined, parsed};

#[test]
fn records_are_numbered_and_chained() {
    let dir = LogDir::with(&["a", "b", "c"]);
    let lines = parsed(&dir.lines());
    assert_eq!(lines[0]["prev"], Hash::ZERO.to_string());
    for (at, line) in lines.iter().enumerate() {
        assert_eq!(line["seq"], at + 1);
    }
    assert!(
        lines
            .windows(2)
            .all(|pair| pair[1]["prev"] == pair[0]["hash"] && pair[0]["time"].as_str() <= pair[1]["time"].as_str())
    );
    let seen = dir.verify().unwrap();
    assert_eq!((seen.records, seen.follows, seen.lost, seen.unfinished_bytes), (3, Hash::ZERO, 0, 0));
    assert_eq!(seen.last_hash.to_string(), lines[2]["hash"].as_str().unwrap());
    assert_eq!((seen.from.as_deref(), seen.to.as_deref()), (lines[0]["time"].as_str(), lines[2]["time"].as_str()));
}

#[test]
fn a_restart_continues_the_chain() {
    let dir = LogDir::with(&["a", "b"]);
    dir.add(&[]);
    dir.add(&["c"]);
    assert_eq!(gist(&dir.lines()), ["a", "b", "c"]);
    assert_eq!(dir.verify().unwrap().records, 3);
}

#[test]
fn a_long_log_is_continued_too() {
    let dir = LogDir::new();
    let long = "x".repeat(400);
    let log = dir.open();
    (0..2000).for_each(|_| log.record(joined(&long)));
    log.close();
    assert!(dir.text().len() > 1 << 20);
    dir.add(&["last"]);
    assert_eq!(dir.verify().unwrap().records, 2001);
}

#[test]
fn concurrent_records_are_all_written() {
    let dir = LogDir::new();
    let log = Arc::new(dir.open());
    let recorder = |who: usize| {
        let log = log.clone();
        std::thread::spawn(move || (0..1000).for_each(|n| log.record(joined(&format!("{who} {n}")))))
    };
    let recorders: Vec<_> = (0..4).map(recorder).collect();
    recorders.into_iter().for_each(|recorder| recorder.join().unwrap());
    log.close();
    assert_eq!((log.lost(), dir.verify().unwrap().records), (0, 4000));
    let written = gist(&dir.lines());
    for who in 0..4 {
        let of_one = written.iter().filter(|office| office.starts_with(&format!("{who} "))).cloned();
        assert!(of_one.eq((0..1000).map(|n| format!("{who} {n}"))), "those of {who} are in order");
    }
}

#[test]
fn a_flush_waits_for_the_disk() {
    let dir = LogDir::new();
    let log = dir.open();
    log.record(joined("a"));
    log.flush().unwrap();
    assert_eq!(gist(&dir.lines()), ["a"]);
    log.close();
    log.close();
    assert!(log.flush().is_err());
    log.record(joined("late"));
    assert_eq!((log.lost(), gist(&dir.lines())), (1, vec!["a".to_owned()]));
}

#[test]
fn a_record_is_written_without_being_asked_for() {
    let dir = LogDir::new();
    let log = dir.open();
    log.record(joined("a"));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while dir.lines().is_empty() {
        assert!(std::time::Instant::now() < deadline, "nothing was written");
        std::thread::yield_now();
    }
    assert_eq!(log.lost(), 0);
}

#[test]
fn two_hubs_do_not_share_a_file() {
    let dir = LogDir::new();
    let first = dir.open();
    let second = AuditLog::open(&AuditConfig::at(dir.path())).unwrap_err();
    assert!(matches!(&second, AuditOpenError::InUse { path } if *path == dir.path()), "{second}");
    first.close();
    dir.add(&["free again"]);
}

#[test]
#[cfg(unix)]
fn the_file_is_private_unless_its_owner_made_it_otherwise() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |dir: &LogDir| std::fs::metadata(dir.path()).unwrap().permissions().mode() & 0o777;
    let dir = LogDir::with(&["a"]);
    assert_eq!(mode(&dir), 0o600);
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o640)).unwrap();
    dir.add(&["b"]);
    assert_eq!(mode(&dir), 0o640);
}

#[test]
fn a_file_that_is_no_log_is_not_changed() {
    let whole = LogDir::with(&["a"]).text();
    let changed = whole.replace("\"office\":\"a\"", "\"office\":\"b\"");
    for content in ["root:x:0:0\n", "no line break", "{\"seq\"}", "\n", &format!("{whole}\n"), &changed] {
        let dir = LogDir::new();
        std::fs::write(dir.path(), content).unwrap();
        let error = AuditLog::open(&AuditConfig::at(dir.path())).unwrap_err();
        assert!(matches!(error, AuditOpenError::NotALog { .. }), "{content:?}: {error}");
        assert!(error.to_string().contains("a2c audit verify"));
        assert_eq!(dir.text(), content);
    }
}

#[test]
fn a_path_that_is_no_file_is_refused() {
    let dir = LogDir::new();
    let error = AuditLog::open(&AuditConfig::at(dir.dir.path())).unwrap_err();
    assert!(matches!(error, AuditOpenError::NotAFile { .. }), "{error}");
    let error = AuditLog::open(&AuditConfig::at(dir.beside("no/such/dir"))).unwrap_err();
    assert!(matches!(error, AuditOpenError::File { .. }), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}
