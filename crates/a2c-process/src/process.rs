//! A running process, and all the processes of one owner.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio_util::sync::CancellationToken;

use crate::frame::FrameWriter;
use crate::guardian::client::{Guardian, GuardianError, GuardianProgram, Registration};
use crate::launch::Launch;
use crate::line_writer::LineWriter;
use crate::mark::{MarkIssuer, ProcessMark};
use crate::reaper::{self, ProcessGroup};
use crate::redact::Redact;
use crate::spawn_error::SpawnError;

/// How long a process may take to end by itself once its standard input is closed.
const GRACE: Duration = Duration::from_secs(3);

/// How long it may take to end once it has been asked to.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// How long the kernel may take to end it.
const DEATH: Duration = Duration::from_secs(2);

/// All child processes of one owner: they bear a common mark and have a common guardian. Clones are the same owner.
#[derive(Debug, Clone)]
pub struct Processes(Arc<Owner>);

#[derive(Debug)]
struct Owner {
    marks: MarkIssuer,
    guardian: Option<Guardian>,
}

/// A process that has been started, and its streams.
#[derive(Debug)]
pub struct Spawned {
    /// The process.
    pub process: Process,
    /// Its standard input.
    pub stdin: ProcessInput,
    /// Its standard output.
    pub stdout: ChildStdout,
    /// Its standard error.
    pub stderr: ChildStderr,
}

/// Why a process did not start, as the operating system says it.
#[derive(Debug)]
pub(crate) enum RawSpawnError {
    Io(io::Error),
    Streams,
}

impl From<io::Error> for RawSpawnError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The standard input of a process. The end of the process closes every writer that is made of it.
#[derive(Debug)]
pub struct ProcessInput {
    pipe: ChildStdin,
    closed: CancellationToken,
}

/// A running process and everything it has started: all of it ends with this value.
#[derive(Debug)]
pub struct Process {
    child: Child,
    tree: Option<ProcessTree>,
    input_closed: CancellationToken,
}

/// Everything that has to end with a process.
#[derive(Debug)]
struct ProcessTree {
    group: Option<ProcessGroup>,
    mark: ProcessMark,
    /// Dropped after all processes are gone: then the guardian forgets them.
    registration: Option<Registration>,
}

impl ProcessTree {
    fn end(self) {
        self.members().kill();
        drop(self.registration);
    }

    fn members(&self) -> TreeMembers {
        TreeMembers { group: self.group, mark: self.mark.clone() }
    }
}

/// The processes of a tree, for a task that ends them and does not own them.
#[derive(Debug, Clone)]
pub(crate) struct TreeMembers {
    group: Option<ProcessGroup>,
    mark: ProcessMark,
}

impl TreeMembers {
    /// Whether the process that the tree began with is known to have ended.
    pub(crate) fn root_has_ended(&self) -> bool {
        self.group.is_some_and(ProcessGroup::leader_has_ended)
    }

    /// Ends all of them. Blocks, for some seconds at worst.
    pub(crate) fn kill(&self) {
        reaper::end(&self.mark, &Vec::from_iter(self.group));
    }
}

impl Processes {
    /// Processes without a guardian: if this program is killed, it may leave some of them behind.
    pub fn unguarded() -> Self {
        Self(Arc::new(Owner { marks: MarkIssuer::new(), guardian: None }))
    }

    /// Starts the guardian, if there is a program for it, and waits until it is ready.
    pub async fn guarded_by(program: Option<&GuardianProgram>) -> Result<Self, GuardianError> {
        let marks = MarkIssuer::new();
        let guardian = match program {
            Some(program) => Some(Guardian::start(program, &marks.mark_of_all()).await?),
            None => None,
        };
        Ok(Self(Arc::new(Owner { marks, guardian })))
    }

    /// Starts a process. The error holds no secret that `redact` knows.
    pub async fn spawn(&self, launch: &Launch, redact: &dyn Redact) -> Result<Spawned, SpawnError> {
        self.spawn_prepared(launch, |_| {}, redact).await
    }

    /// Starts a process, and does something about it as soon as its number is known.
    pub(crate) async fn spawn_prepared(
        &self,
        launch: &Launch,
        prepare: impl FnOnce(u32) + Send + 'static,
        redact: &dyn Redact,
    ) -> Result<Spawned, SpawnError> {
        self.spawn_raw(launch, prepare).await.map_err(|error| match error {
            RawSpawnError::Io(error) => SpawnError::new(launch, &error, redact),
            RawSpawnError::Streams => SpawnError::streams(),
        })
    }

