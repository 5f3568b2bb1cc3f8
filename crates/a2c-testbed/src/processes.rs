//! Processes that a test looks at from outside: whether they run, what they started, and which of them belong to it.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Pid, Signal, kill_process};

/// The variable that marks the processes of a test; children inherit it.
const VARIABLE: &str = "A2C_TEST_FAMILY";

/// A mark in the environment of processes that no other test has.
pub struct Mark(String);

impl Mark {
    /// A new mark; `test` makes it readable.
    pub fn new(test: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        Self(format!("{test}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    /// The environment variable that marks a process, and its value.
    pub fn variable(&self) -> (&'static str, &str) {
        (VARIABLE, &self.0)
    }

    /// The value of the variable, which a process may also carry elsewhere in its environment.
    pub fn word(&self) -> &str {
        &self.0
    }

    /// The marked processes that run.
    pub fn living(&self) -> Vec<u32> {
        bearing(&self.0)
    }

    /// Kills the marked processes and gives their number.
    pub fn kill(&self) -> usize {
        let living = self.living();
        for pid in &living {
            kill(*pid);
        }
        living.len()
    }
}

/// The running processes with a word in their environment.
pub fn bearing(word: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let bears = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(word)
    };
    pids.filter(|pid| bears(pid) && runs(*pid)).collect()
}

/// The processes that a process has started and that are not yet reaped.
pub fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let of_threads = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let mut pids: Vec<u32> = of_threads
        .flat_map(|text| text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}

/// Whether a process runs; a zombie does not.
pub fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// Kills a process.
pub fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process id is not zero");
    // It may have ended meanwhile.
    let _ = kill_process(pid, Signal::KILL);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    /// A process that waits for its input to end. It is given when it has spoken: a process that is only just started has
    /// not yet got its environment.
    fn waiting(mark: &Mark) -> std::process::Child {
        let (variable, value) = mark.variable();
        let mut command = Command::new("sh");
        command.args(["-c", "echo ready; read -r line"]).env(variable, value);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sh is there");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it writes text");
        assert_eq!(line, "ready\n");
        child
    }

    #[test]
    fn marked_processes_are_found_until_they_end() {
        let mark = Mark::new("found");
        let mut child = waiting(&mark);
        assert_eq!(mark.living(), [child.id()]);
        assert!(children(std::process::id()).contains(&child.id()));
        assert_eq!(mark.kill(), 1);
        child.wait().unwrap();
        assert!(!runs(child.id()));
        assert_eq!(mark.living(), Vec::<u32>::new());
        assert_ne!(Mark::new("found").word(), mark.word());
    }
}
