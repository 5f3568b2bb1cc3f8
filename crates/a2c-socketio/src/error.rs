//! The errors, one enum per operation.
//!
//! Messages never contain authentication payloads, headers or query values: errors of the HTTP
//! client are stripped of their address before they are stored.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// An HTTP answer that was not the one the handshake or a polling request needs.
#[derive(Debug, Clone)]
pub struct HttpRefusal {
    /// The status the server answered with.
    pub status: StatusCode,
    /// The headers of the answer.
    pub headers: HeaderMap,
    /// The body of the answer, cut at 64 KiB.
    pub body: Bytes,
}

impl HttpRefusal {
    /// The body as text; bytes that are not UTF-8 are replaced.
    pub fn body_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}

impl fmt::Display for HttpRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP {}", self.status)?;
        let text = self.body_text();
        let text = text.trim();
        match text.char_indices().nth(200) {
            _ if text.is_empty() => Ok(()),
            Some((end, _)) => write!(f, ": {}…", &text[..end]),
            None => write!(f, ": {text}"),
        }
    }
}

/// What the server said when it refused the namespace.
#[derive(Debug, Clone)]
pub struct ConnectRefusal {
    /// The payload of the CONNECT_ERROR packet as it arrived.
    pub payload: Box<RawValue>,
}

impl ConnectRefusal {
    /// The `message` member of the payload, or a payload that is itself a string.
    pub fn message(&self) -> Option<String> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum RefusalPayload {
            Object { message: String },
            Text(String),
        }
        match serde_json::from_str(self.payload.get()) {
            Ok(RefusalPayload::Object { message } | RefusalPayload::Text(message)) => Some(message),
            Err(_) => None,
        }
    }
}

impl fmt::Display for ConnectRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message() {
            Some(message) => f.write_str(&message),
            None => f.write_str(self.payload.get()),
        }
    }
}

/// Why the options cannot describe a connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidOptions {
    /// The URL cannot be parsed.
    #[error("the URL is not valid: {0}")]
    Url(String),
    /// The URL has another scheme.
    #[error("the URL must start with http, https, ws or wss")]
    Scheme,
    /// The URL has a path.
    #[error("the URL has a path; give it with Options::path, and a namespace with Options::namespace")]
    UrlPath,
    /// The namespace is malformed.
    #[error("a namespace starts with \"/\" and contains no \",\", \"?\" or control character")]
    Namespace,
    /// A query parameter has a name that Engine.IO uses.
    #[error("the query parameters EIO, transport and sid belong to the transport")]
    ReservedQuery,
    /// The authentication payload cannot be encoded.
    #[error("the auth payload cannot be written as JSON")]
    Auth,
    /// A header is malformed.
    #[error("a header has a name or value that HTTP does not allow")]
    Header,
}

/// Why a server's certificate is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateProblem {
    /// No trusted CA signed it.
    UnknownIssuer,
    /// It has expired.
    Expired,
    /// It is not valid yet, or a clock is wrong.
    NotYetValid,
    /// It is not for the name in the URL.
    WrongName,
    /// Another problem, as the TLS library describes it.
    Other(String),
}

impl fmt::Display for CertificateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownIssuer => "it was signed by an unknown CA",
            Self::Expired => "it has expired",
            Self::NotYetValid => "it is not valid yet (or the clock of this machine is wrong)",
            Self::WrongName => "it was made for other names than the one in the URL",
            Self::Other(why) => why,
        })
    }
}

