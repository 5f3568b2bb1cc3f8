//! What goes wrong between us and an HTTP server. No text holds a URL or a header: both are customary places for keys.

use std::error::Error;
use std::io;
use std::time::Duration;

use a2c_secrets::Redactor;
use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::AccessError;
use crate::detail::Detail;

/// Why a request to an MCP server has no usable answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The server does not accept the credentials.
    #[error("{0}")]
    Access(#[source] AccessError),
    /// There is no connection, or it broke.
    #[error("the server cannot be reached: {0}")]
    Unreachable(#[source] Detail),
    /// TLS failed: the certificate is not trusted, or the server does not speak TLS.
    #[error("the server cannot be reached: {0}")]
    Tls(#[source] Detail),
    /// The server took too long.
    #[error("the server did not answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    /// An event stream fell silent.
    #[error("the event stream was silent for {} s", .0.as_secs_f32())]
    Idle(Duration),
    /// The status of the answer is no success.
    #[error("the server answered HTTP {0}")]
    Status(u16),
    /// The server redirects to another origin, where the credentials must not go.
    #[error("the server redirects to another place (HTTP {0}): write the address it names into `url` if you trust it")]
    Redirected(u16),
    /// The answer is not MCP.
    #[error("the server does not answer as an MCP server: {0}")]
    NotMcp(#[source] NotMcp),
    /// A message is longer than this many bytes.
    #[error("the server sent a message of more than {} MiB", .0 >> 20)]
    TooLarge(usize),
    /// The event stream ended.
    #[error("the server closed the event stream")]
    Closed,
    /// The tokens of a sign-in cannot be read, renewed or written; trying again may help.
    #[error("the sign-in cannot be used: {0}")]
    SignIn(#[source] Detail),
}

/// How an answer is not MCP.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotMcp {
    /// Another media type.
    #[error("its answer is neither JSON nor an event stream")]
    Media,
    /// Another media type, where only an event stream will do.
    #[error("its answer is no event stream")]
    NoEventStream,
    /// A message that is not JSON-RPC.
    #[error("not a JSON-RPC message: {0}")]
    Message(#[source] Detail),
    /// The answer belongs to another request.
    #[error("it answers something that was not asked")]
    OtherRequest,
    /// A session or event id that no header can hold.
    #[error("it gives out an id that cannot be sent back")]
    Id,
    /// An event stream that cannot be read.
    #[error("its event stream cannot be read: {0}")]
    Events(#[source] Detail),
    /// A legacy SSE server that sends no `endpoint` event.
    #[error("it does not say where to post messages")]
    NoEndpoint,
    /// A legacy SSE server whose `endpoint` is on another origin.
    #[error("it wants messages to be posted to another origin")]
    ForeignEndpoint,
    /// A legacy SSE server whose `endpoint` is no address.
    #[error("the address it wants messages to be posted to is none")]
    BadEndpoint,
}

impl HttpError {
    /// The error without the secrets that a text from elsewhere may hold.
    pub(crate) fn redacted(self, secrets: &Redactor) -> Self {
        match self {
            Self::Unreachable(detail) => Self::Unreachable(detail.redacted(secrets)),
            Self::Tls(detail) => Self::Tls(detail.redacted(secrets)),
            Self::NotMcp(problem) => Self::NotMcp(problem.redacted(secrets)),
            Self::SignIn(detail) => Self::SignIn(detail.redacted(secrets)),
            Self::Access(_)
            | Self::Timeout(_)
            | Self::Idle(_)
            | Self::Status(_)
            | Self::Redirected(_)
            | Self::TooLarge(_)
            | Self::Closed => self,
        }
    }
}

impl NotMcp {
    fn redacted(self, secrets: &Redactor) -> Self {
        match self {
            Self::Message(detail) => Self::Message(detail.redacted(secrets)),
            Self::Events(detail) => Self::Events(detail.redacted(secrets)),
            Self::Media
            | Self::NoEventStream
            | Self::OtherRequest
            | Self::Id
            | Self::NoEndpoint
            | Self::ForeignEndpoint
            | Self::BadEndpoint => self,
        }
    }
}

impl From<NotMcp> for HttpError {
    fn from(problem: NotMcp) -> Self {
        Self::NotMcp(problem)
    }
}

impl From<reqwest::Error> for HttpError {
    /// Without the address, whose query may hold a key.
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let tls = has_tls_error(&error);
        let detail = Detail::new(error);
        if tls { Self::Tls(detail) } else { Self::Unreachable(detail) }
    }
}

fn has_tls_error(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        // An I/O error shows the error inside it only through `get_ref`.
        let inside = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if error.is::<rustls::Error>() || inside.is_some_and(|inside| has_tls_error(inside)) {
            return true;
        }
        next = error.source();
    }
    false
}

/// The HTTP failure behind an error of the MCP library, be it of initialising, listing or calling.
pub fn http_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a HttpError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<HttpError>() {
            return Some(found);
        }
        if let Some(StreamableHttpError::<HttpError>::Client(found)) = error.downcast_ref() {
            return Some(found);
        }
        // The library's errors show these causes in their text only, not as their source.
        next = match (error.downcast_ref(), error.downcast_ref()) {
            (Some(ServiceError::TransportSend(inner)), _) => Some(&*inner.error as _),
            (_, Some(ClientInitializeError::TransportError { error: inner, .. })) => Some(&*inner.error as _),
            (_, Some(ClientInitializeError::LegacyFallbackFailed { fallback, .. })) => Some(&**fallback as _),
            _ => error.source(),
        };
    }
    None
}
