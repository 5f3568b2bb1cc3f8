//! A log that goes on in another file.

use a2c_hub::audit::{AuditConfig, AuditLog, Break, ExpectedHashes, ReopenError, VerifyError};

use super::{LogDir, gist, joined, parsed, verify_file};

#[test]
fn a_new_file_follows_the_old_one() {
    let dir = LogDir::new();
    let old = dir.beside("audit.jsonl.1");
    let log = dir.open();
    log.record(joined("a"));
    log.record(joined("b"));
    std::fs::rename(dir.path(), &old).unwrap();
    log.record(joined("c"));
    log.reopen().unwrap();
    log.record(joined("d"));
    log.close();

    let first = verify_file(&old, &ExpectedHashes::default()).unwrap();
    assert_eq!(first.records, 3, "what was recorded before goes to the old file");
    assert_eq!(gist(&dir.lines()), ["rotated", "d"]);
    assert_eq!(parsed(&dir.lines())[0]["seq"], 4);
    let follows = ExpectedHashes { follows: Some(first.last_hash), ..ExpectedHashes::default() };
    assert_eq!(verify_file(&dir.path(), &follows).unwrap().records, 2);
    let alone = dir.verify().unwrap();
    assert_eq!(alone.follows, first.last_hash);

    let other = ExpectedHashes { follows: Some(alone.last_hash), ..ExpectedHashes::default() };
    let error = verify_file(&dir.path(), &other).unwrap_err();
    assert!(matches!(error, VerifyError::Broken { line: 1, how: Break::OtherFile { .. } }), "{error}");

    dir.add(&["after a restart"]);
    assert_eq!(verify_file(&dir.path(), &follows).unwrap().records, 3);
}

#[test]
fn a_file_in_its_place_is_kept() {
    let dir = LogDir::new();
    let log = dir.open();
    log.record(joined("a"));
    log.reopen().unwrap();
    log.record(joined("b"));
    log.close();
    assert_eq!(gist(&dir.lines()), ["a", "b"]);
    assert!(matches!(log.reopen(), Err(ReopenError::Closed)));
}

#[test]
fn a_file_made_by_the_rotation_is_used() {
    let dir = LogDir::new();
    let log = dir.open();
    log.record(joined("a"));
    log.flush().unwrap();
    std::fs::rename(dir.path(), dir.beside("old")).unwrap();
    std::fs::write(dir.path(), "").unwrap();
    log.reopen().unwrap();
    log.close();
    assert_eq!(gist(&dir.lines()), ["rotated"]);
}

#[test]
fn a_file_with_something_in_it_is_not_continued() {
    let dir = LogDir::new();
    let log = dir.open();
    log.record(joined("a"));
    log.flush().unwrap();
    let old = dir.beside("old");
    std::fs::rename(dir.path(), &old).unwrap();
    dir.add(&["another chain"]);
    let error = log.reopen().unwrap_err();
    assert!(matches!(error, ReopenError::NotEmpty { .. }), "{error}");
    log.record(joined("b"));
    log.flush().unwrap();
    assert_eq!(verify_file(&old, &ExpectedHashes::default()).unwrap().records, 2, "it goes on in the old file");

    std::fs::remove_file(dir.path()).unwrap();
    let taken = AuditLog::open(&AuditConfig::at(dir.path())).unwrap();
    assert!(matches!(log.reopen(), Err(ReopenError::Open(_))), "another hub was faster");
    taken.close();
    log.reopen().unwrap();
}