/// Why a connection could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketConnectError {
    /// The options cannot describe a connection; nothing was sent.
    #[error("invalid connection options: {0}")]
    Options(#[from] InvalidOptions),
    /// The TLS settings could not be made: a file cannot be used, or the system's certificates
    /// cannot be read. Pass your own with [`crate::Options::tls`].
    #[error("the TLS settings could not be prepared: {0}")]
    Tls(#[source] BoxError),
    /// The server's certificate is not trusted, so that another server may have answered. Use
    /// [`crate::Options::tls_files`] to trust a private CA.
    #[error("the server's certificate is not trusted: {why}")]
    Untrusted {
        /// What is wrong with it.
        why: CertificateProblem,
        /// The error of the network that it showed in.
        source: BoxError,
    },
    /// The server asks for a client certificate and does not accept the present one. Use
    /// [`crate::Options::tls_files`] to send one.
    #[error("{why}")]
    ClientCertificate {
        /// What the server said.
        why: &'static str,
        /// The error of the network that it showed in.
        source: BoxError,
    },
    /// Something answered on that port that does not speak TLS.
    #[error("the server does not speak TLS on this port")]
    NotTls(#[source] BoxError),
    /// The server answered the handshake (of either transport) with an HTTP error.
    #[error("the server refused the handshake with {0}")]
    Http(Box<HttpRefusal>),
    /// The server accepted the transport and refused the namespace (CONNECT_ERROR).
    #[error("the server refused the namespace: {0}")]
    Refused(ConnectRefusal),
    /// Something answered on that port that does not speak HTTP, as a server does that waits for TLS.
    #[error("the server could not be reached: {}", root_cause(.0.as_ref()))]
    NotHttp(#[source] BoxError),
    /// The server ended the connection without an answer, as some do with a client whose certificate they refuse.
    #[error("the server could not be reached: {}", root_cause(.0.as_ref()))]
    ClosedEarly(#[source] BoxError),
    /// The server could not be reached, or the network failed during the handshake.
    #[error("the server could not be reached: {}", root_cause(.0.as_ref()))]
    Transport(#[source] BoxError),
    /// The handshake did not finish in time.
    #[error("the handshake did not finish within {0:?}")]
    Timeout(Duration),
    /// The link ended before the namespace was connected.
    #[error("the link ended during the handshake: {0}")]
    Lost(#[source] DisconnectReason),
}

impl SocketConnectError {
    /// Whether trying again with the same options is pointless: the options are invalid, the
    /// namespace was refused, or the HTTP status says that the request itself is wrong (4xx
    /// other than 408 and 429).
    pub fn is_final(&self) -> bool {
        match self {
            SocketConnectError::Options(_) | SocketConnectError::Tls(_) | SocketConnectError::Refused(_) => true,
            SocketConnectError::Http(refusal) => {
                refusal.status.is_client_error()
                    && refusal.status != StatusCode::REQUEST_TIMEOUT
                    && refusal.status != StatusCode::TOO_MANY_REQUESTS
            }
            SocketConnectError::Untrusted { .. }
            | SocketConnectError::ClientCertificate { .. }
            | SocketConnectError::NotTls(_)
            | SocketConnectError::NotHttp(_)
            | SocketConnectError::ClosedEarly(_)
            | SocketConnectError::Transport(_)
            | SocketConnectError::Timeout(_)
            | SocketConnectError::Lost(_) => false,
        }
    }
}

/// Why a link that had been connected ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// [`crate::Client::close`] was called, or every handle was dropped.
    #[error("closed by this side")]
    ClosedByUs,
    /// The server disconnected this client from the namespace on purpose.
    #[error("the server disconnected this client from the namespace")]
    ServerDisconnect,
    /// The server closed the transport.
    #[error("the server closed the link{}", .0.as_ref().map(|d| format!(" ({d})")).unwrap_or_default())]
    ServerClosed(Option<String>),
    /// The network failed.
    #[error("the network failed: {}", root_cause(.0.as_ref()))]
    Transport(#[source] BoxError),
    /// A polling request was answered with an HTTP error.
    #[error("a polling request was refused with {0}")]
    Http(Box<HttpRefusal>),
    /// Nothing was heard for longer than the server's ping interval and timeout together.
    #[error("nothing was heard from the server for {0:?}")]
    Silence(Duration),
    /// The server sent something that is not Engine.IO 4 / Socket.IO 5.
    #[error("the server broke the protocol: {0}")]
    Protocol(String),
    /// The server sent more than the options allow.
    #[error("the server sent {what} above the limit of {limit}")]
    Limit {
        /// What exceeded its limit.
        what: &'static str,
        /// The limit, in bytes or pieces.
        limit: usize,
    },
    /// Events arrived faster than the owner of the [`crate::Inbox`] took them.
    #[error("the inbox already holds {limit} events that were not taken")]
    InboxOverflow {
        /// The capacity of the inbox.
        limit: usize,
    },
}

/// The innermost error: the wrappers of the HTTP stack only say that it failed.
fn root_cause<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause
}

/// Why an event or an acknowledgement was not sent. In every case nothing left this process.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmitError {
    /// There is no link at the moment, or it is not the link the acknowledgement belongs to.
    #[error("not connected; nothing was sent")]
    NotConnected,
    /// The packet is larger than the server (or the own limit) allows.
    #[error("the packet has {size} bytes, above the limit of {limit}; nothing was sent")]
    TooLarge {
        /// Bytes of the largest frame of the packet.
        size: usize,
        /// The smaller of the server's and the own limit.
        limit: usize,
    },
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// There is no link at the moment; nothing was sent.
    #[error("not connected; nothing was sent")]
    NotConnected,
    /// The packet is larger than the server (or the own limit) allows; nothing was sent.
    #[error("the packet has {size} bytes, above the limit of {limit}; nothing was sent")]
    TooLarge {
        /// Bytes of the largest frame of the packet.
        size: usize,
        /// The smaller of the server's and the own limit.
        limit: usize,
    },
    /// The outgoing queue stayed full for the whole timeout; nothing was sent.
    #[error("the outgoing queue stayed full for {0:?}; nothing was sent")]
    Congested(Duration),
    /// The link ended while the answer was awaited: the call may or may not have been carried out.
    #[error("the link ended before the answer came; the call may or may not have been carried out")]
    Disconnected,
    /// The answer did not come in time: the call may or may not have been carried out.
    #[error("no answer within {0:?}; the call may or may not have been carried out")]
    Timeout(Duration),
}

impl CallError {
    /// Whether the request may have reached the server, so that repeating it may do it twice.
    pub fn may_have_run(&self) -> bool {
        matches!(self, CallError::Disconnected | CallError::Timeout(_))
    }
}

impl From<EmitError> for CallError {
    fn from(error: EmitError) -> Self {
        match error {
            EmitError::NotConnected => CallError::NotConnected,
            EmitError::TooLarge { size, limit } => CallError::TooLarge { size, limit },
        }
    }
}

/// Why an argument could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// The value cannot be written as JSON.
    #[error("the value cannot be written as JSON")]
    Serialize(#[source] serde_json::Error),
    /// The argument is not of the expected shape.
    #[error("argument {index} does not have the expected shape: {source}")]
    Deserialize {
        /// Position of the argument, from 0.
        index: usize,
        /// What the decoder found.
        source: serde_json::Error,
    },
    /// There is no such argument.
    #[error("there is no argument {index}: the payload has {len}")]
    Missing {
        /// Position that was asked for, from 0.
        index: usize,
        /// How many arguments there are.
        len: usize,
    },
}
