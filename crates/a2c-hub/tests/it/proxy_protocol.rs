//! The PROXY protocol: a TCP proxy tells the address of a client, before TLS, and nobody else does.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2c_hub::auth::{ApiKey, ApiKeyAuth};
use a2c_hub::{AuditConfig, Hub, HubConfig, TlsConfig, TrustedProxies};
use a2c_socketio::TlsFiles;
use a2c_testbed::Authority;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

use crate::support::{Member, hub_with, within};

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
const HEALTH: &str = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
const KEY: &str = "operators only";

/// A hub that trusts a proxy at this address.
async fn hub_behind(network: &str, change: impl FnOnce(&mut HubConfig)) -> Hub {
    hub_with(|config| {
        config.proxies = Some(TrustedProxies::with_proxy_protocol(vec![network.parse().unwrap()]));
        config.admin = Some(ApiKeyAuth::new(ApiKey::new(KEY).unwrap()));
        change(config);
    })
    .await
}

fn v1(client: &str) -> Vec<u8> {
    let client: SocketAddr = client.parse().unwrap();
    let (family, hub) = if client.is_ipv4() { ("TCP4", "127.0.0.1") } else { ("TCP6", "::1") };
    format!("PROXY {family} {} {hub} {} 443\r\n", client.ip(), client.port()).into_bytes()
}

fn v2(client: &str) -> Vec<u8> {
    let client: SocketAddr = client.parse().unwrap();
    let ports = [client.port().to_be_bytes(), 443_u16.to_be_bytes()].concat();
    let (family, addresses) = match client {
        SocketAddr::V4(client) => (0x11, [&client.ip().octets()[..], &[127, 0, 0, 1]].concat()),
        SocketAddr::V6(client) => (0x21, [client.ip().octets(), [0; 16]].concat()),
    };
    // What a proxy adds about itself.
    let more = [0x04, 0, 3, 1, 2, 3];
    raw_v2(0x21, family, &[&addresses[..], &ports, &more].concat())
}

fn raw_v2(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
    [SIGNATURE, &[command, family], &length, rest].concat()
}

async fn send(hub: &Hub, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(hub.address()).await.unwrap();
    // The hub may have closed the connection already.
    let _ = stream.write_all(bytes).await;
    stream
}

/// All that the hub answers until it closes the connection.
async fn answer(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // A connection that is closed before all was read ends with an error.
    let _ = within("the end of a connection", stream.read_to_end(&mut answer)).await;
    String::from_utf8_lossy(&answer).into_owned()
}

/// The answer to a request behind a header.
async fn ask(hub: &Hub, header: &[u8], request: &str) -> String {
    answer(&mut send(hub, &[header, request.as_bytes()].concat()).await).await
}

fn open(more: &str) -> String {
    let target = "/smcp/?EIO=4&transport=polling&a2c_version=0.2.0";
    format!("GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{more}\r\n")
}

fn for_operators(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {KEY}\r\n\r\n")
}

/// A TCP proxy in front of a hub, which begins each connection with this header.
struct Balancer {
    address: SocketAddr,
    _task: AbortOnDropHandle<()>,
}

impl Balancer {
    async fn start(hub: &Hub, header: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, hub) = (listener.local_addr().unwrap(), hub.address());
        let task = tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let header = header.clone();
                tokio::spawn(async move {
                    let mut hub = TcpStream::connect(hub).await.unwrap();
                    hub.write_all(&header).await.unwrap();
                    let _ = copy_bidirectional(&mut client, &mut hub).await;
                });
            }
        });
        Self { address, _task: AbortOnDropHandle::new(task) }
    }
}

