//! Checks the TLS files without a listener and reports every problem, not only the first.

use std::path::Path;

use a2c_pem::PemError;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::server_credentials::ServerCredentials;
use super::{TlsConfig, TlsConfigError, settings};

/// The outcome of a check of the TLS files.
#[derive(Debug, Default)]
pub struct TlsCheck {
    /// Why a hub cannot start with the files; empty if it can.
    pub errors: Vec<TlsConfigError>,
    /// What a hub would log as a warning when it starts.
    pub warnings: Vec<String>,
}

impl TlsConfig {
    /// Reads all files and reports every problem. Logs nothing.
    pub fn check(&self) -> TlsCheck {
        match ServerCredentials::read(self).and_then(|read| settings(&read).map(|_| read)) {
            Ok(credentials) => TlsCheck { errors: Vec::new(), warnings: credentials.warnings(self) },
            Err(first) => TlsCheck { errors: self.all_errors(first), warnings: Vec::new() },
        }
    }

    /// The errors of each file alone. Where no file alone has an error, the first error is the only one.
    fn all_errors(&self, first: TlsConfigError) -> Vec<TlsConfigError> {
        if self.is_swapped() {
            let swapped = TlsConfigError::Swapped { certificate: self.certificate.clone(), key: self.key.clone() };
            return std::iter::once(swapped).chain(self.client_ca_error()).collect();
        }
        let certificate = a2c_pem::chain(&self.certificate).err();
        let key = a2c_pem::private_key(&self.key).err();
        let alone = certificate.into_iter().chain(key).map(TlsConfigError::from).chain(self.client_ca_error());
        let alone: Vec<TlsConfigError> = alone.collect();
        // A mismatch of two files shows only together, and an unusable third file must not hide it.
        let is_of_two = matches!(first, TlsConfigError::File(PemError::Mismatch { .. }));
        if alone.is_empty() || is_of_two { std::iter::once(first).chain(alone).collect() } else { alone }
    }

    /// Whether the two files are swapped. A file that holds both a certificate and a key is not.
    fn is_swapped(&self) -> bool {
        let what = |path: &Path| (holds::<CertificateDer<'_>>(path), holds::<PrivateKeyDer<'_>>(path));
        what(&self.certificate) == (false, true) && what(&self.key) == (true, false)
    }

    fn client_ca_error(&self) -> Option<TlsConfigError> {
        self.client_ca.as_deref().and_then(|path| a2c_pem::authorities(path).err()).map(TlsConfigError::from)
    }
}

/// Whether a file holds a PEM object of a kind.
fn holds<T: PemObject>(path: &Path) -> bool {
    T::from_pem_file(path).is_ok()
}
