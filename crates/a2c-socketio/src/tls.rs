//! TLS settings: what the caller brought, or the system's idea of whom to trust with the caller's files beside it. With
//! ring underneath.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::sign::SingleCertAndKey;
use rustls_platform_verifier::Verifier;

use crate::error::ConnectError;

/// Files for `https` and `wss`, all of them PEM. They are read when a connection is made, and again whenever a lost link
/// is replaced, so that a renewed certificate is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// CAs to trust besides those of the system.
    pub ca: Option<PathBuf>,
    /// What to show to a server that asks who the client is.
    pub client: Option<ClientCertificate>,
}

/// The files of a client certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate, followed by those between it and its root.
    pub certificate: PathBuf,
    /// Its private key, not encrypted; may be the same file.
    pub key: PathBuf,
}

/// Where the TLS settings of a connection come from.
#[derive(Clone)]
pub(crate) enum Source {
    Files(TlsFiles),
    Config(Arc<ClientConfig>),
}

impl Source {
    /// Whether making the settings again may give others.
    pub(crate) fn may_change(&self) -> bool {
        matches!(self, Self::Files(files) if *files != TlsFiles::default())
    }

    pub(crate) fn settings(&self) -> Result<ClientConfig, ConnectError> {
        match self {
            Self::Files(files) => files.settings(),
            Self::Config(config) => Ok(ClientConfig::clone(config)),
        }
    }
}

impl TlsFiles {
    fn settings(&self) -> Result<ClientConfig, ConnectError> {
        let library = |error: rustls::Error| ConnectError::Tls(error.into());
        let file = |error: a2c_pem::PemError| ConnectError::Tls(error.into());
        let provider = Arc::new(ring::default_provider());
        let extra = self.ca.as_deref().map(a2c_pem::authorities).transpose().map_err(file)?.unwrap_or_default();
        let verifier = Verifier::new_with_extra_roots(extra, provider.clone()).map_err(library)?;
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(library)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let Some(ClientCertificate { certificate, key }) = &self.client else {
            return Ok(builder.with_no_client_auth());
        };
        let identity = a2c_pem::identity(certificate, key, &provider).map_err(file)?;
        Ok(builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(identity))))
    }
}

/// Settings for a connection that never speaks TLS: building the HTTP client needs some, and
/// reading the system's certificates for nothing would be slow.
pub(crate) fn unused() -> Result<ClientConfig, ConnectError> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
        .map_err(|error| ConnectError::Tls(error.into()))
}
