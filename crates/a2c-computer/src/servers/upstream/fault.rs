//! What goes wrong between us and an HTTP server. No message holds a URL or a header: both are customary places for keys.

use std::time::Duration;

use super::Refusal;

/// Why a request to an MCP server has no usable answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Fault {
    /// The server does not accept who asks.
    #[error("{0}")]
    Refused(Refusal),
    /// No connection, or it broke.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The server took too long.
    #[error("the server did not answer within {} s", .0.as_secs_f32())]
    Silent(Duration),
    /// An event stream fell silent.
    #[error("the event stream was silent for {} s", .0.as_secs_f32())]
    Idle(Duration),
    /// The answer is no success.
    #[error("the server answered HTTP {0}")]
    Status(u16),
    /// The server sends us elsewhere, where our credentials must not go.
    #[error("the server redirects to another place (HTTP {0}): write the address it names into `url` if you trust it")]
    Redirected(u16),
    /// The answer is neither JSON nor an event stream.
    #[error("the server does not answer as an MCP server: {0}")]
    NotMcp(String),
    /// A message is longer than we read.
    #[error("the server sent a message of more than {} MiB", .0 >> 20)]
    TooLarge(usize),
    /// The event stream ended.
    #[error("the server closed the event stream")]
    Closed,
    /// The tokens of a sign-in cannot be read, renewed or written; trying again may help.
    #[error("the sign-in cannot be used: {0}")]
    SignIn(String),
}

impl From<reqwest::Error> for Fault {
    /// Without the address, whose query may hold a key; with every cause, of which the last one tells most.
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        Self::Unreachable(text)
    }
}
