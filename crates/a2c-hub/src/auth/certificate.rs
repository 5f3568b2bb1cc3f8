//! The client certificate of mutual TLS.

use super::{Authenticate, Claim, Pass, Refused};

/// Lets in whoever showed a certificate that the TLS listener has verified, under the name of its subject.
///
/// Which authorities are trusted is the listener's business: here the certificate is already beyond doubt.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientCertificate;

impl Authenticate for ClientCertificate {
    fn authenticate(&self, claim: &Claim<'_>) -> Result<Pass, Refused> {
        claim.certificate.map(Pass::new).ok_or(Refused::NoCertificate)
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
        assert_eq!(ClientCertificate.authenticate(&claim), Err(Refused::NoCertificate));
        claim.certificate = Some("CN=printer");
        assert_eq!(ClientCertificate.authenticate(&claim).unwrap().subject(), "CN=printer");
    }
}
