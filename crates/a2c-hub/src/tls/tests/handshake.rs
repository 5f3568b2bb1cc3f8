//! Who gets in.

use rustls::version::{TLS12, TLS13};
use rustls::{AlertDescription, Error};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::pki::{Ca, Pair, TlsFixture, params};
use super::{TlsClient, TlsEchoServer, connect, echo};
use crate::tls::{ServerTls, is_no_tls};

async fn listener(pair: &Pair, client_ca: Option<&Ca>) -> TlsEchoServer {
    // The files are read once: they need not outlive this.
    TlsEchoServer::start(ServerTls::load(&TlsFixture::new(pair, client_ca).config).unwrap()).await
}

fn alert(error: &std::io::Error) -> Option<AlertDescription> {
    match error.get_ref()?.downcast_ref::<Error>()? {
        Error::AlertReceived(alert) => Some(*alert),
        _ => None,
    }
}

#[tokio::test]
async fn both_versions_are_spoken_and_no_client_certificate_is_asked_for() {
    let ca = Ca::new("ca");
    let mut listener = listener(&ca.server(), None).await;
    let visitor = ca.issue(&params("visitor", &[]));
    for version in [&TLS12, &TLS13] {
        let versions = [version];
        let client = TlsClient::trusting(ca.der()).showing(&visitor).speaking(&versions);
        let mut stream = client.connect(listener.address).await.unwrap();
        echo(&mut stream).await.unwrap();
        assert_eq!(stream.get_ref().1.protocol_version(), Some(version.version));
        assert_eq!(listener.outcome().await.unwrap(), None);
    }
}

#[tokio::test]
async fn http_1_is_all_that_is_agreed_on() {
    let ca = Ca::new("ca");
    let mut listener = listener(&ca.server(), None).await;
    let mut client = TlsClient::trusting(ca.der());
    client.alpn = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let stream = client.connect(listener.address).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    listener.outcome().await.unwrap();
    client.alpn = vec![b"h2".to_vec()];
    let error = client.connect(listener.address).await.unwrap_err();
    assert_eq!(alert(&error), Some(AlertDescription::NoApplicationProtocol));
    assert!(listener.outcome().await.is_err());
}

#[tokio::test]
async fn a_certificate_of_the_right_ca_lets_in_and_names_the_client() {
    let ca = Ca::new("ca");
    let mut listener = listener(&ca.server(), Some(&ca)).await;
    let desk = ca.issue(&params("desk", &["desk.example"]));
    for version in [&TLS12, &TLS13] {
        let versions = [version];
        let client = TlsClient::trusting(ca.der()).showing(&desk).speaking(&versions);
        echo(&mut client.connect(listener.address).await.unwrap()).await.unwrap();
        assert_eq!(listener.outcome().await.unwrap().as_deref(), Some("desk"));
    }
}

/// Refused, and told why, although a client of TLS 1.3 has sent its request before it can know.
async fn is_refused(client: TlsClient<'_>, listener: &mut TlsEchoServer, reasons: &[AlertDescription], log: &str) {
    for version in [&TLS12, &TLS13] {
        let versions = [version];
        let client = TlsClient { versions: &versions, alpn: Vec::new(), ..client };
        let error = match client.connect(listener.address).await {
            Ok(mut stream) => echo(&mut stream).await.unwrap_err(),
            Err(error) => error,
        };
        let reason = alert(&error);
        assert!(reason.is_some_and(|reason| reasons.contains(&reason)), "{version:?}: {error:?}");
        let refusal = listener.outcome().await.unwrap_err().to_string();
        assert!(refusal.contains(log), "{version:?}: {refusal}");
    }
}

#[tokio::test]
async fn no_certificate_does_not_let_in() {
    let ca = Ca::new("ca");
    let mut listener = listener(&ca.server(), Some(&ca)).await;
    // TLS 1.2 has no alert that says it better.
    let reasons = [AlertDescription::CertificateRequired, AlertDescription::HandshakeFailure];
    is_refused(TlsClient::trusting(ca.der()), &mut listener, &reasons, "no certificates").await;
}

#[tokio::test]
async fn a_certificate_of_another_ca_does_not_let_in() {
    let (ca, other) = (Ca::new("ca"), Ca::new("ca"));
    let mut listener = listener(&ca.server(), Some(&ca)).await;
    let stranger = other.issue(&params("desk", &[]));
    let client = TlsClient::trusting(ca.der()).showing(&stranger);
    // The other CA claims the same name: its signature gives it away.
    let reasons = [AlertDescription::DecryptError, AlertDescription::UnknownCA, AlertDescription::BadCertificate];
    is_refused(client, &mut listener, &reasons, "certificate").await;
}

