//! The files of TLS, tried without a listener: everything that is wrong with them, not only the first thing.

use std::path::Path;

use a2c_pem::PemError;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::credentials::Credentials;
use super::{TlsConfig, TlsError, settings};

/// What came of trying the files.
#[derive(Debug, Default)]
pub struct TlsCheck {
    /// Why a hub cannot start with them; nothing if it can.
    pub errors: Vec<TlsError>,
    /// What is odd: a hub would start, and log this.
    pub warnings: Vec<String>,
}

impl TlsConfig {
    /// Reads all files and tells everything that is wrong with them. Logs nothing.
    pub fn check(&self) -> TlsCheck {
        match Credentials::read(self).and_then(|read| settings(&read).map(|_| read)) {
            Ok(credentials) => TlsCheck { errors: Vec::new(), warnings: credentials.oddities(self) },
            Err(first) => TlsCheck { errors: self.all_errors(first), warnings: Vec::new() },
        }
    }

    /// Each file by itself. Where nothing is wrong with any of them alone, it was the first error that told what is.
    fn all_errors(&self, first: TlsError) -> Vec<TlsError> {
        if self.is_swapped() {
            let swapped = TlsError::Swapped { certificate: self.certificate.clone(), key: self.key.clone() };
            return std::iter::once(swapped).chain(self.client_ca_error()).collect();
        }
        let certificate = a2c_pem::chain(&self.certificate).err();
        let key = a2c_pem::private_key(&self.key).err();
        let alone = certificate.into_iter().chain(key).map(TlsError::from).chain(self.client_ca_error());
        let alone: Vec<TlsError> = alone.collect();
        // That two files do not fit each other shows only together; a bad third one must not hide it.
        let is_of_two = matches!(first, TlsError::File(PemError::Mismatch { .. }));
        if alone.is_empty() || is_of_two { std::iter::once(first).chain(alone).collect() } else { alone }
    }

    /// A file may hold both a certificate and its key: then it is not the order that is wrong.
    fn is_swapped(&self) -> bool {
        let what = |path: &Path| (holds::<CertificateDer<'_>>(path), holds::<PrivateKeyDer<'_>>(path));
        what(&self.certificate) == (false, true) && what(&self.key) == (true, false)
    }

    fn client_ca_error(&self) -> Option<TlsError> {
        self.client_ca.as_deref().and_then(|path| a2c_pem::authorities(path).err()).map(TlsError::from)
    }
}

/// Whether a file holds something of a kind in PEM.
fn holds<T: PemObject>(path: &Path) -> bool {
    T::from_pem_file(path).is_ok()
}
