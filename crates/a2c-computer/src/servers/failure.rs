//! Why a server does not run, or does not work as it should.

use std::fmt;
use std::io;
use std::process::ExitStatus;

use a2c_mcp::stdio::StdioStartError;
use a2c_mcp::{Degradation, SessionError};

use crate::inputs::InputFailure;

/// Why a server does not run, or does not work as it should. Its text holds no secret.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerFailure {
    /// What went wrong.
    pub cause: FailureCause,
    /// How its process ended, where it has one and ended by itself.
    pub exit: Option<ExitStatus>,
    /// The last lines that it wrote to standard error; empty where there are none.
    pub stderr: String,
}

/// What went wrong with a server.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FailureCause {
    /// A placeholder in its parameters has no value, or one that does not fit.
    #[error(transparent)]
    Input(#[from] InputFailure),
    /// Its process cannot be started.
    #[error(transparent)]
    Spawn(#[from] StdioStartError),
    /// The session with it did not come about, or ended: handshake, access, HTTP, TLS, protocol, silence.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Its process ended by itself.
    #[error("it ended with {0}")]
    Exited(ExitStatus),
    /// Its process cannot be observed.
    #[error("its process cannot be waited for: {0}")]
    Wait(io::ErrorKind),
    /// It runs, with a defect.
    #[error(transparent)]
    Degraded(#[from] Degradation),
}

impl<C: Into<FailureCause>> From<C> for ServerFailure {
    /// A failure without a process.
    fn from(cause: C) -> Self {
        Self { cause: cause.into(), exit: None, stderr: String::new() }
    }
}

impl fmt::Display for ServerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)?;
        match (self.exit, &self.cause) {
            (None, _) | (_, FailureCause::Exited(_)) => {}
            (Some(status), _) => write!(f, " ({status})")?,
        }
        if self.stderr.is_empty() { Ok(()) } else { write!(f, "; it wrote:\n{}", self.stderr) }
    }
}

impl std::error::Error for ServerFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.cause)
    }
}
