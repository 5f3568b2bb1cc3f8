//! Running a program for what it prints: bounded in time and size, in a process group of its own, with nobody left behind.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use zeroize::Zeroizing;

/// What these programs inherit: what a server inherits, and how a program finds its own settings and the session's
/// keyring. They are password managers more often than not.
const INHERITED: [&str; 20] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "USER",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "APPDATA",
    "LOCALAPPDATA",
    "PATHEXT",
    "SystemRoot",
    "TEMP",
    "TMP",
    "USERPROFILE",
];

/// How much may be printed on either stream.
pub(super) const OUTPUT_LIMIT: usize = 64 * 1024;

/// How a program ended, and what it printed.
pub(super) struct Printed {
    /// How it ended.
    pub(super) status: ExitStatus,
    /// Standard output, complete.
    pub(super) stdout: Zeroizing<Vec<u8>>,
    /// Standard error, or its beginning.
    pub(super) stderr: Zeroizing<Vec<u8>>,
}

/// Why there is nothing to read. Holds nothing that the program printed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// It cannot be started.
    #[error("cannot be started")]
    Start(#[source] io::Error),
    /// It was ended after its time.
    #[error("did not end within {} s", .0.as_secs())]
    TooSlow(Duration),
    /// It was ended after its share.
    #[error("printed more than {} KiB", OUTPUT_LIMIT / 1024)]
    TooMuch,
    /// Its streams broke.
    #[error("cannot be read")]
    Read(#[source] io::Error),
}

/// Runs a program to its end. Dropping the future ends the program and all it started.
pub(super) async fn run(mut command: Command, input: Option<&[u8]>, limit: Duration) -> Result<Printed, RunError> {
    command.env_clear().envs(INHERITED.into_iter().filter_map(|key| Some((key, std::env::var_os(key)?))));
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut group = Group::of(command.spawn().map_err(RunError::Start)?);
    tokio::time::timeout(limit, exchange(&mut group.child, input)).await.unwrap_or(Err(RunError::TooSlow(limit)))
}

/// Feeds and drains a program until it has ended. What it leaves running in the background is not waited for: that may
/// hold the streams open for ever.
async fn exchange(child: &mut Child, input: Option<&[u8]>) -> Result<Printed, RunError> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async move {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A program that does not want it says so in its exit code.
            let _ = stdin.write_all(input).await;
        }
    };
    let (mut out, mut err) = (Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new()));
    let status = {
        let read_out = read_all(stdout, &mut out);
        let read_err = read_some(stderr, &mut err);
        let streams = async { tokio::join!(write, read_out, read_err).1 };
        let mut streams = std::pin::pin!(streams);
        tokio::select! {
            biased;
            read = &mut streams => {
                read?;
                child.wait().await.map_err(RunError::Read)?
            }
            status = child.wait() => {
                // All that the program itself wrote is in the pipes by now; take it without waiting for their other holders.
                match tokio::time::timeout(Duration::from_millis(200), streams).await {
                    Ok(read) => read?,
                    Err(_) => tracing::debug!("a program left something running that holds its output"),
                }
                status.map_err(RunError::Read)?
            }
        }
    };
    Ok(Printed { status, stdout: out, stderr: err })
}

async fn read_all(stream: Option<impl AsyncRead + Unpin>, into: &mut Zeroizing<Vec<u8>>) -> Result<(), RunError> {
    // Reserved once: a buffer that grows leaves copies of a secret behind.
    into.reserve_exact(OUTPUT_LIMIT + 1);
    let Some(stream) = stream else { return Ok(()) };
    let mut stream = stream.take(OUTPUT_LIMIT as u64 + 1);
    while stream.read_buf(&mut **into).await.map_err(RunError::Read)? > 0 {
        if into.len() > OUTPUT_LIMIT {
            return Err(RunError::TooMuch);
        }
    }
    Ok(())
}

async fn read_some(stream: Option<impl AsyncRead + Unpin>, into: &mut Zeroizing<Vec<u8>>) {
    into.reserve_exact(OUTPUT_LIMIT);
    let Some(mut stream) = stream else { return };
    let _ = (&mut stream).take(OUTPUT_LIMIT as u64).read_to_end(into).await;
    // Whoever writes on must not be blocked by us.
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
}

/// A child and everything it has started.
struct Group {
    child: Child,
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
}

impl Group {
    fn of(child: Child) -> Self {
        #[cfg(unix)]
        let id = child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        Self {
            child,
            #[cfg(unix)]
            id,
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.id {
            // Fails when nobody of the group is left, which is what we want.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}
