//! A disk that takes nothing: `/dev/full` answers every write with "no space left".
#![cfg(target_os = "linux")]

use a2c_hub::audit::{Arguments, AuditConfig, AuditEvent, AuditLog, Record};

use super::{LogDir, gist, joined, parsed};

/// A log on a full disk that has noticed.
fn full(dir: &LogDir, max_waiting: usize) -> AuditLog {
    std::os::unix::fs::symlink("/dev/full", dir.path()).expect("a link");
    let log = AuditLog::open(&AuditConfig { max_waiting, ..AuditConfig::at(dir.path()) }).expect("it opens");
    log.record(joined("first"));
    assert_eq!(log.flush().expect_err("no space").kind(), std::io::ErrorKind::StorageFull);
    log
}

/// Gives the log a disk with room.
fn heal(dir: &LogDir, log: &AuditLog) {
    std::fs::remove_file(dir.path()).expect("the link goes");
    log.reopen().expect("a file comes");
}

#[test]
fn a_full_disk_loses_nothing_that_fits_into_the_queue() {
    let dir = LogDir::new();
    let log = full(&dir, 100);
    (0..100).for_each(|n| log.record(joined(&n.to_string())));
    assert!(log.flush().is_err(), "it is tried again, and refused again");
    assert_eq!(log.lost(), 0);
    heal(&dir, &log);
    log.record(joined("last"));
    log.close();
    let seen = dir.verify().unwrap();
    assert_eq!((seen.records, seen.lost, log.lost()), (103, 0, 0));
    let written = gist(&dir.lines());
    assert_eq!((&*written[0], &*written[102]), ("first", "last"));
    assert_eq!(written.iter().filter(|what| *what == "rotated").count(), 1);
}

#[test]
fn lost_records_are_counted_and_reported_where_they_are_missing() {
    let dir = LogDir::new();
    let log = full(&dir, 4);
    (0..4).for_each(|n| log.record(joined(&n.to_string())));
    (0..7).for_each(|_| log.record(joined("too much")));
    assert_eq!(log.lost(), 7);
    heal(&dir, &log);
    log.record(joined("last"));
    log.close();
    let lines = dir.lines();
    let told: Vec<_> = gist(&lines).into_iter().filter(|what| what != "rotated").collect();
    assert_eq!(told, ["first", "0", "1", "2", "3", "lost", "last"]);
    let lost = parsed(&lines).into_iter().find(|line| line["event"] == "lost").unwrap();
    assert_eq!(lost["count"], 7);
    let seen = dir.verify().unwrap();
    assert_eq!((seen.lost, log.lost()), (7, 7));
}

#[test]
fn waiting_records_are_bounded_in_bytes_too() {
    let dir = LogDir::new();
    let log = full(&dir, usize::MAX);
    let large = Record { arguments: Some(Arguments::of(&"1".repeat(64 << 10))), ..Record::of(AuditEvent::Call) };
    (0..1000).for_each(|_| log.record(large.clone()));
    assert!(log.lost() > 400, "{}", log.lost());
}

#[test]
fn closing_on_a_full_disk_ends_and_counts() {
    let dir = LogDir::new();
    let log = full(&dir, 10);
    (0..12).for_each(|_| log.record(joined("x")));
    log.close();
    assert_eq!(log.lost(), 13);
}
