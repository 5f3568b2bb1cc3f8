//! Why a server does not run, or does not work as it should.

use std::fmt;
use std::io;
use std::process::ExitStatus;

use a2c_mcp::http::{AccessError, AccessReason, Credentials};
use a2c_mcp::stdio::StdioStartError;
use a2c_mcp::{Degradation, SessionError};
use a2c_secrets::Redactor;

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

impl ServerFailure {
    /// Whether the server answered the handshake with an error: it may want another one.
    pub(super) fn is_refused_handshake(&self) -> bool {
        matches!(self.cause, FailureCause::Session(SessionError::Refused(_)))
    }

    /// Whether there is no handshake, refused or otherwise.
    pub(super) fn is_failed_handshake(&self) -> bool {
        let handshake = |error: &SessionError| matches!(error, SessionError::Refused(_) | SessionError::Handshake(_));
        matches!(&self.cause, FailureCause::Session(error) if handshake(error))
    }

    /// Whether the server waits for its owner to sign in: trying again alone would never help.
    pub(super) fn awaits_sign_in(&self) -> bool {
        use AccessReason::{Expired, MissingScopes, Required};
        matches!(
            &self.cause,
            FailureCause::Session(SessionError::Access(AccessError {
                reason: Required | Expired | MissingScopes,
                credentials: Credentials::SignIn { .. },
            }))
        )
    }

    /// The failure without the secrets of the server's parameters, which it, its process or a library may have repeated.
    pub(super) fn redacted(self, secrets: &Redactor) -> Self {
        let Self { cause, exit, stderr } = self;
        Self { cause: cause.redacted(secrets), exit, stderr: secrets.redact(&stderr) }
    }
}

impl FailureCause {
    fn redacted(self, secrets: &Redactor) -> Self {
        match self {
            Self::Spawn(error) => Self::Spawn(error.redacted(secrets)),
            Self::Session(error) => Self::Session(error.redacted(secrets)),
            Self::Degraded(problem) => Self::Degraded(problem.redacted(secrets)),
            // Its text names inputs and parameters, and never holds a value.
            Self::Input(_) => self,
            Self::Exited(_) | Self::Wait(_) => self,
        }
    }
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

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use a2c_mcp::CallFailure;
    use a2c_mcp::http::{HttpSetupError, ParameterError};
    use a2c_mcp::model::ErrorData;

    use super::*;

    const SECRET: &str = "canary-0123456789";

    #[test]
    fn only_a_sign_in_that_a_person_has_to_make_is_waited_for() {
        let sign_in = || Credentials::SignIn { server: "s".into() };
        let check = |reason, credentials, expected| {
            let failure = ServerFailure::from(SessionError::Access(AccessError { reason, credentials }));
            assert_eq!(failure.awaits_sign_in(), expected, "{failure}");
        };
        for (reason, expected) in [
            (AccessReason::Required, true),
            (AccessReason::Expired, true),
            (AccessReason::MissingScopes, true),
            (AccessReason::NotRenewed, false),
            (AccessReason::Forbidden, false),
        ] {
            check(reason, sign_in(), expected);
            check(reason, Credentials::Headers, false);
        }
    }

    #[test]
    fn no_part_of_a_failure_shows_a_secret() {
        let text = || format!("before {SECRET} after");
        let refused = || CallFailure::Refused(ErrorData::internal_error(text(), Some(text().into())));
        let parameters = HttpSetupError::Parameters(ParameterError::HeaderName { name: text() });
        let causes: [FailureCause; 4] = [
            StdioStartError::Encoding { encoding: text() }.into(),
            SessionError::Setup(parameters).into(),
            SessionError::Unreachable(refused()).into(),
            Degradation::Unreachable(refused()).into(),
        ];
        let failures = causes.into_iter().map(ServerFailure::from);
        let stderr = ServerFailure { cause: SessionError::HungUp.into(), exit: None, stderr: text() };
        for failure in failures.chain([stderr]) {
            assert!(failure.to_string().contains(SECRET), "{failure}");
            let failure = failure.redacted(&Redactor::new([SECRET]));
            assert!(failure.to_string().contains("before *** after"), "{failure}");
            let shown = format!(
                "{failure:?} {:?} {}",
                failure.source(),
                failure.source().map(ToString::to_string).unwrap_or_default()
            );
            assert!(!shown.contains("canary"), "{shown}");
        }
    }
}