#[tokio::test]
async fn clients_count_by_the_address_that_their_proxy_names() {
    for header in [v1, v2] {
        let hub = hub_behind("127.0.0.1", |config| config.limits.connections_per_address = Some(2)).await;
        let status = async |client: &str, more: &str| {
            let answer = ask(&hub, &header(client), &open(more)).await;
            answer.split(' ').nth(1).unwrap_or_default().to_owned()
        };
        for client in ["203.0.113.1:1", "[2001:db8::1]:1"] {
            assert_eq!(status(client, "").await, "200");
            assert_eq!(status(client, "").await, "200");
            assert_eq!(status(client, "").await, "429");
            // A client cannot make itself another one.
            assert_eq!(status(client, "x-forwarded-for: 203.0.113.77\r\n").await, "429");
        }
        assert_eq!(status("203.0.113.2:1", "").await, "200");
        // An IPv4 address stays what it is.
        assert_eq!(status("[::ffff:203.0.113.1]:9", "").await, "429");
    }
}

#[tokio::test]
async fn connections_of_a_client_are_limited_before_they_say_a_word() {
    let hub = hub_behind("127.0.0.1", |config| config.limits.connections_per_address = Some(2)).await;
    let _open = [send(&hub, &v1("203.0.113.1:1")).await, send(&hub, &v2("203.0.113.1:2")).await];
    let refused = async {
        loop {
            let answer = ask(&hub, &v1("203.0.113.1:3"), HEALTH).await;
            if answer.starts_with("HTTP/1.1 429 ") {
                return;
            }
        }
    };
    within("the limit", refused).await;
    assert!(ask(&hub, &v1("203.0.113.2:1"), HEALTH).await.ends_with("ok\n"));
}

#[tokio::test]
async fn members_and_audit_have_the_address_of_the_client_with_tls_and_without() {
    let authority = Authority::new("a2c test");
    let folder = tempfile::tempdir().unwrap();
    for (is_secure, header) in
        [(false, v1("203.0.113.9:4711")), (true, v1("203.0.113.9:4711")), (true, v2("203.0.113.9:4711"))]
    {
        let file = folder.path().join(format!("{is_secure}-{}", header.len()));
        let hub = hub_behind("127.0.0.1", |config| {
            config.audit = Some(AuditConfig::at(&file));
            if is_secure {
                let [certificate, key] = authority.issue("localhost");
                config.tls = Some(TlsConfig { certificate, key, client_ca: None, reload: Duration::ZERO });
            }
        })
        .await;
        let balancer = Balancer::start(&hub, header).await;
        let scheme = if is_secure { "https" } else { "http" };
        let options = Member::options_for(format!("{scheme}://localhost:{}", balancer.address.port()));
        let options = options.tls_files(TlsFiles { ca: is_secure.then(|| authority.ca_file()), client: None });
        let agent = Member::joined(options.clone(), "agent", "a", "o").await;
        let mut computer = Member::joined(options, "computer", "c", "o").await;
        let asked = agent.asking("client:x", serde_json::json!({"computer": "c", "text": "x".repeat(1 << 20)}));
        computer.answer("client:x", serde_json::json!({"done": true})).await;
        assert_eq!(asked.await.unwrap()["done"], true);
        hub.shutdown().await;
        let text = std::fs::read_to_string(&file).unwrap();
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let addresses: Vec<String> =
            records.filter_map(|record| record["address"].as_str().map(str::to_owned)).collect();
        assert!(addresses.len() >= 4, "{text}");
        assert!(addresses.iter().all(|address| address == "203.0.113.9:4711"), "{addresses:?}");
    }
}

#[tokio::test]
async fn a_connection_of_the_proxy_itself_keeps_its_address() {
    let hub = hub_behind("127.0.0.1", |_| {}).await;
    let headers = [
        b"PROXY UNKNOWN\r\n".to_vec(),
        b"PROXY UNKNOWN 203.0.113.9 10.0.0.1 1 2\r\n".to_vec(),
        raw_v2(0x20, 0x00, &[]),
        raw_v2(0x20, 0x11, &[203, 0, 113, 9, 10, 0, 0, 1, 0, 1, 0, 2]),
        raw_v2(0x21, 0x00, &[]),
    ];
    for header in headers {
        assert!(ask(&hub, &header, HEALTH).await.ends_with("ok\n"), "{header:?}");
        let balancer = Balancer::start(&hub, header.clone()).await;
        let member = Member::connect_with(Member::options_for(format!("http://{}", balancer.address))).await.unwrap();
        let members = ask(&hub, b"PROXY UNKNOWN\r\n", &for_operators("/admin/members")).await;
        assert!(members.contains("\"address\":\"127.0.0.1:"), "{header:?}: {members}");
        member.close().await;
    }
}

