//! The client certificate of mutual TLS.

use super::{AuthRefusal, Authenticate, Claim, Grant};

/// Lets in whoever showed a certificate that the TLS listener has verified, under the name of its subject.
///
/// Which authorities are trusted is the listener's business: here the certificate is already beyond doubt.
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
    fn the_subject_of_the_certificate_is_who_it_is() {
        // A header that claims to be a certificate is only a header.
        let headers = headers(&[("x-client-certificate", "CN=forged"), ("x-ssl-client-s-dn", "CN=forged")]);
        let mut claim = claim(&headers, r#"{"certificate": "CN=forged"}"#);
        assert_eq!(CertificateAuth.authenticate(&claim), Err(AuthRefusal::NoCertificate));
        claim.certificate = Some("CN=printer");
        assert_eq!(CertificateAuth.authenticate(&claim).unwrap().subject(), "CN=printer");
    }
}
