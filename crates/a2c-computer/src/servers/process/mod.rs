//! A child process that speaks MCP: how it is started, how it ends with all it has started, and what it says.
//!
//! ```text
//! launch ──► Process ── stdout ──► StdioTransport ──► rmcp
//!               │  └─── stderr ──► StderrTail ──────► ServerLog
//!               └────── stdin ◄─── Outlet ◄────────── rmcp
//! ```
//!
//! Nothing is left behind: a process and what it has started are a process group, bear a common mark ([`family`]) by which
//! those who leave the group are found ([`kin`]), and are known to a guardian that outlives us ([`guardian`]).

pub(crate) mod family;
mod guard;
pub(crate) mod guardian;
mod kin;
mod launch;
mod lines;
mod message;
mod outlet;
mod stderr;
pub(crate) mod stdio;
#[cfg(test)]
mod tests;

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use crate::servers::log::LogSource;
use family::Marker;
pub use guard::guard;
use guardian::Watched;
use kin::Group;
pub(crate) use launch::Launch;
use outlet::Outlet;
pub(crate) use stderr::{LAST_WORDS, StderrTail};
pub(crate) use stdio::StdioTransport;

/// How long a process may take to end by itself once its standard input is closed.
const GRACE: Duration = Duration::from_secs(3);

/// How long it may take to end once it has been asked to.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// How long the kernel may take to end it.
const DEATH: Duration = Duration::from_secs(2);

/// A server that has been started.
pub(crate) struct Started {
    /// Its process.
    pub(crate) process: Process,
    /// What MCP is spoken on.
    pub(crate) transport: StdioTransport<ChildStdout>,
    /// What it says otherwise.
    pub(crate) stderr: StderrTail,
}

/// A running process and everything it has started: all of it ends with this value.
pub(crate) struct Process {
    child: Child,
    kin: Option<Kin>,
    outlet: Option<Outlet>,
}

/// Everybody who has to end with a process.
struct Kin {
    group: Option<Group>,
    marker: Marker,
    /// Dropped after all of them are gone: then the guardian forgets them.
    watched: Option<Watched>,
}

impl Kin {
    fn end(self) {
        kin::end(&self.marker, &Vec::from_iter(self.group));
        drop(self.watched);
    }
}

/// Starts the process; the error says what to change.
pub(crate) async fn start(launch: Launch<'_>) -> Result<Started, String> {
    let Launch { name, stdio, secrets, log, family, guardian } = launch;
    log.begin_run();
    if let Some(problem) = launch::refuse(stdio) {
        return Err(problem);
    }
    let marker = family.start();
    let mut command = launch::command(stdio, &marker);
    // Starting a program waits for the disk. Who does not wait for us any more loses nothing: a process that nobody takes
    // is ended.
    let spawned = tokio::task::spawn_blocking(move || {
        let mut child = command.spawn()?;
        let group = child.id().map(|pid| {
            marker.brand(pid);
            Group::led_by(pid)
        });
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        io::Result::Ok((Process { child, kin: Some(Kin { group, marker, watched: None }), outlet: None }, streams))
    });
    let spawned = spawned.await.map_err(|error| format!("cannot start its process: {error}"))?;
    let (mut process, streams) = spawned.map_err(|error| secrets.redact(&launch::explain(stdio, &error)))?;
    if let (Some(kin), Some(guardian)) = (&mut process.kin, guardian) {
        kin.watched = kin.group.map(|group| guardian.watch(group.number()));
    }
    let (stdin, stdout, stderr) = usable(streams).ok_or("its standard streams cannot be used")?;
    let outlet = Outlet::new(stdin);
    process.outlet = Some(outlet.clone());
    let pid = process.child.id().unwrap_or_default();
    log.push(LogSource::A2c, &format!("started as process {pid}"), secrets);
    let stderr = StderrTail::new(name, stderr, log, secrets);
    let transport =
        StdioTransport::new(name, stdout, outlet, stdio.encoding_error_handler, log.clone(), secrets.clone());
    Ok(Started { process, transport, stderr })
}

type Streams<T = ChildStdin, U = ChildStdout, V = ChildStderr> = (T, U, V);

fn usable(streams: Streams<Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>>) -> Option<Streams> {
    Some((streams.0?, streams.1?, streams.2?))
}

impl Process {
    /// Waits until the process has ended by itself.
    pub(crate) async fn exited(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Closes the standard input of the process, waits for it to end, asks it to, and then ends what is left of it and
    /// of all it has started. Tells how it ended where it did so by itself. Takes some seconds at most.
    pub(crate) async fn end(mut self) -> Option<ExitStatus> {
        if let Some(outlet) = self.outlet.take() {
            outlet.shut();
        }
        let by_itself = tokio::time::timeout(GRACE, self.child.wait()).await;
        if by_itself.is_err() {
            if let Some(group) = self.kin.as_ref().and_then(|kin| kin.group) {
                group.ask();
            }
            let _ = tokio::time::timeout(LAST_GRACE, self.child.wait()).await;
        }
        if let Some(kin) = self.kin.take() {
            // It goes on even if nobody waits for it.
            let _ = tokio::task::spawn_blocking(move || kin.end()).await;
        }
        let _ = self.child.start_kill();
        let _ = tokio::time::timeout(DEATH, self.child.wait()).await;
        by_itself.ok()?.ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(outlet) = self.outlet.take() {
            outlet.shut();
        }
        if let Some(kin) = self.kin.take() {
            // At once, for a program that is about to end; the others need a look around, which takes longer than a drop
            // may.
            if let Some(group) = kin.group {
                group.kill();
            }
            std::thread::spawn(move || kin.end());
        }
    }
}
