//! The errors between a role and its hub, one enum per operation.

use std::time::Duration;

use a2c_protocol::answer::AnswerError;
use a2c_protocol::config::redact_url;
use a2c_protocol::version::ERROR_CODE_HEADER;
use a2c_protocol::{ErrorBody, ErrorCode, Version};
use a2c_socketio::HttpRefusal;
use serde::Deserialize;

use crate::answer_text::AnswerText;
use crate::token::TokenFileError;

/// Why a connection to the hub failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
    /// The hub asks for a credential, and none was given.
    #[error("the hub asks for a token")]
    TokenNeeded,
    /// The hub refused the credential.
    #[error("the hub refused the credential: give the hub's token (the log of the hub has the reason)")]
    Unauthorized,
    /// The credential is valid and does not permit this connection.
    #[error("the hub refused the connection: {0}")]
    Forbidden(String),
    /// The hub refused for now; its text says why and often for how long.
    #[error("the hub does not take this connection now: {0}")]
    NotNow(String),
    /// The hub refused for another reason.
    #[error("the hub refused the connection: {0}")]
    Refused(String),
    /// The token file has no token; the hub was not asked.
    #[error(transparent)]
    Token(#[from] TokenFileError),
    /// The options are unusable, for example because of a file; the hub was not asked.
    #[error(transparent)]
    Options(Box<a2c_socketio::SocketConnectError>),
    /// No hub answered.
    #[error("cannot reach the hub at {url}: {source}")]
    Unreachable {
        /// The URL of the hub, without credentials.
        url: String,
        /// What happened.
        source: Box<a2c_socketio::SocketConnectError>,
    },
}

fn or_unknown(version: &Option<Version>) -> String {
    version.map_or_else(|| "an unknown version".into(), |v| v.to_string())
}

/// The body of a refused handshake.
#[derive(Deserialize)]
struct HandshakeRefusal {
    code: i64,
    message: Option<String>,
    server_version: Option<Version>,
    min_supported: Option<Version>,
    max_supported: Option<Version>,
}

/// What this side knows when the hub refuses it.
#[derive(Debug, Clone)]
pub(crate) struct RefusalContext {
    pub(crate) url: String,
    pub(crate) version: Version,
    /// Whether this side sent a credential.
    pub(crate) has_credential: bool,
}

impl RefusalContext {
    /// The error in terms of this protocol.
    pub(crate) fn explain(&self, error: a2c_socketio::SocketConnectError) -> ConnectError {
        use a2c_socketio::SocketConnectError as Socket;
        match self.said(&error) {
            Some(said) => said,
            None if matches!(error, Socket::Options(_) | Socket::Tls(_)) => ConnectError::Options(Box::new(error)),
            None => ConnectError::Unreachable { url: redact_url(&self.url), source: Box::new(error) },
        }
    }

    /// The refusal of the hub itself, where it sent one.
    pub(crate) fn said(&self, error: &a2c_socketio::SocketConnectError) -> Option<ConnectError> {
        match error {
            a2c_socketio::SocketConnectError::Http(refusal) => self.by_http(refusal),
            a2c_socketio::SocketConnectError::Refused(refusal) => Some(self.by_namespace(&refusal.to_string())),
            _ => None,
        }
    }

    /// Reads the body of a refusal; where a proxy or a client library lost the body, its header.
    fn by_http(&self, http: &HttpRefusal) -> Option<ConnectError> {
        let (client, mismatch) = (self.version, ErrorCode::VersionMismatch.number());
        let in_header = http.headers.get(ERROR_CODE_HEADER).is_some_and(|v| *v == *mismatch.to_string());
        match serde_json::from_str::<HandshakeRefusal>(&http.body_text()) {
            Ok(refusal) if refusal.code == mismatch => Some(ConnectError::VersionMismatch {
                client,
                server: refusal.server_version,
                min: refusal.min_supported,
                max: refusal.max_supported,
            }),
            _ if in_header => Some(ConnectError::VersionMismatch { client, server: None, min: None, max: None }),
            Ok(HandshakeRefusal { message: Some(message), .. }) => Some(match http.status.as_u16() {
                429 | 503 => ConnectError::NotNow(presentable(&message)),
                _ => ConnectError::Refused(presentable(&message)),
            }),
            _ => None,
        }
    }

