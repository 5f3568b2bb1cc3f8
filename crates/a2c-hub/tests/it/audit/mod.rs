//! The audit log: the content of its file, crashes, full disks, rotation, and what a verification detects.

mod crash;
mod disk;
mod file;
mod rotation;
mod tamper;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use a2c_hub::audit::{AuditConfig, AuditEvent, AuditLog, ExpectedHashes, Record, Verified, VerifyError, verify};
use serde_json::Value;
use tempfile::TempDir;

/// A directory with a log, removed at the end of the test.
struct LogDir {
    dir: TempDir,
}

impl LogDir {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary directory") }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("audit.jsonl")
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn open(&self) -> AuditLog {
        AuditLog::open(&AuditConfig::at(self.path())).expect("the log opens")
    }

    /// A closed log with these offices in it, one record each.
    fn with(offices: &[&str]) -> Self {
        let log = Self::new();
        log.add(offices);
        log
    }

    /// Opens the log, adds a record per office and closes it.
    fn add(&self, offices: &[&str]) {
        let log = self.open();
        offices.iter().for_each(|office| log.record(joined(office)));
        log.close();
        assert_eq!(log.lost(), 0);
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.path()).expect("the log is text")
    }

    fn lines(&self) -> Vec<String> {
        self.text().lines().map(str::to_owned).collect()
    }

    fn verify(&self) -> Result<Verified, VerifyError> {
        verify_file(&self.path(), &ExpectedHashes::default())
    }
}

fn verify_file(path: &Path, expected: &ExpectedHashes) -> Result<Verified, VerifyError> {
    verify(BufReader::new(File::open(path).expect("the log is there")), expected)
}

fn joined(office: &str) -> Record {
    Record { office: Some(office.into()), ..Record::of(AuditEvent::Joined) }
}

fn parsed(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// What each line is about: its office, or its event.
fn gist(lines: &[String]) -> Vec<String> {
    let gist = |line: &Value| line["office"].as_str().or(line["event"].as_str()).expect("an event").to_owned();
    parsed(lines).iter().map(gist).collect()
}
