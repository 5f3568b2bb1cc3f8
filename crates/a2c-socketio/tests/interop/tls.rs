//! TLS with a certificate made for the test, against the Node server.

use std::sync::Arc;

use a2c_socketio::{Client, ConnectError, Options, Payload, Transport};
use a2c_testbed::Peer;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;

use crate::peers::{PATIENCE, Server, connect};

const TRANSPORTS: [Transport; 3] = [Transport::Websocket, Transport::PollingThenWebsocket, Transport::Polling];

fn server() -> (Peer, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let tls = json!({"cert": made.cert.pem(), "key": made.signing_key.serialize_pem()});
    (Server::Node.start(&json!({ "tls": tls })), made.cert.der().clone())
}

fn trusting(certificate: CertificateDer<'static>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}

#[tokio::test]
async fn a_trusted_certificate_is_accepted() {
    let (peer, certificate) = server();
    let tls = trusting(certificate);
    for (scheme, transport) in ["wss", "https", "https"].into_iter().zip(TRANSPORTS) {
        let url = format!("{scheme}://localhost:{}", peer.address());
        let options = Options::new(url).transport(transport).tls(tls.clone());
        let ((client, _inbox), _) = connect(options).await;
        let sent = Payload::binary(vec![7; 1 << 20]);
        let answer = client.call("echo_ack", sent, PATIENCE).await.unwrap();
        assert_eq!(answer.attachments()[0].len(), 1 << 20);
        client.close().await;
    }
}

#[tokio::test]
async fn an_unknown_certificate_is_refused() {
    let (peer, _) = server();
    for transport in TRANSPORTS {
        let url = format!("https://localhost:{}", peer.address());
        let error = Client::connect(Options::new(url).transport(transport)).await.unwrap_err();
        assert!(matches!(error, ConnectError::Transport(_)), "{error:?}");
        assert!(error.to_string().contains("certificate"), "{error}");
    }
}
