//! The owner's side of its guardian: starts it, tells it which process groups there are, starts another if it dies.
//!
//! Callers tell the guardian through [`Guardian::register`]; one task writes to it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::main::{OWNER_VARIABLE, READY};
use crate::launch::BASIC_ENVIRONMENT;
use crate::mark::{self, ProcessMark};

/// How long a guardian may take to be ready.
const START_LIMIT: Duration = Duration::from_secs(10);

/// How long it may take to end everything when its owner dismisses it.
const DISMISSAL: Duration = Duration::from_secs(10);

/// How long to wait before the next guardian is started, for one that does not stay alive.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The program that ends the processes of its owner when the owner itself is killed (`kill -9`) or crashes.
///
/// The program must call [`crate::guard`] and nothing else. It runs as long as its owner, one for all processes. Without
/// one, an owner that is killed leaves behind those processes that do not end by themselves when their standard input is
/// closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardianProgram {
    /// The program; usually the very program that owns the processes.
    pub program: PathBuf,
    /// The arguments that make it the guardian.
    pub args: Vec<OsString>,
}

/// Why there is no guardian.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardianError {
    /// The program does not start.
    #[error("cannot start the guardian '{}'", program.display())]
    Start {
        /// Which program.
        program: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The program started and did not do what a guardian does.
    #[error("'{}' is no guardian: it must call guard() first thing in main", program.display())]
    NotReady {
        /// Which program.
        program: PathBuf,
    },
}

/// A guardian that is kept alive.
#[derive(Debug)]
pub(crate) struct Guardian {
    changes: mpsc::UnboundedSender<GroupChange>,
    dismissed: CancellationToken,
}

#[derive(Debug, Clone, Copy)]
enum GroupChange {
    Added(u32),
    Removed(u32),
}

/// A process group that the guardian knows of until this is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    group: u32,
    changes: mpsc::UnboundedSender<GroupChange>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let _ = self.changes.send(GroupChange::Removed(self.group));
    }
}

impl Guardian {
    /// Starts the guardian of all processes with the mark and waits until it is ready.
    pub(crate) async fn start(program: &GuardianProgram, mark: &ProcessMark) -> Result<Self, GuardianError> {
        let mark = mark.text().to_owned();
        let guardian = GuardianProcess::start(program, &mark).await?;
        let (changes, received) = mpsc::unbounded_channel();
        let dismissed = CancellationToken::new();
        let restarter =
            GuardianRestarter { program: program.clone(), mark, groups: BTreeSet::new(), changes: received };
        tokio::spawn(restarter.run(guardian, dismissed.clone()));
        Ok(Self { changes, dismissed })
    }

    /// Tells the guardian of a process group.
    pub(crate) fn register(&self, group: u32) -> Registration {
        let _ = self.changes.send(GroupChange::Added(group));
        Registration { group, changes: self.changes.clone() }
    }

    /// Dismisses the guardian and waits until it has seen that nothing is left. Groups that are still registered are
    /// ended.
    pub(crate) async fn end(&self) {
        self.dismissed.cancel();
        // The task holds the receiver as long as it runs.
        self.changes.closed().await;
    }
}

/// A running guardian process. It ends when its standard input does: it is never killed by us.
struct GuardianProcess {
    process: Child,
    stdin: ChildStdin,
}

impl GuardianProcess {
    async fn start(program: &GuardianProgram, mark: &str) -> Result<Self, GuardianError> {
        let GuardianProgram { program, args } = program;
        let failed = |source| GuardianError::Start { program: program.clone(), source };
        let not_ready = || GuardianError::NotReady { program: program.clone() };
        let mut command = Command::new(program);
        // It outlives us by a moment, and needs nothing of our environment. It is no leader of a process group, so that it
        // can begin a session of its own.
        command.args(args).env_clear();
        let kept = BASIC_ENVIRONMENT.into_iter().chain(["LD_LIBRARY_PATH", mark::VARIABLE]);
        command.envs(kept.filter_map(|key| Some((key, std::env::var_os(key)?))));
        command.env(OWNER_VARIABLE, mark);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().map_err(failed)?;
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(not_ready());
        };
        let greeting = async {
            let mut answer = String::new();
            BufReader::new(stdout.take(READY.len() as u64 + 1)).read_line(&mut answer).await?;
            io::Result::Ok(answer.trim_end() == READY)
        };
        match tokio::time::timeout(START_LIMIT, greeting).await {
            Ok(Ok(true)) => Ok(Self { process, stdin }),
            _ => {
                // It is something else, and need not end with its input.
                let _ = process.start_kill();
                Err(not_ready())
            }
        }
    }

    async fn tell(&mut self, change: GroupChange) -> io::Result<()> {
        let line = match change {
            GroupChange::Added(group) => format!("+ {group}\n"),
            GroupChange::Removed(group) => format!("- {group}\n"),
        };
        self.stdin.write_all(line.as_bytes()).await
    }
}

/// Keeps a guardian running, and knows what the next one has to be told.
struct GuardianRestarter {
    program: GuardianProgram,
    mark: String,
    groups: BTreeSet<u32>,
    changes: mpsc::UnboundedReceiver<GroupChange>,
}

impl GuardianRestarter {
    /// Passes every change on until the guardian is dismissed, or no caller is left.
    async fn run(mut self, mut guardian: GuardianProcess, dismissed: CancellationToken) {
        let mut since = Instant::now();
        loop {
            let change = tokio::select! {
                biased;
                change = self.changes.recv() => change,
                ended = guardian.process.wait() => {
                    let status = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
                    tracing::warn!(status, "the guardian is gone, starting another");
                    let pause = if since.elapsed() < LONGEST_PAUSE { FIRST_PAUSE } else { Duration::ZERO };
                    guardian = tokio::select! {
                        guardian = self.replace(pause) => guardian,
                        () = dismissed.cancelled() => return,
                    };
                    since = Instant::now();
                    continue;
                }
                () = dismissed.cancelled() => break,
            };
            let Some(change) = change else { break };
            self.note(change);
            // Where this fails the guardian is dying, and the next one is told everything.
            tokio::select! {
                _ = guardian.tell(change) => {}
                () = dismissed.cancelled() => break,
            }
        }
        let GuardianProcess { mut process, stdin } = guardian;
        drop(stdin);
        if tokio::time::timeout(DISMISSAL, process.wait()).await.is_err() {
            tracing::warn!("the guardian has not ended");
        }
    }

    fn note(&mut self, change: GroupChange) {
        match change {
            GroupChange::Added(group) => _ = self.groups.insert(group),
            GroupChange::Removed(group) => _ = self.groups.remove(&group),
        }
    }

    /// The next guardian, which knows all that the last one knew.
    async fn replace(&mut self, mut pause: Duration) -> GuardianProcess {
        loop {
            tokio::time::sleep(pause).await;
            let problem = match GuardianProcess::start(&self.program, &self.mark).await {
                Ok(mut guardian) => {
                    while let Ok(change) = self.changes.try_recv() {
                        self.note(change);
                    }
                    let mut told = Ok(());
                    for group in &self.groups {
                        told = told.and(guardian.tell(GroupChange::Added(*group)).await);
                    }
                    if told.is_ok() {
                        return guardian;
                    }
                    "it died at once".to_owned()
                }
                Err(error) => error.to_string(),
            };
            tracing::warn!(problem, "no guardian: if this program is killed, it leaves processes behind");
            pause = (pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        }
    }
}
