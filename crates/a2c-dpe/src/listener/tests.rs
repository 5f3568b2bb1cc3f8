use http::StatusCode;
use reqwest::Client;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::testing;

const JSON: &str = r#"{"title":"a document"}"#;

struct Fixture {
    listener: HttpListener,
    clock: Clock,
    client: Client,
}

impl Fixture {
    async fn new() -> Self {
        Self::with(HttpOptions::default()).await
    }

    async fn with(options: HttpOptions) -> Self {
        let clock = Clock::default();
        let listener = HttpListener::start_with(options, clock.clone()).await.unwrap();
        let client = a2c_net::http_client(a2c_net::tls::without_trust().unwrap()).build().unwrap();
        Self { listener, clock, client }
    }

    async fn publish(&self, uri: &str, json: &str) -> A2cResource {
        self.listener.resolve(&testing::inline(uri, json)).await.unwrap()
    }

    async fn status(&self, url: &str) -> StatusCode {
        self.client.get(url).send().await.unwrap().status()
    }

    fn files(&self) -> usize {
        std::fs::read_dir(self.listener.published.folder()).unwrap().count()
    }

    /// Sends a request as it is written and returns the whole answer.
    async fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.listener.address()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }
}

#[tokio::test]
async fn a_document_is_served_whole_and_in_ranges_and_to_head() {
    let fixture = Fixture::new().await;
    let answer = fixture.publish("dpe://h/d", JSON).await;
    let response = fixture.client.get(&answer.uri).send().await.unwrap();
    assert_eq!(response.status(), 200);
    for (name, value) in [
        ("content-type", "application/json"),
        ("cache-control", "no-store, private"),
        ("x-content-type-options", "nosniff"),
        ("accept-ranges", "bytes"),
    ] {
        assert_eq!(response.headers()[name], value, "{name}");
    }
    assert!(!response.headers().contains_key("access-control-allow-origin"));
    assert_eq!(response.text().await.unwrap(), JSON);

    let head = fixture.client.head(&answer.uri).send().await.unwrap();
    assert_eq!((head.status(), &head.headers()["content-length"]), (StatusCode::OK, &"22".parse().unwrap()));
    assert_eq!(head.text().await.unwrap(), "");

    let ranged = |range: &'static str| fixture.client.get(&answer.uri).header("range", range).send();
    let part = ranged("bytes=2-6").await.unwrap();
    assert_eq!(
        (part.status(), &part.headers()["content-range"]),
        (StatusCode::PARTIAL_CONTENT, &"bytes 2-6/22".parse().unwrap())
    );
    assert_eq!(part.text().await.unwrap(), &JSON[2..=6]);
    assert_eq!(ranged("bytes=-3").await.unwrap().text().await.unwrap(), &JSON[19..]);
    for refused in ["bytes=100-", "bytes=0-1,3-4"] {
        assert_eq!(ranged(refused).await.unwrap().status(), 416, "{refused}");
    }

    let expires: jiff::Timestamp = answer.meta.unwrap()["expires_at"].as_str().unwrap().parse().unwrap();
    let left = fixture.clock.now().duration_until(expires).as_secs();
    assert!((590..=600).contains(&left), "{left}");
}

#[tokio::test]
async fn expired_and_unknown_addresses_get_the_same_answer() {
    let fixture = Fixture::new().await;
    let answer = fixture.publish("dpe://h/d", JSON).await;
    let base = format!("http://{}", fixture.listener.address());
    assert!(fixture.listener.still_holds(&answer).await);
    fixture.clock.advance(Duration::from_secs(600));
    // Nothing has been removed yet.
    assert_eq!((fixture.files(), fixture.listener.still_holds(&answer).await), (1, false));
    let mut seen = Vec::new();
    let short = &answer.uri[..answer.uri.len() - 1];
    for url in [&*answer.uri, short, &base, &format!("{base}/../"), &format!("{base}/..%2f..%2fetc/passwd")] {
        let response = fixture.client.get(url).send().await.unwrap();
        let mut headers: Vec<_> = response.headers().iter().map(|(n, v)| (n.clone(), v.clone())).collect();
        headers.retain(|(name, _)| name != "date");
        seen.push((response.status(), headers, response.text().await.unwrap()));
    }
    assert_eq!(seen[0].0, 404);
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:#?}");
}

