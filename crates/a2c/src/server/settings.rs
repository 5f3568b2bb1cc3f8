//! All settings of a hub, as they were decided from every place they may be in.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use a2c_agent::Secret;
use a2c_hub::Limits;

use super::origin::Ledger;
use super::problem::Problem;
use super::secret::SecretSource;
use super::value::{AuthKind, Ratio};

/// What was decided.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) listen: SocketAddr,
    pub(crate) allow_hosts: Vec<String>,
    pub(crate) ping_interval: Duration,
    pub(crate) ping_timeout: Duration,
    pub(crate) call_timeout: Duration,
    pub(crate) drain: Duration,
    pub(crate) auth: AuthSettings,
    pub(crate) tls: TlsSettings,
    pub(crate) limits: Limits,
    pub(crate) audit: Option<PathBuf>,
    pub(crate) audit_values: bool,
    pub(crate) traces: TraceSettings,
    pub(crate) admin: Option<SecretSource>,
    /// Every setting as it is shown.
    pub(crate) ledger: Ledger,
    /// What contradicts itself already.
    pub(crate) problems: Vec<Problem>,
}

/// How clients prove who they are.
#[derive(Debug)]
pub(crate) struct AuthSettings {
    /// As it was asked for.
    pub(crate) kind: Option<AuthKind>,
    /// Tokens and their labels.
    pub(crate) tokens: Vec<(Option<String>, SecretSource)>,
    pub(crate) jwt_secret: Option<SecretSource>,
    pub(crate) jwt_public_keys: Vec<PathBuf>,
    pub(crate) jwt_issuer: Option<String>,
    pub(crate) jwt_audience: Option<String>,
    pub(crate) jwt_leeway: Duration,
}

/// The files of TLS.
#[derive(Debug)]
pub(crate) struct TlsSettings {
    pub(crate) cert: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    pub(crate) client_ca: Option<PathBuf>,
    pub(crate) reload: Duration,
}

/// Where traces go; the headers are secrets.
#[derive(Debug)]
pub(crate) struct TraceSettings {
    pub(crate) endpoint: Option<Secret>,
    pub(crate) headers: Vec<(String, Secret)>,
    pub(crate) ratio: Ratio,
}
