//! The page on this machine that the authorisation server sends the owner's browser back to.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue, REFERRER_POLICY};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::form_urlencoded;

const PATH: &str = "/callback";

/// How large the head of a request may be, and how long it may take.
const HEAD_LIMIT: usize = 16 << 10;
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long a request and its answer may take together.
const VISIT_TIME: Duration = Duration::from_secs(20);

/// How many connections may be open: browsers open some in advance.
const CONNECTIONS: usize = 32;

/// A listener for the answer to one sign-in.
pub(super) struct CallbackServer {
    listener: TcpListener,
    host: String,
}

/// What the browser brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Callback {
    /// The owner agreed.
    Code { code: String, issuer: Option<String> },
    /// The owner or the authorisation server did not; with its word for why.
    Denied(String),
}

impl CallbackServer {
    /// Listens on this port, or on one that is free; on this machine only.
    pub(super) async fn open(port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let host = listener.local_addr()?.to_string();
        Ok(Self { listener, host })
    }

    /// Where the browser comes back to.
    pub(super) fn address(&self) -> String {
        format!("http://{}{PATH}", self.host)
    }

    /// Waits for the request that brings the right state; all others are refused.
    pub(super) async fn callback(&self, state: &str) -> Callback {
        let expected = Arc::new(Expected { host: self.host.clone(), state: state.to_owned() });
        let mut visits = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if visits.len() < CONNECTIONS => {
                    if let Ok((stream, _)) = accepted {
                        visits.spawn(visit(stream, expected.clone()));
                    }
                }
                Some(visit) = visits.join_next() => {
                    if let Ok(Some(callback)) = visit {
                        return callback;
                    }
                }
            }
        }
    }
}

/// What the right request looks like.
struct Expected {
    host: String,
    state: String,
}

/// Answers the one request of a connection; gives what it brings once the answer is written.
async fn visit(stream: TcpStream, expected: Arc<Expected>) -> Option<Callback> {
    let brought: Arc<OnceLock<Callback>> = Arc::default();
    let keep = brought.clone();
    let answer = service_fn(move |request: Request<Incoming>| {
        let callback = expected.read(&request.into_parts().0);
        let page = page(&callback);
        if let Ok(callback) = callback {
            let _ = keep.set(callback);
        }
        async move { Ok::<_, Infallible>(page) }
    });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(HEAD_LIMIT)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), answer);
    // A browser that does not read its page has brought its answer all the same.
    let _ = tokio::time::timeout(VISIT_TIME, connection).await;
    brought.get().cloned()
}

/// The page that the browser shows.
fn page(callback: &Result<Callback, StatusCode>) -> Response<Full<Bytes>> {
    let (status, text) = match callback {
        Ok(Callback::Code { .. }) => (
            StatusCode::OK,
            "Thank you. The program that sent you here says whether you are signed in. This page can be closed.",
        ),
        Ok(Callback::Denied(_)) => (StatusCode::OK, "You are not signed in. This page can be closed."),
        Err(status) => (*status, "This is not the expected answer."),
    };
    let page = format!("<!doctype html><meta charset=\"utf-8\"><title>a2c</title><p>{text}</p>\n");
    let mut response = Response::new(Full::from(page));
    *response.status_mut() = status;
    response.headers_mut().extend([
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'")),
    ]);
    response
}

