//! The TLS of a client: trust in the certificates of the system, HTTP/1.1, ring underneath.
//!
//! Reading the certificates of the system takes a while. A client that never speaks TLS takes [`without_trust`].

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

/// Why a client cannot speak TLS.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The certificates of the system cannot be read.
    #[error("TLS cannot be used: {0}")]
    SystemCertificates(#[source] rustls::Error),
    /// The settings do not fit together.
    #[error("TLS cannot be used: {0}")]
    Settings(#[source] rustls::Error),
}

/// What a client trusts and shows besides the certificates of the system.
#[derive(Debug, Default)]
pub struct ClientTls {
    /// CAs to trust besides those of the system.
    pub extra_authorities: Vec<CertificateDer<'static>>,
    /// The certificate to show to a server that asks for one.
    pub identity: Option<CertifiedKey>,
}

impl ClientTls {
    /// The settings.
    pub fn config(self) -> Result<ClientConfig, TlsError> {
        let provider = provider();
        let verifier = Verifier::new_with_extra_roots(self.extra_authorities, provider.clone())
            .map_err(TlsError::SystemCertificates)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Settings)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        Ok(http1(match self.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(identity))),
        }))
    }
}

/// Settings that trust what the system trusts.
pub fn system_trust() -> Result<ClientConfig, TlsError> {
    ClientTls::default().config()
}

/// Settings that trust no certificate, for a client that never speaks TLS: building an HTTP client needs some.
pub fn without_trust() -> Result<ClientConfig, TlsError> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    builder
        .map(|builder| http1(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()))
        .map_err(TlsError::Settings)
}

/// [`system_trust`]; on a system whose certificates cannot be read [`without_trust`], with a warning: `http://` still
/// works there, and every `https://` connection fails.
pub fn system_trust_if_readable() -> Result<ClientConfig, TlsError> {
    match system_trust() {
        Err(TlsError::SystemCertificates(error)) => {
            tracing::warn!(%error, "the system's certificates cannot be read; no https:// server will be trusted");
            without_trust()
        }
        other => other,
    }
}

/// The cryptography of every client.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// No client here speaks a later HTTP; the upgrade to a websocket exists in this one only.
fn http1(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}
