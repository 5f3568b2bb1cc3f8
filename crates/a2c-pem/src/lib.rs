//! Certificates and private keys from PEM files, for both ends of a TLS connection.
//!
//! It must not know connections, configuration, or which authorities are trusted.
//!
//! The functions check what they read: each certificate can be parsed, and a key fits its certificate. Errors name the
//! file and the problem, and never quote the content.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, RootCertStore};

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PemError {
    /// It cannot be read.
    #[error("cannot read the {what} {}: {source}", .path.display())]
    Read {
        /// What the file is for.
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It holds nothing of what it should.
    #[error("there is no {what} in {}: it has to hold one in PEM form, which starts with -----BEGIN", .path.display())]
    Absent {
        /// What was sought.
        what: &'static str,
        /// Which file.
        path: PathBuf,
    },
    /// The private key is encrypted; the program cannot ask for a passphrase.
    #[error("the private key in {} is encrypted: decrypt it, with `openssl pkey -in FILE -out NEW` for example", .path.display())]
    Encrypted {
        /// Which file.
        path: PathBuf,
    },
    /// What it holds is damaged, or cut off, or of a kind that is not known here.
    #[error("the {what} in {} cannot be used: {why}", .path.display())]
    Unusable {
        /// What it should be.
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// What is wrong; never what is written in the file.
        why: String,
    },
    /// The certificate is for another key.
    #[error(
        "the private key in {} does not fit the first certificate in {}: give the key that it was made for, and put the \
         certificate itself before those of its CA",
        .key.display(),
        .certificate.display()
    )]
    Mismatch {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
}

const CERTIFICATE: &str = "certificate";
const CA: &str = "CA";
const KEY: &str = "private key";

/// The certificates of CAs: at least one.
pub fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, PemError> {
    certificates(CA, path)
}

/// A certificate and those between it and its root, whatever key they were made for.
pub fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, PemError> {
    certificates(CERTIFICATE, path)
}

/// A certificate, those between it and its root, and its key, which fits.
pub fn identity(certificate: &Path, key: &Path, provider: &CryptoProvider) -> Result<CertifiedKey, PemError> {
    CertifiedKey::from_der(chain(certificate)?, private_key(key)?, provider).map_err(|error| match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            PemError::Mismatch { certificate: certificate.to_owned(), key: key.to_owned() }
        }
        // The certificates have been read before: this is about the key.
        other => PemError::Unusable { what: KEY, path: key.to_owned(), why: other.to_string() },
    })
}

fn certificates(what: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let text = read(what, path)?;
    let unusable = |why| PemError::Unusable { what, path: path.to_owned(), why };
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = found.map_err(|error| unusable(damage(&error).into()))?;
    if found.is_empty() {
        return Err(PemError::Absent { what: CERTIFICATE, path: path.to_owned() });
    }
    for certificate in &found {
        RootCertStore::empty().add(certificate.clone()).map_err(|error| unusable(error.to_string()))?;
    }
    Ok(found)
}

/// A private key that needs no passphrase, whatever certificate it belongs to.
pub fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, PemError> {
    let text = read(KEY, path)?;
    let path = || path.to_owned();
    match PrivateKeyDer::from_pem_slice(&text) {
        Ok(key) => Ok(key),
        Err(_) if is_encrypted(&text) => Err(PemError::Encrypted { path: path() }),
        Err(pem::Error::NoItemsFound) => Err(PemError::Absent { what: KEY, path: path() }),
        Err(error) => Err(PemError::Unusable { what: KEY, path: path(), why: damage(&error).into() }),
    }
}

fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, PemError> {
    std::fs::read(path).map_err(|source| PemError::Read { what, path: path.to_owned(), source })
}

/// What is wrong with a PEM text, without quoting it: it may be a key.
fn damage(error: &pem::Error) -> &'static str {
    match error {
        pem::Error::MissingSectionEnd { .. } => "it is cut off: the line -----END is missing",
        pem::Error::IllegalSectionStart { .. } => "the line -----BEGIN is damaged",
        pem::Error::Base64Decode(_) => "its text is damaged",
        pem::Error::SectionTooLarge => "it is far too large",
        _ => "it is no PEM text",
    }
}

/// Two forms exist: one names it in its first line, the older one in a header.
fn is_encrypted(text: &[u8]) -> bool {
    let is_mark = |line: &str| line.starts_with("-----BEGIN ENCRYPTED") || line.starts_with("Proc-Type: 4,ENCRYPTED");
    String::from_utf8_lossy(text).lines().any(is_mark)
}
