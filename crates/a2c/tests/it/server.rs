//! `a2c server` as a service: who gets in, TLS, signals.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use a2c_agent::{Agent, LinkOptions};
use a2c_link::{Link, Seat};
use a2c_protocol::Role;
use a2c_socketio::{Incoming, Payload};
use a2c_testbed::Peer;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use crate::program::{self, a2c, agent, ran, run};

const WAIT: Duration = Duration::from_secs(60);

/// A hub whose log comes with its output, so that a test can wait for a line of it.
fn hub_with_log(args: &[&str]) -> Peer {
    Peer::ready(through_shell("", args))
}

/// The same as a command, after something that the shell does first.
fn through_shell(first: &str, args: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!(r#"{first} exec "$0" "$@" 2>&1"#), env!("CARGO_BIN_EXE_a2c")]);
    shell.args(["server", "--listen", "127.0.0.1:0"]).args(args);
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("A2C_") {
            shell.env_remove(variable);
        }
    }
    shell
}

fn signal(peer: &Peer, signal: Signal) {
    let pid = i32::try_from(peer.pid()).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, signal).unwrap();
}

fn says(peer: &Peer, part: &str) -> String {
    peer.line_where(WAIT, |line| line.contains(part))
}

/// Waits for a hub that ends by itself: its output ends with it.
fn ended(hub: &mut Peer) -> ExitStatus {
    loop {
        match hub.lines().recv_timeout(WAIT) {
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => return hub.terminate(),
            Err(RecvTimeoutError::Timeout) => panic!("the hub did not end"),
        }
    }
}

#[test]
fn a_hub_that_was_told_nothing_makes_up_a_token() {
    let token_of = |hub: &Peer| hub.line_where(WAIT, |_| true).strip_prefix("token ").unwrap().to_owned();
    let hub = Peer::ready(a2c(&["server", "--listen", "127.0.0.1:0"]));
    // The very next line.
    let token = token_of(&hub);
    assert!(token.len() >= 22 && token.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)), "{token}");
    assert!(token.starts_with(|c: char| c.is_ascii_alphabetic()), "{token}");
    agent(&hub, "o", &["--token", &token, "members"]).ok();
    agent(&hub, "o", &["members"]).fails_saying(&["asks for a token", "A2C_TOKEN"]);
    let mut wrong = token.clone();
    wrong.replace_range(..1, if token.starts_with('x') { "y" } else { "x" });
    agent(&hub, "o", &["--token", &wrong, "members"]).fails_saying(&["credential"]);
    let log = hub.stderr_tail();
    assert!(log.contains("A2C_TOKEN") && log.contains("--auth none") && !log.contains(&token), "{log}");

    let other = Peer::ready(a2c(&["server", "--listen", "127.0.0.1:0"]));
    assert_ne!(token_of(&other), token);
}

