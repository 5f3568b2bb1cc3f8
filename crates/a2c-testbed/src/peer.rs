//! A foreign process that is ready when it says so and ends with its owner.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// What is kept of a peer's standard error.
const TAIL_LINES: usize = 200;

/// How long a peer may take to end after SIGTERM.
const TERM_WAIT: Duration = Duration::from_secs(10);

/// A running process in a process group of its own. Its standard input stays open as long as the
/// peer lives, so a script can end itself when the test process dies without cleaning up.
pub struct Peer {
    child: Child,
    what: String,
    ready: String,
    lines: Receiver<String>,
    stderr: Tail,
    ended: bool,
}

/// The end of a stream that is read in the background.
struct Tail {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Disconnected once the stream has ended.
    end: Receiver<()>,
}

impl Peer {
    /// Starts `command` and waits until it prints a line for which `is_ready` holds.
    ///
    /// # Panics
    /// When the process cannot be started, ends first, or is not ready within `wait`; the
    /// message holds the end of what it wrote to standard error.
    pub fn spawn(mut command: Command, wait: Duration, is_ready: impl Fn(&str) -> bool) -> Peer {
        let what = format!("{command:?}");
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => panic!("cannot start {what}: {error}"),
        };
        let stdout = child.stdout.take().expect("standard output is piped");
        let stderr = child.stderr.take().expect("standard error is piped");
        let mut peer = Peer {
            child,
            what,
            ready: String::new(),
            lines: forward_lines(stdout),
            stderr: keep_tail(stderr),
            ended: false,
        };
        peer.ready = peer.line_where(wait, is_ready);
        peer
    }

    /// Starts `command` and waits up to a minute for a line that starts with `ready`.
    pub fn ready(command: Command) -> Peer {
        Peer::spawn(command, Duration::from_secs(60), |line| line.starts_with("ready"))
    }

    /// The line that said the peer is ready.
    pub fn ready_line(&self) -> &str {
        &self.ready
    }

    /// The last word of the ready line: by convention the address or port.
    pub fn address(&self) -> &str {
        self.ready.split_whitespace().last().unwrap_or_default()
    }

    /// The next line of standard output for which `wanted` holds; others are dropped.
    ///
    /// # Panics
    /// When none comes within `wait`.
    pub fn line_where(&self, wait: Duration, wanted: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + wait;
        let mut others = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let why = match self.lines.recv_timeout(left) {
                Ok(line) if wanted(&line) => return line,
                Ok(line) => {
                    others.push(line);
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => format!("within {wait:?}"),
                Err(RecvTimeoutError::Disconnected) => {
                    // Its last words may still be on their way.
                    let _ = self.stderr.end.recv_timeout(Duration::from_secs(1));
                    "before it ended".to_owned()
                }
            };
            panic!(
                "{} did not print the expected line {why}\n--- it printed\n{}\n--- and on standard error\n{}",
                self.what,
                others.join("\n"),
                self.stderr_tail()
            );
        }
    }

    /// The lines of standard output after the ready line.
    pub fn lines(&self) -> &Receiver<String> {
        &self.lines
    }

    /// Writes a line to standard input.
    pub fn write_line(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("standard input is piped");
        let written = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
        written.unwrap_or_else(|error| panic!("{} does not read: {error}", self.what));
    }

    /// The end of what the peer wrote to standard error.
    pub fn stderr_tail(&self) -> String {
        let tail = lock(&self.stderr.lines);
        tail.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The process id, which is also the id of its group.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the whole group at once.
    pub fn kill(&mut self) {
        if !self.ended {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
            self.ended = true;
        }
    }

    /// Asks the process to end and waits for it.
    ///
    /// # Panics
    /// When it has not ended after ten seconds.
    pub fn terminate(&mut self) -> ExitStatus {
        self.signal_one(Signal::TERM);
        let deadline = Instant::now() + TERM_WAIT;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => {
                    thread::sleep(Duration::from_millis(10));
                }
                Ok(None) => panic!(
                    "{} did not end within {TERM_WAIT:?} of SIGTERM\n--- on standard error\n{}",
                    self.what,
                    self.stderr_tail()
                ),
                Err(error) => panic!("cannot wait for {}: {error}", self.what),
            }
        };
        // What the process left behind in its group goes too.
        self.kill();
        status
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.raw_pid() {
            // An empty group is as good as an ended one.
            let _ = kill_process_group(group, signal);
        }
    }

    fn signal_one(&self, signal: Signal) {
        if let Some(pid) = self.raw_pid() {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    fn raw_pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.kill();
        if thread::panicking() {
            eprintln!("--- standard error of {}\n{}", self.what, self.stderr_tail());
        }
    }
}

fn forward_lines(stdout: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            // Keep reading after the receiver is gone: a full pipe would stop the peer.
            let _ = sender.send(line);
        }
    });
    receiver
}

fn keep_tail(stderr: impl Read + Send + 'static) -> Tail {
    let lines = Arc::new(Mutex::new(VecDeque::new()));
    let (ended, end) = mpsc::channel();
    let kept = lines.clone();
    thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            let mut kept = lock(&kept);
            if kept.len() == TAIL_LINES {
                kept.pop_front();
            }
            kept.push_back(line);
        }
        drop::<mpsc::Sender<()>>(ended);
    });
    Tail { lines, end }
}

fn lock(tail: &Mutex<VecDeque<String>>) -> MutexGuard<'_, VecDeque<String>> {
    tail.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_peer_is_ready_when_it_says_so_and_can_be_talked_to() {
        let mut peer = Peer::ready(shell("echo starting; echo ready http://x:1; exec cat"));
        assert_eq!(peer.ready_line(), "ready http://x:1");
        assert_eq!(peer.address(), "http://x:1");
        peer.write_line("hello");
        let line = peer.line_where(Duration::from_secs(10), |line| line == "hello");
        assert_eq!(line, "hello");
    }

    #[test]
    fn a_peer_that_ends_early_is_reported_with_its_standard_error() {
        let failed =
            std::panic::catch_unwind(|| Peer::spawn(shell("echo broken >&2"), Duration::from_secs(10), |_| false));
        let message = failed.err().unwrap().downcast::<String>().unwrap();
        assert!(message.contains("broken"), "{message}");
        assert!(message.contains("before it ended"), "{message}");
    }

    #[test]
    fn the_whole_group_ends_with_its_owner() {
        let mut peer = Peer::ready(shell("sleep 1000 & echo ready; wait"));
        peer.kill();
        // The grandchild holds the other end of standard output until it is gone.
        let end = peer.lines().recv_timeout(Duration::from_secs(10));
        assert_eq!(end, Err(RecvTimeoutError::Disconnected));
    }

    #[test]
    fn terminate_waits_for_a_clean_end() {
        let script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done";
        let mut peer = Peer::ready(shell(script));
        assert_eq!(peer.terminate().code(), Some(7));
    }
}
