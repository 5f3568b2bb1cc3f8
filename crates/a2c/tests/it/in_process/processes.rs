//! The processes of a test, found by a mark in their environment, which children inherit.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// The variable that marks them.
const VARIABLE: &str = "A2C_TEST_FAMILY";

/// A mark that no other test has.
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new(test: &str) -> Self {
        Self(format!("{test}-{}", std::process::id()))
    }

    /// The environment that marks a process.
    pub(crate) fn env(&self) -> serde_json::Value {
        serde_json::json!({ VARIABLE: self.0 })
    }

    /// Those that live; one that has ended but was not yet asked how does not.
    pub(crate) fn living(&self) -> Vec<u32> {
        let wanted = format!("{VARIABLE}={}", self.0);
        let has_mark = |pid: u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
        };
        let entries = fs::read_dir("/proc").expect("there is a /proc");
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter(|pid| has_mark(*pid) && runs(*pid)).collect()
    }

    /// Ends all of them as nobody can refuse.
    pub(crate) fn kill(&self) -> usize {
        let living = self.living();
        for pid in &living {
            kill(*pid);
        }
        living.len()
    }
}

/// Ends a process as nobody can refuse.
pub(crate) fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process id is not zero");
    // It may have ended meanwhile.
    let _ = kill_process(pid, Signal::KILL);
}

/// Whether a process runs: a zombie does not.
pub(crate) fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}