    /// A CONNECT_ERROR has only a text; by convention a number in front of it is the kind of the refusal.
    fn by_namespace(&self, message: &str) -> ConnectError {
        match message.split(|c: char| !c.is_ascii_digit()).next() {
            Some("401") if self.has_credential => ConnectError::Unauthorized,
            Some("401") => ConnectError::TokenNeeded,
            Some("403") => ConnectError::Forbidden(presentable(message)),
            Some("429" | "503") => ConnectError::NotNow(presentable(message)),
            _ => ConnectError::Refused(presentable(message)),
        }
    }
}

/// A text of another party, fit for a log and a terminal.
fn presentable(message: &str) -> String {
    message.chars().filter(|c| !c.is_control()).take(500).collect()
}

/// Why a seat could not be taken or given up.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The office has its one Agent already.
    #[error("{0}")]
    OfficeFull(String),
    /// The hub refused for another reason.
    #[error("{0}")]
    Refused(String),
    /// The hub could not be asked.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl JoinError {
    /// A refusal that is only a text: the acknowledgement of the protocol has no code. This is the one place that reads the
    /// text, in the words that the specification gives for a second Agent.
    pub(crate) fn from_text(reason: String) -> Self {
        if reason.to_lowercase().contains("already has an agent") {
            Self::OfficeFull(reason)
        } else {
            Self::Refused(reason)
        }
    }
}

impl From<ErrorBody> for JoinError {
    fn from(error: ErrorBody) -> Self {
        match error.code {
            ErrorCode::OfficeFull => Self::OfficeFull(error.message),
            _ => Self::from_text(error.message),
        }
    }
}

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The peer answered with an error.
    #[error(transparent)]
    Refused(ErrorBody),
    /// The answer has an unexpected form.
    #[error("{0}")]
    WrongShape(String),
    /// There is no connection; nothing was sent.
    #[error("not connected to the hub; nothing was sent")]
    NotConnected,
    /// The queue to the hub is full; nothing was sent.
    #[error("the hub does not take what is sent to it; nothing was sent")]
    Congested,
    /// The connection broke while waiting; whether the request had an effect is unknown.
    #[error("the connection to the hub was lost before the answer came; the request may have had an effect")]
    Lost,
    /// No answer came; whether the request had an effect is unknown.
    #[error("no answer within {} s; the request may have had an effect", .0.as_secs())]
    Timeout(Duration),
    /// The arguments cannot be encoded; nothing was sent.
    #[error("the arguments cannot be sent: {0}")]
    Arguments(String),
    /// The request is over the size limit; nothing was sent.
    #[error("the request of {size} bytes is over the limit of {limit} bytes")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The answer has so many values that a structure of them would take many times its size.
    #[error("the answer of {} bytes has too many values: they would take {} MiB", .answer.json().len(), .tree >> 20)]
    TooManyValues {
        /// What they would take, in bytes.
        tree: usize,
        /// The answer itself.
        answer: AnswerText,
    },
}

impl From<AnswerError> for RequestError {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Refused(body) => Self::Refused(body),
            error => Self::WrongShape(error.to_string()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_agent_is_told_apart_from_other_refusals() {
        let text = |reason: &str| JoinError::from_text(reason.into());
        assert!(matches!(text("Office 'o' already has an Agent: leave it"), JoinError::OfficeFull(_)));
        assert!(matches!(text("the name is too long"), JoinError::Refused(_)));
        let body = |code| JoinError::from(ErrorBody::new(code, "no"));
        assert!(matches!(body(ErrorCode::OfficeFull), JoinError::OfficeFull(reason) if reason == "no"));
        assert!(matches!(body(ErrorCode::Forbidden), JoinError::Refused(reason) if reason == "no"));
    }

    #[test]
    fn the_number_in_front_of_a_refusal_says_its_kind() {
        let context =
            RefusalContext { url: "http://h".into(), version: a2c_protocol::PROTOCOL_VERSION, has_credential: true };
        let bare = RefusalContext { has_credential: false, ..context.clone() };
        let kind = |context: &RefusalContext, message| format!("{:?}", context.by_namespace(message));
        assert_eq!(kind(&context, "401"), "Unauthorized");
        assert_eq!(kind(&bare, "401 no"), "TokenNeeded");
        assert_eq!(kind(&context, "403 not as an agent"), r#"Forbidden("403 not as an agent")"#);
        assert_eq!(kind(&context, "429 many: wait 3 s"), r#"NotNow("429 many: wait 3 s")"#);
        assert_eq!(kind(&bare, "503"), r#"NotNow("503")"#);
        assert_eq!(kind(&context, "5031"), r#"Refused("5031")"#);
        assert_eq!(kind(&context, "go\u{1b}[31m away\n"), r#"Refused("go[31m away")"#);
    }
}
