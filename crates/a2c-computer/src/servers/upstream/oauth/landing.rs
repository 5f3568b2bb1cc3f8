//! The page on this machine that the authorisation server sends the owner's browser back to.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::Url;

const PATH: &str = "/callback";

/// How large a request may be, and how long it may take.
const HEAD_LIMIT: usize = 16 << 10;
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How many connections may be open: browsers open some in advance.
const CONNECTIONS: usize = 32;

/// A listener for one answer.
pub(super) struct Landing {
    listener: TcpListener,
    host: String,
}

/// What the browser brings.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Callback {
    /// The owner agreed.
    Code { code: String, issuer: Option<String> },
    /// The owner or the authorisation server did not; with its word for why.
    Denied(String),
}

impl Landing {
    /// Listens on a free port, on this machine only.
    pub(super) async fn open() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let host = listener.local_addr()?.to_string();
        Ok(Self { listener, host })
    }

    /// Where the browser is to come.
    pub(super) fn address(&self) -> String {
        format!("http://{}{PATH}", self.host)
    }

    /// Waits for the browser that brings the right state; all others are sent away.
    pub(super) async fn callback(&self, state: &str) -> Callback {
        let mut visitors = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if visitors.len() < CONNECTIONS => {
                    if let Ok((stream, _)) = accepted {
                        visitors.spawn(receive(stream, self.host.clone(), state.to_owned()));
                    }
                }
                Some(visit) = visitors.join_next() => {
                    if let Ok(Some(callback)) = visit {
                        return callback;
                    }
                }
            }
        }
    }
}

/// Reads a request and answers it.
async fn receive(mut stream: TcpStream, host: String, state: String) -> Option<Callback> {
    let head = tokio::time::timeout(HEAD_TIME, head(&mut stream)).await.ok()??;
    let callback = understand(&head, &host, &state);
    let (status, text) = match &callback {
        Ok(Callback::Code { .. }) => ("200 OK", "You are signed in. This page can be closed."),
        Ok(Callback::Denied(_)) => ("200 OK", "You are not signed in. This page can be closed."),
        Err(status) => (*status, "This is not what was waited for."),
    };
    let page = format!("<!doctype html><meta charset=\"utf-8\"><title>a2c</title><p>{text}</p>\n");
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
         referrer-policy: no-referrer\r\ncontent-security-policy: default-src 'none'\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    let _ = tokio::time::timeout(HEAD_TIME, async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
    callback.ok()
}

async fn head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::with_capacity(1024);
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
        if bytes.len() >= HEAD_LIMIT || stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    String::from_utf8(bytes).ok()
}

/// What a request brings, or the status it is sent away with.
fn understand(head: &str, host: &str, state: &str) -> Result<Callback, &'static str> {
    const WRONG: &str = "400 Bad Request";
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some("GET"), Some(target)) = (words.next(), words.next()) else { return Err("405 Method Not Allowed") };
    // A page elsewhere whose name leads here would say its own name.
    let named = lines.filter_map(|line| line.split_once(':')).find(|(name, _)| name.eq_ignore_ascii_case("host"));
    if named.map(|(_, value)| value.trim()) != Some(host) {
        return Err(WRONG);
    }
    let url = Url::parse(&format!("http://{host}{target}")).map_err(|_| WRONG)?;
    if url.path() != PATH {
        return Err("404 Not Found");
    }
    let value = |key: &str| url.query_pairs().find(|(name, _)| name == key).map(|(_, value)| value.into_owned());
    if value("state").as_deref() != Some(state) {
        return Err(WRONG);
    }
    if let Some(reason) = value("error") {
        let word = reason.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
        return Ok(Callback::Denied(word));
    }
    value("code").map(|code| Callback::Code { code, issuer: value("iss") }).ok_or(WRONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_that_was_waited_for_is_taken() {
        let code = |issuer: Option<&str>| Ok(Callback::Code { code: "c d".into(), issuer: issuer.map(str::to_owned) });
        for (line, host, expected) in [
            ("GET /callback?state=s&code=c+d HTTP/1.1", "h:1", code(None)),
            ("GET /callback?code=c%20d&iss=i&state=s HTTP/1.1", "h:1", code(Some("i"))),
            (
                "GET /callback?state=s&error=access_denied<b> HTTP/1.1",
                "h:1",
                Ok(Callback::Denied("access_deniedb".into())),
            ),
            ("GET /callback?state=other&code=c HTTP/1.1", "h:1", Err("400 Bad Request")),
            ("GET /callback?state=other&error=x HTTP/1.1", "h:1", Err("400 Bad Request")),
            ("GET /callback?code=c HTTP/1.1", "h:1", Err("400 Bad Request")),
            ("GET /callback?state=s HTTP/1.1", "h:1", Err("400 Bad Request")),
            ("GET /callback?state=s&code=c HTTP/1.1", "evil:1", Err("400 Bad Request")),
            ("GET /favicon.ico?state=s&code=c HTTP/1.1", "h:1", Err("404 Not Found")),
            ("GET /callback/../x?state=s&code=c HTTP/1.1", "h:1", Err("404 Not Found")),
            ("POST /callback?state=s&code=c HTTP/1.1", "h:1", Err("405 Method Not Allowed")),
            ("", "h:1", Err("405 Method Not Allowed")),
        ] {
            let head = format!("{line}\r\nHost: {host}\r\n\r\n");
            assert_eq!(understand(&head, "h:1", "s"), expected, "{line} {host}");
        }
    }

    #[tokio::test]
    async fn an_idle_or_wrong_visitor_does_not_hold_up_the_right_one() {
        let landing = Landing::open().await.unwrap();
        let _idle = TcpStream::connect(&landing.host).await.unwrap();
        for target in ["/callback?state=wrong&code=x", "/callback?state=s&code=c"] {
            let mut visitor = TcpStream::connect(&landing.host).await.unwrap();
            let request = format!("GET {target} HTTP/1.1\r\nhost: {}\r\n\r\n", landing.host);
            visitor.write_all(request.as_bytes()).await.unwrap();
        }
        assert_eq!(landing.callback("s").await, Callback::Code { code: "c".into(), issuer: None });
    }
}
