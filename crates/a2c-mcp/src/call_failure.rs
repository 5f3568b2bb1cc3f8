//! Why a request has no usable answer.

use std::time::Duration;

use a2c_secrets::Redactor;
use rmcp::ServiceError;
use rmcp::model::ErrorData;

use crate::detail::Detail;
use crate::http::{AccessError, HttpError, http_error};
use crate::redaction::RedactModel as _;

/// Why a request has no usable answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFailure {
    /// There is no session with the server.
    #[error("the server is not running")]
    NotRunning,
    /// The time was over; the server was told to stop.
    #[error("the server did not answer in time")]
    Timeout,
    /// The server reported no progress for so long; it was told to stop.
    #[error("the server reported no progress for {} s", .0.as_secs_f64())]
    Idle(Duration),
    /// The caller gave up; the server was told to stop.
    #[error("it was cancelled")]
    Cancelled,
    /// The server does not accept the credentials.
    #[error(transparent)]
    Access(AccessError),
    /// The server answered with an MCP error.
    #[error("the server answered: {}", .0.message)]
    Refused(ErrorData),
    /// The session ended before the server answered.
    #[error("the server went away before it answered")]
    WentAway,
    /// The HTTP request failed.
    #[error(transparent)]
    Http(HttpError),
    /// The request could not be sent.
    #[error("the server cannot be reached: {0}")]
    Unreachable(#[source] Detail),
    /// The server answered something else.
    #[error("{0}")]
    UnexpectedAnswer(ExpectedAnswer),
    /// The answer consists of so many values that they would take this much memory, in bytes.
    #[error("the server's answer has too many values: they would take {} MiB", .0 >> 20)]
    TooManyValues(usize),
}

/// The answer that a request expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpectedAnswer {
    /// To `tools/call`.
    #[error("the server's answer is not a tool result")]
    ToolResult,
    /// To `tools/list`.
    #[error("its answer is no list of tools")]
    ToolList,
    /// To `resources/list`.
    #[error("its answer is no list of resources")]
    ResourceList,
    /// To `resources/read`.
    #[error("its answer holds no contents")]
    Contents,
    /// To `subscriptions/listen`.
    #[error("it does not agree to tell its changes")]
    Subscription,
}

impl CallFailure {
    /// The failure behind an error of the MCP library.
    pub(crate) fn from_service(error: ServiceError) -> Self {
        match http_error(&error) {
            Some(HttpError::Access(error)) => return Self::Access(error.clone()),
            Some(error) => return Self::Http(error.clone()),
            None => {}
        }
        match error {
            ServiceError::McpError(error) => Self::Refused(error),
            ServiceError::TransportClosed => Self::WentAway,
            ServiceError::TransportSend(error) => Self::Unreachable(Detail::boxed(error.error)),
            other => Self::Unreachable(Detail::new(other)),
        }
    }

    /// The failure without the secrets that the server's own words may hold.
    pub fn redacted(self, secrets: &Redactor) -> Self {
        match self {
            Self::Refused(mut error) => {
                secrets.redact_error(&mut error);
                Self::Refused(error)
            }
            Self::Http(error) => Self::Http(error.redacted(secrets)),
            Self::Unreachable(detail) => Self::Unreachable(detail.redacted(secrets)),
            Self::NotRunning
            | Self::Timeout
            | Self::Idle(_)
            | Self::Cancelled
            | Self::Access(_)
            | Self::WentAway
            | Self::UnexpectedAnswer(_)
            | Self::TooManyValues(_) => self,
        }
    }

    /// Whether the server may be gone.
    pub(crate) fn leaves_doubt(&self) -> bool {
        matches!(self, Self::WentAway | Self::Http(_) | Self::Unreachable(_) | Self::UnexpectedAnswer(_))
    }
}
