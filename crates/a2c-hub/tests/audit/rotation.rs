//! A log that goes on in another file.

use a2c_hub::audit::{AuditConfig, AuditLog, Break, ExpectedHashes, ReopenError, VerifyError};

use crate::{Place, gist, joined, parsed, verify_file};

#[test]
fn a_new_file_follows_the_old_one() {
    let place = Place::new();
    let old = place.beside("audit.jsonl.1");
    let log = place.open();
    log.record(joined("a"));
    log.record(joined("b"));
    std::fs::rename(place.path(), &old).unwrap();
    log.record(joined("c"));
    log.reopen().unwrap();
    log.record(joined("d"));
    log.close();

    let first = verify_file(&old, &ExpectedHashes::default()).unwrap();
    assert_eq!(first.records, 3, "what was recorded before goes to the old file");
    assert_eq!(gist(&place.lines()), ["rotated", "d"]);
    assert_eq!(parsed(&place.lines())[0]["seq"], 4);
    let follows = ExpectedHashes { follows: Some(first.last_hash), ..ExpectedHashes::default() };
    assert_eq!(verify_file(&place.path(), &follows).unwrap().records, 2);
    let alone = place.verify().unwrap();
    assert_eq!(alone.follows, first.last_hash);

    let other = ExpectedHashes { follows: Some(alone.last_hash), ..ExpectedHashes::default() };
    let error = verify_file(&place.path(), &other).unwrap_err();
    assert!(matches!(error, VerifyError::Broken { line: 1, how: Break::OtherFile { .. } }), "{error}");

    place.add(&["after a restart"]);
    assert_eq!(verify_file(&place.path(), &follows).unwrap().records, 3);
}

#[test]
fn a_file_in_its_place_is_kept() {
    let place = Place::new();
    let log = place.open();
    log.record(joined("a"));
    log.reopen().unwrap();
    log.record(joined("b"));
    log.close();
    assert_eq!(gist(&place.lines()), ["a", "b"]);
    assert!(matches!(log.reopen(), Err(ReopenError::Closed)));
}

#[test]
fn a_file_made_by_the_rotation_is_used() {
    let place = Place::new();
    let log = place.open();
    log.record(joined("a"));
    log.flush().unwrap();
    std::fs::rename(place.path(), place.beside("old")).unwrap();
    std::fs::write(place.path(), "").unwrap();
    log.reopen().unwrap();
    log.close();
    assert_eq!(gist(&place.lines()), ["rotated"]);
}

#[test]
fn a_file_with_something_in_it_is_not_continued() {
    let place = Place::new();
    let log = place.open();
    log.record(joined("a"));
    log.flush().unwrap();
    let old = place.beside("old");
    std::fs::rename(place.path(), &old).unwrap();
    place.add(&["another chain"]);
    let error = log.reopen().unwrap_err();
    assert!(matches!(error, ReopenError::NotEmpty { .. }), "{error}");
    log.record(joined("b"));
    log.flush().unwrap();
    assert_eq!(verify_file(&old, &ExpectedHashes::default()).unwrap().records, 2, "it goes on in the old file");

    std::fs::remove_file(place.path()).unwrap();
    let taken = AuditLog::open(&AuditConfig::at(place.path())).unwrap();
    assert!(matches!(log.reopen(), Err(ReopenError::Open(_))), "another hub was faster");
    taken.close();
    log.reopen().unwrap();
}
