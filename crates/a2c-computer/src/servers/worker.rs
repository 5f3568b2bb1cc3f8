//! One run of an MCP server, from the values of its inputs to the end of its process: what the supervisor starts again and
//! again.

use std::sync::Arc;

use a2c_mcp::stdio::{self, StartedServer, StdioLaunch};
use a2c_mcp::{Degradation, Handshake, SessionError, sse, streamable};
use a2c_process::{LAST_LINES_WAIT, StderrTail};
use a2c_protocol::config::McpTransport;
use a2c_supervise::{Exit, NextStart, Run, Worker, WorkerState};
use tokio::task::JoinError;

use crate::inputs::{Filled, InputFailure};

use super::failure::{FailureCause, ServerFailure};
use super::record::{Redactors, ServerRecord};
use super::session::{Health, run_session};

/// How many lines of standard error explain a failure.
const LAST_LINES: usize = 20;

/// The state of a server.
pub type ServerState = WorkerState<Arc<ServerFailure>>;

/// An MCP server that is kept running.
pub(super) struct McpWorker {
    pub(super) record: Arc<ServerRecord>,
}

impl Worker for McpWorker {
    type Failure = Arc<ServerFailure>;

    async fn run(&self, run: &Run<Self>) -> Exit<Self::Failure> {
        let exit = self.serve(run).await;
        self.record.disconnected();
        exit
    }

    fn state_changes(&self, next: &ServerState) {
        // A caller that waits for the end of the server finds nothing of it any more.
        if !next.is_wanted() {
            self.record.forget_resources();
        }
    }

    fn state_changed(&self, before: &ServerState, now: &ServerState) {
        tracing::debug!(server = &*self.record.name, state = now.word(), "MCP server state");
        if before.is_wanted() != now.is_wanted() {
            self.record.context.changed.mark();
        }
    }

    fn run_failed(&self, failure: &Self::Failure, next: &NextStart) {
        let again = match next {
            NextStart::After(delay) => format!(" Starting it again in {:.1} s.", delay.as_secs_f64()),
            NextStart::Never(_) => String::new(),
        };
        let reason = failure.to_string();
        tracing::error!(server = &*self.record.name, reason, "MCP server failed.{again}");
        self.record.log.remark(&format!("failed: {reason}"));
    }

    fn supervisor_failed(&self, error: &JoinError) {
        tracing::error!(server = &*self.record.name, %error, "the supervisor of an MCP server panicked");
        self.record.disconnected();
    }
}

impl Health for Run<McpWorker> {
    fn ready(&self) {
        Run::ready(self);
    }

    fn degraded(&self, problem: &Degradation) {
        Run::degraded(self, Arc::new(problem.clone().into()));
    }
}

impl McpWorker {
    /// Runs the server until it ends or is to stop.
    async fn serve(&self, run: &Run<Self>) -> Exit<Arc<ServerFailure>> {
        let (record, context) = (&self.record, &self.record.context);
        let config = record.config();
        let filled = tokio::select! {
            filled = context.inputs.fill(&config) => filled,
            () = run.stopped().cancelled() => return Exit::Stopped,
        };
        let filled = match filled {
            Ok(filled) => filled,
            Err(unresolved) => return Exit::Blocked(Arc::new(InputFailure::from(unresolved).into())),
        };
        let secrets = &filled.secrets;
        record.set_redactors(Redactors { logs: secrets.clone(), results: filled.credentials.clone() });
        tracing::info!(server = &*record.name, "starting MCP server");
        record.log.remark("starting");
        // It is remembered again when it works again.
        let handshake = record.take_handshake();
        let mut outcome = self.attempt(&filled, handshake, run).await;
        if let Err(refused) = &outcome
            && refused.is_refused_handshake()
        {
            let other = match handshake {
                Handshake::Initialize => Handshake::Discover,
                Handshake::Discover => Handshake::Initialize,
            };
            tracing::debug!(
                server = &*record.name,
                ?other,
                "the MCP server refuses the handshake: trying the other one"
            );
            let second = self.attempt(&filled, other, run).await;
            // Where neither is taken, the refusal of the first one says more: it is the one the server took before.
            if !second.as_ref().is_err_and(ServerFailure::is_failed_handshake) {
                outcome = second;
            }
        }
        match outcome {
            Ok(()) => Exit::Stopped,
            Err(failure) if failure.awaits_sign_in() => Exit::Blocked(Arc::new(failure.redacted(secrets))),
            Err(failure) => Exit::Failed(Arc::new(failure.redacted(secrets))),
        }
    }

    /// Connects to the server with one kind of handshake, and runs it until it ends or is to stop.
    async fn attempt(&self, filled: &Filled, handshake: Handshake, run: &Run<Self>) -> Result<(), ServerFailure> {
        let (record, context, secrets) = (&self.record, &self.record.context, &filled.secrets);
        match &filled.transport {
            McpTransport::Stdio(stdio) => {
                let (name, log, processes) = (&record.name, &record.log, &context.processes);
                let started = stdio::start(StdioLaunch { name, stdio, secrets, log, processes }).await?;
                self.child(started, handshake, run).await
            }
            McpTransport::Streamable(http) => {
                let transport = streamable::open(&record.name, http, context.tokens.clone());
                self.session(transport.map_err(SessionError::from)?, handshake, run).await.map_err(ServerFailure::from)
            }
            McpTransport::Sse(parameters) => {
                let transport = sse::open(parameters).map_err(SessionError::from)?;
                self.session(transport, handshake, run).await.map_err(ServerFailure::from)
            }
        }
    }

    async fn session<T>(&self, transport: T, handshake: Handshake, run: &Run<Self>) -> Result<(), SessionError>
    where
        T: a2c_mcp::Transport<a2c_mcp::RoleClient> + 'static,
    {
        run_session(&self.record, Arc::new(run.clone()), transport, handshake, run.stopped()).await
    }

    /// A server that is a process of ours: the end of the process is the end of the session, and the other way round.
    async fn child(&self, started: StartedServer, handshake: Handshake, run: &Run<Self>) -> Result<(), ServerFailure> {
        let StartedServer { mut process, transport, stderr } = started;
        let outcome = {
            let mut session = std::pin::pin!(self.session(transport, handshake, run));
            tokio::select! {
                outcome = &mut session => outcome.map_err(FailureCause::from),
                // A child of the process may keep its standard output open: the end of the process is the end all the same.
                status = process.exited() => {
                    // What it said before it ended is still to be read.
                    let _ = tokio::time::timeout(LAST_LINES_WAIT, &mut session).await;
                    match status {
                        // The process may end before we notice that it was told to.
                        _ if run.stopped().is_cancelled() => Ok(()),
                        Ok(status) => Err(FailureCause::Exited(status)),
                        Err(error) => Err(FailureCause::Wait(error.kind())),
                    }
                }
            }
        };
        // The session is dropped, and with it the standard input of the process.
        let exit = process.end().await;
        match outcome {
            Ok(()) => Ok(()),
            Err(cause) => Err(ServerFailure { cause, exit, stderr: last_lines(stderr).await }),
        }
    }
}

async fn last_lines(mut stderr: StderrTail) -> String {
    stderr.last_lines(LAST_LINES).await
}
