//! Answering those who come with a token.

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

use super::kept::Kept;

/// How many connections there may be; more wait until one ends.
const CONNECTIONS: usize = 512;
/// How long a head may take, and how large it may be.
const HEAD_TIME: Duration = Duration::from_secs(5);
const HEAD_BYTES: usize = 16 << 10;
/// How long a connection may last: nobody holds a place by reading slowly for ever.
const CONNECTION_TIME: Duration = Duration::from_secs(600);
/// How long those who are being served may go on when we close.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long to wait when there are no more connections to be had from the system.
const BREATH: Duration = Duration::from_millis(100);

/// Every answer says this: not to be stored, guessed at, shown as a page, or told to others.
const ALWAYS: [(HeaderName, HeaderValue); 5] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store, private")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

type Body = UnsyncBoxBody<Bytes, io::Error>;

/// What is served, and to whom.
pub(super) struct Site {
    pub(super) kept: Arc<Kept>,
    /// The names by which we may be called; `None` where any will do.
    pub(super) names: Option<Vec<String>>,
}

/// Serves until it is stopped, and removes what expires meanwhile.
pub(super) async fn serve(listener: TcpListener, site: Arc<Site>, stop: CancellationToken) {
    let mut visitors = JoinSet::new();
    loop {
        let expiry = site.kept.sweep().unwrap_or(Duration::from_secs(3600));
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(expiry) => {}
            () = site.kept.added.notified() => {}
            Some(_) = visitors.join_next() => {}
            accepted = listener.accept(), if visitors.len() < CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    visitors.spawn(converse(stream, site.clone(), stop.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "the listener for documents cannot take a connection");
                    tokio::time::sleep(BREATH).await;
                }
            },
        }
    }
    drop(listener);
    while visitors.join_next().await.is_some() {}
}

/// Serves one connection.
async fn converse(stream: TcpStream, site: Arc<Site>, stop: CancellationToken) {
    let service = service_fn(move |request: Request<Incoming>| {
        let site = site.clone();
        async move { Ok::<_, Infallible>(site.respond(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        // One document, one connection: idle ones would take the place of others.
        .keep_alive(false)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let served = tokio::select! {
        served = tokio::time::timeout(CONNECTION_TIME, connection.as_mut()) => served,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::time::timeout(FAREWELL, connection).await
        }
    };
    if let Ok(Err(error)) = served {
        tracing::debug!(%error, "a connection to the listener for documents broke");
    }
}

impl Site {
    async fn respond<B>(&self, request: Request<B>) -> Response<Body> {
        let mut response = self.answer(request).await;
        for (name, value) in ALWAYS {
            response.headers_mut().insert(name, value);
        }
        response
    }

    async fn answer<B>(&self, request: Request<B>) -> Response<Body> {
        if !self.is_called_by_name(&request) {
            return plain(StatusCode::MISDIRECTED_REQUEST);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED);
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let token = request.uri().path().strip_prefix('/').unwrap_or_default();
        let Some(path) = self.kept.find(token) else { return plain(StatusCode::NOT_FOUND) };
        let (parts, _) = request.into_parts();
        let request = Request::from_parts(parts, Empty::<Bytes>::new());
        match ServeFile::new(path).try_call(request).await {
            // It expired this moment: that looks like any other address that there is not.
            Ok(response) if response.status() == StatusCode::NOT_FOUND => plain(StatusCode::NOT_FOUND),
            Ok(response) => response.map(BodyExt::boxed_unsync),
            Err(error) => {
                tracing::warn!(%error, "a document that is kept cannot be read");
                plain(StatusCode::NOT_FOUND)
            }
        }
    }

    fn is_called_by_name<B>(&self, request: &Request<B>) -> bool {
        let Some(names) = &self.names else { return true };
        let is_known = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
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