#[test]
fn every_token_of_the_file_opens_and_its_label_is_in_the_audit() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("robots", "a token for the robots\n");
    write(
        "hub.toml",
        "listen = \"127.0.0.1:0\"\n[audit]\nfile = \"audit.jsonl\"\n\
         [[auth.tokens]]\nlabel = \"robots\"\ntoken_file = \"robots\"\n\
         [[auth.tokens]]\nlabel = \"people\"\ntoken = \"a token for the people\"\n",
    );
    let file = dir.path().join("hub.toml");
    let mut hub = Peer::ready(a2c(&["server", "--config", file.to_str().unwrap()]));
    agent(&hub, "o", &["--token", "a token for the robots", "members"]).ok();
    agent(&hub, "o", &["--token", "a token for the people", "members"]).ok();
    agent(&hub, "o", &["--token", "a token for the birds", "members"]).fails_saying(&["credential"]);
    assert!(hub.terminate().success());
    let audit = std::fs::read_to_string(dir.path().join("audit.jsonl")).unwrap();
    for subject in ["robots", "people"] {
        assert!(audit.contains(&format!(r#""subject":"{subject}""#)), "{audit}");
    }
    assert!(!audit.contains("a token for"), "{audit}");
}

/// A token that says `claims` and is good for an hour.
fn signed(algorithm: &str, mut claims: serde_json::Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    claims["exp"] = json!(now.as_secs() + 3600);
    let part = |value: &serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(&json!({"alg": algorithm, "typ": "JWT"})), part(&claims));
    let signature = BASE64_URL_SAFE_NO_PAD.encode(sign(message.as_bytes()));
    format!("{message}.{signature}")
}

#[test]
fn signed_tokens_are_good_for_their_offices_whichever_key_signed_them() {
    let dir = tempfile::tempdir().unwrap();
    let pair = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let public = dir.path().join("issuer.pem");
    std::fs::write(&public, pair.public_key_pem()).unwrap();
    let secret = "0123456789abcdef0123456789abcdef";
    let hub = Peer::ready({
        let mut command = a2c(&["server", "--listen", "127.0.0.1:0", "--jwt-audience", "a2c", "--jwt-public-key"]);
        command.arg(&public).env("A2C_JWT_SECRET", secret);
        command
    });
    let by_key = |message: &[u8]| {
        let key = ring::signature::Ed25519KeyPair::from_pkcs8_maybe_unchecked(&pair.serialize_der()).unwrap();
        key.sign(message).as_ref().to_vec()
    };
    let by_secret = |message: &[u8]| {
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
        ring::hmac::sign(&key, message).as_ref().to_vec()
    };
    let claims = || json!({"sub": "blue", "aud": "a2c", "offices": ["blue-*"]});
    for token in [signed("EdDSA", claims(), by_key), signed("HS256", claims(), by_secret)] {
        agent(&hub, "blue-1", &["--token", &token, "members"]).ok();
        agent(&hub, "red-1", &["--token", &token, "members"]).fails_saying(&["red-1", "does not permit"]);
    }
    let other = signed("EdDSA", json!({"sub": "blue", "aud": "others"}), by_key);
    agent(&hub, "blue-1", &["--token", &other, "members"]).fails_saying(&["credential"]);
}

#[test]
fn a_hub_opens_as_many_files_as_it_may_and_tells_when_that_is_few() {
    let line_of_hub = |part: &'static str| {
        let command = through_shell("ulimit -Sn 256; ulimit -Hn 2048;", &["--auth", "none", "--log", "debug"]);
        Peer::spawn(command, WAIT, |line| line.contains(part)).ready_line().to_owned()
    };
    let raised = line_of_hub("limit of open files");
    assert!(raised.contains("256") && raised.contains("2048"), "{raised}");
    let told = line_of_hub("WARN");
    assert!(told.contains("only 2048 files") && told.contains("LimitNOFILE"), "{told}");
}

/// An authority, and what it has issued, in files.
struct Authority {
    dir: TempDir,
    ca: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "ca");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ca.crt"), ca.pem()).unwrap();
        Self { dir, ca }
    }

    fn issue(&self, file: &str, name: &str) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        let made = params.signed_by(&key, &self.ca).unwrap();
        std::fs::write(self.path(&format!("{file}.crt")), made.pem()).unwrap();
        std::fs::write(self.path(&format!("{file}.key")), key.serialize_pem()).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }
}

/// Asks a hub with TLS by its name; its ready line has its address.
fn ask(hub: &Peer, authority: &Authority, more: &[&str]) -> program::Ran {
    let port = hub.address().rsplit(':').next().unwrap();
    let url = format!("https://localhost:{port}");
    let ca = authority.path("ca.crt");
    run(&[&["agent", "--url", &url, "--ca-file", &ca, "--office", "o"], more].concat())
}

#[test]
fn a_certificate_makes_the_hub_speak_tls_and_is_changed_on_sighup() {
    let authority = Authority::new();
    authority.issue("hub", "localhost");
    let (cert, key) = (authority.path("hub.crt"), authority.path("hub.key"));
    let tls = ["--auth", "none", "--tls-cert", &cert, "--tls-key", &key, "--tls-reload", "0"];
    let mut hub = hub_with_log(&tls);
    assert!(hub.ready_line().starts_with("ready https://127.0.0.1:"), "{}", hub.ready_line());
    ask(&hub, &authority, &["members"]).ok();

    authority.issue("hub", "elsewhere.example");
    signal(&hub, Signal::HUP);
    says(&hub, "TLS files read again");
    ask(&hub, &authority, &["members"]).fails_saying(&["certificate"]);

    // What cannot be used does not replace what can.
    std::fs::write(&key, "no key").unwrap();
    signal(&hub, Signal::HUP);
    says(&hub, "the old ones stay");
    authority.issue("hub", "localhost");
    signal(&hub, Signal::HUP);
    says(&hub, "TLS files read again");
    ask(&hub, &authority, &["members"]).ok();
    assert!(hub.terminate().success());
}

