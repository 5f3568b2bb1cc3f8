//! The parameters of an HTTP server, as its owner wrote them.

use std::collections::BTreeMap;
use std::time::Duration;

use a2c_secrets::Redactor;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use url::Url;

/// Headers that MCP sets itself; the owner's headers must not contradict them.
const RESERVED: [HeaderName; 6] = [
    ACCEPT,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    HOST,
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("last-event-id"),
];

/// Why the parameters of a server cannot be used. The text says what to change and holds no value of a header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// `url` cannot be parsed.
    #[error("its `url` is no address: {0}")]
    Url(#[from] url::ParseError),
    /// `url` is not an HTTP address.
    #[error("its `url` must start with http:// or https://, not with {scheme}:")]
    Scheme {
        /// The scheme that it has.
        scheme: String,
    },
    /// A time limit is zero, negative or endless.
    #[error("its `{key}` must be a time longer than zero")]
    Limit {
        /// The name of the parameter.
        key: &'static str,
    },
    /// A key of `headers` is not the name of a header.
    #[error("'{name}' in its `headers` is no name of a header")]
    HeaderName {
        /// The key.
        name: String,
    },
    /// A key of `headers` is a header that MCP sets.
    #[error("'{name}' in its `headers` is set by MCP itself: leave it out")]
    ReservedHeader {
        /// The key.
        name: String,
    },
    /// A value of `headers` cannot be sent.
    #[error("the value of '{name}' in its `headers` cannot be sent: it has a line break or the like")]
    HeaderValue {
        /// The key of the value.
        name: String,
    },
    /// `headers` already hold the credentials that a sign-in would replace.
    #[error("its `headers` hold an authorization already: remove that to sign in instead")]
    AuthorizationHeader,
}

impl ParameterError {
    /// The error without secrets: the owner may have put one into any part of a parameter.
    pub(crate) fn redacted(mut self, secrets: &Redactor) -> Self {
        match &mut self {
            Self::Scheme { scheme: text }
            | Self::HeaderName { name: text }
            | Self::ReservedHeader { name: text }
            | Self::HeaderValue { name: text } => secrets.redact_in_place(text),
            Self::Url(_) | Self::Limit { .. } | Self::AuthorizationHeader => {}
        }
        self
    }
}

/// The address of a server, if it is an HTTP address.
pub(crate) fn address(url: &str) -> Result<Url, ParameterError> {
    let url: Url = url.parse()?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        scheme => Err(ParameterError::Scheme { scheme: scheme.to_owned() }),
    }
}

/// A time limit that the owner wrote as seconds.
pub(crate) fn limit(key: &'static str, seconds: f64) -> Result<Duration, ParameterError> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit),
        _ => Err(ParameterError::Limit { key }),
    }
}

/// The owner's headers, marked as sensitive so that no log shows their values.
pub(crate) fn headers(given: Option<&BTreeMap<String, String>>) -> Result<HeaderMap, ParameterError> {
    let mut headers = HeaderMap::new();
    for (name, value) in given.into_iter().flatten() {
        let key: HeaderName = name.parse().map_err(|_| ParameterError::HeaderName { name: name.clone() })?;
        if RESERVED.contains(&key) {
            return Err(ParameterError::ReservedHeader { name: name.clone() });
        }
        let mut value = HeaderValue::from_str(value).map_err(|_| ParameterError::HeaderValue { name: name.clone() })?;
        value.set_sensitive(true);
        headers.append(key, value);
    }
    Ok(headers)
}
