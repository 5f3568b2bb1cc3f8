//! How the process of a server is started.

use std::sync::Arc;

use a2c_process::{Launch, Process, Processes, SpawnError, Spawned, StderrSink, StderrTail};
use a2c_protocol::config::StdioParameters;
use a2c_secrets::Redactor;
use tokio::process::ChildStdout;

use super::start_hint::start_hint;
use super::transport::StdioTransport;
use crate::log::{LogSource, ServerLog};

/// What is needed to start a server.
pub struct StdioLaunch<'a> {
    /// The server's name.
    pub name: &'a str,
    /// What to run, with every placeholder replaced.
    pub stdio: &'a StdioParameters,
    /// The values that its log does not show.
    pub secrets: &'a Redactor,
    /// Where its lines go.
    pub log: &'a Arc<ServerLog>,
    /// The owner of its process.
    pub processes: &'a Processes,
}

/// A server that has been started.
pub struct StartedServer {
    /// Its process.
    pub process: Process,
    /// What MCP is spoken on.
    pub transport: StdioTransport<ChildStdout>,
    /// The tail of its standard error.
    pub stderr: StderrTail,
}

/// Why the process of a server does not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StdioStartError {
    /// Its encoding is not the one of MCP.
    #[error("its encoding '{encoding}' is not supported: MCP is UTF-8, remove `encoding`")]
    Encoding {
        /// What the configuration says.
        encoding: String,
    },
    /// The operating system does not start it.
    #[error("{error}{}", hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default())]
    Spawn {
        /// Why not.
        error: SpawnError,
        /// What to change in the configuration, without secrets.
        hint: Option<String>,
    },
}

impl StdioStartError {
    /// The error without secrets: the owner may have put one into any part of a parameter.
    pub fn redacted(self, secrets: &Redactor) -> Self {
        match self {
            Self::Encoding { encoding } => Self::Encoding { encoding: secrets.redact(&encoding) },
            // Its text was redacted when it was made.
            Self::Spawn { .. } => self,
        }
    }
}

/// Starts the process; the error says what to change.
pub async fn start(launch: StdioLaunch<'_>) -> Result<StartedServer, StdioStartError> {
    let StdioLaunch { name, stdio, secrets, log, processes } = launch;
    check_encoding(&stdio.encoding)?;
    let redact = {
        let secrets = secrets.clone();
        move |text: &str| secrets.redact(text)
    };
    let Spawned { process, stdin, stdout, stderr } =
        processes.spawn(&program(stdio), &redact).await.map_err(|error| {
            let hint = start_hint(stdio, error.kind()).map(|hint| secrets.redact(&hint));
            StdioStartError::Spawn { error, hint }
        })?;
    let pid = process.id().unwrap_or_default();
    log.push(LogSource::A2c, &format!("started as process {pid}"), secrets);
    let sink = StderrLog { server: name.to_owned(), log: log.clone() };
    let stderr = StderrTail::new(stderr, redact, sink);
    let transport = StdioTransport::new(
        name,
        stdout,
        stdin.into_lines(),
        stdio.encoding_error_handler,
        log.clone(),
        secrets.clone(),
    );
    Ok(StartedServer { process, transport, stderr })
}

fn program(stdio: &StdioParameters) -> Launch {
    let mut launch = Launch::new(&stdio.command).args(&stdio.args);
    launch.env = stdio.env.iter().flatten().map(|(key, value)| (key.into(), value.into())).collect();
    launch.cwd = stdio.cwd.as_ref().map(Into::into);
    launch
}

fn check_encoding(encoding: &str) -> Result<(), StdioStartError> {
    match encoding.to_ascii_lowercase().replace('_', "-").as_str() {
        "utf-8" | "utf8" | "utf-8-sig" | "ascii" | "us-ascii" => Ok(()),
        _ => Err(StdioStartError::Encoding { encoding: encoding.to_owned() }),
    }
}

/// Writes the standard error of a server into its log.
struct StderrLog {
    server: String,
    log: Arc<ServerLog>,
}

impl StderrSink for StderrLog {
    fn line(&self, line: &str) {
        self.log.push(LogSource::Stderr, line, &Redactor::default());
        tracing::debug!(server = self.server, "{line}");
    }

    fn left_out(&self, lines: u64) {
        self.log.remark(&format!("{lines} lines on standard error were left out: too many in a second"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_utf_8_is_spoken() {
        let check =
            |encoding: &str, refused: bool| assert_eq!(check_encoding(encoding).is_err(), refused, "{encoding}");
        check("utf-8", false);
        check("UTF8", false);
        check("latin-1", true);
    }

    #[test]
    fn an_encoding_that_holds_a_secret_is_not_shown() {
        let error = check_encoding("canary-0123456789").unwrap_err().redacted(&Redactor::new(["canary-0123456789"]));
        assert_eq!(error, StdioStartError::Encoding { encoding: "***".into() });
    }
}
