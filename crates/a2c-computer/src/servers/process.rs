//! A child process that speaks MCP: how it is started, and what it says on standard error.

use std::collections::VecDeque;
use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a2c_protocol::config::StdioParameters;
use process_wrap::tokio::{CommandWrap, KillOnDrop, ProcessGroup};
use rmcp::transport::TokioChildProcess;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{ChildStderr, Command};
use tokio::task::JoinHandle;

/// What a child inherits of our environment; the rest is none of its business.
const INHERITED: [&str; 9] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/// How many lines of standard error are kept, and how long each may be.
const KEPT_LINES: usize = 20;
const LINE_LIMIT: u64 = 4096;

/// How long the last words of a process are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Starts the process in a group of its own, so that its children end with it.
pub(crate) fn start(name: &str, stdio: &StdioParameters) -> io::Result<(TokioChildProcess, StderrTail)> {
    let mut command = Command::new(&stdio.command);
    command.args(&stdio.args).env_clear();
    command.envs(INHERITED.into_iter().filter_map(|key| Some((key, std::env::var_os(key)?))));
    command.envs(stdio.env.iter().flatten());
    if let Some(cwd) = &stdio.cwd {
        command.current_dir(cwd);
    }
    let mut command = CommandWrap::from(command);
    command.wrap(ProcessGroup::leader()).wrap(KillOnDrop);
    let (transport, stderr) = TokioChildProcess::builder(command).stderr(Stdio::piped()).spawn()?;
    let lines = Lines::default();
    let reader = stderr.map(|stderr| tokio::spawn(follow(name.to_owned(), stderr, lines.clone())));
    Ok((transport, StderrTail { lines, reader }))
}

type Lines = Arc<Mutex<VecDeque<String>>>;

/// The last lines of a process's standard error.
pub(crate) struct StderrTail {
    lines: Lines,
    reader: Option<JoinHandle<()>>,
}

impl StderrTail {
    /// The lines, for a reason that explains a failure. A process that has just ended may have more to say than was
    /// read so far.
    pub(crate) async fn last_words(self) -> String {
        if let Some(reader) = self.reader {
            let _ = tokio::time::timeout(LAST_WORDS, reader).await;
        }
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

async fn follow(name: String, stderr: ChildStderr, lines: Lines) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A process that never ends its line must not fill our memory: a long line comes in pieces.
        match (&mut reader).take(LINE_LIMIT).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
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
