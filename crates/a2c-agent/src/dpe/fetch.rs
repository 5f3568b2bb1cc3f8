//! From a document's URI to its bytes: ask, fetch, and ask once more where the answer has expired.

use std::path::PathBuf;
use std::time::Duration;

use a2c_net::{HttpClientError, UrlRefusal};
use a2c_protocol::context::A2cResource;
use a2c_protocol::document::{Document, ShapeError};
use bytes::Bytes;
use jiff::Timestamp;
use url::Url;

use super::{DpeError, file};
use crate::Agent;

/// What may be fetched, and how much of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FetchOptions {
    /// How long the Computer may take to make the document available.
    pub resolve_timeout: Duration,
    /// How long fetching it may take.
    pub fetch_timeout: Duration,
    /// How many bytes it may have.
    pub max_bytes: u64,
    /// Which files may be read.
    pub files: Files,
    /// Whether `http://` and `https://` may be fetched.
    pub http: bool,
}

impl FetchOptions {
    /// The largest document that is fetched unless told otherwise: 64 MiB.
    pub const DEFAULT_MAX_BYTES: u64 = 64 * 1024 * 1024;

    /// How long the Computer may take to make the document available.
    pub fn with_resolve_timeout(self, resolve_timeout: Duration) -> Self {
        Self { resolve_timeout, ..self }
    }

    /// How long fetching it may take.
    pub fn with_fetch_timeout(self, fetch_timeout: Duration) -> Self {
        Self { fetch_timeout, ..self }
    }

    /// How many bytes it may have.
    pub fn with_max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// Which files may be read. Read at [`Files`] what this allows a Computer.
    pub fn with_files(self, files: Files) -> Self {
        Self { files, ..self }
    }

    /// Whether `http://` and `https://` may be fetched.
    pub fn with_http(self, http: bool) -> Self {
        Self { http, ..self }
    }
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            resolve_timeout: Duration::from_secs(30),
            fetch_timeout: Duration::from_secs(60),
            max_bytes: Self::DEFAULT_MAX_BYTES,
            files: Files::default(),
            http: true,
        }
    }
}

/// Which files of this machine a Computer may point at.
///
/// A `file://` URI makes this process read a file with its own rights, and the URI comes from the Computer: one that is
/// hostile, or has a hostile MCP server, could name a private key. So files are refused until you say which ones are
/// meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Files {
    /// None.
    #[default]
    Refused,
    /// Those in or below these directories, after links are followed.
    Within(Vec<PathBuf>),
    /// Any that this process can read. For programs whose user trusts the Computer with them.
    Anywhere,
}

/// A document that was fetched.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchedDpe {
    /// Where it was, as the Computer said.
    pub resource: A2cResource,
    /// What is there.
    pub body: Bytes,
    /// Its MIME type: what the Computer said, else what the server of the URL said.
    pub mime_type: Option<String>,
}

impl FetchedDpe {
    /// The body as the JSON of a whole document.
    pub fn document(&self) -> Result<Document, ShapeError> {
        Document::parse(&self.body)
    }
}

/// Why a document was not fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The Computer did not say where it is.
    #[error(transparent)]
    Resolve(#[from] DpeError),
    /// The Computer said where it is, and it could not be had there.
    #[error("the document cannot be fetched: {failure}")]
    Fetch {
        /// What the Computer said. Its URI may be a key to the document: do not log it.
        resource: Box<A2cResource>,
        /// What happened.
        #[source]
        failure: FetchFailure,
    },
}