#[tokio::test]
async fn an_expired_certificate_does_not_let_in() {
    let ca = Ca::new("ca");
    let mut listener = listener(&ca.server(), Some(&ca)).await;
    let mut old = params("desk", &[]);
    old.not_before = rcgen::date_time_ymd(2000, 1, 1);
    old.not_after = rcgen::date_time_ymd(2001, 1, 1);
    let old = ca.issue(&old);
    let client = TlsClient::trusting(ca.der()).showing(&old);
    is_refused(client, &mut listener, &[AlertDescription::CertificateExpired], "expired").await;
}

#[tokio::test]
async fn sessions_are_resumed_only_where_no_certificate_would_be_skipped() {
    let ca = Ca::new("ca");
    let desk = ca.issue(&params("desk", &[]));
    for (client_ca, version, resumes) in
        [(None, &TLS12, true), (None, &TLS13, true), (Some(&ca), &TLS12, false), (Some(&ca), &TLS13, false)]
    {
        let listener = listener(&ca.server(), client_ca).await;
        let versions = [version];
        let config = TlsClient::trusting(ca.der()).showing(&desk).speaking(&versions).config();
        echo(&mut connect(config.clone(), listener.address).await.unwrap()).await.unwrap();
        let mut again = connect(config, listener.address).await.unwrap();
        echo(&mut again).await.unwrap();
        let kind = again.get_ref().1.handshake_kind();
        assert_eq!(kind == Some(rustls::HandshakeKind::Resumed), resumes, "{version:?} {kind:?}");
    }
}

#[tokio::test]
async fn bytes_that_are_not_tls_are_named_and_harm_no_other_client() {
    let ca = Ca::new("ca");
    for client_ca in [None, Some(&ca)] {
        let mut listener = listener(&ca.server(), client_ca).await;
        let mut plain = TcpStream::connect(listener.address).await.unwrap();
        plain.write_all(b"GET /smcp/?EIO=4 HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        plain.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let _ = plain.read_to_end(&mut rest).await;
        let refusal = listener.outcome().await.unwrap_err();
        assert!(is_no_tls(&refusal), "{refusal}");

        let silent = TcpStream::connect(listener.address).await.unwrap();
        drop(silent);
        assert!(listener.outcome().await.is_err());

        let desk = ca.issue(&params("desk", &[]));
        let mut stream = TlsClient::trusting(ca.der()).showing(&desk).connect(listener.address).await.unwrap();
        echo(&mut stream).await.unwrap();
    }
}

#[tokio::test]
async fn large_messages_pass_through_small_buffers() {
    let ca = Ca::new("ca");
    let listener = listener(&ca.server(), None).await;
    let stream = TlsClient::trusting(ca.der()).connect(listener.address).await.unwrap();
    let (mut from, mut to) = tokio::io::split(stream);
    let sent: Vec<u8> = (0..3_000_000_u32).map(|i| i.to_le_bytes()[0] ^ i.to_le_bytes()[1]).collect();
    let mut heard = vec![0; sent.len()];
    let send = async {
        to.write_all(&sent).await.unwrap();
        to.flush().await.unwrap();
    };
    let ((), _) = tokio::join!(send, async { from.read_exact(&mut heard).await.unwrap() });
    assert!(heard == sent, "what came back differs");
}

#[tokio::test]
async fn clients_of_ours_say_what_is_wrong() {
    use a2c_socketio::{Client, Options, SocketConnectError, Transport};
    let ca = Ca::new("ca");
    let files = TlsFixture::new(&ca.server(), Some(&ca));
    let listener = TlsEchoServer::start(ServerTls::load(&files.config).unwrap()).await;
    let port = listener.address.port();
    let trusting = a2c_socketio::TlsFiles { ca: files.config.client_ca.clone(), client: None };
    for transport in [Transport::Websocket, Transport::Polling] {
        let options = Options::new(format!("https://localhost:{port}")).tls_files(trusting.clone());
        let error = Client::connect(options.transport(transport)).await.unwrap_err();
        assert!(matches!(error, SocketConnectError::ClientCertificate { .. }), "{error:?}");
        assert!(error.to_string().contains("asks for a client certificate"), "{error}");

        let plain = Options::new(format!("http://localhost:{port}")).transport(transport);
        let error = Client::connect(plain).await.unwrap_err();
        assert!(matches!(error, SocketConnectError::NotHttp(_)), "{error:?}");
    }
}
