//! The subject and the validity of a certificate.
//!
//! The TLS library verifies certificates and reads no names. These functions return nothing for bytes that they cannot
//! read.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::time::Time;

/// The longest name in an office, in bytes.
const MAX_CERTIFICATE_NAME: usize = 256;

/// The subject of a certificate: the common name, or else the first DNS name, URI or mail address of the alternative
/// names.
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

/// Whether a text can be a subject. Logs show it and rules compare it, so it has no invisible characters.
fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= MAX_CERTIFICATE_NAME && !text.chars().any(char::is_control)
}

/// The validity period of a certificate.
pub(super) fn validity(certificate: &CertificateDer<'_>) -> Option<(Time, Time)> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let validity = certificate.tbs_certificate().validity();
    Some((validity.not_before, validity.not_after))
}
