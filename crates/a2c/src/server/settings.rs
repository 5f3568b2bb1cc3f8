//! All settings of a hub, decided from flags, environment, file and defaults.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use a2c_agent::Secret;
use a2c_hub::HubLimits;
use a2c_settings::Overview;

use super::problem::ServerProblem;
use super::secret::SecretSource;
use super::value::{AuthKind, ForwardedBy, Ratio};

/// The decided settings.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) listen: SocketAddr,
    pub(crate) allow_hosts: Vec<String>,
    pub(crate) trusted_proxies: Vec<String>,
    pub(crate) forwarded_header: ForwardedBy,
    pub(crate) proxy_protocol: bool,
    pub(crate) ping_interval: Duration,
    pub(crate) ping_timeout: Duration,
    pub(crate) call_timeout: Duration,
    pub(crate) drain: Duration,
    pub(crate) auth: AuthSettings,
    pub(crate) tls: TlsSettings,
    pub(crate) limits: HubLimits,
    pub(crate) audit: Option<PathBuf>,
    pub(crate) audit_values: bool,
    pub(crate) traces: TraceSettings,
    pub(crate) admin: Option<SecretSource>,
    /// Every setting as `--check` shows it.
    pub(crate) overview: Overview,
    /// Settings that contradict each other.
    pub(crate) problems: Vec<ServerProblem>,
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
    pub(crate) jwt_jwks_file: Option<PathBuf>,
    pub(crate) jwt_jwks_url: Option<Secret>,
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
