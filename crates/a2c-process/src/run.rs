//! Running a program to its end for what it prints, bounded in time and size.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use zeroize::Zeroizing;

use crate::launch::Launch;
use crate::process::{Processes, RawSpawnError, Spawned};

/// How long what a program itself wrote may take to be read once it has ended.
const DRAIN: Duration = Duration::from_millis(200);

/// How much a program may take and print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// How long it may run.
    pub time: Duration,
    /// How many bytes it may print on standard output. Of standard error, as many are kept.
    pub output: usize,
}

/// How a program ended, and what it printed. The bytes are wiped when they are dropped: they may be secrets.
pub struct RunOutput {
    /// How it ended.
    pub status: ExitStatus,
    /// Standard output, complete.
    pub stdout: Zeroizing<Vec<u8>>,
    /// Standard error, or its beginning.
    pub stderr: Zeroizing<Vec<u8>>,
}

/// Why a program gave no output. Holds nothing that the program printed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It cannot be started.
    #[error("cannot be started")]
    Start(#[source] io::Error),
    /// It was ended after its time.
    #[error("did not end within {} s", .0.as_secs())]
    TooSlow(Duration),
    /// It was ended because it printed more than this many bytes.
    #[error("printed more than {} KiB", .0 / 1024)]
    TooMuch(usize),
    /// Its streams broke.
    #[error("cannot be read")]
    Read(#[source] io::Error),
}

impl Processes {
    /// Runs a program to its end, with this standard input.
    ///
    /// When it has ended, its process group is killed; a process that has left the group lives on, because it may be a
    /// daemon that the program started on purpose, and ends with the owner ([`Processes::end`], or the guardian where there
    /// is one). A program that fails its limits, or whose caller drops this future, ends with all it has started.
    pub async fn run(&self, launch: &Launch, input: Option<&[u8]>, limits: RunLimits) -> Result<RunOutput, RunError> {
        let spawned = self.spawn_raw(launch, |_| {}).await.map_err(|error| match error {
            RawSpawnError::Io(error) => RunError::Start(error),
            RawSpawnError::Streams => RunError::Read(io::Error::other("its standard streams cannot be used")),
        })?;
        let exchange = exchange(spawned, input, limits.output);
        tokio::time::timeout(limits.time, exchange).await.unwrap_or(Err(RunError::TooSlow(limits.time)))
    }
}

/// Feeds and drains a program until it has ended. What it leaves running in the background is not waited for: that may
/// hold the streams open for ever.
async fn exchange(spawned: Spawned, input: Option<&[u8]>, limit: usize) -> Result<RunOutput, RunError> {
    let Spawned { mut process, stdin, stdout, stderr } = spawned;
    let mut stdin = stdin.into_pipe();
    let write = async move {
        // A program that does not want it says so in its exit code.
        let _ = stdin.write_all(input.unwrap_or_default()).await;
        Ok(())
    };
    let (mut out, mut err) = (Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new()));
    let status = {
        let read_out = read_all(stdout, &mut out, limit);
        let read_err = async {
            read_some(stderr, &mut err, limit).await;
            Ok(())
        };
        // Output beyond its limit ends the program at once, whatever the other streams do.
        let streams = async { tokio::try_join!(write, read_out, read_err).map(drop) };
        let mut streams = std::pin::pin!(streams);
        tokio::select! {
            biased;
            read = &mut streams => {
                read?;
                process.exited().await.map_err(RunError::Read)?
            }
            status = process.exited() => {
                // All that the program itself wrote is in the pipes by now; take it without waiting for their other holders.
                match tokio::time::timeout(DRAIN, streams).await {
                    Ok(read) => read?,
                    Err(_) => tracing::debug!("a program left something running that holds its output"),
                }
                status.map_err(RunError::Read)?
            }
        }
    };
    process.release();
    Ok(RunOutput { status, stdout: out, stderr: err })
}

async fn read_all(stream: impl AsyncRead + Unpin, into: &mut Zeroizing<Vec<u8>>, limit: usize) -> Result<(), RunError> {
    // Reserved once: a buffer that grows leaves copies of a secret behind.
    into.reserve_exact(limit + 1);
    let mut stream = stream.take(limit as u64 + 1);
    while stream.read_buf(&mut **into).await.map_err(RunError::Read)? > 0 {
        if into.len() > limit {
            return Err(RunError::TooMuch(limit));
        }
    }
    Ok(())
}

async fn read_some(mut stream: impl AsyncRead + Unpin, into: &mut Zeroizing<Vec<u8>>, limit: usize) {
    into.reserve_exact(limit);
    let _ = (&mut stream).take(limit as u64).read_to_end(into).await;
    // A program that writes on must not be blocked by us.
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
}
