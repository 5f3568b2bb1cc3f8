//! The certificate and key of the hub and the CAs of its clients, read from files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use a2c_pem::PemError;
use rustls::RootCertStore;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::server::{ServerConfig, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use super::{TlsConfig, subject};

/// Why a hub cannot speak TLS with its files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsConfigError {
    /// A file is unusable.
    #[error("TLS: {0}")]
    File(#[from] PemError),
    /// The files of certificate and key are swapped.
    #[error(
        "TLS: certificate and private key are swapped: {} holds a private key, and {} a certificate",
        .certificate.display(),
        .key.display()
    )]
    Swapped {
        /// The configured file of the certificate.
        certificate: PathBuf,
        /// The configured file of the key.
        key: PathBuf,
    },
    /// The TLS library refuses the content of the files.
    #[error("TLS cannot be set up: {0}")]
    Setup(#[source] rustls::Error),
}

/// The content of the TLS files.
pub(super) struct ServerCredentials {
    own: CertifiedKey,
    client_cas: Option<Vec<CertificateDer<'static>>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCredentials {
    /// Reads all files.
    pub(super) fn read(config: &TlsConfig) -> Result<Self, TlsConfigError> {
        let provider = Arc::new(ring::default_provider());
        let own = a2c_pem::identity(&config.certificate, &config.key, &provider)?;
        let client_cas = config.client_ca.as_deref().map(a2c_pem::authorities).transpose()?;
        Ok(Self { own, client_cas, provider })
    }

    /// Warnings about usable files.
    pub(super) fn warnings(&self, config: &TlsConfig) -> Vec<String> {
        let leaf = self.own.cert.first();
        let untimely = leaf.and_then(|leaf| untimely(leaf, SystemTime::now()));
        let path = config.certificate.display();
        let untimely = untimely.map(|warning| format!("the certificate in {path} {warning}: clients will refuse it"));
        let open = is_open_to_others(&config.key).then(|| {
            let path = config.key.display();
            format!("every user of this machine can read the private key {path}: chmod o-r {path}")
        });
        untimely.into_iter().chain(open).collect()
    }

    /// Whether the certificates are the same. The key need not be compared: it fits its certificate.
    pub(super) fn are_those_of(&self, other: &Self) -> bool {
        self.own.cert == other.own.cert && self.client_cas == other.client_cas
    }

    pub(super) fn asks_clients(&self) -> bool {
        self.client_cas.is_some()
    }

    /// TLS 1.2 and 1.3 with these credentials.
    pub(super) fn settings(&self) -> Result<ServerConfig, TlsConfigError> {
        let versions = ServerConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .map_err(TlsConfigError::Setup)?;
        let clients = match &self.client_cas {
            None => versions.with_no_client_auth(),
            Some(cas) => {
                let mut roots = RootCertStore::empty();
                for ca in cas {
                    roots.add(ca.clone()).map_err(TlsConfigError::Setup)?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), self.provider.clone()).build();
                let other = |error| TlsConfigError::Setup(rustls::Error::General(format!("client CA: {error}")));
                versions.with_client_cert_verifier(verifier.map_err(other)?)
            }
        };
        Ok(clients.with_cert_resolver(Arc::new(SingleCertAndKey::from(self.own.clone()))))
    }
}

/// Why a certificate is not valid at this time.
fn untimely(certificate: &CertificateDer<'_>, now: SystemTime) -> Option<String> {
    let (from, to) = subject::validity(certificate)?;
    let now = now.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    if now > to.to_unix_duration() {
        return Some(format!("expired on {to}"));
    }
    (now < from.to_unix_duration()).then(|| format!("is not valid before {from}"))
}

#[cfg(unix)]
fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}
