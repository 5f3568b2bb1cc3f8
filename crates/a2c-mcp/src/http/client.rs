//! The HTTP client of one MCP server: the owner's headers on every request, nothing to any other origin.

use std::time::Duration;

use a2c_net::{HttpClientError, USER_AGENT, http_client, tls};
use a2c_secrets::Redactor;
use http::StatusCode;
use http::header::HeaderMap;
use reqwest::redirect;
use url::Url;

use super::ParameterError;
use crate::detail::Detail;

/// How often a server may redirect within its own origin.
const MAX_REDIRECTS: usize = 5;

/// Why the transport to an HTTP server cannot be set up.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpSetupError {
    /// The owner has to correct the server's parameters.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// TLS or the HTTP client cannot be set up on this machine.
    #[error("{0}")]
    Client(#[source] Detail),
}

impl HttpSetupError {
    /// The error without the secrets that the owner may have put into a parameter, which the HTTP client may repeat.
    pub(crate) fn redacted(self, secrets: &Redactor) -> Self {
        match self {
            Self::Parameters(error) => Self::Parameters(error.redacted(secrets)),
            Self::Client(detail) => Self::Client(detail.redacted(secrets)),
        }
    }
}

impl From<HttpClientError> for HttpSetupError {
    fn from(error: HttpClientError) -> Self {
        Self::Client(Detail::new(error))
    }
}

/// A client for one server. The certificates of the system are read only where TLS is spoken.
pub(crate) fn client(url: &Url, headers: HeaderMap, connect: Duration) -> Result<reqwest::Client, HttpClientError> {
    let tls = if url.scheme() == "https" { tls::system_trust()? } else { tls::without_trust()? };
    http_client(tls)
        .user_agent(USER_AGENT)
        .default_headers(headers)
        .redirect(redirect::Policy::custom(within_origin))
        .connect_timeout(connect)
        .build()
        .map_err(|error| HttpClientError::Build(error.without_url()))
}

/// Follows a redirect that keeps the method and the origin. Any other redirect becomes the answer, which the caller
/// refuses.
fn within_origin(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let keeps_method = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let same_origin = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if keeps_method && same_origin && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}