/// What happened where the Computer said a document is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchFailure {
    /// This crate does not know the scheme.
    #[error(
        "its URI is of the scheme `{scheme}:`, which is not fetched here; the resource is in this error, fetch it yourself"
    )]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The URI cannot be used.
    #[error("its URI cannot be used: {reason}")]
    Uri {
        /// Why not.
        reason: &'static str,
    },
    /// The URL leads where this Agent does not go.
    #[error("its URI cannot be used: {0}")]
    UrlRefused(#[source] UrlRefusal),
    /// The options say no.
    #[error(
        "its URI is of the scheme `{scheme}:`, which the options do not allow; if you trust the Computer with it, allow it \
         with `FetchOptions::{option}`"
    )]
    NotAllowed {
        /// The scheme.
        scheme: String,
        /// The field of [`FetchOptions`] that would allow it.
        option: &'static str,
    },
    /// The file is in none of the allowed directories.
    #[error("its file is in none of the directories that `FetchOptions::files` allows")]
    Outside,
    /// The path leads to a directory, a device or the like.
    #[error("its path leads to something that is no regular file")]
    NotAFile,
    /// The file cannot be read.
    #[error("its file cannot be read: {0}")]
    File(#[source] std::io::Error),
    /// The document is larger than the options allow.
    #[error("it has more than the allowed {limit} bytes")]
    TooLarge {
        /// How many bytes are allowed.
        limit: u64,
    },
    /// The server of the URL answered, but not with the document.
    #[error("its server answered with HTTP status {0}")]
    Status(u16),
    /// A redirect leads where this Agent does not go.
    #[error("its server redirects too often, or to where this Agent does not go")]
    Redirect,
    /// The server of the URL could not be asked. The URL itself is not in the error.
    #[error("its server cannot be asked: {0}")]
    Http(#[source] reqwest::Error),
    /// The HTTP client cannot be made.
    #[error("HTTP cannot be spoken here: {0}")]
    Client(#[source] HttpClientError),
    /// It took too long.
    #[error("it was not there within {} s", .0.as_secs())]
    Timeout(Duration),
}

impl FetchFailure {
    /// Whether the URI may simply have been too old.
    fn may_be_expired(&self) -> bool {
        match self {
            Self::Status(status) => matches!(status, 401 | 403 | 404 | 410),
            Self::File(error) => error.kind() == std::io::ErrorKind::NotFound,
            _ => false,
        }
    }
}

/// What was found, and what its server called it.
pub(super) struct Found {
    pub(super) body: Bytes,
    pub(super) mime_type: Option<String>,
}

pub(super) async fn fetch(
    agent: &Agent,
    computer: &str,
    uri: &str,
    options: &FetchOptions,
) -> Result<FetchedDpe, FetchError> {
    let resource = agent.resolve_dpe(computer, uri, options.resolve_timeout).await?;
    if !has_expired(&resource) {
        match found(agent, &resource, options).await {
            Err(failure) if failure.may_be_expired() => {
                tracing::debug!(%failure, "the document is no longer where it was said to be; asking again");
            }
            outcome => return finish(resource, outcome),
        }
    }
    // The second answer is tried whatever it says about its end: the clocks of two machines need not agree.
    let resource = agent.resolve_dpe(computer, uri, options.resolve_timeout).await?;
    let outcome = found(agent, &resource, options).await;
    finish(resource, outcome)
}

fn finish(resource: A2cResource, outcome: Result<Found, FetchFailure>) -> Result<FetchedDpe, FetchError> {
    match outcome {
        Ok(Found { body, mime_type }) => {
            let mime_type = resource.mime_type.clone().or(mime_type);
            Ok(FetchedDpe { resource, body, mime_type })
        }
        Err(failure) => Err(FetchError::Fetch { resource: Box::new(resource), failure }),
    }
}

/// Whether the answer says itself that it is over. A time that cannot be read says nothing.
fn has_expired(resource: &A2cResource) -> bool {
    let end = resource.meta.as_ref().and_then(|meta| meta.get("expires_at")?.as_str()?.parse::<Timestamp>().ok());
    end.is_some_and(|end| end <= Timestamp::now())
}

async fn found(agent: &Agent, resource: &A2cResource, options: &FetchOptions) -> Result<Found, FetchFailure> {
    let url = Url::parse(&resource.uri).map_err(|_| FetchFailure::Uri { reason: "it is no absolute URI" })?;
    let not_allowed = |option| FetchFailure::NotAllowed { scheme: url.scheme().to_owned(), option };
    if matches!(url.scheme(), "file" | "http" | "https") && resource.size.is_some_and(|size| size > options.max_bytes) {
        return Err(FetchFailure::TooLarge { limit: options.max_bytes });
    }
    let work = async {
        match url.scheme() {
            "file" if options.files == Files::Refused => Err(not_allowed("files")),
            "file" => file::read(&url, &options.files, options.max_bytes).await,
            "http" | "https" if !options.http => Err(not_allowed("http")),
            "http" | "https" => agent.web().get(&url, options.max_bytes).await,
            scheme => Err(FetchFailure::Scheme { scheme: scheme.to_owned() }),
        }
    };
    let late = |_| Err(FetchFailure::Timeout(options.fetch_timeout));
    tokio::time::timeout(options.fetch_timeout, work).await.unwrap_or_else(late)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_time_that_has_passed_is_expired() {
        let expired = |meta: serde_json::Value| {
            has_expired(&serde_json::from_value(json!({"uri": "file:///x", "_meta": meta})).unwrap())
        };
        assert!(expired(json!({"expires_at": "2020-01-01T00:00:00Z"})));
        assert!(expired(json!({"expires_at": "2020-01-01T00:00:00.5+08:00"})));
        for open in [
            json!(null),
            json!({}),
            json!({"expires_at": "9000-01-01T00:00:00Z"}),
            json!({"expires_at": "soon"}),
            json!({"expires_at": 7}),
        ] {
            assert!(!expired(open.clone()), "{open}");
        }
    }
}