#[tokio::test]
async fn who_comes_through_a_proxy_is_no_operator_of_this_machine() {
    let hub = hub_behind("127.0.0.1", |config| config.admin = None).await;
    let metrics = "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    for header in [v1("127.0.0.1:1"), v2("[::1]:1"), b"PROXY UNKNOWN\r\n".to_vec(), raw_v2(0x20, 0, &[])] {
        let answer = ask(&hub, &header, metrics).await;
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    }
    let elsewhere = hub_behind("10.0.0.0/8", |config| config.admin = None).await;
    assert!(ask(&elsewhere, b"", metrics).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_proxy_without_a_proper_header_is_refused_with_a_warning_for_each_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.jsonl");
    let hub = hub_behind("127.0.0.1", |config| config.audit = Some(AuditConfig::at(&file))).await;
    let too_long = format!("PROXY TCP4 {}", "x".repeat(200));
    let wrong = [
        HEALTH.as_bytes().to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00\x00".to_vec(),
        b"PROXY \r\nGET / HTTP/1.1\r\n\r\n".to_vec(),
        b"PROXY TCP4 1.2.3.4 5.6.7.8 1 99999\r\n".to_vec(),
        b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\nGET /".to_vec(),
        b"PROXY TCP9 1.2.3.4 5.6.7.8 1 2\r\n".to_vec(),
        too_long.into_bytes(),
        raw_v2(0x21, 0x11, &[0; 11]),
        raw_v2(0x11, 0x11, &[0; 12]),
        raw_v2(0x21, 0x77, &[0; 12]),
        raw_v2(0x21, 0x11, &[0; 5000]),
        [SIGNATURE, &[0x21, 0x11, 0xff, 0xff]].concat(),
    ];
    for bytes in &wrong {
        let begun = Instant::now();
        let text = String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(ask(&hub, bytes, HEALTH).await, "", "{text:?}");
        assert!(begun.elapsed() < Duration::from_secs(4), "{text:?}");
    }
    // One that only looks whether the port is open is none of them.
    let mut looking = send(&hub, b"").await;
    looking.shutdown().await.unwrap();
    assert_eq!(answer(&mut looking).await, "");
    let metrics = ask(&hub, &v1("203.0.113.9:1"), &for_operators("/metrics")).await;
    let counted = format!("a2c_hub_connections_refused_total{{reason=\"proxy_header\"}} {}", wrong.len());
    assert!(metrics.contains(&counted), "{metrics}");
    hub.shutdown().await;
    let text = std::fs::read_to_string(&file).unwrap();
    for reason in ["without the header", "is malformed", "is too long"] {
        assert_eq!(text.matches(reason).count(), 1, "{reason}: {text}");
    }
    assert_eq!(text.matches("PROXY protocol").count(), 3, "{text}");
}

#[tokio::test]
async fn a_hub_that_expects_no_header_says_what_to_set() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.jsonl");
    let hub = hub_with(|config| {
        config.audit = Some(AuditConfig::at(&file));
        config.admin = Some(ApiKeyAuth::new(ApiKey::new(KEY).unwrap()));
    });
    let hub = hub.await;
    for header in [v1("203.0.113.9:1"), v2("203.0.113.9:1")] {
        let answer = ask(&hub, &header, HEALTH).await;
        assert!(!answer.contains(" 200 "), "{answer}");
    }
    let metrics = ask(&hub, b"", &for_operators("/metrics")).await;
    assert!(metrics.contains("a2c_hub_connections_refused_total{reason=\"not_http\"} 2"), "{metrics}");
    hub.shutdown().await;
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("set proxy_protocol").count(), 1, "{text}");
}

