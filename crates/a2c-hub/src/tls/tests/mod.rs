//! TLS as a client meets it, with certificates made for the test.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod handshake;
mod pki;
mod reload;
mod server_credentials;
mod subject;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use self::pki::Pair;
use super::ServerTls;

/// Longer than anything here takes; only a failing test ever waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What became of a handshake: the client's name, or why it was refused.
type HandshakeOutcome = io::Result<Option<Arc<str>>>;

/// A listener that echoes what it hears over TLS.
struct TlsEchoServer {
    address: SocketAddr,
    outcomes: mpsc::UnboundedReceiver<HandshakeOutcome>,
}

impl TlsEchoServer {
    async fn start(tls: ServerTls) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (report, outcomes) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, report) = (tls.clone(), report.clone());
                tokio::spawn(async move {
                    match tls.accept(stream).await {
                        Ok((stream, certificate)) => {
                            let _ = report.send(Ok(certificate.map(|certificate| certificate.subject)));
                            let (mut from, mut to) = tokio::io::split(stream);
                            let _ = tokio::io::copy(&mut from, &mut to).await;
                        }
                        Err(error) => {
                            let _ = report.send(Err(error));
                        }
                    }
                });
            }
        });
        Self { address, outcomes }
    }

    async fn outcome(&mut self) -> HandshakeOutcome {
        tokio::time::timeout(PATIENCE, self.outcomes.recv()).await.unwrap().unwrap()
    }
}

/// How a client of the test comes.
struct TlsClient<'a> {
    trusts: &'a CertificateDer<'static>,
    shows: Option<&'a Pair>,
    versions: &'a [&'static SupportedProtocolVersion],
    alpn: Vec<Vec<u8>>,
}

impl<'a> TlsClient<'a> {
    fn trusting(trusts: &'a CertificateDer<'static>) -> Self {
        Self { trusts, shows: None, versions: rustls::ALL_VERSIONS, alpn: Vec::new() }
    }

    fn showing(self, pair: &'a Pair) -> Self {
        Self { shows: Some(pair), ..self }
    }

    fn speaking(self, versions: &'a [&'static SupportedProtocolVersion]) -> Self {
        Self { versions, ..self }
    }

    fn config(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.trusts.clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(self.versions)
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match self.shows {
            None => builder.with_no_client_auth(),
            Some(pair) => builder.with_client_auth_cert(vec![pair.der()], pair.key_der()).unwrap(),
        };
        config.alpn_protocols.clone_from(&self.alpn);
        Arc::new(config)
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<TlsStream<TcpStream>> {
        connect(self.config(), address).await
    }
}

async fn connect(config: Arc<ClientConfig>, address: SocketAddr) -> io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(config).connect(name, stream).await
}

/// Says something and hears it again; with TLS 1.3, a refusal shows only now.
async fn echo(stream: &mut TlsStream<TcpStream>) -> io::Result<()> {
    stream.write_all(b"hello").await?;
    stream.flush().await?;
    let mut heard = [0; 5];
    stream.read_exact(&mut heard).await?;
    assert_eq!(&heard, b"hello");
    Ok(())
}

fn certificate_of(stream: &TlsStream<TcpStream>) -> CertificateDer<'static> {
    stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
}
