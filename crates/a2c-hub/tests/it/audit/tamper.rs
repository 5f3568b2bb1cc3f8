//! What a change to the file looks like, and which changes cannot be seen in the file alone.

use a2c_hub::audit::{Break, ExpectedHashes, VerifyError, verify};

use super::{LogDir, verify_file};

/// Where the chain breaks when the lines of a log of five have become these.
#[track_caller]
fn check(change: impl FnOnce(&mut Vec<String>), line: u64, how: Break) {
    let dir = LogDir::with(&["a", "b", "c", "d", "e"]);
    let mut lines = dir.lines();
    change(&mut lines);
    std::fs::write(dir.path(), lines.join("\n") + "\n").expect("it can be changed");
    match dir.verify() {
        Err(VerifyError::Broken { line: at, how: seen }) => assert_eq!((at, seen), (line, how)),
        other => panic!("{other:?}"),
    }
}

fn office(line: &mut String, new: &str) {
    let at = line.find("\"office\":\"").expect("an office") + 10;
    line.replace_range(at..=at, new);
}

#[test]
fn a_changed_line_is_found() {
    check(|lines| office(&mut lines[2], "x"), 3, Break::Changed);
    check(|lines| office(&mut lines[4], "x"), 5, Break::Changed);
    check(|lines| lines[0].insert(0, ' '), 1, Break::Changed);
    check(|lines| lines[1].push(' '), 2, Break::NotARecord);
    check(|lines| lines[3].clear(), 4, Break::NotARecord);
}

#[test]
fn a_removed_line_is_found() {
    check(|lines| drop(lines.remove(2)), 3, Break::Missing { expected: 3, found: 4 });
    check(|lines| drop(lines.drain(1..4)), 2, Break::Missing { expected: 2, found: 5 });
}

#[test]
fn moved_lines_are_found() {
    check(|lines| lines.swap(1, 2), 2, Break::Missing { expected: 2, found: 3 });
    check(|lines| lines.rotate_right(1), 2, Break::OutOfPlace { expected: 6, found: 1 });
}

#[test]
fn an_inserted_line_is_found() {
    check(|lines| lines.insert(2, lines[1].clone()), 3, Break::OutOfPlace { expected: 3, found: 2 });
    check(|lines| lines.insert(2, "{}".into()), 3, Break::NotARecord);
    check(|lines| lines.insert(2, "x".repeat(1 << 20)), 3, Break::NotARecord);
}

#[test]
fn a_line_of_another_log_is_found() {
    let other = LogDir::with(&["x", "y", "z"]).lines();
    check(|lines| lines[1] = other[1].clone(), 2, Break::Replaced);
    check(|lines| lines[4] = other[2].clone(), 5, Break::OutOfPlace { expected: 5, found: 3 });
    // Two logs glued together.
    check(|lines| lines.extend(other.iter().cloned()), 6, Break::OutOfPlace { expected: 6, found: 1 });
}

#[test]
fn every_single_changed_byte_is_found() {
    let dir = LogDir::with(&["a", "b"]);
    let good = dir.text().into_bytes();
    // The last line break alone can go unseen: without it, the last line is an unfinished one.
    for at in 0..good.len() - 1 {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        let seen = verify(&*bytes, &ExpectedHashes::default());
        assert!(matches!(seen, Err(VerifyError::Broken { .. })), "byte {at}: {seen:?}");
    }
}

#[test]
fn a_cut_end_needs_a_hash_that_was_noted_elsewhere() {
    let dir = LogDir::with(&["a", "b", "c"]);
    let noted = ExpectedHashes { holds: Some(dir.verify().unwrap().last_hash), ..ExpectedHashes::default() };
    dir.add(&["d"]);
    assert_eq!(verify_file(&dir.path(), &noted).unwrap().records, 4, "a log that has grown still holds it");
    let lines = dir.lines();
    std::fs::write(dir.path(), format!("{}\n{}\n", lines[0], lines[1])).unwrap();
    assert_eq!(dir.verify().unwrap().records, 2, "the file alone looks whole");
    let error = verify_file(&dir.path(), &noted).unwrap_err();
    assert!(matches!(error, VerifyError::NotHeld { records: 2, .. }), "{error}");
    std::fs::write(dir.path(), "").unwrap();
    assert_eq!(dir.verify().unwrap().records, 0);
    assert!(verify_file(&dir.path(), &noted).is_err());
}

#[test]
fn a_cut_beginning_looks_like_a_file_that_follows_another() {
    let dir = LogDir::with(&["a", "b", "c"]);
    let first = verify(format!("{}\n", dir.lines()[0]).as_bytes(), &ExpectedHashes::default()).unwrap();
    let rest = dir.lines()[1..].join("\n") + "\n";
    let seen = verify(rest.as_bytes(), &ExpectedHashes::default()).unwrap();
    assert_eq!((seen.records, seen.follows), (2, first.last_hash), "it says what it follows");
    let whole = ExpectedHashes { follows: Some(a2c_hub::audit::Hash::ZERO), ..ExpectedHashes::default() };
    let error = verify(rest.as_bytes(), &whole).unwrap_err();
    assert!(matches!(error, VerifyError::Broken { line: 1, how: Break::OtherFile { .. } }), "{error}");
}

#[test]
fn a_log_without_end_of_line_takes_no_memory() {
    use std::io::{BufReader, Read as _};
    let endless = BufReader::new(std::io::repeat(b'x').take(64 << 20));
    let seen = verify(endless, &ExpectedHashes::default()).unwrap();
    assert_eq!((seen.records, seen.unfinished_bytes), (0, 64 << 20));
}
