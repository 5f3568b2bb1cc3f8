//! What an Agent allows to be fetched.

use std::path::PathBuf;
use std::time::Duration;

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
    /// Whether the hub of the Agent may be asked for a document. The Computer chooses the URL, and a hub on this machine
    /// may answer this process more than others.
    pub hub: bool,
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

    /// Whether the hub of the Agent may be asked for a document.
    pub fn with_hub(self, hub: bool) -> Self {
        Self { hub, ..self }
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
            hub: false,
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
