//! Accepts connections, reads whom a proxy passes on, counts them per address, makes the TLS handshake and serves HTTP on
//! them.

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

use super::proxy_protocol::{self, ProxyHeaderRefusal};
use crate::limits::address_limits::{AddressLimits, AddressSlot, RefusalNote, SlotKind, TooManyConnections};
use crate::metrics::{LimitKind, RefusalReason};
use crate::proxies::{NamedClient, TrustedProxies};
use crate::telemetry::Telemetry;
use crate::tls::{ServerTls, VerifiedCertificate, is_no_tls};
use crate::wire::connection::RemotePeer;

/// How long the head of a request may take to arrive.
const HEAD: Duration = Duration::from_secs(10);

/// The largest head of a request.
const MAX_HEAD: usize = 64 << 10;

/// The bytes that the system buffers for a peer beyond those in transit.
#[cfg(target_os = "linux")]
const NOT_SENT: u32 = 128 << 10;

/// What a connection was closed for that did not begin with HTTP, or with TLS.
const NO_HTTP: &str = "what came is no HTTP: if it is TLS, give the hub a certificate (tls.cert); if a proxy in front \
                       speaks the PROXY protocol, set proxy_protocol and trusted_proxies";
const NO_TLS: &str = "what came is no TLS: this hub is reached by https:// and wss://; if a proxy in front speaks the PROXY \
                      protocol, set proxy_protocol and trusted_proxies";

/// How long to wait when the system has no file descriptor for another connection.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Serves the connections that it accepts.
pub(crate) struct ConnectionServer {
    pub(crate) http: http1::Builder,
    pub(crate) router: Router,
    pub(crate) tls: Option<ServerTls>,
    pub(crate) proxies: Option<Arc<TrustedProxies>>,
    pub(crate) address_limits: Arc<AddressLimits>,
    pub(crate) telemetry: Arc<Telemetry>,
    /// How long sent data may stay unacknowledged before the system drops the connection.
    pub(crate) patience: Duration,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

/// Whom a connection is from.
struct ConnectionOrigin {
    address: SocketAddr,
    /// A proxy said so by the PROXY protocol.
    is_proxied: bool,
    /// The connection of this address; none for a proxy, whose clients count by their own.
    slot: Option<AddressSlot>,
}

/// HTTP on a connection, with its limits.
pub(crate) fn http1() -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(MAX_HEAD);
    http
}

impl ConnectionServer {
    /// Accepts connections until `stop` is cancelled.
    pub(crate) async fn accept_from(self, tcp: TcpListener) {
        let server = Arc::new(self);
        loop {
            let accepted = tokio::select! {
                () = server.stop.cancelled() => return,
                accepted = tcp.accept() => accepted,
            };
            match accepted {
                Ok((stream, from)) => server.welcome(stream, (from.ip().to_canonical(), from.port()).into()),
                Err(e) => refused_by_system(&e).await,
            }
        }
    }

    fn welcome(self: &Arc<Self>, stream: TcpStream, from: SocketAddr) {
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
        let server = self.clone();
        match (!is_proxy).then(|| self.slot_for(from)).transpose() {
            Ok(slot) => drop(self.tasks.spawn(async move { server.serve(stream, from, slot).await })),
            // Over TLS an answer would need the handshake that the limit is there to avoid.
            Err(_) if self.tls.is_some() => {}
            Err(refusal) => drop(self.tasks.spawn(turn_away(stream, refusal))),
        }
    }

    /// Counts a connection of an address, or reports that there are too many.
    fn slot_for(&self, address: SocketAddr) -> Result<AddressSlot, TooManyConnections> {
        self.address_limits.acquire(address.ip(), SlotKind::Connection).inspect_err(|refusal| {
            self.telemetry.count_limit(LimitKind::ConnectionsPerAddress);
            self.refused(address, RefusalReason::Limit, &refusal.to_string());
        })
    }

