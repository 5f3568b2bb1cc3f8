//! What the program says, and goes on doing, when a hub does not want it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use a2c_testbed::{Peer, node};
use serde_json::{Value, json};

use crate::program::{Config, a2c, hub, ran, run};

const WAIT: Duration = Duration::from_secs(60);

/// A hub of another make that does as it is told.
fn moody(first: &Value) -> Peer {
    let mut command = node().script("moody_hub.mjs");
    command.arg(first.to_string());
    Peer::ready(command)
}

/// A Computer whose log comes with its output, so that a test can wait for a line of it.
struct LoggedComputer {
    peer: Peer,
    _config: Config,
}

impl LoggedComputer {
    fn start(url: &str, more: &[&str], environment: &[(&str, &str)]) -> Self {
        let config = Config::new(r#"{"servers": {}}"#);
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"exec "$0" "$@" 2>&1"#, env!("CARGO_BIN_EXE_a2c"), "computer", "--url", url]);
        shell.args(["--office", "o", "--name", "desk", "--config", config.arg()]).args(more);
        for (variable, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("A2C_")) {
            shell.env_remove(variable);
        }
        shell.env("A2C_CONTROL", "none").env("A2C_STATE", "none").envs(environment.iter().copied());
        Self { peer: Peer::ready(shell), _config: config }
    }

    /// All lines up to the one with this in it.
    fn until(&self, part: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.peer.lines().recv_timeout(WAIT) {
                Ok(line) => lines.push(line),
                Err(error) => panic!("{part:?} was not said ({error}): {lines:#?}"),
            }
            if lines.last().is_some_and(|line| line.contains(part)) {
                return lines;
            }
        }
    }
}

/// Gives an order and waits until it is in force: what the hub says after that, it says because of it.
fn order(hub: &mut Peer, order: &Value) {
    hub.write_line(&order.to_string());
    happens(hub, "told");
}

fn happens(hub: &Peer, what: &str) {
    hub.line_where(WAIT, |line| line == what);
}

fn count(lines: &[String], part: &str) -> usize {
    lines.iter().filter(|line| line.contains(part)).count()
}

#[test]
fn a_hub_that_says_later_is_asked_again() {
    let mut hub = moody(&json!({}));
    let computer = LoggedComputer::start(hub.address(), &[], &[("A2C_TOKEN", "s3cret")]);
    happens(&hub, "joined s3cret");
    let later = |seconds| format!("429 too many wrong credentials from this address: wait {seconds} s");
    order(&mut hub, &json!({"refuse": later(9), "drop": true}));
    happens(&hub, "refused s3cret");
    order(&mut hub, &json!({"refuse": later(8)}));
    happens(&hub, "refused s3cret");
    order(&mut hub, &json!({"refuse": "503 the hub is starting"}));
    happens(&hub, "refused s3cret");
    order(&mut hub, &json!({"refuse": null}));
    happens(&hub, "joined s3cret");
    let log = computer.until("joined again");
    assert_eq!(count(&log, "wait "), 1, "{log:#?}");
    assert_eq!(count(&log, "503 the hub is starting"), 1, "{log:#?}");
    assert_eq!(count(&log, "s3cret"), 0, "{log:#?}");
}

#[test]
fn a_computer_waits_for_its_token_file_to_be_renewed() {
    let mut hub = moody(&json!({}));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("token");
    std::fs::write(&path, "one\n").unwrap();
    let computer = LoggedComputer::start(hub.address(), &["--token-file", path.to_str().unwrap()], &[]);
    happens(&hub, "joined one");
    order(&mut hub, &json!({"refuse": "401", "drop": true}));
    happens(&hub, "refused one");
    happens(&hub, "refused one");
    std::fs::write(&path, "two\n").unwrap();
    happens(&hub, "refused two");
    order(&mut hub, &json!({"refuse": null}));
    happens(&hub, "joined two");
    let log = computer.until("joined again");
    assert_eq!(count(&log, "has the token expired?"), 1, "{log:#?}");
}

