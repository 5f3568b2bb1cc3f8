//! TLS settings: what the caller brought, or trust in the certificates of the system and the caller's files besides.

use std::path::PathBuf;
use std::sync::Arc;

use a2c_net::tls::ClientTls;
use rustls::ClientConfig;

use crate::error::SocketConnectError;

/// Files for `https` and `wss`, all of them PEM. They are read when a connection is made, and again whenever a lost link
/// is replaced, so that a renewed certificate is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// CAs to trust besides those of the system.
    pub ca: Option<PathBuf>,
    /// The certificate for a server that asks for one.
    pub client: Option<ClientCertificate>,
}

/// The files of a client certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate, followed by the intermediate certificates.
    pub certificate: PathBuf,
    /// Its unencrypted private key; may be the same file.
    pub key: PathBuf,
}

/// Where the TLS settings of a connection come from.
#[derive(Clone)]
pub(crate) enum TlsSource {
    Files(TlsFiles),
    Config(Arc<ClientConfig>),
}

impl TlsSource {
    /// Whether making the settings again may give others.
    pub(crate) fn may_change(&self) -> bool {
        matches!(self, Self::Files(files) if *files != TlsFiles::default())
    }

    pub(crate) fn settings(&self) -> Result<ClientConfig, SocketConnectError> {
        match self {
            Self::Files(files) => files.settings(),
            Self::Config(config) => Ok(ClientConfig::clone(config)),
        }
    }
}

impl TlsFiles {
    fn settings(&self) -> Result<ClientConfig, SocketConnectError> {
        let file = |error: a2c_pem::PemError| SocketConnectError::Tls(error.into());
        let extra_authorities = self.ca.as_deref().map(a2c_pem::authorities).transpose().map_err(file)?;
        let identity = self.client.as_ref().map(|ClientCertificate { certificate, key }| {
            a2c_pem::identity(certificate, key, &a2c_net::tls::provider())
        });
        let tls = ClientTls {
            extra_authorities: extra_authorities.unwrap_or_default(),
            identity: identity.transpose().map_err(file)?,
        };
        tls.config().map_err(|error| SocketConnectError::Tls(error.into()))
    }
}

/// Settings for a connection that never speaks TLS.
pub(crate) fn unused() -> Result<ClientConfig, SocketConnectError> {
    a2c_net::tls::without_trust().map_err(|error| SocketConnectError::Tls(error.into()))
}
