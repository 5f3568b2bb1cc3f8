//! Keeps one MCP server running: starts it, waits for its end, and starts it again after a pause.
//!
//! The only task that starts and ends the server. What is wanted of it comes through [`Wish`]; how it is goes out
//! through the status.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use a2c_mcp::stdio::{self, StartedServer, StdioLaunch};
use a2c_mcp::{SessionError, sse, streamable};
use a2c_process::{LAST_LINES_WAIT, StderrTail};
use a2c_protocol::config::McpTransport;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::backoff::Backoff;
use super::server::{Concealed, Mode, Shared, Wish};
use super::session::run_session;
use super::state::Happening;

/// How many lines of standard error explain a failure.
const LAST_LINES: usize = 20;

/// Why a run is over.
enum End {
    /// It was told to end.
    Wanted,
    /// It failed; trying again may help.
    Failed(String),
    /// It cannot be started as long as nobody changes something.
    Hopeless(String),
}

/// Does what is wished until the server is wanted no more. When this ends, nothing of the server is left.
pub(super) async fn supervise(shared: Arc<Shared>) {
    let mut wish = shared.wish.subscribe();
    let mut backoff = Backoff::default();
    let mut first = true;
    loop {
        let Wish { mode, turn } = *wish.borrow_and_update();
        match mode {
            Mode::Gone => break,
            Mode::Off => {
                shared.begin(turn, Happening::SwitchedOff);
                backoff.forget();
                // The sender lives in `shared`: this cannot fail.
                let _ = wish.changed().await;
            }
            Mode::On => {
                shared.begin(turn, Happening::Begun);
                if !std::mem::take(&mut first) {
                    shared.status.send_modify(|status| status.restarts += 1);
                }
                let begin = Instant::now();
                let end = run(&shared, &mut wish).await;
                shared.put_live(None);
                match end {
                    End::Wanted => backoff.forget(),
                    End::Failed(reason) => {
                        let pause = backoff.pause(begin.elapsed(), fastrand::f64());
                        failed(&shared, reason, Some(pause));
                        tokio::select! {
                            () = tokio::time::sleep(pause) => {}
                            _ = wish.changed() => backoff.forget(),
                        }
                    }
                    End::Hopeless(reason) => {
                        failed(&shared, reason, None);
                        let _ = wish.changed().await;
                    }
                }
            }
        }
    }
    shared.happened(Happening::Dismissed);
}

fn failed(shared: &Shared, reason: String, pause: Option<Duration>) {
    let again = pause.map(|pause| format!(" Starting it again in {:.1} s.", pause.as_secs_f64())).unwrap_or_default();
    tracing::error!(server = &*shared.name, reason, "MCP server failed.{again}");
    shared.log.remark(&format!("failed: {reason}"));
    shared.failed(reason, pause.map(|pause| SystemTime::now() + pause));
}

/// One run, from start to end. A change of the wish ends it in order.
async fn run(shared: &Arc<Shared>, wish: &mut watch::Receiver<Wish>) -> End {
    let stop = CancellationToken::new();
    let mut serving = std::pin::pin!(serve(shared, &stop));
    tokio::select! {
        end = &mut serving => end,
        _ = wish.changed() => {
            // The loop is to see this change, too.
            wish.mark_changed();
            stop.cancel();
            serving.await;
            End::Wanted
        }
    }
}

/// Runs the server until it ends or is to stop.
async fn serve(shared: &Arc<Shared>, stop: &CancellationToken) -> End {
    let config = shared.config();
    let filled = tokio::select! {
        filled = shared.surroundings.inputs.fill(&config) => filled,
        () = stop.cancelled() => return End::Wanted,
    };
    let filled = match filled {
        Ok(filled) => filled,
        Err(unresolved) => return End::Hopeless(unresolved.to_string()),
    };
    let secrets = &filled.secrets;
    shared.conceal(Concealed { from_logs: secrets.clone(), from_results: filled.credentials.clone() });
    tracing::info!(server = &*shared.name, "starting MCP server");
    shared.log.remark("starting");
    let outcome = match &filled.transport {
        McpTransport::Stdio(parameters) => {
            let launch = StdioLaunch {
                name: &shared.name,
                stdio: parameters,
                secrets,
                log: &shared.log,
                processes: &shared.surroundings.processes,
            };
            match stdio::start(launch).await {
                Ok(started) => child(shared, started, stop).await,
                Err(problem) => Err(problem.to_string()),
            }
        }
        McpTransport::Streamable(http) => {
            let tokens = shared.surroundings.tokens.clone();
            let outcome = match streamable::open(&shared.name, http, tokens) {
                Ok(transport) => run_session(shared, transport, stop).await,
                Err(problem) => Err(SessionError::Setup(problem)),
            };
            outcome.map_err(|error| error.to_string())
        }
        McpTransport::Sse(parameters) => {
            let outcome = match sse::open(parameters) {
                Ok(transport) => run_session(shared, transport, stop).await,
                Err(problem) => Err(SessionError::Setup(problem)),
            };
            outcome.map_err(|error| error.to_string())
        }
    };
    match outcome {
        Ok(()) => End::Wanted,
        Err(problem) => End::Failed(secrets.redact(&problem)),
    }
}

/// A server that is a process of ours: the end of the process is the end of the session, and the other way round.
async fn child(shared: &Arc<Shared>, started: StartedServer, stop: &CancellationToken) -> Result<(), String> {
    let StartedServer { mut process, transport, stderr } = started;
    let outcome = {
        let mut session = std::pin::pin!(run_session(shared, transport, stop));
        tokio::select! {
            outcome = &mut session => outcome.map_err(|error| error.to_string()),
            // A child of the process may keep its standard output open: the end of the process is the end all the same.
            status = process.exited() => {
                // What it said before it ended is still to be read.
                let _ = tokio::time::timeout(LAST_LINES_WAIT, &mut session).await;
                match status {
                    // It may be faster to go than we are to notice that we sent it away.
                    _ if stop.is_cancelled() => Ok(()),
                    Ok(status) => Err(format!("it ended with {status}")),
                    Err(error) => Err(error.to_string()),
                }
            }
        }
    };
    // The conversation is dropped, and with it the standard input of the process.
    let status = process.end().await;
    match outcome {
        Ok(()) => Ok(()),
        Err(problem) => Err(explain(&problem, status, stderr).await),
    }
}

/// What happened, how the process ended, and what it said last.
async fn explain(problem: &str, status: Option<ExitStatus>, mut stderr: StderrTail) -> String {
    let ended = match status {
        Some(status) if !problem.contains("ended with") => format!(" ({status})"),
        _ => String::new(),
    };
    match stderr.last_lines(LAST_LINES).await {
        text if text.is_empty() => format!("{problem}{ended}"),
        text => format!("{problem}{ended}; it wrote:\n{text}"),
    }
}
