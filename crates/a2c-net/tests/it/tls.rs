//! TLS against a server with a certificate of its own CA.

use std::net::SocketAddr;
use std::sync::Arc;

use a2c_net::{http_client, tls};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Answers one request, and says which protocol was agreed upon.
async fn serve(listener: TcpListener, acceptor: TlsAcceptor) {
    while let Ok((stream, _)) = listener.accept().await {
        let Ok(mut stream) = acceptor.accept(stream).await else { continue };
        let agreed = String::from_utf8_lossy(stream.get_ref().1.alpn_protocol().unwrap_or_default()).into_owned();
        let mut request = [0; 1024];
        let _ = stream.read(&mut request).await;
        let answer =
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{agreed}", agreed.len());
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
    }
}

async fn server() -> (SocketAddr, CertificateDer<'static>) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &ca).unwrap();
    let mut config = ServerConfig::builder_with_provider(tls::provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(config))));
    (address, ca.der().clone())
}

#[tokio::test]
async fn a_server_is_trusted_by_its_authority_and_speaks_http_1() {
    let (address, authority) = server().await;
    let get = |config| async move {
        let client = http_client(config).build().unwrap();
        client.get(format!("https://{address}/")).send().await?.text().await
    };
    let with_authority = tls::ClientTls { extra_authorities: vec![authority], identity: None };
    assert_eq!(get(with_authority.config().unwrap()).await.unwrap(), "http/1.1");
    for config in [tls::without_trust(), tls::system_trust_if_readable()] {
        assert!(get(config.unwrap()).await.unwrap_err().is_connect());
    }
}
