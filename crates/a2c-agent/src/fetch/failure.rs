//! Why a document cannot be had where a Computer says it is.

use std::time::Duration;

use a2c_net::{HttpClientError, UrlRefusal};

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
    /// The URL leads to the hub of this Agent.
    #[error(
        "its URI leads to the hub itself, which the options do not allow; if the hub serves documents, too, allow it with \
         `FetchOptions::hub`"
    )]
    Hub,
    /// The options say no.
    #[error(
        "its URI is of the scheme `{scheme}:`, which the options do not allow; if you trust the Computer with it, allow it \
         with `FetchOptions::{option}`"
    )]
    NotAllowed {
        /// The scheme.
        scheme: String,
        /// The field of [`FetchOptions`](super::FetchOptions) that would allow it.
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
    pub(crate) fn may_be_expired(&self) -> bool {
        match self {
            Self::Status(status) => matches!(status, 401 | 403 | 404 | 410),
            Self::File(error) => error.kind() == std::io::ErrorKind::NotFound,
            _ => false,
        }
    }
}
