//! Workers: processes that do one piece of work for us within limits of memory, CPU time and wall clock.
//!
//! The kernel enforces memory and CPU time, a task of this program the wall clock, whatever the caller does. Limits belong to a process that runs already, so
//! who sets them first matters: a worker that begins at once would use memory, or start processes of its own, without
//! limits. So they are set twice, from both sides:
//!
//! 1. The worker is a program of ours and calls [`apply_worker_limits`] first thing in `main`, with what stands in its
//!    environment, before it has read any input. No work is ever done without limits.
//! 2. The parent sets the same limits right after the start (Linux). That holds for a program that does not call the
//!    function, a moment later.
//!
//! A process that stops itself until its parent has set the limits was considered: it needs code that runs between `fork`
//! and `exec`, which is `unsafe`, or a helper program that does what the call in `main` does.

mod limits;

use std::fmt;
use std::io;
use std::process::ExitStatus;

use tokio::process::ChildStdout;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::launch::Launch;
use crate::process::{Process, ProcessInput, Processes, TreeMembers};
use crate::redact::Redact;
use crate::spawn_error::SpawnError;
use crate::stderr::{StderrSink, StderrTail};
pub use limits::{WorkerLimits, WorkerLimitsError, apply_worker_limits};

/// How many lines of standard error are looked at and handed out.
const LAST_LINES: usize = 30;

/// How the runtime of Rust begins its last line when an allocation fails; then it aborts.
const ALLOCATION_FAILED: &str = "memory allocation of ";

/// A worker that has been started, and its streams.
#[derive(Debug)]
pub struct SpawnedWorker {
    /// The worker.
    pub worker: WorkerProcess,
    /// Its standard input.
    pub stdin: ProcessInput,
    /// Its standard output.
    pub stdout: ChildStdout,
}

/// A running worker: it ends with this value, with all it has started.
#[derive(Debug)]
pub struct WorkerProcess {
    process: Process,
    stderr: StderrTail,
    limits: WorkerLimits,
    /// Ends the worker when its time on the wall clock is over.
    wall_clock: Option<WallClock>,
}

/// The task that ends a worker at its deadline, and ends with this value.
#[derive(Debug)]
struct WallClock {
    /// Cancelled when the worker was still running at its deadline.
    over: CancellationToken,
    _task: AbortOnDropHandle<()>,
}

impl WallClock {
    fn start(members: TreeMembers, deadline: Instant) -> Self {
        let over = CancellationToken::new();
        let reached = over.clone();
        let task = tokio::spawn(async move {
            tokio::time::sleep_until(deadline).await;
            let end = move || {
                if !members.root_has_ended() {
                    reached.cancel();
                }
                // A worker that has ended may have left processes.
                members.kill();
            };
            let _ = tokio::task::spawn_blocking(end).await;
        });
        Self { over, _task: AbortOnDropHandle::new(task) }
    }
}

/// How a worker ended, and what it wrote last.
#[derive(Debug)]
pub struct WorkerOutcome {
    /// How it ended.
    pub end: WorkerEnd,
    /// The last lines of its standard error, without secrets.
    pub stderr: String,
}

/// How a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerEnd {
    /// By itself, well or not, or by a signal that has nothing to do with its limits.
    Exited(ExitStatus),
    /// It reached a limit.
    LimitReached(WorkerLimit),
}

/// A limit of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerLimit {
    /// An allocation failed. Seen of workers that abort then, as Rust programs do; another program reports the failure in
    /// its own way and counts as [`WorkerEnd::Exited`].
    Memory,
    /// Its CPU time was over.
    CpuTime,
    /// Its time on the wall clock was over.
    WallClock,
}

impl fmt::Display for WorkerLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::CpuTime => "CPU time",
            Self::WallClock => "wall clock",
        })
    }
}

