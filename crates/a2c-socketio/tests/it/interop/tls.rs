//! TLS with certificates made for the test, against the Node server.

use std::sync::Arc;
use std::time::Duration;

use a2c_socketio::{
    CertificateProblem, Client, ClientCertificate, Incoming, Options, Payload, Reconnect, SocketConnectError, TlsFiles,
    Transport,
};
use a2c_testbed::{Authority, Peer, certificate_params};
use rcgen::KeyPair;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};

use super::peers::{PATIENCE, Server, connect, next};

const TRANSPORTS: [Transport; 3] = [Transport::Websocket, Transport::PollingThenWebsocket, Transport::Polling];

/// What a server for `localhost` needs.
fn server(authority: &Authority) -> Value {
    let [cert, key] = authority.sign(&certificate_params("server", Some("localhost")));
    json!({"cert": cert, "key": key})
}

/// What a server needs that accepts only clients of an authority.
fn strict_server(authority: &Authority, of_clients: &Authority) -> Value {
    let mut tls = server(authority);
    tls["ca"] = of_clients.pem().into();
    tls["requestCert"] = true.into();
    tls["rejectUnauthorized"] = true.into();
    tls
}

/// Files that trust an authority and hold a client certificate of it.
fn client_files(authority: &Authority, name: &str) -> TlsFiles {
    let client = ClientCertificate { certificate: authority.path("client.crt"), key: authority.path("client.key") };
    let [certificate, key] = authority.sign(&certificate_params(name, None));
    std::fs::write(&client.certificate, certificate).unwrap();
    std::fs::write(&client.key, key).unwrap();
    TlsFiles { client: Some(client), ..trusted(authority) }
}

fn trusted(authority: &Authority) -> TlsFiles {
    TlsFiles { ca: Some(authority.ca_file()), client: None }
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
    let ca = Authority::new("ca");
    let peer = start(&server(&ca));
    let mut roots = RootCertStore::empty();
    roots.add(a2c_pem::authorities(&ca.ca_file()).unwrap().remove(0)).unwrap();
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
    let ca = Authority::new("ca");
    let peer = start(&server(&ca));
    for (scheme, transport) in ["wss", "https", "https"].into_iter().zip(TRANSPORTS) {
        let url = format!("{scheme}://localhost:{}", peer.address());
        let options = Options::new(url).transport(transport).tls_files(trusted(&ca));
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
async fn an_untrusted_certificate_is_refused() {
    let (ca, other) = (Authority::new("ca"), Authority::new("ca"));
    let peer = start(&server(&ca));
    for transport in TRANSPORTS {
        for files in [TlsFiles::default(), trusted(&other)] {
            let refused = Client::connect(options(&peer).transport(transport).tls_files(files)).await;
            let error = refused.unwrap_err();
            assert!(error.to_string().contains("certificate is not trusted"), "{error}");
            let SocketConnectError::Untrusted { why, .. } = error else { panic!("{error:?}") };
            // The other CA has the same name: then it is the signature that does not fit.
            assert!(matches!(why, CertificateProblem::UnknownIssuer | CertificateProblem::Other(_)), "{why:?}");
        }
    }

    let elsewhere = Options::new(format!("https://127.0.0.1:{}", peer.address())).tls_files(trusted(&ca));
    let error = Client::connect(elsewhere).await.unwrap_err();
    assert!(matches!(error, SocketConnectError::Untrusted { why: CertificateProblem::WrongName, .. }), "{error:?}");

    let mut old = certificate_params("server", Some("localhost"));
    old.not_before = rcgen::date_time_ymd(2000, 1, 1);
    old.not_after = rcgen::date_time_ymd(2001, 1, 1);
    let [cert, key] = ca.sign(&old);
    let peer = start(&json!({"cert": cert, "key": key}));
    let error = Client::connect(options(&peer).tls_files(trusted(&ca))).await.unwrap_err();
    assert!(matches!(error, SocketConnectError::Untrusted { why: CertificateProblem::Expired, .. }), "{error:?}");
}

#[tokio::test]
async fn a_server_that_asks_gets_the_client_certificate() {
    let ca = Authority::new("ca");
    let peer = start(&strict_server(&ca, &ca));
    for transport in TRANSPORTS {
        let ((client, _inbox), _) =
            connect(options(&peer).transport(transport).tls_files(client_files(&ca, "desk 7"))).await;
        assert_eq!(who_am_i(&client).await.as_deref(), Some("desk 7"));
        client.close().await;
    }
}

#[tokio::test]
async fn a_server_that_asks_refuses_other_clients() {
    let (ca, other) = (Authority::new("ca"), Authority::new("ca"));
    let peer = start(&strict_server(&ca, &ca));
    let stranger = TlsFiles { client: client_files(&other, "desk").client, ..trusted(&ca) };
    for files in [trusted(&ca), stranger] {
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
    let (ca, next_ca) = (Authority::new("ca"), Authority::new("ca"));
    let first = start(&strict_server(&ca, &ca));
    let port: u16 = first.address().parse().unwrap();
    let files = client_files(&ca, "first");
    let ClientCertificate { certificate, key } = files.client.clone().unwrap();
    let policy =
        Reconnect { min: Duration::from_millis(10), max: Duration::from_millis(50), factor: 2.0, max_attempts: None };
    let ((client, mut inbox), _) = connect(options(&first).tls_files(files).reconnect(policy)).await;
    assert_eq!(who_am_i(&client).await.as_deref(), Some("first"));

    // Half of the new files is there when the link is lost: that is no reason to give up.
    let [new_certificate, new_key] = next_ca.sign(&certificate_params("second", None));
    std::fs::write(certificate, new_certificate).unwrap();
    drop(first);
    assert!(matches!(next(&mut inbox).await, Incoming::Disconnected(_)));
    let _second = Server::Node.start(&json!({"port": port, "tls": strict_server(&ca, &next_ca)}));
    std::fs::write(key, new_key).unwrap();
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { reconnected: true, .. }));
    assert_eq!(who_am_i(&client).await.as_deref(), Some("second"));
    client.close().await;
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named_before_anything_is_sent() {
    let ca = Authority::new("ca");
    let nowhere = || Options::new("https://localhost:9");
    let check = async |files: TlsFiles, parts: &[&str]| {
        let error = Client::connect(nowhere().tls_files(files)).await.unwrap_err();
        assert!(matches!(error, SocketConnectError::Tls(_)) && error.is_final(), "{error:?}");
        for part in parts {
            assert!(error.to_string().contains(part), "{part:?} is not in: {error}");
        }
    };
    check(TlsFiles { ca: Some("/no/such/ca.crt".into()), client: None }, &["/no/such/ca.crt", "No such file"]).await;
    let files = client_files(&ca, "desk");
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
