//! A child process that speaks MCP: how it is started, how it ends, and what it says on standard error.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a2c_protocol::config::StdioParameters;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::config::inputs::{Filled, Secrets};

/// What a child inherits of our environment; the rest is none of its business.
const INHERITED: [&str; 9] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/// How many lines of standard error are kept, and how long each may be.
const KEPT_LINES: usize = 20;
const LINE_LIMIT: u64 = 4096;

/// How long the last words of a process are waited for.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long a process may take to end by itself once its standard input is closed.
const GRACE: Duration = Duration::from_secs(3);

/// A running process and everything it has started: they are one process group, and it ends with this value.
pub(crate) struct Process {
    child: Child,
    group: Option<u32>,
}

/// The two ends MCP is spoken on.
pub(crate) type Streams = (ChildStdout, ChildStdin);

/// Starts the process; the error says what to change.
pub(crate) fn start(name: &str, filled: &Filled) -> Result<(Process, Streams, StderrTail), String> {
    let Filled { stdio, secrets } = filled;
    let mut command = Command::new(&stdio.command);
    command.args(&stdio.args).env_clear();
    command.envs(INHERITED.into_iter().filter_map(|key| Some((key, std::env::var_os(key)?))));
    command.envs(stdio.env.iter().flatten());
    if let Some(cwd) = &stdio.cwd {
        command.current_dir(cwd);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|e| secrets.hide(&explain(stdio, &e)))?;
    let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("its standard streams cannot be used".into());
    };
    let lines = Lines::default();
    let reader = tokio::spawn(follow(name.to_owned(), stderr, lines.clone(), secrets.clone()));
    let process = Process { group: child.id(), child };
    Ok((process, (stdout, stdin), StderrTail { lines, reader }))
}

/// Why a process does not start, and the mistakes that usually are behind it.
fn explain(stdio: &StdioParameters, error: &io::Error) -> String {
    let command = &stdio.command;
    let hint = match &stdio.cwd {
        Some(cwd) if !Path::new(cwd).is_dir() => format!(" (its cwd '{cwd}' is not a directory)"),
        _ if error.kind() != io::ErrorKind::NotFound => String::new(),
        _ if command.contains(' ') => " (write arguments into `args`, not into `command`)".into(),
        _ if command.starts_with('~') => " (~ is not expanded: write ${env:HOME})".into(),
        _ => String::new(),
    };
    format!("cannot start '{command}': {error}{hint}")
}

impl Process {
    /// Waits until the process has ended by itself.
    pub(crate) async fn exited(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Waits for the process to end, whose standard input is closed, and ends what is left of it and its children. Tells
    /// how it ended where it did so by itself.
    pub(crate) async fn end(mut self) -> Option<ExitStatus> {
        let by_itself = tokio::time::timeout(GRACE, self.child.wait()).await;
        self.kill_group();
        let _ = self.child.wait().await;
        by_itself.ok()?.ok()
    }

    fn kill_group(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group.take().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
            // Fails when nobody of the group is left, which is what we want.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill_group();
    }
}

type Lines = Arc<Mutex<VecDeque<String>>>;

/// The last lines of a process's standard error.
pub(crate) struct StderrTail {
    lines: Lines,
    reader: JoinHandle<()>,
}

impl StderrTail {
    /// The lines, for a reason that explains a failure. A process that has just ended may have more to say than was
    /// read so far.
    pub(crate) async fn last_words(self) -> String {
        let _ = tokio::time::timeout(LAST_WORDS, self.reader).await;
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

async fn follow(name: String, stderr: ChildStderr, lines: Lines, secrets: Secrets) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A process that never ends its line must not fill our memory: a long line comes in pieces.
        match (&mut reader).take(LINE_LIMIT).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = secrets.hide(String::from_utf8_lossy(&line).trim_end());
                tracing::debug!(server = name, "{text}");
                let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                if lines.len() == KEPT_LINES {
                    lines.pop_front();
                }
                lines.push_back(text);
            }
        }
    }
}