    /// Serves a connection until it ends. Without a slot it is one of a proxy.
    async fn serve(&self, mut stream: TcpStream, from: SocketAddr, slot: Option<AddressSlot>) {
        let origin = tokio::select! {
            () = self.stop.cancelled() => return,
            origin = self.origin_of(&mut stream, from, slot) => origin,
        };
        let ConnectionOrigin { address, is_proxied, slot } = match origin {
            Ok(Ok(origin)) => origin,
            Ok(Err(_)) if self.tls.is_some() => return,
            Ok(Err(refusal)) => return turn_away(stream, refusal).await,
            Err(refusal) => return self.refuse_header(from, &refusal),
        };
        let (stream, certificate) = match tokio::time::timeout(HEAD, secured(stream, self.tls.clone())).await {
            Ok(Ok(secured)) => secured,
            Ok(Err(error)) => {
                self.telemetry.metrics.tls_failures.inc();
                if is_no_tls(&error) {
                    return self.refused(address, RefusalReason::NotHttp, NO_TLS);
                }
                return tracing::debug!(address = %address.ip(), %error, "TLS handshake failed");
            }
            Err(_) => {
                self.telemetry.metrics.tls_failures.inc();
                return tracing::debug!(address = %address.ip(), "TLS handshake took too long");
            }
        };
        let peer = RemotePeer { address, is_proxied, certificate };
        // Counts until the connection ends or becomes a websocket, which counts as a session.
        let _address_slot = slot;
        let (router, proxies, address_limits) =
            (self.router.clone(), self.proxies.clone(), self.address_limits.clone());
        let service = service_fn(move |mut request: Request<hyper::body::Incoming>| {
            let mut peer = peer.clone();
            match proxies.as_ref().map(|all| all.client(peer.address.ip(), request.headers())) {
                Some(NamedClient::Address(client)) => peer.address.set_ip(client),
                // A proxy may ask for itself whether the hub is well.
                Some(NamedClient::Unnamed { header }) if super::is_client_path(request.uri().path()) => {
                    warn_of_silent_proxy(&address_limits, peer.address, header);
                }
                _ => {}
            }
            request.extensions_mut().insert(peer);
            let answer = router.clone().oneshot(request.map(Body::new));
            async move { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
        });
        let connection = self.http.serve_connection(TokioIo::new(stream), service).with_upgrades();
        let mut connection = std::pin::pin!(connection);
        let outcome = tokio::select! {
            outcome = connection.as_mut() => outcome,
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(e) = outcome {
            if e.is_parse() {
                self.refused(address, RefusalReason::NotHttp, NO_HTTP);
            }
            tracing::debug!(address = %address.ip(), error = %e, "connection ended");
        }
    }

    /// Whom a connection is from: by its own address, or by the header that its proxy sends first.
    async fn origin_of(
        &self,
        stream: &mut TcpStream,
        from: SocketAddr,
        slot: Option<AddressSlot>,
    ) -> Result<Result<ConnectionOrigin, TooManyConnections>, ProxyHeaderRefusal> {
        let own = |slot, is_proxied| Ok(Ok(ConnectionOrigin { address: from, is_proxied, slot }));
        if !self.proxies.as_ref().is_some_and(|proxies| proxies.speak_proxy_protocol()) {
            return own(slot, false);
        }
        if slot.is_some() {
            proxy_protocol::refuse_header(stream).await?;
            return own(slot, false);
        }
        let Some(client) = proxy_protocol::read_header(stream).await? else { return own(None, true) };
        let address = (client.ip().to_canonical(), client.port()).into();
        Ok(self.slot_for(address).map(|slot| ConnectionOrigin { address, is_proxied: true, slot: Some(slot) }))
    }

    /// Reports a connection that ends because of its header.
    fn refuse_header(&self, from: SocketAddr, refusal: &ProxyHeaderRefusal) {
        if let ProxyHeaderRefusal::Ended(error) = refusal {
            return tracing::debug!(address = %from.ip(), %error, "a connection ended before its PROXY protocol header");
        }
        self.refused(from, RefusalReason::ProxyHeader, &refusal.to_string());
    }

    fn refused(&self, address: SocketAddr, reason: RefusalReason, why: &str) {
        self.telemetry.refused(&self.address_limits, address, reason, why);
    }
}

/// The stream after the TLS handshake, and the client's certificate.
async fn secured(stream: TcpStream, tls: Option<ServerTls>) -> io::Result<(Stream, Option<VerifiedCertificate>)> {
    match tls {
        None => Ok((Stream::Tcp(stream), None)),
        Some(tls) => tls.accept(stream).await.map(|(stream, certificate)| (Stream::other(stream), certificate)),
    }
}

/// Warns of a proxy whose clients all count as one, once a minute.
fn warn_of_silent_proxy(limits: &AddressLimits, proxy: SocketAddr, header: &str) {
    if limits.note_refusal(proxy.ip(), header, Instant::now()) != RefusalNote::Counted {
        tracing::warn!(
            proxy = %proxy.ip(),
            "a trusted proxy named no client: let it write {header} (see forwarded_header); until then all its clients \
             count as one address"
        );
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
