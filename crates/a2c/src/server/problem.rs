//! What can be wrong with the settings of a hub.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use a2c_hub::audit::AuditOpenError;
use a2c_hub::auth::{KeyFetchError, UnusableJwtKey, UnusableKey, UnusableKeySet};
use a2c_hub::{InvalidNetwork, TlsConfigError, trace};
use a2c_pem::PemError;

use super::reading::FileError;

/// Settings that a hub cannot start with. Names are those of the file; where a flag is the usual way, it is named too.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerProblem {
    /// Every client of the network could connect.
    #[error(
        "refusing to listen on {0} without authentication: set A2C_TOKEN (or token_file, or another --auth), or listen \
         on a loopback address"
    )]
    Open(SocketAddr),
    /// Two settings of the same layer exclude each other.
    #[error("{0} and {1} are both set: leave one of them out")]
    Both(String, String),
    /// A setting is of no use without another one.
    #[error("{0} needs {1}")]
    Needs(String, &'static str),
    /// Several ways to prove oneself, and no word about which of them counts.
    #[error(
        "tokens ({tokens}) and JWT keys ({keys}) are both set: say which of them counts with --auth token or --auth jwt \
         (auth.kind)"
    )]
    WhichAuth {
        /// Where the tokens come from.
        tokens: String,
        /// Where the keys come from.
        keys: String,
    },
    /// The file, or something in it.
    #[error(transparent)]
    File(#[from] FileError),
    /// An environment variable, and what to write there.
    #[error("{0}: {1}")]
    Variable(String, String),
    /// Not a host.
    #[error(
        "{setting}: '{host}' is no host name: write the name or the address alone, such as hub.example.org, without \
         https://, port or path"
    )]
    Host {
        /// Which setting.
        setting: String,
        /// What was written.
        host: String,
    },
    /// A proxy that is no address.
    #[error("{setting}: {source}")]
    Proxy {
        /// Which setting.
        setting: String,
        /// What is wrong with it.
        source: InvalidNetwork,
    },
    /// Two tokens that log and audit could not tell apart.
    #[error("{0}: there is another token with the label '{1}': give each its own")]
    SameLabel(String, String),
    /// Two tokens with the same value.
    #[error("{0} and {1} are the same token: make another one (openssl rand -hex 32), or leave one of them out")]
    SameToken(String, String),
    /// A secret cannot be read.
    #[error("{setting}: cannot read {}: {source}", path.display())]
    Unreadable {
        /// Which setting.
        setting: String,
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A secret that is none.
    #[error("{0} is empty: set it to a secret (openssl rand -hex 32), or leave it out")]
    Empty(String),
    /// A token that no client could send.
    #[error("{setting}: {source}")]
    Token {
        /// Which setting.
        setting: String,
        /// Why not.
        source: UnusableKey,
    },
    /// A token that can be guessed.
    #[error("{setting} has {length} characters, which can be guessed: take at least {minimum} (openssl rand -hex 32)")]
    Short {
        /// Which setting.
        setting: String,
        /// How long it is.
        length: usize,
        /// How long it has to be.
        minimum: usize,
    },
    /// A key that verifies nothing.
    #[error("{setting}: {source}")]
    JwtKey {
        /// Which setting.
        setting: String,
        /// Why not.
        source: UnusableJwtKey,
    },
    /// Something else, or a key of an algorithm that is not spoken here.
    #[error(
        "auth.jwt_public_key: {} is no RSA (RS256), Ed25519 (EdDSA) or P-256 (ES256) public key in PEM, which starts \
         with -----BEGIN PUBLIC KEY-----",
        .0.display()
    )]
    NoJwtKey(PathBuf),
    /// The key that signs, which the hub has no business to know.
    #[error(
        "auth.jwt_public_key: {0} is {1} private key: keep it from the hub, and give it the public key that belongs to \
         {2}: openssl pkey -in {0} -pubout -out public.pem",
        path.display(),
        kind.unwrap_or("a"),
        if kind.is_some() { "it" } else { "an RSA, Ed25519 or P-256 key" }
    )]
    PrivateJwtKey {
        /// Which file.
        path: PathBuf,
        /// Which kind of key, where it is of one that can be used.
        kind: Option<&'static str>,
    },
    /// A file that holds no keys, or none that could be used.
    #[error("{setting}: {}: {source}", path.display())]
    JwtKeySet {
        /// Which setting.
        setting: String,
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: UnusableKeySet,
    },
    /// The keys that the issuer publishes cannot be fetched.
    #[error("{setting}: cannot take keys from {url}: {source}{}", remedy_of_fetch(source))]
    JwtKeyUrl {
        /// Which setting.
        setting: String,
        /// The URL, without secrets.
        url: String,
        /// Why not.
        source: KeyFetchError,
    },
    /// No token can be made up.
    #[error("the system gives no random numbers to make a token of: set A2C_TOKEN")]
    NoRandomness,
    /// A TLS file cannot be used.
    #[error("tls: {0}")]
    Pem(#[from] PemError),
    /// The TLS files do not go together.
    #[error(transparent)]
    Tls(TlsConfigError),
    /// The audit log cannot be written.
    #[error("audit.file: cannot write {}: {source}", path.display())]
    Audit {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// What is in the file is not an audit log that could be continued.
    #[error("audit.file: {0}")]
    AuditFile(#[from] AuditOpenError),
    /// Traces cannot be sent.
    #[error("{setting}: {source}")]
    Traces {
        /// Which setting, with its value where that is no secret.
        setting: String,
        /// Why not.
        source: trace::TraceStartError,
    },
    /// A header for the collector, which may hold a secret and is not repeated.
    #[error("{0}: write NAME=VALUE, one per line or separated by commas")]
    Header(&'static str),
}

/// What to do where the URL is not to blame for itself.
fn remedy_of_fetch(error: &KeyFetchError) -> &'static str {
    match error {
        KeyFetchError::Url { .. } => "",
        KeyFetchError::Keys(_) | KeyFetchError::TooLong => {
            "; check that it is the URL of the issuer's keys (`jwks_uri` in its metadata), or save a set to a file and \
             name that with --jwt-jwks-file (auth.jwt_jwks_file)"
        }
        _ => {
            "; check the URL and whether this machine can reach it, or save the set to a file and name that with \
             --jwt-jwks-file (auth.jwt_jwks_file)"
        }
    }
}

impl From<TlsConfigError> for ServerProblem {
    fn from(error: TlsConfigError) -> Self {
        match error {
            TlsConfigError::File(error) => Self::Pem(error),
            other => Self::Tls(other),
        }
    }
}

/// What is found on the way from settings to a hub.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// What keeps a hub from starting.
    pub(crate) problems: Vec<ServerProblem>,
    /// What is odd.
    pub(crate) warnings: Vec<String>,
}

impl Notes {
    /// The value, or nothing where there is a problem instead, which is kept.
    pub(crate) fn keep<T>(&mut self, result: Result<T, ServerProblem>) -> Option<T> {
        result.map_err(|problem| self.problems.push(problem)).ok()
    }
}

/// Everything that keeps a hub from starting, told at once.
#[derive(Debug)]
pub(crate) struct ServerProblems(pub(crate) Vec<ServerProblem>);

impl fmt::Display for ServerProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = &*self.0 {
            return only.fmt(f);
        }
        write!(f, "{} settings cannot be used:", self.0.len())?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl std::error::Error for ServerProblems {}