impl Processes {
    /// Starts a worker within limits. The lines of its standard error go to the sink.
    pub async fn spawn_worker(
        &self,
        launch: &Launch,
        limits: WorkerLimits,
        redact: impl Redact + 'static,
        sink: impl StderrSink,
    ) -> Result<SpawnedWorker, SpawnError> {
        let mut launch = launch.clone();
        launch.env.push((limits::VARIABLE.into(), limits.to_text().into()));
        let spawned = self.spawn_prepared(&launch, move |pid| limits.set_for(pid), &redact).await?;
        let deadline = limits.wall_clock.map(|limit| Instant::now() + limit);
        let wall_clock = spawned.process.tree_members().zip(deadline);
        let wall_clock = wall_clock.map(|(members, deadline)| WallClock::start(members, deadline));
        let stderr = StderrTail::new(spawned.stderr, redact, sink);
        let worker = WorkerProcess { process: spawned.process, stderr, limits, wall_clock };
        Ok(SpawnedWorker { worker, stdin: spawned.stdin, stdout: spawned.stdout })
    }
}

impl WorkerProcess {
    /// The number of its process, as long as it has not ended.
    pub fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Waits until the worker has ended, by itself or by a limit. When this returns, nothing that it started is left.
    pub async fn finish(mut self) -> io::Result<WorkerOutcome> {
        let over = self.wall_clock.as_ref().map_or_else(CancellationToken::new, |clock| clock.over.clone());
        let status = tokio::select! {
            biased;
            status = self.process.exited() => Some(status?),
            () = over.cancelled() => None,
        };
        self.process.kill().await;
        let stderr = self.stderr.last_lines(LAST_LINES).await;
        let end = match status {
            Some(status) if !(over.is_cancelled() && was_killed(status)) => end_of(status, self.limits, &stderr),
            _ => WorkerEnd::LimitReached(WorkerLimit::WallClock),
        };
        Ok(WorkerOutcome { end, stderr })
    }

    /// Closes its standard input and ends it, whatever it does. Returns how it ended if it did so by itself.
    pub async fn end(self) -> Option<ExitStatus> {
        self.process.end().await
    }
}

/// Whether the wall clock may have ended a worker that ended so.
#[cfg(unix)]
fn was_killed(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal() == Some(rustix::process::Signal::KILL.as_raw())
}

#[cfg(not(unix))]
fn was_killed(status: ExitStatus) -> bool {
    !status.success()
}

#[cfg(unix)]
fn end_of(status: ExitStatus, limits: WorkerLimits, stderr: &str) -> WorkerEnd {
    use rustix::process::Signal;
    use std::os::unix::process::ExitStatusExt as _;
    let signal = status.signal();
    let failed_to_allocate = || stderr.lines().any(|line| line.starts_with(ALLOCATION_FAILED));
    if limits.cpu_time.is_some() && signal == Some(Signal::XCPU.as_raw()) {
        WorkerEnd::LimitReached(WorkerLimit::CpuTime)
    } else if limits.memory.is_some() && signal == Some(Signal::ABORT.as_raw()) && failed_to_allocate() {
        WorkerEnd::LimitReached(WorkerLimit::Memory)
    } else {
        WorkerEnd::Exited(status)
    }
}

#[cfg(not(unix))]
fn end_of(status: ExitStatus, _: WorkerLimits, _: &str) -> WorkerEnd {
    WorkerEnd::Exited(status)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;
    use std::time::Duration;

    #[test]
    fn a_signal_means_a_limit_only_where_there_is_one() {
        let none = WorkerLimits::default();
        let all = WorkerLimits { memory: Some(1 << 30), cpu_time: Some(Duration::from_secs(1)), wall_clock: None };
        let failed = "thread started\nmemory allocation of 1024 bytes failed";
        let check = |raw, limits, stderr, expected: Option<WorkerLimit>| {
            let status = ExitStatus::from_raw(raw);
            let expected = expected.map_or(WorkerEnd::Exited(status), WorkerEnd::LimitReached);
            assert_eq!(end_of(status, limits, stderr), expected, "{status} {limits:?} {stderr}");
        };
        let (killed, aborted, over_time) = (9, 6, 24);
        check(0, all, failed, None);
        check(killed, all, failed, None);
        check(over_time, all, "", Some(WorkerLimit::CpuTime));
        check(over_time, none, "", None);
        check(aborted, all, failed, Some(WorkerLimit::Memory));
        check(aborted, all, "assertion failed", None);
        check(aborted, none, failed, None);
    }
}
