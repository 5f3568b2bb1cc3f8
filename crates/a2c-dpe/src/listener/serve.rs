//! Answers HTTP requests for published documents.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower_http::services::ServeFile;

use super::published::PublishedDocuments;

/// How many connections are served at a time; more wait until one ends.
const MAX_CONNECTIONS: usize = 512;
/// How long the head of a request may take, and how large it may be.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_HEAD_BYTES: usize = 16 << 10;
/// How long a connection may last, so that a slow reader does not hold one for ever.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(600);
/// How long a running answer may take when the listener closes.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);
/// The pause after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Headers of every answer: it is not cached, sniffed, shown as a page or named in a referrer.
const SECURITY_HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store, private")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

type Body = UnsyncBoxBody<Bytes, io::Error>;

/// Serves published documents.
pub(super) struct DocumentService {
    pub(super) published: Arc<PublishedDocuments>,
    /// The values of `Host` that are accepted; `None` accepts any.
    pub(super) hosts: Option<Vec<String>>,
}

/// Serves until it is stopped, and removes documents that expire.
pub(super) async fn serve(listener: TcpListener, service: Arc<DocumentService>, stop: CancellationToken) {
    let mut connections = JoinSet::new();
    loop {
        let expiry = service.published.remove_expired().unwrap_or(Duration::from_secs(3600));
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(expiry) => {}
            () = service.published.added.notified() => {}
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve_connection(stream, service.clone(), stop.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "the listener for documents cannot take a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Serves one connection.
async fn serve_connection(stream: TcpStream, service: Arc<DocumentService>, stop: CancellationToken) {
    let service = service_fn(move |request: Request<Incoming>| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(service.respond(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        // One document per connection: an idle connection would take the place of another.
        .keep_alive(false)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let served = tokio::select! {
        served = tokio::time::timeout(CONNECTION_TIMEOUT, connection.as_mut()) => served,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::time::timeout(SHUTDOWN_TIMEOUT, connection).await
        }
    };
    if let Ok(Err(error)) = served {
        tracing::debug!(%error, "a connection to the listener for documents broke");
    }
}

impl DocumentService {
    async fn respond<B>(&self, request: Request<B>) -> Response<Body> {
        let mut response = self.answer(request).await;
        for (name, value) in SECURITY_HEADERS {
            response.headers_mut().insert(name, value);
        }
        response
    }

    async fn answer<B>(&self, request: Request<B>) -> Response<Body> {
        if !self.accepts_host(&request) {
            return plain(StatusCode::MISDIRECTED_REQUEST);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED);
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let token = request.uri().path().strip_prefix('/').unwrap_or_default();
        let Some(path) = self.published.find(token) else { return plain(StatusCode::NOT_FOUND) };
        let (parts, _) = request.into_parts();
        let request = Request::from_parts(parts, Empty::<Bytes>::new());
        match ServeFile::new(path).try_call(request).await {
            // It expired this moment: the answer is that of an unknown address.
            Ok(response) if response.status() == StatusCode::NOT_FOUND => plain(StatusCode::NOT_FOUND),
            Ok(response) => response.map(BodyExt::boxed_unsync),
            Err(error) => {
                tracing::warn!(%error, "a published document cannot be read");
                plain(StatusCode::NOT_FOUND)
            }
        }
    }

    fn accepts_host<B>(&self, request: &Request<B>) -> bool {
        let Some(allowed) = &self.hosts else { return true };
        let is_known = |name: &str| allowed.iter().any(|known| known.eq_ignore_ascii_case(name));
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        host.to_str().is_ok_and(is_known) && request.uri().authority().is_none_or(|name| is_known(name.as_str()))
    }
}

fn plain(status: StatusCode) -> Response<Body> {
    let text = status.canonical_reason().unwrap_or_default();
    let mut response = Response::new(Full::from(text).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
