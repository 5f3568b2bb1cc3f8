//! Whether the server refused who asked, and what the owner can do about it.

use std::error::Error;
use std::fmt;

use a2c_process::cut;
use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::fault::Fault;

/// How much of a server's own words is repeated.
const FOREIGN: usize = 4 << 10;

/// A server's refusal of who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Which of the two.
    pub(crate) kind: RefusalKind,
    /// What to do, harmless enough to show to an Agent: it holds no token and no URL.
    pub(crate) hint: String,
}

/// The two ways of being refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// HTTP 401: nobody is signed in, or not any more. Travels as 4006.
    Required,
    /// HTTP 403, or a sign-in that cannot be renewed. Travels as 4007.
    Failed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            RefusalKind::Required => "the server asks for authorisation",
            RefusalKind::Failed => "the server refuses access",
        };
        write!(f, "{what}; {}", self.hint)
    }
}

/// How the owner gets access to a server, which decides what a refusal advises.
#[derive(Debug, Clone)]
pub(crate) enum Access {
    /// Through `headers` of the configuration.
    Headers,
    /// By signing in to the server of this name.
    SignIn(String),
}

impl Access {
    /// The server answered 401.
    pub(crate) fn required(&self) -> Refusal {
        let hint = match self {
            Self::Headers => "check the credentials in this server's `headers` in the computer's configuration".into(),
            Self::SignIn(name) => format!("sign in on the computer: a2c computer login {name}"),
        };
        Refusal { kind: RefusalKind::Required, hint }
    }

    /// The server answered 403.
    pub(crate) fn forbidden(&self) -> Refusal {
        let hint = match self {
            Self::Headers => "it does not allow this to the credentials in the computer's configuration".into(),
            Self::SignIn(name) => {
                format!("it does not allow this; to sign in as somebody else: a2c computer login {name}")
            }
        };
        Refusal { kind: RefusalKind::Failed, hint }
    }

    /// A sign-in is over, and renewing it failed in a way that may pass.
    pub(crate) fn not_renewed(&self) -> Refusal {
        let hint = match self {
            Self::Headers => "its authorisation cannot be renewed now; try again later".into(),
            Self::SignIn(name) => format!(
                "the sign-in cannot be renewed now; try again later, or sign in again on the computer: \
                 a2c computer login {name}"
            ),
        };
        Refusal { kind: RefusalKind::Failed, hint }
    }

    /// A sign-in is over and cannot be renewed.
    pub(crate) fn over(&self) -> Refusal {
        let hint = match self {
            Self::Headers => "its authorisation is over".into(),
            Self::SignIn(name) => {
                format!("the sign-in is over; sign in again on the computer: a2c computer login {name}")
            }
        };
        Refusal { kind: RefusalKind::Failed, hint }
    }
}

/// The refusal behind an error of the MCP library, be it of initialising, listing or calling.
pub(crate) fn refusal(error: &(dyn Error + 'static)) -> Option<Refusal> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(Fault::Refused(refusal)) = error.downcast_ref() {
            return Some(refusal.clone());
        }
        if let Some(StreamableHttpError::<Fault>::Client(Fault::Refused(refusal))) = error.downcast_ref() {
            return Some(refusal.clone());
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

/// An error of the MCP library in words that mean something to people: without the names of its types.
pub(crate) fn plain(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(inner) => cut(&inner.error.to_string(), FOREIGN),
        ServiceError::TransportClosed => "the connection is closed".into(),
        other => cut(&other.to_string(), FOREIGN),
    }
}

/// The same, of an error at the beginning of a conversation.
pub(crate) fn plain_start(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => cut(&error.error.to_string(), FOREIGN),
        other => cut(&other.to_string(), FOREIGN),
    }
}