    /// The same, with an error that is not explained.
    pub(crate) async fn spawn_raw(
        &self,
        launch: &Launch,
        prepare: impl FnOnce(u32) + Send + 'static,
    ) -> Result<Spawned, RawSpawnError> {
        let mark = self.0.marks.next();
        let mut command = launch.command(&mark);
        // Starting a program waits for the disk. Nothing is lost when the caller stops waiting: a process that no one
        // takes is ended.
        let spawned = tokio::task::spawn_blocking(move || {
            let mut child = command.spawn()?;
            let group = child.id().map(|pid| {
                prepare(pid);
                mark.set_locks_limit(pid);
                ProcessGroup::led_by(pid)
            });
            let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
            let tree = ProcessTree { group, mark, registration: None };
            io::Result::Ok((Process { child, tree: Some(tree), input_closed: CancellationToken::new() }, streams))
        });
        let (mut process, streams) = spawned.await.map_err(io::Error::other)??;
        if let (Some(tree), Some(guardian)) = (&mut process.tree, &self.0.guardian) {
            tree.registration = tree.group.map(|group| guardian.register(group.number()));
        }
        let (Some(pipe), Some(stdout), Some(stderr)) = streams else { return Err(RawSpawnError::Streams) };
        let stdin = ProcessInput { pipe, closed: process.input_closed.clone() };
        Ok(Spawned { process, stdin, stdout, stderr })
    }

    /// Ends every process of this owner that still runs, daemons of programs that were run included, and dismisses the
    /// guardian. Outside of Linux a process that has left its group is not found.
    pub async fn end(&self) {
        if let Some(guardian) = &self.0.guardian {
            guardian.end().await;
        }
        // There may be no guardian, or none at this moment, if the last one was killed.
        let mark = self.0.marks.mark_of_all();
        let _ = tokio::task::spawn_blocking(move || reaper::end(&mark, &[])).await;
    }

    /// How many processes of this owner live, those included that they have started. Blocks for a moment.
    #[cfg(target_os = "linux")]
    pub fn count(&self) -> usize {
        reaper::count(&self.0.marks.mark_of_all())
    }
}

impl ProcessInput {
    /// Writes lines to it.
    pub fn into_lines(self) -> LineWriter {
        LineWriter::with_close(self.pipe, self.closed)
    }

    /// The pipe itself, which only its holder closes.
    pub(crate) fn into_pipe(self) -> ChildStdin {
        self.pipe
    }

    /// Writes frames to it.
    pub fn into_frames(self) -> FrameWriter {
        FrameWriter::with_close(self.pipe, self.closed)
    }
}

impl Process {
    /// The number of the process, as long as it has not ended.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// The process and all it has started, for a task that may have to end them. None once they are being ended.
    pub(crate) fn tree_members(&self) -> Option<TreeMembers> {
        self.tree.as_ref().map(ProcessTree::members)
    }

    /// Waits until the process has ended by itself.
    pub async fn exited(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Closes the standard input of the process, waits for it to end, asks it to, and then ends what is left of it and
    /// of all it has started. Returns how it ended if it did so by itself. Takes some seconds at most.
    pub async fn end(mut self) -> Option<ExitStatus> {
        self.input_closed.cancel();
        let by_itself = tokio::time::timeout(GRACE, self.child.wait()).await;
        if by_itself.is_err() {
            if let Some(group) = self.tree.as_ref().and_then(|tree| tree.group) {
                group.terminate();
            }
            let _ = tokio::time::timeout(LAST_GRACE, self.child.wait()).await;
        }
        self.kill().await;
        by_itself.ok()?.ok()
    }

    /// Ends the process and all it has started at once.
    pub async fn kill(mut self) {
        self.input_closed.cancel();
        if let Some(tree) = self.tree.take() {
            // It goes on even if the caller stops waiting.
            let _ = tokio::task::spawn_blocking(move || tree.end()).await;
        }
        let _ = self.child.start_kill();
        let _ = tokio::time::timeout(DEATH, self.child.wait()).await;
    }

    /// Kills what is left of the group of a process that has ended, and lets go of processes that have left it: they bear
    /// the mark, and [`Processes::end`] ends them, or the guardian if this program ends without it.
    pub(crate) fn release(mut self) {
        if let Some(group) = self.tree.take().and_then(|tree| tree.group) {
            group.kill();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.input_closed.cancel();
        if let Some(tree) = self.tree.take() {
            // At once, for a program that is about to end; the search for the others takes longer than a drop may.
            if let Some(group) = tree.group {
                group.kill();
            }
            let reaper = std::thread::Builder::new().name("process-reaper".into());
            if let Err(error) = reaper.spawn(move || tree.end()) {
                // The mark is still there for `Processes::end` and for the guardian.
                tracing::warn!(%error, "no thread for the reaper: processes outside of the group live on");
            }
        }
    }
}
