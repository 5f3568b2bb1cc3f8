//! That a server does not accept the credentials, and what the owner can do about it.

/// A server does not accept the credentials of this Computer. It holds no secret: the name of a server takes no input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}; {}", self.summary(), self.hint())]
pub struct AccessError {
    /// Why.
    pub reason: AccessReason,
    /// Which credentials.
    pub credentials: Credentials,
}

/// Why a server does not accept the credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessReason {
    /// HTTP 401: it wants credentials, or others.
    Required,
    /// HTTP 403: it knows the credentials and does not allow this to them.
    Forbidden,
    /// HTTP 403: it knows the sign-in and wants one with more scopes.
    MissingScopes,
    /// The sign-in has expired, and renewing it failed in a way that may pass.
    NotRenewed,
    /// The sign-in has expired and cannot be renewed.
    Expired,
}

/// How this Computer shows a server who it is, which decides what helps against a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// Through `headers` of the configuration.
    Headers,
    /// By signing in to the server of this name.
    SignIn {
        /// The name of the server in the configuration.
        server: String,
    },
}

impl Credentials {
    /// The server did not accept them, for this reason.
    pub(crate) fn refused(&self, reason: AccessReason) -> AccessError {
        AccessError { reason, credentials: self.clone() }
    }
}

impl AccessError {
    fn summary(&self) -> &'static str {
        match self.reason {
            AccessReason::Required => "the server asks for authorisation",
            AccessReason::MissingScopes => "the server asks for more scopes than were granted",
            AccessReason::Forbidden | AccessReason::NotRenewed | AccessReason::Expired => "the server refuses access",
        }
    }

    /// What to do. An Agent may see it: it holds no token and no URL.
    pub fn hint(&self) -> String {
        use AccessReason::{Expired, Forbidden, MissingScopes, NotRenewed, Required};
        match (&self.credentials, self.reason) {
            (Credentials::Headers, Required) => {
                "check the credentials in this server's `headers` in the computer's configuration".to_owned()
            }
            (Credentials::Headers, Forbidden | MissingScopes) => {
                "it does not allow this to the credentials in the computer's configuration".to_owned()
            }
            (Credentials::Headers, NotRenewed) => "its authorisation cannot be renewed now; try again later".to_owned(),
            (Credentials::Headers, Expired) => "its authorisation is over".to_owned(),
            (Credentials::SignIn { server }, Required) => {
                format!("sign in on the computer: a2c computer login {server}")
            }
            (Credentials::SignIn { server }, Forbidden) => {
                format!("it does not allow this; to sign in as another user: a2c computer login {server}")
            }
            (Credentials::SignIn { server }, MissingScopes) => {
                format!("to grant them, sign in again on the computer: a2c computer login {server}")
            }
            (Credentials::SignIn { server }, NotRenewed) => format!(
                "the sign-in cannot be renewed now; try again later, or sign in again on the computer: \
                 a2c computer login {server}"
            ),
            (Credentials::SignIn { server }, Expired) => {
                format!("the sign-in is over; sign in again on the computer: a2c computer login {server}")
            }
        }
    }
}
