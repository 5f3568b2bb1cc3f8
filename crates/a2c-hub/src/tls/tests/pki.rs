//! Certificates and the files they lie in.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::TempDir;

use crate::tls::TlsConfig;

/// A certificate and its key.
pub(super) struct Pair {
    pub(super) certificate: String,
    pub(super) key: String,
    der: CertificateDer<'static>,
    key_der: PrivateKeyDer<'static>,
}

impl Pair {
    pub(super) fn der(&self) -> CertificateDer<'static> {
        self.der.clone()
    }

    pub(super) fn key_der(&self) -> PrivateKeyDer<'static> {
        self.key_der.clone_key()
    }
}

pub(super) struct Ca(CertifiedIssuer<'static, KeyPair>);

impl Ca {
    pub(super) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(super) fn der(&self) -> &CertificateDer<'static> {
        self.0.der()
    }

    pub(super) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for `localhost`.
    pub(super) fn server(&self) -> Pair {
        self.issue(&params("hub", &["localhost"]))
    }

    pub(super) fn issue(&self, params: &CertificateParams) -> Pair {
        let key = KeyPair::generate().unwrap();
        let made = params.signed_by(&key, &self.0).unwrap();
        Pair {
            certificate: made.pem(),
            key: key.serialize_pem(),
            der: made.der().clone(),
            key_der: PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        }
    }
}

pub(super) fn params(common_name: &str, dns: &[&str]) -> CertificateParams {
    let names: Vec<String> = dns.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}

/// The files of one configuration, in a folder of their own.
pub(super) struct TlsFixture {
    dir: TempDir,
    pub(super) config: TlsConfig,
}

impl TlsFixture {
    pub(super) fn new(pair: &Pair, client_ca: Option<&Ca>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = |name| dir.path().join(name);
        let config = TlsConfig {
            certificate: path("hub.crt"),
            key: path("hub.key"),
            client_ca: client_ca.map(|_| path("clients.crt")),
            reload: Duration::from_millis(5),
        };
        let files = Self { config, dir };
        files.put(pair);
        if let Some(ca) = client_ca {
            write(&files.path("clients.crt"), &ca.pem());
        }
        files
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// As if the pair had been there for an hour.
    pub(super) fn age(&self) {
        age(&self.config.certificate);
        age(&self.config.key);
    }

    pub(super) fn put(&self, pair: &Pair) {
        write(&self.config.certificate, &pair.certificate);
        write(&self.config.key, &pair.key);
    }
}

pub(super) fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// As if a file had been there for an hour.
pub(super) fn age(path: &Path) {
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(SystemTime::now() - Duration::from_secs(3600))
        .unwrap();
}