#[test]
fn tokens_are_changed_on_sighup() {
    let dir = tempfile::tempdir().unwrap();
    let [kept, old, new] = ["kept", "old", "new"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    std::fs::write(&kept, "the first token of all").unwrap();
    std::fs::copy(&kept, &old).unwrap();
    std::fs::write(&new, "another token than before").unwrap();
    let hub = hub_with_log(&["--token-file", &kept]);
    let url = hub.address().to_owned();
    let members = |token: &str| run(&["agent", "--url", &url, "--token-file", token, "--office", "o", "members"]);
    members(&old).ok();
    members(&new).fails_saying(&["refused the credential"]);

    std::fs::copy(&new, &kept).unwrap();
    signal(&hub, Signal::HUP);
    says(&hub, "tokens and keys read again");
    members(&new).ok();
    members(&old).fails_saying(&["refused the credential"]);

    // What cannot be used does not replace what can.
    std::fs::write(&kept, "").unwrap();
    signal(&hub, Signal::HUP);
    says(&hub, "the old tokens and keys stay");
    members(&new).ok();
}

#[test]
fn with_a_client_ca_only_its_clients_get_in() {
    let authority = Authority::new();
    authority.issue("hub", "localhost");
    authority.issue("desk", "desk");
    let files = ["hub.crt", "hub.key", "ca.crt", "desk.crt", "desk.key"].map(|name| authority.path(name));
    let [cert, key, ca, desk_cert, desk_key] = files.each_ref().map(String::as_str);
    let hub = hub_with_log(&["--tls-cert", cert, "--tls-key", key, "--client-ca", ca]);
    ask(&hub, &authority, &["--client-cert", desk_cert, "--client-key", desk_key, "members"]).ok();
    ask(&hub, &authority, &["members"]).fails_saying(&["certificate"]);
}

#[test]
fn sighup_and_sigusr1_do_not_stop_a_hub() {
    let dir = tempfile::tempdir().unwrap();
    let (log, moved) = (dir.path().join("audit.jsonl"), dir.path().join("audit.jsonl.1"));
    let mut hub = hub_with_log(&["--auth", "none", "--audit", log.to_str().unwrap()]);
    signal(&hub, Signal::HUP);
    says(&hub, "tokens and keys read again");
    let without = hub_with_log(&["--auth", "none"]);
    signal(&without, Signal::USR1);
    says(&without, "there is no audit log to reopen");
    std::fs::rename(&log, &moved).unwrap();
    signal(&hub, Signal::USR1);
    says(&hub, "audit log reopened");
    agent(&hub, "o", &["members"]).ok();
    assert!(hub.terminate().success());
    let events = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert!(events(&moved).contains("hub_started") && !events(&moved).contains("connected"), "{}", events(&moved));
    assert!(events(&log).contains("rotated") && events(&log).contains("hub_stopped"), "{}", events(&log));
}

/// An Agent whose call has arrived at a Computer that answers when it is told to.
async fn call_in_flight(
    hub: &Peer,
) -> (tokio::task::JoinHandle<Result<serde_json::Value, String>>, a2c_socketio::Event, Link) {
    let options = LinkOptions::new(hub.address());
    let (computer, mut inbox) = Link::connect(&options, Role::Computer).await.unwrap();
    computer.join(&Seat { office: "o".into(), name: "desk".into() }).await.unwrap();
    let agent = Agent::connect(&options, "me").await.unwrap();
    agent.join("o").await.unwrap();
    let call = tokio::spawn(async move {
        let result = agent.call_tool("desk", "slow", serde_json::Map::new(), Duration::from_secs(600)).await;
        result.map(|result| json!(result.text())).map_err(|error| error.to_string())
    });
    loop {
        match inbox.recv().await.unwrap() {
            Incoming::Event(event) if event.name == "client:tool_call" => {
                // The inbox keeps the Computer there.
                tokio::spawn(async move { while inbox.recv().await.is_some() {} });
                return (call, event, computer);
            }
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopping_hub_waits_for_the_call_in_flight() {
    let mut hub = hub_with_log(&["--auth", "none", "--drain", "600"]);
    let (call, event, _computer) = call_in_flight(&hub).await;
    signal(&hub, Signal::TERM);
    says(&hub, "waiting for calls");
    let answer = json!({"content": [{"type": "text", "text": "done"}], "isError": false});
    event.ack.unwrap().send(Payload::json(&answer).unwrap()).await.unwrap();
    assert_eq!(call.await.unwrap(), Ok(json!("done")));
    assert!(ended(&mut hub).success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_the_wait() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("audit.jsonl");
    let mut hub = hub_with_log(&["--auth", "none", "--drain", "600", "--audit", log.to_str().unwrap()]);
    let (call, _unanswered, _computer) = call_in_flight(&hub).await;
    signal(&hub, Signal::TERM);
    says(&hub, "waiting for calls");
    // Neither of these is for a hub that is about to end.
    signal(&hub, Signal::HUP);
    signal(&hub, Signal::USR1);
    signal(&hub, Signal::INT);
    says(&hub, "not waiting any longer");
    assert!(ended(&mut hub).success());
    call.abort();
    run(&["audit", "verify", log.to_str().unwrap()]).ok();
    let text = std::fs::read_to_string(&log).unwrap();
    for event in ["joined", "left", "hub_stopped"] {
        assert!(text.contains(&format!(r#""event":"{event}""#)), "{event} is not in {text}");
    }
}

/// The status line of what a hub answers to a request for a path.
fn status(hub: &Peer, path: &str, header: &str) -> String {
    let address = hub.address().trim_start_matches("http://");
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{header}\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_admin_token_opens_what_is_for_operators() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("admin");
    std::fs::write(&file, "a token for operators\n").unwrap();
    let guarded = hub_with_log(&["--auth", "none", "--admin-token-file", file.to_str().unwrap()]);
    let token = "authorization: Bearer a token for operators\r\n";
    assert!(status(&guarded, "/metrics", "").contains("401"));
    assert!(status(&guarded, "/metrics", token).contains("200"));
    assert!(status(&guarded, "/admin/members", token).contains("200"));
    assert!(status(&guarded, "/readyz", "").contains("200"));
    let local = hub_with_log(&["--auth", "none"]);
    assert!(status(&local, "/metrics", "").contains("200"));
}

#[test]
fn a_tcp_proxy_says_whose_connection_it_is() {
    let hub = hub_with_log(&["--auth", "none", "--trusted-proxy", "127.0.0.1", "--proxy-protocol"]);
    let ask = |header: &str| {
        let mut stream = std::net::TcpStream::connect(hub.address().trim_start_matches("http://")).unwrap();
        let request = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        write!(stream, "{header}{request}").unwrap();
        let mut answer = String::new();
        // A connection that is closed before all was read ends with an error.
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    assert!(ask("PROXY TCP4 203.0.113.9 127.0.0.1 4711 443\r\n").ends_with("ok\n"));
    assert_eq!(ask(""), "");
    let warning = says(&hub, "without the header of the PROXY protocol");
    assert!(warning.contains("WARN") && warning.contains("127.0.0.1"), "{warning}");
}

#[test]
fn the_environment_alone_is_enough() {
    let hub = Peer::ready({
        let mut command = a2c(&["server"]);
        command.env("A2C_LISTEN", "127.0.0.1:0").env("A2C_TOKEN", "s3cret s3cret s3cret");
        command
    });
    agent(&hub, "o", &["--token", "s3cret s3cret s3cret", "members"]).ok();
    let refused = ran(a2c(&["server"]).env("A2C_LISTEN", "0.0.0.0:0").env("A2C_TOKEN", "s3cret").output().unwrap());
    assert!(!refused.stderr.contains("s3cret"), "{}", refused.stderr);
    refused.fails_saying(&["A2C_TOKEN has 6 characters", "16"]);
}
