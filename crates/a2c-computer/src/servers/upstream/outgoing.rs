//! The HTTP client of one MCP server: the owner's headers on every request, nothing to any other origin.

use std::collections::BTreeMap;
use std::time::Duration;

use a2c_net::{HttpClientError, USER_AGENT, http_client, tls};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use reqwest::{Response, redirect};
use url::Url;

use super::MESSAGE_LIMIT;
use super::fault::Fault;

/// What MCP itself says in headers; the owner's must not contradict it.
const RESERVED: [HeaderName; 6] = [
    ACCEPT,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    HOST,
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("last-event-id"),
];

/// How often a server may redirect within its own origin.
const MAX_REDIRECTS: usize = 5;

/// The address of a server, if it is one we speak to.
pub(crate) fn address(url: &str) -> Result<Url, String> {
    let url: Url = url.parse().map_err(|e| format!("its `url` is no address: {e}"))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        scheme => Err(format!("its `url` must start with http:// or https://, not with {scheme}:")),
    }
}

/// A time limit that the owner wrote as seconds.
pub(crate) fn limit(key: &str, seconds: f64) -> Result<Duration, String> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err(format!("its `{key}` must be a time longer than zero")),
    }
}

/// The owner's headers, marked as sensitive: they are not printed.
pub(crate) fn headers(given: Option<&BTreeMap<String, String>>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in given.into_iter().flatten() {
        let key: HeaderName = name.parse().map_err(|_| format!("'{name}' in its `headers` is no name of a header"))?;
        if RESERVED.contains(&key) {
            return Err(format!("'{name}' in its `headers` is set by MCP itself: leave it out"));
        }
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            format!("the value of '{name}' in its `headers` cannot be sent: it has a line break or the like")
        })?;
        value.set_sensitive(true);
        headers.append(key, value);
    }
    Ok(headers)
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

/// Follows what keeps the method and the origin; anything else is answered as it is, and refused where it is read.
fn within_origin(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let keeps_method = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let same_origin = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if keeps_method && same_origin && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// A request that can be sent again, should the first time be refused.
#[derive(Clone)]
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Outgoing {
    /// Asks for an event stream.
    pub(crate) fn get(url: Url) -> Self {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/event-stream"))]);
        Self { method: Method::GET, url, headers, body: Bytes::new() }
    }

    /// Sends a message.
    pub(crate) fn post(url: Url, body: Bytes) -> Self {
        let headers = HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ]);
        Self { method: Method::POST, url, headers, body }
    }

    /// Sends it and waits for the head of the answer.
    pub(crate) async fn send(self, client: &reqwest::Client, patience: Duration) -> Result<Response, Fault> {
        let Self { method, url, headers, body } = self;
        let mut request = client.request(method, url).headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        match tokio::time::timeout(patience, request.send()).await {
            Ok(response) => Ok(response?),
            Err(_) => Err(Fault::Silent(patience)),
        }
    }
}

/// Whether the answer is of the kind of media.
pub(crate) fn is_media(response: &Response, kind: &str) -> bool {
    let media = response.headers().get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    media.len() >= kind.len() && media[..kind.len()].eq_ignore_ascii_case(kind.as_bytes())
}

/// The whole body, within the limits of size and silence.
pub(crate) async fn body(mut response: Response, idle: Duration) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    loop {
        let chunk = tokio::time::timeout(idle, response.chunk()).await.map_err(|_| Fault::Silent(idle))??;
        let Some(chunk) = chunk else { return Ok(body) };
        if chunk.len() > MESSAGE_LIMIT - body.len() {
            return Err(Fault::TooLarge(MESSAGE_LIMIT));
        }
        body.extend_from_slice(&chunk);
    }
}
