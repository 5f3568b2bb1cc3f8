//! A hub that speaks TLS, with our client: certificates, client certificates, plain connections refused.

use std::path::PathBuf;
use std::sync::Arc;

use a2c_hub::auth::CertificateAuth;
use a2c_hub::{Hub, TlsConfig};
use a2c_socketio::{ClientCertificate as Shown, SocketConnectError, TlsFiles, Transport};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{Member, Stranger, deserted, hub_with};

/// A CA in a folder, with the certificates it gave out.
struct Authority {
    folder: TempDir,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let (folder, key) = (tempfile::tempdir().unwrap(), KeyPair::generate().unwrap());
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.self_signed(&key).unwrap();
        std::fs::write(folder.path().join("ca.pem"), certificate.pem()).unwrap();
        Self { folder, issuer: Issuer::new(params, key) }
    }

    fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Certificate and key for a name.
    fn issue(&self, name: &str) -> (PathBuf, PathBuf) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let file = |end: &str| self.folder.path().join(format!("{name}{end}"));
        std::fs::write(file(".pem"), certificate.pem()).unwrap();
        std::fs::write(file(".key"), key.serialize_pem()).unwrap();
        (file(".pem"), file(".key"))
    }
}

async fn secure_hub(authority: &Authority, clients: Option<&Authority>) -> Hub {
    let (certificate, key) = authority.issue("localhost");
    hub_with(|config| {
        let client_ca = clients.map(Authority::ca);
        config.tls = Some(TlsConfig { certificate, key, client_ca, reload: std::time::Duration::ZERO });
        if clients.is_some() {
            config.auth = Arc::new(CertificateAuth);
        }
    })
    .await
}

fn options(hub: &Hub, authority: &Authority, shown: Option<(PathBuf, PathBuf)>) -> a2c_socketio::Options {
    let client = shown.map(|(certificate, key)| Shown { certificate, key });
    let url = format!("https://localhost:{}", hub.address().port());
    Member::options_for(url).tls_files(TlsFiles { ca: Some(authority.ca()), client })
}

#[tokio::test]
async fn calls_pass_over_tls_on_every_transport() {
    let authority = Authority::new("a2c test");
    let hub = secure_hub(&authority, None).await;
    assert!(hub.url().starts_with("https://"));
    for transport in [Transport::Websocket, Transport::PollingThenWebsocket, Transport::Polling] {
        let with = || options(&hub, &authority, None).transport(transport);
        let agent = Member::joined(with(), "agent", "a", "o").await;
        let mut computer = Member::joined(with(), "computer", "c", "o").await;
        let text = "x".repeat(3 << 20);
        let asked = agent.asking("client:x", json!({"computer": "c", "text": text}));
        computer.answer("client:x", json!({"text": text})).await;
        assert!(asked.await.unwrap()["text"] == text.as_str(), "{transport:?}");
        agent.close().await;
        computer.close().await;
        deserted(&hub).await;
    }
}

#[tokio::test]
async fn a_client_certificate_is_asked_for_and_names_its_owner() {
    let (authority, clients, strangers) = (Authority::new("hub"), Authority::new("clients"), Authority::new("others"));
    let hub = secure_hub(&authority, Some(&clients)).await;
    let _member = Member::joined(options(&hub, &authority, Some(clients.issue("desk-7"))), "computer", "c", "o").await;
    for shown in [None, Some(strangers.issue("desk-7"))] {
        let refused = Member::connect_with(options(&hub, &authority, shown)).await;
        assert!(!matches!(refused, Ok(_) | Err(SocketConnectError::Refused(_))), "refused before a word is said");
    }
    assert_eq!(hub.connections(), 1);
}

#[tokio::test]
async fn plain_http_is_no_way_in_and_disturbs_nobody() {
    let authority = Authority::new("a2c test");
    let hub = secure_hub(&authority, None).await;
    let member = Member::joined(options(&hub, &authority, None), "computer", "c", "o").await;
    assert!(Stranger::is_refused(&hub).await);
    assert_eq!(member.roll("o").await, ["computer c"]);
}