#[test]
fn a_computer_with_a_fixed_token_ends_and_says_what_to_do() {
    let mut hub = moody(&json!({}));
    let computer = LoggedComputer::start(hub.address(), &[], &[("A2C_TOKEN", "one")]);
    happens(&hub, "joined one");
    order(&mut hub, &json!({"refuse": "401", "drop": true}));
    let log = computer.until("the connection to the hub is over");
    let last = log.last().unwrap();
    let parts = ["the hub refused the credential", "has it expired?", "A2C_TOKEN", "--token-file"];
    assert!(parts.iter().all(|part| last.contains(part)), "{last}");
}

#[test]
fn a_hub_that_says_later_at_first_is_told_as_it_is() {
    let hub = moody(&json!({"refuse": "429 too many wrong credentials from this address: wait 7 s"}));
    let refused = run(&["agent", "--url", hub.address(), "--office", "o", "--token", "x", "members"]);
    assert!(!refused.stderr.contains("give the hub's token"), "{}", refused.stderr);
    refused.fails_saying(&["429 too many wrong credentials from this address: wait 7 s", "wait, then try again"]);
}

/// One request to the operator's side of a hub, and its answer.
fn operate(hub: &Peer, method: &str, path: &str) -> String {
    let address = hub.address().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_computer_that_an_operator_disconnects_says_so() {
    let hub = hub();
    let computer = LoggedComputer::start(hub.address(), &[], &[]);
    let members = operate(&hub, "GET", "/admin/members");
    let sid = members.split(r#""sid":""#).nth(1).and_then(|rest| rest.split('"').next()).expect("a member").to_owned();
    let answer = operate(&hub, "DELETE", &format!("/admin/members/{sid}"));
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    let log = computer.until("the connection to the hub is over");
    let last = log.last().unwrap();
    assert!(
        last.contains("an operator of the hub, or the hub itself, has disconnected this computer for good"),
        "{last}"
    );
    assert!(last.contains("start it again"), "{last}");
}

#[test]
fn tokens_are_taken_from_where_they_are_given() {
    let mut server = a2c(&["server", "--listen", "127.0.0.1:0"]);
    let hub = Peer::ready({
        server.env("A2C_TOKEN", "the right token of this hub");
        server
    });
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (right, wrong) = (file("right", "the right token of this hub\n"), file("wrong", "s3cret"));
    let ask = |more: &[&str], environment: &[(&str, &str)]| {
        let mut command = a2c(&[&["agent", "members", "--url", hub.address(), "--office", "o"], more].concat());
        ran(command.envs(environment.iter().copied()).output().unwrap())
    };
    let bare = ask(&[], &[]);
    assert!(!bare.stderr.contains("refused the credential"), "{}", bare.stderr);
    bare.fails_saying(&["the hub asks for a token", "A2C_TOKEN", "--token-file"]);
    ask(&[], &[("A2C_TOKEN", "")]).fails_saying(&["the hub asks for a token"]);
    ask(&["--token", "s3cret"], &[]).fails_saying(&["the hub refused the credential", "A2C_TOKEN", "--token-file"]);
    ask(&["--token-file", &wrong], &[]).fails_saying(&["the hub refused the credential", "--token-file"]);
    ask(&["--header", "x-api-key=s3cret"], &[]).fails_saying(&["the hub refused the credential"]);
    ask(&["--token-file", &right], &[]).ok();
    ask(&[], &[("A2C_TOKEN_FILE", &right)]).ok();

    // What is typed is stronger than the environment.
    ask(&["--token-file", &right], &[("A2C_TOKEN", "s3cret")]).ok();
    ask(&["--token", "the right token of this hub"], &[("A2C_TOKEN_FILE", &wrong)]).ok();
    ask(&[], &[("A2C_TOKEN", "s3cret"), ("A2C_TOKEN_FILE", &right)]).fails_saying(&["which token?"]);

    for (path, problem) in [("/nowhere/token", "cannot read the token file"), (&*file("empty", "\n"), "is empty")] {
        let mistaken = ask(&["--token-file", path], &[]);
        assert!(!mistaken.stderr.contains("cannot reach the hub"), "no hub was asked: {}", mistaken.stderr);
        mistaken.fails_saying(&[problem, path]);
    }
}
