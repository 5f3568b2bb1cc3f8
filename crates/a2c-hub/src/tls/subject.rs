//! What a certificate says: whose it is, and when it holds.
//!
//! The TLS library has judged a certificate before it comes here, and reads no names. Whatever the bytes are, the answer
//! is at worst nothing.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::time::Time;

/// As long as a name in an office may be.
const LONGEST: usize = 256;

/// The name of whom a certificate was made for: the common name, or else the first DNS name, URI or address of mail among
/// the alternative names.
pub(super) fn of(certificate: &CertificateDer<'_>) -> Option<Arc<str>> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let certificate = certificate.tbs_certificate();
    if let Ok(Some(name)) = certificate.subject().common_name()
        && is_name(&name.value())
    {
        return Some(name.value().into());
    }
    let (_, SubjectAltName(names)) = certificate.get_extension().ok()??;
    names.iter().filter_map(alternative).find(|name| is_name(name)).map(Into::into)
}

fn alternative(name: &GeneralName) -> Option<&str> {
    match name {
        GeneralName::DnsName(text) | GeneralName::UniformResourceIdentifier(text) | GeneralName::Rfc822Name(text) => {
            Some(text.as_str())
        }
        _ => None,
    }
}

/// A name goes to logs and is compared with rules: what cannot be seen has no place in it.
fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= LONGEST && !text.chars().any(char::is_control)
}

/// From when to when a certificate holds.
pub(super) fn validity(certificate: &CertificateDer<'_>) -> Option<(Time, Time)> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let validity = certificate.tbs_certificate().validity();
    Some((validity.not_before, validity.not_after))
}