impl Expected {
    /// What a request brings, or the status that refuses it.
    fn read(&self, request: &Parts) -> Result<Callback, StatusCode> {
        if request.method != Method::GET {
            return Err(StatusCode::METHOD_NOT_ALLOWED);
        }
        // A page elsewhere whose name leads here would send its own name.
        let mut hosts = request.headers.get_all(HOST).iter();
        let names_us = hosts.next().is_some_and(|host| host == self.host.as_str()) && hosts.next().is_none();
        if !names_us || request.uri.authority().is_some() {
            return Err(StatusCode::BAD_REQUEST);
        }
        if request.uri.path() != PATH {
            return Err(StatusCode::NOT_FOUND);
        }
        let query = request.uri.query().unwrap_or_default().as_bytes();
        let value = |key: &str| {
            form_urlencoded::parse(query).find(|(name, _)| name == key).map(|(_, value)| value.into_owned())
        };
        if value("state").as_deref() != Some(self.state.as_str()) {
            return Err(StatusCode::BAD_REQUEST);
        }
        if let Some(reason) = value("error") {
            let word = reason.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
            return Ok(Callback::Denied(word));
        }
        let code = value("code").ok_or(StatusCode::BAD_REQUEST)?;
        Ok(Callback::Code { code, issuer: value("iss") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[test]
    fn only_the_answer_to_this_sign_in_is_taken() {
        const BAD: Result<Callback, StatusCode> = Err(StatusCode::BAD_REQUEST);
        let code = |issuer: Option<&str>| Ok(Callback::Code { code: "c d".into(), issuer: issuer.map(str::to_owned) });
        let expected = Expected { host: "h:1".into(), state: "s".into() };
        for (method, target, hosts, result) in [
            ("GET", "/callback?state=s&code=c+d", &["h:1"][..], code(None)),
            ("GET", "/callback?code=c%20d&iss=i&state=s", &["h:1"], code(Some("i"))),
            (
                "GET",
                "/callback?state=s&error=access_denied%3Cb%3E",
                &["h:1"],
                Ok(Callback::Denied("access_deniedb".into())),
            ),
            ("GET", "/callback?state=other&code=c", &["h:1"], BAD),
            ("GET", "/callback?state=other&error=x", &["h:1"], BAD),
            ("GET", "/callback?code=c", &["h:1"], BAD),
            ("GET", "/callback?state=s", &["h:1"], BAD),
            ("GET", "/callback", &["h:1"], BAD),
            ("GET", "/callback?state=s&code=c", &["evil:1"], BAD),
            ("GET", "/callback?state=s&code=c", &["h:1", "evil:1"], BAD),
            ("GET", "/callback?state=s&code=c", &[], BAD),
            ("GET", "http://evil:1/callback?state=s&code=c", &["h:1"], BAD),
            ("GET", "/favicon.ico?state=s&code=c", &["h:1"], Err(StatusCode::NOT_FOUND)),
            ("GET", "/callback/../x?state=s&code=c", &["h:1"], Err(StatusCode::NOT_FOUND)),
            ("POST", "/callback?state=s&code=c", &["h:1"], Err(StatusCode::METHOD_NOT_ALLOWED)),
        ] {
            let mut request = Request::builder().method(method).uri(target);
            for host in hosts {
                request = request.header(HOST, *host);
            }
            let (request, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(expected.read(&request), result, "{method} {target} {hosts:?}");
        }
    }

    async fn send(server: &CallbackServer, request: &str) -> TcpStream {
        let mut visitor = TcpStream::connect(&server.host).await.unwrap();
        visitor.write_all(request.as_bytes()).await.unwrap();
        visitor
    }

    fn get(server: &CallbackServer, target: &str) -> String {
        format!("GET {target} HTTP/1.1\r\nhost: {}\r\n\r\n", server.host)
    }

    #[tokio::test]
    async fn an_idle_or_wrong_visitor_does_not_hold_up_the_right_one() {
        let server = CallbackServer::open(None).await.unwrap();
        let _idle = TcpStream::connect(&server.host).await.unwrap();
        let too_large = get(&server, &format!("/callback?state=s&code={}", "x".repeat(HEAD_LIMIT)));
        let mut visitors = Vec::new();
        for request in ["\r\n\r\n", "garbage\r\n\r\n", &too_large, &get(&server, "/callback?state=wrong&code=x")] {
            visitors.push(send(&server, request).await);
        }
        visitors.push(send(&server, &get(&server, "/callback?state=s&code=c")).await);
        assert_eq!(server.callback("s").await, Callback::Code { code: "c".into(), issuer: None });
        let mut page = String::new();
        visitors.pop().unwrap().read_to_string(&mut page).await.unwrap();
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("This page can be closed."), "{page}");
        let head = page.to_ascii_lowercase();
        for header in ["connection: close", "cache-control: no-store", "referrer-policy: no-referrer"] {
            assert!(head.contains(header), "{page}");
        }
    }
}