#[tokio::test]
async fn a_hub_with_tls_says_that_it_has_it() {
    let authority = Authority::new("a2c test");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.jsonl");
    let hub = hub_with(|config| {
        let [certificate, key] = authority.issue("localhost");
        config.tls = Some(TlsConfig { certificate, key, client_ca: None, reload: Duration::ZERO });
        config.audit = Some(AuditConfig::at(&file));
    });
    let hub = hub.await;
    assert!(!ask(&hub, b"", HEALTH).await.contains("HTTP"));
    hub.shutdown().await;
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("what came is no TLS").count(), 1, "{text}");
}

#[tokio::test]
async fn a_header_that_does_not_end_has_little_time() {
    let hub = Arc::new(hub_behind("127.0.0.1", |_| {}).await);
    let begun = Instant::now();
    let half =
        [b"".to_vec(), b"PROXY TCP4 203.".to_vec(), SIGNATURE.to_vec(), raw_v2(0x21, 0x11, &[0; 12])[..20].to_vec()];
    let mut silent = Vec::new();
    for bytes in &half {
        silent.push(send(&hub, bytes).await);
    }
    let trickle = tokio::spawn({
        let hub = hub.clone();
        async move {
            let mut stream = send(&hub, b"").await;
            for byte in v1("203.0.113.9:4711") {
                tokio::time::sleep(Duration::from_millis(400)).await;
                if stream.write_all(&[byte]).await.is_err() {
                    break;
                }
            }
            answer(&mut stream).await
        }
    });
    for stream in &mut silent {
        assert_eq!(answer(stream).await, "");
    }
    assert_eq!(trickle.await.unwrap(), "");
    assert!((4..12).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    // A header in pieces that arrives in time is one.
    let mut stream = send(&hub, b"").await;
    stream.set_nodelay(true).unwrap();
    for piece in v2("203.0.113.9:4711").chunks(5) {
        stream.write_all(piece).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stream.write_all(HEALTH.as_bytes()).await.unwrap();
    assert!(answer(&mut stream).await.ends_with("ok\n"));
}

#[tokio::test]
async fn nobody_else_may_send_a_header() {
    let authority = Authority::new("a2c test");
    for is_secure in [false, true] {
        let hub = hub_behind("10.0.0.0/8", |config| {
            if is_secure {
                let [certificate, key] = authority.issue("localhost");
                config.tls = Some(TlsConfig { certificate, key, client_ca: None, reload: Duration::ZERO });
            }
        })
        .await;
        for header in [v1("203.0.113.9:1"), v2("203.0.113.9:1"), b"PROXY UNKNOWN\r\n".to_vec(), raw_v2(0x20, 0, &[])] {
            let mut stream = send(&hub, &header[..3]).await;
            tokio::time::sleep(Duration::from_millis(30)).await;
            let _ = stream.write_all(&[&header[3..], HEALTH.as_bytes()].concat()).await;
            assert_eq!(answer(&mut stream).await, "", "{header:?}");
        }
        // Everybody else is served as ever.
        let scheme = if is_secure { "https" } else { "http" };
        let options = Member::options_for(format!("{scheme}://localhost:{}", hub.address().port()));
        let options = options.tls_files(TlsFiles { ca: is_secure.then(|| authority.ca_file()), client: None });
        let member = Member::joined(options, "computer", "c", "o").await;
        assert_eq!(member.roll("o").await, ["computer c"]);
        member.close().await;
    }
    let hub = hub_behind("10.0.0.0/8", |_| {}).await;
    // The first letter is that of a header.
    let mut stream = send(&hub, b"P").await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    stream.write_all(b"OST /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await.unwrap();
    assert!(answer(&mut stream).await.starts_with("HTTP/1.1 405 "));
    let metrics = ask(&hub, b"", &for_operators("/metrics")).await;
    assert!(metrics.contains("reason=\"proxy_header\"} 0"), "{metrics}");
}

/// Without the setting, a header is no HTTP.
#[tokio::test]
async fn a_hub_that_expects_no_header_understands_none() {
    let hub = hub_with(|_| {}).await;
    for header in [v1("203.0.113.9:1"), v2("203.0.113.9:1")] {
        assert!(ask(&hub, &header, HEALTH).await.starts_with("HTTP/1.1 400 "));
    }
}
