//! A certificate authority for tests, with a directory for what it signs.

use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair};
use tempfile::TempDir;

/// A certificate authority. Its directory, which holds its own certificate, is removed with it.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    dir: TempDir,
}

impl Authority {
    /// An authority with a common name.
    pub fn new(common_name: &str) -> Self {
        let mut params = certificate_params(common_name, None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("the system has random numbers");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("the parameters are valid");
        let authority = Self { issuer, dir: tempfile::tempdir().expect("a temporary directory") };
        authority.write("ca.pem", &authority.pem());
        authority
    }

    /// The certificate of the authority in PEM.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// The file of the certificate of the authority.
    pub fn ca_file(&self) -> PathBuf {
        self.path("ca.pem")
    }

    /// A path in the directory of the authority.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Signs a certificate; returns it and its key in PEM.
    pub fn sign(&self, params: &CertificateParams) -> [String; 2] {
        let key = KeyPair::generate().expect("the system has random numbers");
        [params.signed_by(&key, &self.issuer).expect("the parameters are valid").pem(), key.serialize_pem()]
    }

    /// Signs a certificate for a name, which is also its host; returns the files of the certificate and its key.
    pub fn issue(&self, name: &str) -> [PathBuf; 2] {
        let [certificate, key] = self.sign(&certificate_params(name, Some(name)));
        [self.write(&format!("{name}.pem"), &certificate), self.write(&format!("{name}.key"), &key)]
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("the directory can be written");
        path
    }
}

/// The parameters of a certificate with a common name and, for a server, its host.
pub fn certificate_params(common_name: &str, host: Option<&str>) -> CertificateParams {
    let hosts: Vec<String> = host.into_iter().map(Into::into).collect();
    let mut params = CertificateParams::new(hosts).expect("the host is a DNS name");
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}
