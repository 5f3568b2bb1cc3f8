//! Authentication by the client certificate of mutual TLS.

use super::{AuthRefusal, Authenticate, Claim, Grant};

/// Admits a client whose certificate the TLS listener has verified. The subject of the certificate becomes the subject of
/// the grant.
///
/// The TLS configuration names the trusted authorities; this type trusts the listener.
#[derive(Debug, Clone, Copy, Default)]
pub struct CertificateAuth;

impl Authenticate for CertificateAuth {
    fn authenticate(&self, claim: &Claim<'_>) -> Result<Grant, AuthRefusal> {
        claim.certificate.map(Grant::new).ok_or(AuthRefusal::NoCertificate)
    }

    fn kind(&self) -> &'static str {
        "mtls"
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{claim, headers};
    use super::*;

    #[test]
    fn the_subject_of_the_certificate_is_the_subject_of_the_grant() {
        // A header cannot stand for a certificate.
        let headers = headers(&[("x-client-certificate", "CN=forged"), ("x-ssl-client-s-dn", "CN=forged")]);
        let mut claim = claim(&headers, r#"{"certificate": "CN=forged"}"#);
        assert_eq!(CertificateAuth.authenticate(&claim), Err(AuthRefusal::NoCertificate));
        claim.certificate = Some("CN=printer");
        assert_eq!(CertificateAuth.authenticate(&claim).unwrap().subject(), "CN=printer");
    }
}
