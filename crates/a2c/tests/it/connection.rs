//! How the command line reaches a hub: TLS, headers, and where options may stand.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use a2c_testbed::{Peer, node};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::json;
use tempfile::TempDir;

use crate::program::{self, a2c, computer, hub, ran, run};

/// A foreign Socket.IO server with TLS that asks for a client certificate. It knows nothing of A2C: that it says so shows
/// that TLS was no obstacle.
struct ForeignServer {
    peer: Peer,
    dir: TempDir,
}

const PAST_TLS: &str = "Invalid namespace";

impl ForeignServer {
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "ca");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let issue = |name: &str| {
            let key = KeyPair::generate().unwrap();
            let mut params = CertificateParams::new([name.to_owned()]).unwrap();
            params.distinguished_name.push(DnType::CommonName, name);
            let made = params.signed_by(&key, &ca).unwrap();
            (made.pem(), key.serialize_pem())
        };
        let (certificate, key) = issue("desk");
        let files = [
            ("ca.crt", ca.pem()),
            ("desk.pem", format!("{certificate}{key}")),
            ("desk.crt", certificate),
            ("desk.key", key),
        ];
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let (cert, key) = issue("localhost");
        let tls = json!({"cert": cert, "key": key, "ca": ca.pem(), "requestCert": true, "rejectUnauthorized": true});
        let mut command = node().script("socketio_server.mjs");
        command.arg(json!({ "tls": tls }).to_string());
        Self { peer: Peer::ready(command), dir }
    }

    fn file(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    fn ask(&self, more: &[&str]) -> program::Ran {
        let url = format!("https://localhost:{}", self.peer.address());
        let ask = ["agent", "members", "--url", &url, "--office", "o", "--path", "/socket.io"];
        run(&[&ask[..], more].concat())
    }
}

#[test]
fn a_hub_is_trusted_by_its_ca_and_shown_a_certificate() {
    let foreign = ForeignServer::start();
    let [ca, certificate, key, both] = ["ca.crt", "desk.crt", "desk.key", "desk.pem"].map(|name| foreign.file(name));
    foreign.ask(&[]).fails_saying(&["certificate is not trusted", "unknown CA", "--ca-file"]);
    let nameless = foreign.ask(&["--ca-file", &ca]);
    assert!(!nameless.stderr.contains(PAST_TLS), "{}", nameless.stderr);
    nameless.fails_saying(&["cannot reach the hub at https://localhost", "show one with --client-cert"]);
    for transport in ["auto", "websocket", "polling"] {
        let shown = ["--transport", transport, "--ca-file", &ca, "--client-cert", &certificate, "--client-key", &key];
        foreign.ask(&shown).fails_saying(&[PAST_TLS]);
    }
    foreign.ask(&["--ca-file", &ca, "--client-cert", &both]).fails_saying(&[PAST_TLS]);

    foreign.ask(&["--ca-file", &ca, "--client-key", &key]).fails_saying(&["--client-cert"]);
    foreign.ask(&["--ca-file", &ca, "--client-cert", &certificate]).fails_saying(&["no private key in", &certificate]);
    for (file, problem) in [(key.as_str(), "no certificate in"), ("/nowhere", "cannot read")] {
        let mistaken = foreign.ask(&["--ca-file", file]);
        assert!(!mistaken.stderr.contains("cannot reach the hub"), "no hub was asked: {}", mistaken.stderr);
        mistaken.fails_saying(&[problem, file]);
    }

    let url = format!("https://localhost:{}", foreign.peer.address());
    let mut by_environment = a2c(&["agent", "--url", &url, "--office", "o", "--path", "/socket.io", "members"]);
    by_environment.env("A2C_CA_FILE", &ca).env("A2C_CLIENT_CERT", &certificate).env("A2C_CLIENT_KEY", &key);
    ran(by_environment.output().unwrap()).fails_saying(&[PAST_TLS]);

    let config = program::Config::sample(&json!({}));
    let files = ["--ca-file", &ca, "--client-cert", &both, "--config", config.arg()];
    let desk = ["computer", "--url", &url, "--office", "o", "--path", "/socket.io", "--name", "desk"];
    run(&[&desk[..], &files].concat()).fails_saying(&[PAST_TLS]);
}

