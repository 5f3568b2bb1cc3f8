//! `a2c server` with the keys that an issuer publishes: from a file, and from a real HTTP server.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2c_testbed::Peer;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rcgen::KeyPair;
use ring::signature::Ed25519KeyPair;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::program::{a2c, agent, run};

const WAIT: Duration = Duration::from_secs(60);

/// A key of an issuer.
struct IssuerKey {
    name: &'static str,
    pair: KeyPair,
}

impl IssuerKey {
    fn new(name: &'static str) -> Self {
        Self { name, pair: KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap() }
    }

    /// The set that holds this key alone.
    fn set(&self) -> String {
        let x = BASE64_URL_SAFE_NO_PAD.encode(self.pair.public_key_raw());
        json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": self.name, "x": x}]}).to_string()
    }

    /// A token that names this key and is good for an hour.
    fn token(&self) -> String {
        let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let end = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 3600;
        let message =
            format!("{}.{}", part(&json!({"alg": "EdDSA", "kid": self.name})), part(&json!({"sub": "x", "exp": end})));
        let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&self.pair.serialize_der()).unwrap();
        format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(key.sign(message.as_bytes())))
    }
}

/// Publishes a text at every path, until the process ends.
struct Server {
    address: SocketAddr,
    text: Arc<Mutex<String>>,
    asked: Arc<AtomicUsize>,
}

impl Server {
    fn start(text: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (text, asked) = (Arc::new(Mutex::new(text)), Arc::<AtomicUsize>::default());
        let (published, count) = (text.clone(), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = [0; 2048];
                let _ = stream.read(&mut request);
                count.fetch_add(1, Ordering::SeqCst);
                let body = published.lock().unwrap().clone();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close", body.len());
                let _ = write!(stream, "{head}\r\n\r\n{body}");
            }
        });
        Self { address, text, asked }
    }

    fn url(&self) -> String {
        format!("http://{}/jwks", self.address)
    }

    fn publishes(&self, text: String) {
        *self.text.lock().unwrap() = text;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// A hub with its log on standard output.
fn hub(args: &[&str]) -> Peer {
    let server = a2c(&["server", "--listen", "127.0.0.1:0"]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", r#"exec "$0" "$@" 2>&1"#]).arg(server.get_program()).args(server.get_args()).args(args);
    for (variable, value) in server.get_envs() {
        match value {
            Some(value) => shell.env(variable, value),
            None => shell.env_remove(variable),
        };
    }
    Peer::ready(shell)
}

fn reload(hub: &Peer, part: &str) {
    let pid = i32::try_from(hub.pid()).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, Signal::HUP).unwrap();
    hub.line_where(WAIT, |line| line.contains(part));
}

fn members(hub: &Peer, key: &IssuerKey) -> crate::program::Ran {
    agent(hub, "o", &["--token", &key.token(), "members"])
}

#[test]
fn keys_at_a_url_are_followed_and_kept_while_their_server_fails() {
    let [first, second, third] = ["first", "second", "third"].map(IssuerKey::new);
    let server = Server::start(first.set());
    let hub = hub(&["--jwt-jwks-url", &server.url()]);
    members(&hub, &first).ok();
    assert_eq!(server.asked(), 1);

    // A token that names an unknown key has it fetched.
    server.publishes(second.set());
    members(&hub, &second).ok();
    members(&hub, &first).fails_saying(&["credential"]);
    assert_eq!(server.asked(), 2);

    // The next one would have to wait; a signal does not.
    server.publishes(third.set());
    members(&hub, &third).fails_saying(&["credential"]);
    assert_eq!(server.asked(), 2);
    reload(&hub, "tokens and keys read again");
    members(&hub, &third).ok();

    server.publishes("<html>maintenance</html>".to_owned());
    reload(&hub, "the old tokens and keys stay");
    members(&hub, &third).ok();
}

#[test]
fn keys_in_a_file_are_read_again_on_sighup() {
    let [first, second] = ["first", "second"].map(IssuerKey::new);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("jwks.json");
    std::fs::write(&file, first.set()).unwrap();
    let hub = hub(&["--jwt-jwks-file", file.to_str().unwrap()]);
    members(&hub, &first).ok();
    members(&hub, &second).fails_saying(&["credential"]);
    std::fs::write(&file, second.set()).unwrap();
    reload(&hub, "tokens and keys read again");
    members(&hub, &second).ok();
    members(&hub, &first).fails_saying(&["credential"]);
    std::fs::write(&file, "{}").unwrap();
    reload(&hub, "the old tokens and keys stay");
    members(&hub, &second).ok();
}

#[test]
fn a_hub_that_cannot_fetch_its_keys_does_not_start_and_says_what_to_do() {
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server::start(r#"{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}"#.to_owned());
    for (url, reason) in [(format!("http://{unused}/jwks"), "refused"), (server.url(), "no key that can verify tokens")]
    {
        for check in [&["server", "--check"][..], &["server", "--listen", "127.0.0.1:0"]] {
            let with_secret = format!("{url}?key=s3cret");
            let failed = run(&[check, &["--jwt-jwks-url", &with_secret]].concat());
            assert!(!failed.stderr.contains("s3cret") && !failed.stdout.contains("s3cret"), "{}", failed.stderr);
            failed.fails_saying(&["--jwt-jwks-url", &url, reason, "--jwt-jwks-file"]);
        }
    }
    // Keys that do not count are not fetched.
    let asked = server.asked();
    run(&["server", "--check", "--auth", "none", "--jwt-jwks-url", &server.url()]).ok();
    assert_eq!(server.asked(), asked);
}

/// While the issuer's server is silent, the hub goes on and can be stopped.
#[test]
fn a_silent_server_keeps_no_hub_from_stopping() {
    let key = IssuerKey::new("first");
    let server = Server::start(key.set());
    let mut hub = hub(&["--jwt-jwks-url", &server.url()]);
    // Its thread waits for this lock.
    let silence = server.text.lock().unwrap();
    let pid = i32::try_from(hub.pid()).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, Signal::HUP).unwrap();
    a2c_testbed::until("the hub asks again", || server.asked() > 1);
    members(&hub, &key).ok();
    let begun = std::time::Instant::now();
    assert!(hub.terminate().success());
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    drop(silence);
}