#[tokio::test]
async fn tokens_are_long_and_never_the_same() {
    let fixture = Fixture::new().await;
    let mut tokens = std::collections::HashSet::new();
    for _ in 0..20 {
        let answer = fixture.publish("dpe://h/d", JSON).await;
        let token = fixture.listener.token(&answer).unwrap().to_owned();
        assert!(token.len() == 64 && token.bytes().all(|b| b.is_ascii_hexdigit()), "{token}");
        assert!(tokens.insert(token));
    }
}

#[tokio::test]
async fn only_reading_is_allowed_and_only_with_a_known_host() {
    let fixture = Fixture::new().await;
    let answer = fixture.publish("dpe://h/d", JSON).await;
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let response = fixture.client.request(method, &answer.uri).send().await.unwrap();
        assert_eq!(
            (response.status(), &response.headers()["allow"]),
            (StatusCode::METHOD_NOT_ALLOWED, &"GET, HEAD".parse().unwrap())
        );
    }
    let port = fixture.listener.address().port();
    let path = url::Url::parse(&answer.uri).unwrap().path().to_owned();
    for (target, hosts, expected) in [
        (path.clone(), vec![format!("127.0.0.1:{port}")], 200),
        (path.clone(), vec![format!("LOCALHOST:{port}")], 200),
        (path.clone(), vec!["evil.example".to_owned()], 421),
        (path.clone(), vec![format!("evil.example:{port}")], 421),
        (path.clone(), vec![format!("127.0.0.1:{port}"), "evil.example".to_owned()], 421),
        (path.clone(), vec![], 421),
        (format!("http://evil.example{path}"), vec![format!("127.0.0.1:{port}")], 421),
    ] {
        let hosts: String = hosts.iter().map(|host| format!("Host: {host}\r\n")).collect();
        let answer = fixture.raw(&format!("GET {target} HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n")).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected} ")), "{target} {hosts}: {answer}");
    }
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let fixture = Fixture::new().await;
    let answer = fixture.raw(&format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "x".repeat(64 << 10))).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

#[tokio::test]
async fn expired_changed_and_oldest_documents_are_deleted() {
    let options = HttpOptions { max_documents: 3, max_bytes: 1000, ..HttpOptions::default() };
    let fixture = Fixture::with(options).await;
    let first = fixture.publish("dpe://h/1", JSON).await;
    // Another state replaces the document; the same state gets a second address.
    let second = fixture.publish("dpe://h/1", "{}").await;
    let third = fixture.publish("dpe://h/1", "{}").await;
    assert_eq!((fixture.files(), fixture.status(&first.uri).await), (2, StatusCode::NOT_FOUND));
    assert!(fixture.listener.still_holds(&second).await && !fixture.listener.still_holds(&first).await);
    fixture.listener.outdated(&third);
    assert_eq!((fixture.files(), fixture.status(&second.uri).await), (0, StatusCode::NOT_FOUND));

    let mut urls = Vec::new();
    for n in 0..4 {
        urls.push(fixture.publish(&format!("dpe://h/{n}"), JSON).await.uri);
    }
    assert_eq!((fixture.files(), fixture.status(&urls[0]).await), (3, StatusCode::NOT_FOUND));
    fixture.publish("dpe://h/large", &format!("{:900}", "{}")).await;
    assert_eq!((fixture.files(), fixture.status(&urls[3]).await), (3, StatusCode::OK));
    let error =
        fixture.listener.resolve(&testing::inline("dpe://h/huge", &format!("{:1001}", "{}"))).await.unwrap_err();
    assert!(error.to_string().contains("could not store"), "{error}");

    fixture.clock.advance(Duration::from_secs(601));
    assert_eq!(fixture.listener.published.remove_expired(), None);
    assert_eq!(fixture.files(), 0);
}

