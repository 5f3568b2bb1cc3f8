//! What can go wrong between a role and its hub, one enum per operation.

use std::time::Duration;

use a2c_protocol::answer::AnswerError;
use a2c_protocol::config::redact_url;
use a2c_protocol::version::ERROR_CODE_HEADER;
use a2c_protocol::{ErrorBody, ErrorCode, Version};
use a2c_socketio::HttpRefusal;
use serde::Deserialize;

/// Why no connection came about.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The two sides speak incompatible versions; trying again does not help.
    #[error(
        "the hub speaks A2C-SMCP {}, this program {client}: use versions that fit (the hub takes {} to {})",
        or_unknown(server),
        or_unknown(min),
        or_unknown(max)
    )]
    VersionMismatch {
        /// What this side speaks.
        client: Version,
        /// What the hub speaks, where it said so.
        server: Option<Version>,
        /// The oldest version the hub takes.
        min: Option<Version>,
        /// The newest version the hub takes.
        max: Option<Version>,
    },
    /// The hub wants a credential, or another one.
    #[error("the hub refused the credential: give the hub's token")]
    Unauthorized,
    /// The hub refused for another reason.
    #[error("the hub refused the connection: {0}")]
    Refused(String),
    /// No hub answered, or something that is none.
    #[error("cannot reach the hub at {url}: {source}")]
    Unreachable {
        /// Where it was sought.
        url: String,
        /// What happened.
        source: Box<a2c_socketio::ConnectError>,
    },
}

fn or_unknown(version: &Option<Version>) -> String {
    version.map_or_else(|| "an unknown version".into(), |v| v.to_string())
}

/// The body of a refused handshake.
#[derive(Deserialize)]
struct Refusal {
    code: i64,
    message: Option<String>,
    server_version: Option<Version>,
    min_supported: Option<Version>,
    max_supported: Option<Version>,
}

impl ConnectError {
    pub(crate) fn new(url: &str, client: Version, error: a2c_socketio::ConnectError) -> Self {
        match &error {
            a2c_socketio::ConnectError::Http(refusal) => {
                Self::from_http(client, refusal).unwrap_or_else(|| Self::unreachable(url, error))
            }
            a2c_socketio::ConnectError::Refused(refusal) => match refusal.message().unwrap_or_default() {
                message if message.starts_with("401") => Self::Unauthorized,
                message => Self::Refused(message),
            },
            _ => Self::unreachable(url, error),
        }
    }

    fn unreachable(url: &str, error: a2c_socketio::ConnectError) -> Self {
        Self::Unreachable { url: redact_url(url), source: Box::new(error) }
    }

    /// The body says most; the header alone remains where a proxy or a client library lost the body.
    fn from_http(client: Version, http: &HttpRefusal) -> Option<Self> {
        let mismatch = ErrorCode::VersionMismatch.number();
        let in_header = http.headers.get(ERROR_CODE_HEADER).is_some_and(|v| *v == *mismatch.to_string());
        match serde_json::from_str::<Refusal>(&http.body_text()) {
            Ok(refusal) if refusal.code == mismatch => Some(Self::VersionMismatch {
                client,
                server: refusal.server_version,
                min: refusal.min_supported,
                max: refusal.max_supported,
            }),
            _ if in_header => Some(Self::VersionMismatch { client, server: None, min: None, max: None }),
            Ok(Refusal { message: Some(message), .. }) => Some(Self::Refused(message)),
            _ => None,
        }
    }
}

/// Why a seat was not had, or not given up.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The hub said no.
    #[error("{0}")]
    Refused(String),
    /// The hub could not be asked.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// Why a request has no answer to show.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RequestError {
    /// The peer answered with an error.
    #[error(transparent)]
    Refused(ErrorBody),
    /// The peer's answer cannot be understood.
    #[error("{0}")]
    WrongShape(String),
    /// There is no connection; nothing was sent.
    #[error("not connected to the hub; nothing was sent")]
    NotConnected,
    /// What was sent before fills the way to the hub; nothing was sent of this.
    #[error("the hub does not take what is sent to it; nothing was sent")]
    Congested,
    /// The connection broke while waiting; whether the request had an effect is unknown.
    #[error("the connection to the hub was lost before the answer came; the request may have had an effect")]
    Lost,
    /// No answer came; whether the request had an effect is unknown.
    #[error("no answer within {} s; the request may have had an effect", .0.as_secs())]
    Timeout(Duration),
    /// What was to be sent is no request; nothing was sent.
    #[error("the arguments cannot be sent: {0}")]
    Arguments(String),
    /// The request is larger than this side sends.
    #[error("the request of {size} bytes is over the limit of {limit} bytes")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
}

impl From<AnswerError> for RequestError {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Refused(body) => Self::Refused(body),
            AnswerError::WrongShape { .. } => Self::WrongShape(error.to_string()),
        }
    }
}

impl From<a2c_socketio::CallError> for RequestError {
    fn from(error: a2c_socketio::CallError) -> Self {
        use a2c_socketio::CallError;
        match error {
            CallError::TooLarge { size, limit } => Self::TooLarge { size, limit },
            CallError::Disconnected => Self::Lost,
            CallError::Timeout(limit) => Self::Timeout(limit),
            CallError::Congested(_) => Self::Congested,
            _ => Self::NotConnected,
        }
    }
}

impl From<a2c_socketio::EmitError> for RequestError {
    fn from(error: a2c_socketio::EmitError) -> Self {
        use a2c_socketio::EmitError;
        match error {
            EmitError::TooLarge { size, limit } => Self::TooLarge { size, limit },
            _ => Self::NotConnected,
        }
    }
}
