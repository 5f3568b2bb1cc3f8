//! One request to an MCP server, and its answer within limits.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{HeaderName, Method, StatusCode};
use reqwest::Response;
use url::Url;

use super::error::HttpError;
use super::{AccessReason, Credentials};
use crate::large::MESSAGE_LIMIT;

/// The header that names a streamable session.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// A request that can be sent a second time, should the server refuse the first.
#[derive(Clone)]
pub(crate) struct HttpRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl HttpRequest {
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

    /// Ends a session.
    pub(crate) fn delete(url: Url, session: HeaderValue) -> Self {
        let mut request = Self { method: Method::DELETE, ..Self::get(url) };
        request.headers.insert(SESSION, session);
        request
    }

    /// Sends it and waits for the head of the answer.
    pub(crate) async fn send(self, client: &reqwest::Client, timeout: Duration) -> Result<Response, HttpError> {
        let Self { method, url, headers, body } = self;
        let mut request = client.request(method, url).headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        match tokio::time::timeout(timeout, request.send()).await {
            Ok(response) => Ok(response?),
            Err(_) => Err(HttpError::Timeout(timeout)),
        }
    }
}

/// The answer, unless it refuses the credentials or redirects to another origin.
pub(crate) fn accepted(response: Response, credentials: &Credentials) -> Result<Response, HttpError> {
    match response.status() {
        StatusCode::UNAUTHORIZED => Err(HttpError::Access(credentials.refused(AccessReason::Required))),
        StatusCode::FORBIDDEN => Err(HttpError::Access(credentials.refused(AccessReason::Forbidden))),
        status if status.is_redirection() => Err(HttpError::Redirected(status.as_u16())),
        _ => Ok(response),
    }
}

/// Whether the answer is of this media type.
pub(crate) fn is_media(response: &Response, kind: &str) -> bool {
    let media = response.headers().get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    media.len() >= kind.len() && media[..kind.len()].eq_ignore_ascii_case(kind.as_bytes())
}

/// The whole body, within the limits of size and silence.
pub(crate) async fn body(mut response: Response, idle: Duration) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    loop {
        let chunk = tokio::time::timeout(idle, response.chunk()).await.map_err(|_| HttpError::Timeout(idle))??;
        let Some(chunk) = chunk else { return Ok(body) };
        if chunk.len() > MESSAGE_LIMIT - body.len() {
            return Err(HttpError::TooLarge(MESSAGE_LIMIT));
        }
        body.extend_from_slice(&chunk);
    }
}
