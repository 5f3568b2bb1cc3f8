//! TLS with certificates made for the test, against the Node server.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use a2c_socketio::{
    CertificateProblem, Client, ClientCertificate, Incoming, Options, Payload, Reconnect, SocketConnectError, TlsFiles,
    Transport,
};
use a2c_testbed::Peer;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::peers::{PATIENCE, Server, connect, next};

const TRANSPORTS: [Transport; 3] = [Transport::Websocket, Transport::PollingThenWebsocket, Transport::Polling];

/// A CA, and a folder for what it signs.
struct Ca {
    issuer: CertifiedIssuer<'static, KeyPair>,
    dir: TempDir,
}

impl Ca {
    fn new() -> Self {
        let mut params = params("ca", None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let ca = Ca { issuer, dir: tempfile::tempdir().unwrap() };
        std::fs::write(ca.path("ca.crt"), ca.issuer.pem()).unwrap();
        ca
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A certificate and its key.
    fn issue(&self, params: &CertificateParams) -> [String; 2] {
        let key = KeyPair::generate().unwrap();
        [params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem()]
    }

    /// What a server for `localhost` needs.
    fn server(&self) -> Value {
        let [cert, key] = self.issue(&params("server", Some("localhost")));
        json!({"cert": cert, "key": key})
    }

    /// What a server needs that lets in those whom a CA knows.
    fn strict_server(&self, of_clients: &Ca) -> Value {
        let mut tls = self.server();
        tls["ca"] = of_clients.issuer.pem().into();
        tls["requestCert"] = true.into();
        tls["rejectUnauthorized"] = true.into();
        tls
    }

    /// Files that trust this CA and show a certificate of it.
    fn client(&self, name: &str) -> TlsFiles {
        let client = ClientCertificate { certificate: self.path("client.crt"), key: self.path("client.key") };
        let [certificate, key] = self.issue(&params(name, None));
        std::fs::write(&client.certificate, certificate).unwrap();
        std::fs::write(&client.key, key).unwrap();
        TlsFiles { client: Some(client), ..self.trusted() }
    }

    fn trusted(&self) -> TlsFiles {
        TlsFiles { ca: Some(self.path("ca.crt")), client: None }
    }
}

fn params(common_name: &str, host: Option<&str>) -> CertificateParams {
    let hosts: Vec<String> = host.into_iter().map(Into::into).collect();
    let mut params = CertificateParams::new(hosts).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}

fn start(tls: &Value) -> Peer {
    Server::Node.start(&json!({ "tls": tls }))
}

fn options(peer: &Peer) -> Options {
    Options::new(format!("https://localhost:{}", peer.address()))
}

async fn who_am_i(client: &Client) -> Option<String> {
    client.call("who_am_i", Payload::empty(), PATIENCE).await.unwrap().get(0).unwrap()
}

#[tokio::test]
async fn settings_of_the_callers_own() {
    let ca = Ca::new();
    let peer = start(&ca.server());
    let mut roots = RootCertStore::empty();
    roots.add(ca.issuer.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let ((client, _inbox), _) = connect(options(&peer).tls(Arc::new(config))).await;
    client.close().await;
}

#[tokio::test]
async fn a_ca_of_the_callers_own_is_trusted() {
    let ca = Ca::new();
    let peer = start(&ca.server());
    for (scheme, transport) in ["wss", "https", "https"].into_iter().zip(TRANSPORTS) {
        let url = format!("{scheme}://localhost:{}", peer.address());
        let options = Options::new(url).transport(transport).tls_files(ca.trusted());
        let ((client, _inbox), _) = connect(options).await;
        let sent = Payload::binary(vec![7; 1 << 20]);
        let answer = client.call("echo_ack", sent, PATIENCE).await.unwrap();
        assert_eq!(answer.attachments()[0].len(), 1 << 20);
        assert_eq!(who_am_i(&client).await, None);
        client.close().await;
    }
}

#[tokio::test]
async fn a_certificate_that_signed_itself_can_be_trusted() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let peer = start(&json!({"cert": made.cert.pem(), "key": made.signing_key.serialize_pem()}));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("server.crt");
    std::fs::write(&file, made.cert.pem()).unwrap();
    let ((client, _inbox), _) = connect(options(&peer).tls_files(TlsFiles { ca: Some(file), client: None })).await;
    client.close().await;
}

#[tokio::test]
async fn a_certificate_that_is_not_believed_is_refused() {
    let (ca, other) = (Ca::new(), Ca::new());
    let peer = start(&ca.server());
    for transport in TRANSPORTS {
        for files in [TlsFiles::default(), other.trusted()] {
            let refused = Client::connect(options(&peer).transport(transport).tls_files(files)).await;
            let error = refused.unwrap_err();
            assert!(error.to_string().contains("certificate is not trusted"), "{error}");
            let SocketConnectError::Untrusted { why, .. } = error else { panic!("{error:?}") };
            // The other CA has the same name: then it is the signature that does not fit.
            assert!(matches!(why, CertificateProblem::UnknownIssuer | CertificateProblem::Other(_)), "{why:?}");
        }
    }

    let elsewhere = Options::new(format!("https://127.0.0.1:{}", peer.address())).tls_files(ca.trusted());
    let error = Client::connect(elsewhere).await.unwrap_err();
    assert!(matches!(error, SocketConnectError::Untrusted { why: CertificateProblem::WrongName, .. }), "{error:?}");

    let mut old = params("server", Some("localhost"));
    old.not_before = rcgen::date_time_ymd(2000, 1, 1);
    old.not_after = rcgen::date_time_ymd(2001, 1, 1);
    let [cert, key] = ca.issue(&old);
    let peer = start(&json!({"cert": cert, "key": key}));
    let error = Client::connect(options(&peer).tls_files(ca.trusted())).await.unwrap_err();
    assert!(matches!(error, SocketConnectError::Untrusted { why: CertificateProblem::Expired, .. }), "{error:?}");
}

#[tokio::test]
async fn a_server_that_asks_learns_who_the_client_is() {
    let ca = Ca::new();
    let peer = start(&ca.strict_server(&ca));
    for transport in TRANSPORTS {
        let ((client, _inbox), _) = connect(options(&peer).transport(transport).tls_files(ca.client("desk 7"))).await;
        assert_eq!(who_am_i(&client).await.as_deref(), Some("desk 7"));
        client.close().await;
    }
}

#[tokio::test]
async fn a_server_that_asks_refuses_strangers() {
    let (ca, other) = (Ca::new(), Ca::new());
    let peer = start(&ca.strict_server(&ca));
    let stranger = TlsFiles { client: other.client("desk").client, ..ca.trusted() };
    for files in [ca.trusted(), stranger] {
        for transport in TRANSPORTS {
            let refused = Client::connect(options(&peer).transport(transport).tls_files(files.clone())).await;
            // This server says why only to those without a certificate, and hangs up so fast that even they may miss it.
            match refused.unwrap_err() {
                SocketConnectError::ClientCertificate { why, .. } => assert!(why.contains("asks for"), "{why}"),
                other => assert!(
                    matches!(other, SocketConnectError::Transport(_) | SocketConnectError::ClosedEarly(_)),
                    "{other:?}"
                ),
            }
        }
    }
}

#[tokio::test]
async fn a_renewed_certificate_is_used_for_the_next_link() {
    let (ca, next_ca) = (Ca::new(), Ca::new());
    let first = start(&ca.strict_server(&ca));
    let port: u16 = first.address().parse().unwrap();
    let files = ca.client("first");
    let ClientCertificate { certificate, key } = files.client.clone().unwrap();
    let policy =
        Reconnect { min: Duration::from_millis(10), max: Duration::from_millis(50), factor: 2.0, max_attempts: None };
    let ((client, mut inbox), _) = connect(options(&first).tls_files(files).reconnect(policy)).await;
    assert_eq!(who_am_i(&client).await.as_deref(), Some("first"));

    // Half of the new files is there when the link is lost: that is no reason to give up.
    let [new_certificate, new_key] = next_ca.issue(&params("second", None));
    std::fs::write(certificate, new_certificate).unwrap();
    drop(first);
    assert!(matches!(next(&mut inbox,).await, Incoming::Disconnected(_)));
    let _second = Server::Node.start(&json!({"port": port, "tls": ca.strict_server(&next_ca)}));
    std::fs::write(key, new_key).unwrap();
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { reconnected: true, .. }));
    assert_eq!(who_am_i(&client).await.as_deref(), Some("second"));
    client.close().await;
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named_before_anything_is_sent() {
    let ca = Ca::new();
    let nowhere = || Options::new("https://localhost:9");
    let check = async |files: TlsFiles, parts: &[&str]| {
        let error = Client::connect(nowhere().tls_files(files)).await.unwrap_err();
        assert!(matches!(error, SocketConnectError::Tls(_)) && error.is_final(), "{error:?}");
        for part in parts {
            assert!(error.to_string().contains(part), "{part:?} is not in: {error}");
        }
    };
    check(TlsFiles { ca: Some("/no/such/ca.crt".into()), client: None }, &["/no/such/ca.crt", "No such file"]).await;
    let files = ca.client("desk");
    std::fs::write(ca.path("client.key"), KeyPair::generate().unwrap().serialize_pem()).unwrap();
    check(files, &["client.key", "does not fit", "client.crt"]).await;
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_one_that_is_not_there() {
    let port = Server::Node.shared_port();
    for transport in TRANSPORTS {
        let refused = Client::connect(Options::new(format!("https://127.0.0.1:{port}")).transport(transport)).await;
        assert!(matches!(refused, Err(SocketConnectError::NotTls(_))), "{refused:?}");
    }
}
