//! How the command line reaches a hub: TLS, headers, and where options may stand.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};

use a2c_testbed::{PATIENCE, Peer, node};
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

/// A Computer whose log is read line by line.
struct StartingComputer {
    child: Child,
    log: Receiver<String>,
    stdout: BufReader<ChildStdout>,
    _config: program::Config,
}

impl StartingComputer {
    fn start(url: &str, config: program::Config) -> Self {
        let args = ["computer", "--url", url, "--office", "o", "--name", "desk", "--config", config.arg(), "--yes"];
        let mut command = a2c(&args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (tell, log) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, log, stdout, _config: config }
    }

    /// Waits for a line of the log.
    fn logs(&self, part: &str) -> String {
        loop {
            let line = self.log.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{part:?} was not logged"));
            if line.contains(part) {
                return line;
            }
        }
    }

    fn is_ready(&mut self) {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "ready desk@o\n");
    }
}

impl Drop for StartingComputer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A hub at an address that was taken before.
fn hub_at(address: &str) -> Peer {
    program::wait_until_free(address);
    Peer::ready(a2c(&["server", "--listen", address, "--auth", "none"]))
}

#[test]
fn a_computer_waits_for_a_hub_that_is_away_at_the_start() {
    // Nobody listens there while the Computer starts.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let url = format!("http://{address}");
    let mut desk = StartingComputer::start(&url, program::Config::sample(&json!({})));
    let told = desk.logs("cannot connect to the hub yet");
    assert!(told.contains(&url) && told.contains("next_in="), "{told}");
    let hub = hub_at(&address);
    desk.is_ready();
    assert_eq!(program::agent(&hub, "o", &["call", "desk", "echo", r#"{"text": "x"}"#]).ok(), "x\n");
}

#[test]
fn a_computer_waits_for_a_hub_that_goes_away_before_it_has_joined() {
    let mut first = hub();
    let address = first.address().trim_start_matches("http://").to_owned();
    // The MCP server starts when the gate is opened, and the Computer joins after that.
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    let script = r#"read -r line < "$0"; exec "$1" sample-server"#;
    let server = json!({"command": "sh", "args": ["-c", script, gate, env!("CARGO_BIN_EXE_a2c")]});
    let config = json!({"servers": {"gated": {"type": "stdio", "server_parameters": server}}});
    let mut desk = StartingComputer::start(first.address(), program::Config::new(&config.to_string()));
    // Returns when the server waits at the gate: the Computer is connected.
    let mut gate = std::fs::File::options().write(true).open(&gate).unwrap();
    first.kill();
    desk.logs("cannot reconnect to the hub yet");
    writeln!(gate, "open").unwrap();
    desk.logs("lost the hub before the office was joined");
    let second = hub_at(&address);
    desk.is_ready();
    assert_eq!(program::agent(&second, "o", &["call", "desk", "echo", r#"{"text": "x"}"#]).ok(), "x\n");
}

#[test]
fn a_computer_does_not_wait_for_what_its_owner_has_to_change() {
    let mut server = a2c(&["server", "--listen", "127.0.0.1:0"]);
    server.env("A2C_TOKEN", "right");
    let hub = Peer::ready(server);
    let config = program::Config::sample(&json!({}));
    let desk = ["computer", "--office", "o", "--name", "desk", "--config", config.arg(), "--url"];
    run(&[&desk[..], &[hub.address(), "--token", "wrong"]].concat()).fails_saying(&["refused the credential"]);
    run(&[&desk[..], &[hub.address()]].concat()).fails_saying(&["asks for a token"]);
    let tls = hub.address().replace("http://", "https://");
    run(&[&desk[..], &[&tls]].concat()).fails_saying(&["does not speak TLS"]);
}