#[tokio::test]
async fn expired_documents_are_deleted_without_a_request() {
    let options = HttpOptions { lifetime: Duration::from_millis(50), ..HttpOptions::default() };
    let fixture = Fixture::with(options).await;
    fixture.publish("dpe://h/1", JSON).await;
    fixture.publish("dpe://h/2", JSON).await;
    // There is no event for it: the test looks until the folder is empty.
    let deleted = async {
        while fixture.files() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), deleted).await.unwrap();
}

#[tokio::test]
async fn more_clients_than_connections_are_served() {
    let fixture = Fixture::new().await;
    let json = format!(r#"{{"text":"{}"}}"#, "x".repeat(1 << 20));
    let answer = fixture.publish("dpe://h/d", &json).await;
    let fetch = || async { fixture.client.get(&answer.uri).send().await.unwrap().bytes().await.unwrap().len() };
    let sizes = futures_util::future::join_all((0..200).map(|_| fetch())).await;
    assert!(sizes.iter().all(|size| *size == json.len()));
}

#[tokio::test]
async fn closing_and_dropping_remove_everything() {
    let fixture = Fixture::new().await;
    let answer = fixture.publish("dpe://h/d", JSON).await;
    let folder = fixture.listener.published.folder().to_owned();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    }
    fixture.listener.close().await;
    assert!(!folder.exists());
    assert!(fixture.client.get(&answer.uri).send().await.is_err());
    assert!(fixture.listener.resolve(&testing::inline("dpe://h/d", JSON)).await.is_err());
    fixture.listener.close().await;

    let Fixture { listener, .. } = Fixture::new().await;
    let folder = listener.published.folder().to_owned();
    let task = listener.task.lock().unwrap().take().unwrap();
    drop(listener);
    task.await.unwrap();
    assert!(!folder.exists());
}

#[tokio::test]
async fn a_public_url_replaces_the_address_and_an_unspecified_address_is_refused() {
    let public_url = Some(url::Url::parse("https://docs.example.org/c1/").unwrap());
    let fixture = Fixture::with(HttpOptions { public_url, ..HttpOptions::default() }).await;
    let answer = fixture.publish("dpe://h/d", JSON).await;
    let token = answer.uri.strip_prefix("https://docs.example.org/c1/").unwrap();
    assert!(fixture.listener.still_holds(&answer).await);
    let request = format!("GET /{token} HTTP/1.1\r\nHost: docs.example.org\r\nConnection: close\r\n\r\n");
    assert!(fixture.raw(&request).await.ends_with(JSON));

    let everywhere = HttpOptions { address: "0.0.0.0:0".parse().unwrap(), ..HttpOptions::default() };
    let error = HttpListener::start(everywhere).await.err().unwrap();
    assert!(error.to_string().contains("0.0.0.0"), "{error}");
    let external = testing::external("dpe://h/d", "https://x.example/d");
    assert_eq!(fixture.listener.resolve(&external).await.unwrap().uri, "https://x.example/d");
}

#[test]
fn the_default_port_need_not_be_named() {
    let hosts_of = |address: &str| allowed_hosts(address.parse().unwrap(), None);
    assert_eq!(hosts_of("127.0.0.1:80"), ["127.0.0.1:80", "localhost:80", "127.0.0.1", "localhost"]);
    assert_eq!(hosts_of("[::1]:80"), ["[::1]:80", "localhost:80", "[::1]", "localhost"]);
    assert_eq!(hosts_of("127.0.0.1:8080"), ["127.0.0.1:8080", "localhost:8080"]);
}