#[test]
fn a_hub_without_tls_is_told() {
    let hub = hub();
    let url = hub.address().replace("http://", "https://");
    run(&["agent", "--url", &url, "--office", "o", "members"]).fails_saying(&["does not speak TLS", "http://"]);
}

#[test]
fn options_may_follow_the_subcommand() {
    let hub = hub();
    let (_desk, _config) = computer(&hub, "o");
    let url = hub.address();
    let orders: [&[&str]; 4] = [
        &["agent", "--url", url, "--office", "o", "--name", "me", "members"],
        &["agent", "members", "--url", url, "--office", "o", "--name", "me"],
        &["agent", "--office", "o", "members", "--name", "me", "--url", url],
        &["agent", "--office", "elsewhere", "--name", "me", "members", "--office", "o", "--url", url],
    ];
    for order in orders {
        assert_eq!(run(order).ok(), "agent     me    0.2.0\ncomputer  desk  0.2.0\n", "{order:?}");
    }
    let call = ["agent", "call", "desk", "echo", r#"{"text": "x"}"#, "--url", url, "--office", "o", "--timeout", "5"];
    assert_eq!(run(&call).ok(), "x\n");
    // What is typed is stronger than the environment, wherever it stands.
    for order in orders {
        let mut command = a2c(order);
        command.env("A2C_URL", "http://127.0.0.1:9").env("A2C_OFFICE", "elsewhere");
        ran(command.output().unwrap()).ok();
    }

    run(&["agent", "members", "--office", "o"]).fails_saying(&["--url", "A2C_URL"]);
    run(&["agent", "members", "--url", url]).fails_saying(&["--office", "A2C_OFFICE"]);
    run(&["computer", "--name", "d", "--config", "x"]).fails_saying(&["--url", "--office"]);
}

/// The first lines that a server sees of us.
fn request(more: &[&str], environment: &[(&str, &str)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let ask = ["agent", "members", "--url", &url, "--office", "o"];
    let mut command = a2c(&[&ask[..], more].concat());
    command.envs(environment.iter().copied());
    let asks = std::thread::spawn(move || ran(command.output().unwrap()));
    let (mut stream, _) = listener.accept().unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    stream.write_all(b"HTTP/1.1 418 I'm a teapot\r\ncontent-length: 0\r\n\r\n").unwrap();
    asks.join().unwrap().fails_saying(&["418"]);
    String::from_utf8(head).unwrap().to_lowercase()
}

#[test]
fn headers_are_sent_and_never_shown() {
    let head = request(&["--header", "X-Key=s3cret", "--header", "x-way: a=b"], &[]);
    assert!(head.contains("\r\nx-key: s3cret\r\n") && head.contains("\r\nx-way: a=b\r\n"), "{head}");
    let head = request(&[], &[("A2C_HEADER", "x-key=s3cret\nx-way=2")]);
    assert!(head.contains("\r\nx-key: s3cret\r\n") && head.contains("\r\nx-way: 2\r\n"), "{head}");

    let url = ["agent", "members", "--office", "o", "--url", "http://127.0.0.1:9"];
    for header in ["s3cret", "=s3cret", "no name=s3cret", "x=s3cret\u{7}"] {
        let refused = run(&[&url[..], &["--header", header]].concat());
        assert!(!refused.stderr.contains("s3cret"), "{}", refused.stderr);
        refused.fails_saying(&["header"]);
    }
    let mut help = a2c(&["agent", "--help"]);
    assert!(!ran(help.env("A2C_HEADER", "x=s3cret").output().unwrap()).ok().contains("s3cret"));
}
