//! Accepts connections, counts them per address, makes the TLS handshake and serves HTTP on them.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2c_engineio::Stream;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::limits::address_limits::{AddressLimits, SlotKind, TooManyConnections};
use crate::metrics::{LimitKind, RefusalReason};
use crate::proxies::TrustedProxies;
use crate::telemetry::Telemetry;
use crate::tls::{ServerTls, VerifiedCertificate};
use crate::wire::connection::RemotePeer;

/// How long the head of a request may take to arrive.
const HEAD: Duration = Duration::from_secs(10);

/// The largest head of a request.
const MAX_HEAD: usize = 64 << 10;

/// The bytes that the system buffers for a peer beyond those in transit.
#[cfg(target_os = "linux")]
const NOT_SENT: u32 = 128 << 10;

/// How long to wait when the system has no file descriptor for another connection.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Accepts connections and serves them.
pub(crate) struct HubListener {
    pub(crate) tcp: TcpListener,
    pub(crate) tls: Option<ServerTls>,
    pub(crate) proxies: Option<Arc<TrustedProxies>>,
    pub(crate) address_limits: Arc<AddressLimits>,
    pub(crate) telemetry: Arc<Telemetry>,
    /// How long sent data may stay unacknowledged before the system drops the connection.
    pub(crate) patience: Duration,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

impl HubListener {
    /// Accepts connections until `stop` is cancelled.
    pub(crate) async fn serve(self, router: Router) {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(MAX_HEAD);
        loop {
            let accepted = tokio::select! {
                () = self.stop.cancelled() => return,
                accepted = self.tcp.accept() => accepted,
            };
            match accepted {
                Ok((stream, from)) => self.welcome(stream, from, &http, &router),
                Err(e) => refused_by_system(&e).await,
            }
        }
    }

    fn welcome(&self, stream: TcpStream, from: SocketAddr, http: &http1::Builder, router: &Router) {
        // A call is a round trip: small packets must not wait for more data.
        let _ = stream.set_nodelay(true);
        // The engine detects a silent peer by its pings; this detects one that does not acknowledge data.
        #[cfg(target_os = "linux")]
        let _ = socket2::SockRef::from(&stream).set_tcp_user_timeout(Some(self.patience));
        // The engine measures progress by what the system takes, so the system must not buffer much.
        #[cfg(target_os = "linux")]
        let _ = socket2::SockRef::from(&stream).set_tcp_notsent_lowat(NOT_SENT);
        // All clients of a proxy come from its address; each of them counts by its own.
        let is_proxy = self.proxies.as_ref().is_some_and(|proxies| proxies.trusts(from.ip()));
        let slot = (!is_proxy).then(|| self.address_limits.acquire(from.ip(), SlotKind::Connection)).transpose();
        let slot = match slot {
            Ok(slot) => slot,
            Err(refusal) => {
                self.telemetry.count_limit(LimitKind::ConnectionsPerAddress);
                if self.address_limits.should_log(from.ip(), Instant::now()) {
                    self.telemetry.refused(from, RefusalReason::Limit, &refusal.to_string());
                    tracing::warn!(address = %from.ip(), limit = refusal.limit, "too many connections from one address");
                } else {
                    self.telemetry.count_refusal(RefusalReason::Limit);
                }
                // Over TLS an answer would need the handshake that the limit is there to avoid.
                if self.tls.is_none() {
                    self.tasks.spawn(turn_away(stream, refusal));
                }
                return;
            }
        };
        let (http, router, stop) = (http.clone(), router.clone(), self.stop.clone());
        let (tls, telemetry, proxies) = (self.tls.clone(), self.telemetry.clone(), self.proxies.clone());
        self.tasks.spawn(async move {
            let handshake = tokio::time::timeout(HEAD, secured(stream, tls));
            let (stream, certificate) = match handshake.await {
                Ok(Ok(secured)) => secured,
                Ok(Err(error)) => {
                    telemetry.metrics.tls_failures.inc();
                    return tracing::debug!(address = %from.ip(), %error, "TLS handshake failed");
                }
                Err(_) => {
                    telemetry.metrics.tls_failures.inc();
                    return tracing::debug!(address = %from.ip(), "TLS handshake took too long");
                }
            };
            let peer = RemotePeer { address: (from.ip().to_canonical(), from.port()).into(), certificate };
            // Counts until the connection ends or becomes a websocket, which counts as a session.
            let _address_slot = slot;
            let service = service_fn(move |mut request: Request<hyper::body::Incoming>| {
                let mut peer = peer.clone();
                if let Some(client) = proxies.as_ref().and_then(|all| all.client(peer.address.ip(), request.headers()))
                {
                    peer.address.set_ip(client);
                }
                request.extensions_mut().insert(peer);
                let answer = router.clone().oneshot(request.map(Body::new));
                async move { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
            });
            let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
            let mut connection = std::pin::pin!(connection);
            let outcome = tokio::select! {
                outcome = connection.as_mut() => outcome,
                () = stop.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(e) = outcome {
                tracing::debug!(address = %from.ip(), error = %e, "connection ended");
            }
        });
    }
}

/// The stream after the TLS handshake, and the client's certificate.
async fn secured(stream: TcpStream, tls: Option<ServerTls>) -> io::Result<(Stream, Option<VerifiedCertificate>)> {
    match tls {
        None => Ok((Stream::Tcp(stream), None)),
        Some(tls) => tls.accept(stream).await.map(|(stream, certificate)| (Stream::other(stream), certificate)),
    }
}

/// Answers a connection over the limit with 429.
async fn turn_away(mut stream: TcpStream, refusal: TooManyConnections) {
    let body = serde_json::json!({ "code": 429, "message": refusal.to_string(), "limit": refusal.limit }).to_string();
    let head = "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    let _ = tokio::time::timeout(Duration::from_secs(1), async {
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
    })
    .await;
}

/// A connection that ended before it was accepted needs no reaction. Without file descriptors the listener has to wait.
async fn refused_by_system(error: &io::Error) {
    let is_peer = matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    );
    if !is_peer {
        tracing::error!(%error, "cannot accept connections: raise the limit of open files (ulimit -n)");
        tokio::time::sleep(ACCEPT_RETRY).await;
    }
}
