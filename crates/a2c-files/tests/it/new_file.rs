//! A file is whole or absent, whatever happens to the process that writes it.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use a2c_files::{NewFile, replace, replace_target};

use crate::names;

#[test]
fn an_unfinished_file_has_no_name_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "old").unwrap();
    let mut file = NewFile::create_in(dir.path()).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    drop(file);
    assert_eq!(names(dir.path()), ["file"]);
}

#[test]
fn a_file_is_replaced_as_a_whole_and_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "an older and longer text").unwrap();
    replace(&path, b"new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(names(dir.path()), ["file"]);
    #[cfg(unix)]
    assert_eq!(crate::mode(&path), 0o600);
}

#[test]
fn a_missing_folder_is_created_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/file");
    replace(&path, b"text").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    #[cfg(unix)]
    for folder in ["a", "a/b"] {
        assert_eq!(crate::mode(&dir.path().join(folder)), 0o700, "{folder}");
    }
}

#[test]
fn what_cannot_be_replaced_is_an_error_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("folder/full")).unwrap();
    replace(&dir.path().join("folder"), b"text").unwrap_err();
    assert_eq!(names(dir.path()), ["folder"]);
    fs::write(dir.path().join("file"), "").unwrap();
    replace(&dir.path().join("file/below"), b"text").unwrap_err();
}

#[cfg(unix)]
#[test]
fn a_link_is_replaced_or_its_target_is() {
    use std::os::unix::fs::symlink;

    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("elsewhere")).unwrap();
    fs::write(path("elsewhere/file"), "old").unwrap();
    symlink("elsewhere/file", path("link")).unwrap();
    replace_target(&path("link"), b"new").unwrap();
    assert!(path("link").is_symlink());
    assert_eq!(fs::read_to_string(path("elsewhere/file")).unwrap(), "new");
    replace(&path("link"), b"newer").unwrap();
    assert!(!path("link").is_symlink());
    assert_eq!(fs::read_to_string(path("elsewhere/file")).unwrap(), "new");
    replace_target(&path("none"), b"first").unwrap();
    assert_eq!(fs::read_to_string(path("none")).unwrap(), "first");
}

/// The variable that makes [`writes_until_it_is_killed`] the process that writes.
const TARGET: &str = "A2C_FILES_TEST_TARGET";

fn content(letter: u8) -> Vec<u8> {
    vec![letter; 300_000]
}

#[test]
fn a_killed_writer_leaves_a_whole_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    replace(&path, &content(b'a')).unwrap();
    for _ in 0..10 {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["new_file::writes_until_it_is_killed", "--exact", "--ignored", "--nocapture"])
            .env(TARGET, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // A line for each file that was written: the writer is at work.
        let lines = std::io::BufRead::lines(std::io::BufReader::new(writer.stdout.take().unwrap()));
        assert!(lines.map_while(Result::ok).any(|line| line.ends_with("written")));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let found = fs::read(&path).unwrap();
        assert!(found == content(found[0]), "{} bytes, not one content", found.len());
    }
}

#[test]
#[ignore = "runs as a process of a_killed_writer_leaves_a_whole_file"]
fn writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(TARGET) else { return };
    for letter in (b'a'..=b'z').cycle().take(10_000) {
        replace(Path::new(&path), &content(letter)).unwrap();
        writeln!(std::io::stdout(), "written").unwrap();
    }
}
