//! Why a session did not come about or ended, and what can be wrong while it lasts.

use std::time::Duration;

use a2c_secrets::Redactor;
use rmcp::model::ErrorData;
use rmcp::service::ClientInitializeError;

use crate::call_failure::CallFailure;
use crate::detail::Detail;
use crate::http::{AccessError, AccessReason, HttpError, HttpSetupError, http_error};
use crate::paging::ListError;
use crate::redaction::RedactModel as _;

/// Why a session did not come about, or ended.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The transport cannot be set up: wrong parameters, or no TLS on this machine.
    #[error(transparent)]
    Setup(#[from] HttpSetupError),
    /// The server does not accept the credentials.
    #[error(transparent)]
    Access(AccessError),
    /// A request of the handshake failed.
    #[error("it does not answer as an MCP server: {}", in_handshake(.0))]
    Http(#[source] HttpError),
    /// The server closed the connection before the handshake was done.
    #[error("it does not answer as an MCP server: connection closed during the handshake")]
    ClosedInHandshake,
    /// The server answered the handshake with an error: it may want another one, see [`Handshake`](super::Handshake).
    #[error("it refuses the MCP handshake: {}", .0.message)]
    Refused(ErrorData),
    /// What came in the handshake is not MCP, or not a version of it that both sides speak.
    #[error("it does not answer as an MCP server: {0}")]
    Handshake(#[source] Detail),
    /// The server does not list its tools.
    #[error(transparent)]
    Tools(ListError),
    /// The handshake and the list of tools took longer than this.
    #[error("it did not start within {} s", .0.as_secs_f64())]
    StartTimeout(Duration),
    /// The server closed the connection.
    #[error("it hung up")]
    HungUp,
    /// The server left too many pings in a row unanswered.
    #[error("it does not answer any more")]
    Unanswered,
    /// A ping could not be sent.
    #[error("it does not answer any more: {0}")]
    Unreachable(#[source] CallFailure),
}

/// What usually is behind a [`SessionError`], for callers that decide by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionErrorKind {
    /// The owner has to correct the server's parameters.
    Parameters,
    /// The HTTP client or TLS cannot be set up on this machine.
    Setup,
    /// The server does not accept the credentials.
    Access(AccessReason),
    /// The tokens of a sign-in cannot be read, renewed or written.
    SignIn,
    /// TLS failed: the certificate is not trusted, or the server does not speak TLS.
    Tls,
    /// The server answered with this HTTP status.
    Status(u16),
    /// The server redirects to another origin.
    Redirected,
    /// There is no connection, or it broke.
    Unreachable,
    /// The server took too long to start or to answer.
    Slow,
    /// The server closed the connection.
    Closed,
    /// The server does not answer as an MCP server.
    NotMcp,
    /// The server speaks MCP, but does not list its tools as it should.
    Listing,
    /// The server left pings unanswered.
    Unanswered,
}

impl SessionError {
    /// What usually is behind it.
    pub fn kind(&self) -> SessionErrorKind {
        use SessionErrorKind as Kind;
        match self {
            Self::Setup(HttpSetupError::Parameters(_)) => Kind::Parameters,
            Self::Setup(_) => Kind::Setup,
            Self::Access(error) => Kind::Access(error.reason),
            Self::Http(error) => kind_of(error),
            Self::Refused(_) | Self::Handshake(_) => Kind::NotMcp,
            Self::Tools(ListError::Request { source, .. }) => match source {
                CallFailure::Access(error) => Kind::Access(error.reason),
                CallFailure::Http(error) => kind_of(error),
                CallFailure::Unreachable(_) => Kind::Unreachable,
                CallFailure::WentAway => Kind::Closed,
                _ => Kind::Listing,
            },
            Self::Tools(_) => Kind::Listing,
            Self::StartTimeout(_) => Kind::Slow,
            Self::HungUp | Self::ClosedInHandshake => Kind::Closed,
            Self::Unanswered => Kind::Unanswered,
            Self::Unreachable(_) => Kind::Unreachable,
        }
    }

    /// The error without the secrets that a text of the server, or one that the owner wrote, may hold.
    pub fn redacted(self, secrets: &Redactor) -> Self {
        match self {
            Self::Setup(error) => Self::Setup(error.redacted(secrets)),
            Self::Http(error) => Self::Http(error.redacted(secrets)),
            Self::Refused(mut error) => {
                secrets.redact_error(&mut error);
                Self::Refused(error)
            }
            Self::Handshake(detail) => Self::Handshake(detail.redacted(secrets)),
            Self::Tools(error) => Self::Tools(error.redacted(secrets)),
            Self::Unreachable(failure) => Self::Unreachable(failure.redacted(secrets)),
            Self::Access(_) | Self::ClosedInHandshake | Self::StartTimeout(_) | Self::HungUp | Self::Unanswered => self,
        }
    }

    /// The failure behind an error of the MCP library's handshake.
    pub(super) fn from_handshake(error: ClientInitializeError) -> Self {
        match http_error(&error) {
            Some(HttpError::Access(error)) => return Self::Access(error.clone()),
            Some(error) => return Self::Http(error.clone()),
            None => {}
        }
        match error {
            ClientInitializeError::ConnectionClosed(_) => Self::ClosedInHandshake,
            ClientInitializeError::JsonRpcError(error) => Self::Refused(error),
            ClientInitializeError::TransportError { error, .. } => Self::Handshake(Detail::boxed(error.error)),
            other => Self::Handshake(Detail::new(other)),
        }
    }
}

/// The text of an HTTP failure after "it does not answer as an MCP server".
fn in_handshake(error: &HttpError) -> String {
    match error {
        HttpError::NotMcp(problem) => problem.to_string(),
        other => other.to_string(),
    }
}

fn kind_of(error: &HttpError) -> SessionErrorKind {
    use SessionErrorKind as Kind;
    match error {
        HttpError::Access(error) => Kind::Access(error.reason),
        HttpError::SignIn(_) => Kind::SignIn,
        HttpError::Tls(_) => Kind::Tls,
        HttpError::Status(status) => Kind::Status(*status),
        HttpError::Redirected(_) => Kind::Redirected,
        HttpError::Unreachable(_) => Kind::Unreachable,
        HttpError::Timeout(_) | HttpError::Idle(_) => Kind::Slow,
        HttpError::Closed => Kind::Closed,
        HttpError::NotMcp(_) | HttpError::TooLarge(_) => Kind::NotMcp,
    }
}

/// What is wrong with a server whose session goes on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Degradation {
    /// Its tools changed, and it does not list them.
    #[error("its changed tools are not known: {0}")]
    ToolsUnknown(#[source] ListError),
    /// Its tools changed, and listing them took too long.
    #[error("listing its changed tools took too long")]
    ToolsTimeout,
    /// A ping could not be sent; the session ends.
    #[error("it cannot be reached: {0}")]
    Unreachable(#[source] CallFailure),
    /// It left so many pings in a row unanswered.
    #[error("it has not answered {0} pings in a row")]
    MissedPings(u32),
}

impl Degradation {
    /// The problem without the secrets that the server's own words may hold.
    pub fn redacted(self, secrets: &Redactor) -> Self {
        match self {
            Self::ToolsUnknown(error) => Self::ToolsUnknown(error.redacted(secrets)),
            Self::Unreachable(failure) => Self::Unreachable(failure.redacted(secrets)),
            Self::ToolsTimeout | Self::MissedPings(_) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::io;

    use super::*;
    use crate::http::{NotMcp, ParameterError};

    const SECRET: &str = "canary-0123456789";

    fn text() -> String {
        format!("before {SECRET} after")
    }

    fn detail() -> Detail {
        Detail::new(io::Error::other(text()))
    }

    fn http_errors() -> Vec<HttpError> {
        vec![
            HttpError::Unreachable(detail()),
            HttpError::Tls(detail()),
            HttpError::SignIn(detail()),
            NotMcp::Message(detail()).into(),
            NotMcp::Events(Detail::text(&text())).into(),
        ]
    }

    fn call_failures() -> Vec<CallFailure> {
        let mut failures: Vec<_> = http_errors().into_iter().map(CallFailure::Http).collect();
        failures.push(CallFailure::Unreachable(detail()));
        failures.push(CallFailure::Refused(ErrorData::internal_error(text(), Some(text().into()))));
        failures
    }

    fn list_errors() -> Vec<ListError> {
        call_failures().into_iter().map(|source| ListError::Request { what: "tools", source }).collect()
    }

    /// An error shows the text without the secret; nothing of it shows the secret.
    fn check(before: &dyn Error, after: &dyn Error) {
        assert!(before.to_string().contains(SECRET), "{before}");
        assert!(after.to_string().contains("before *** after"), "{after}");
        let mut next = Some(after);
        while let Some(error) = next {
            assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
            next = error.source();
        }
    }

    #[test]
    fn no_error_shows_a_secret() {
        let secrets = Redactor::new([SECRET]);
        let parameters = [
            ParameterError::Scheme { scheme: text() },
            ParameterError::HeaderName { name: text() },
            ParameterError::ReservedHeader { name: text() },
            ParameterError::HeaderValue { name: text() },
        ];
        let mut errors: Vec<_> = parameters.map(|error| SessionError::Setup(error.into())).into();
        errors.push(SessionError::Setup(HttpSetupError::Client(detail())));
        errors.push(SessionError::Handshake(detail()));
        errors.push(SessionError::Refused(ErrorData::internal_error(text(), Some(text().into()))));
        errors.extend(http_errors().into_iter().map(SessionError::Http));
        errors.extend(list_errors().into_iter().map(SessionError::Tools));
        errors.extend(call_failures().into_iter().map(SessionError::Unreachable));
        for error in errors {
            check(&error, &error.clone().redacted(&secrets));
        }
        let mut problems: Vec<_> = list_errors().into_iter().map(Degradation::ToolsUnknown).collect();
        problems.extend(call_failures().into_iter().map(Degradation::Unreachable));
        for problem in problems {
            check(&problem, &problem.clone().redacted(&secrets));
        }
    }
}
