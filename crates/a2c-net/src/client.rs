//! HTTP clients: the common set-up, and a client for URLs that others chose.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect;
use rustls::ClientConfig;
use url::Url;

use crate::judge::{UrlRefusal, judge_url};
use crate::policy_resolver::PolicyResolver;
use crate::tls::TlsError;
use crate::{AddressPolicy, OffLimits};

/// What a client calls itself towards strangers.
pub const USER_AGENT: &str = concat!("a2c/", env!("CARGO_PKG_VERSION"));

/// Why an HTTP client cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpClientError {
    /// Its TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The HTTP library refuses the settings.
    #[error("the HTTP client cannot be built: {0}")]
    Build(#[source] reqwest::Error),
}

/// What all clients have in common: HTTP/1.1, no referrer, and no proxy of the environment, which would see credentials.
/// A caller adds its own headers, limits and redirects.
pub fn http_client(tls: ClientConfig) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .http1_only()
        .no_proxy()
        .referer(false)
        .tcp_nodelay(true)
        .tcp_keepalive(Duration::from_secs(60))
}

/// An HTTP client for URLs that others chose. It connects to no address that its policy does not allow: the URL, every
/// redirect and every address behind a name are judged.
#[derive(Debug, Clone)]
pub struct PolicyClient {
    client: reqwest::Client,
    judgement: Judgement,
}

/// What a URL is judged by.
#[derive(Debug, Clone)]
struct Judgement {
    policy: AddressPolicy,
    off_limits: Option<Arc<OffLimits>>,
}

impl Judgement {
    fn judge(&self, url: &Url) -> Result<(), UrlRefusal> {
        judge_url(url, self.policy)?;
        self.off_limits.as_ref().map_or(Ok(()), |off_limits| off_limits.judge(url))
    }
}

impl PolicyClient {
    /// Builds the client. It follows so many redirects, and none from `https` to `http`.
    pub fn new(
        builder: reqwest::ClientBuilder,
        policy: AddressPolicy,
        max_redirects: usize,
    ) -> Result<Self, HttpClientError> {
        Self::build(builder, Judgement { policy, off_limits: None }, max_redirects)
    }

    /// The same, for a client that does not reach this listener either.
    pub fn avoiding(
        builder: reqwest::ClientBuilder,
        policy: AddressPolicy,
        max_redirects: usize,
        off_limits: OffLimits,
    ) -> Result<Self, HttpClientError> {
        Self::build(builder, Judgement { policy, off_limits: Some(Arc::new(off_limits)) }, max_redirects)
    }

    fn build(
        builder: reqwest::ClientBuilder,
        judgement: Judgement,
        max_redirects: usize,
    ) -> Result<Self, HttpClientError> {
        let redirects = judgement.clone();
        let follow = move |attempt: redirect::Attempt<'_>| match judge_redirect(&attempt, &redirects, max_redirects) {
            Ok(()) => attempt.follow(),
            Err(refusal) => attempt.error(refusal),
        };
        let Judgement { policy, off_limits } = judgement.clone();
        let client = builder
            .redirect(redirect::Policy::custom(follow))
            .dns_resolver(Arc::new(PolicyResolver { policy, off_limits }))
            .build()
            .map_err(|error| HttpClientError::Build(error.without_url()))?;
        Ok(Self { client, judgement })
    }

    /// A GET request.
    pub fn get(&self, url: Url) -> Result<reqwest::RequestBuilder, UrlRefusal> {
        self.judgement.judge(&url)?;
        Ok(self.client.get(url))
    }
}

fn judge_redirect(
    attempt: &redirect::Attempt<'_>,
    judgement: &Judgement,
    max_redirects: usize,
) -> Result<(), UrlRefusal> {
    let was_encrypted = attempt.previous().last().is_some_and(|previous| previous.scheme() == "https");
    if attempt.previous().len() > max_redirects {
        return Err(UrlRefusal::TooManyRedirects);
    }
    judgement.judge(attempt.url())?;
    if was_encrypted && attempt.url().scheme() == "http" { Err(UrlRefusal::NotEncrypted) } else { Ok(()) }
}
