//! The control socket: who may use it, what it takes, and what becomes of it; and the file that is watched.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::os::unix::net::UnixStream;

use a2c_testbed::processes::Mark;
use a2c_testbed::{PATIENCE, until};
use serde_json::{Value, json};

use crate::program::owner::{Home, sample, servers};
use crate::program::{hub, ran};

/// A connection to the control socket of the Computer.
struct ControlConnection(BufReader<UnixStream>);

impl ControlConnection {
    fn to(home: &Home) -> Self {
        let stream = UnixStream::connect(home.path("a2c/desk@o.sock")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(stream))
    }

    fn send(&mut self, text: &str) -> &mut Self {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
        self
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or(Value::Null)
    }
}

fn sample_at(home: &Home) -> String {
    home.write("c.json", &servers(&json!({"sample": sample()})))
}

#[test]
fn whatever_comes_in_only_its_sender_is_the_worse_for_it() {
    let (home, hub) = (Home::new(), hub());
    let _computer = home.computer(&hub, "desk", &sample_at(&home), &["--yes"]);
    let mut connection = ControlConnection::to(&home);
    for garbage in ["hello\n", "{\"op\": \"nope\"}\n", "[]\n", "{\"op\": \"call\"}\n", "\u{0}\n", "{\"op\"\n"] {
        assert_eq!(connection.send(garbage).answer()["error"]["kind"], "bad_request", "{garbage:?}");
    }
    // The same connection goes on working, several requests at once included.
    connection.send("\n{\"op\":\"hello\"}\n{\"op\":\"restart\",\"server\":\"x\"}\n");
    assert_eq!(connection.answer()["ok"]["name"], "desk");
    assert_eq!(connection.answer()["error"]["kind"], "not_found");
    ControlConnection::to(&home).send("{\"op\": \"sta");
    // Those who only sit there keep others away, but not for good.
    let sitting: Vec<_> = (0..31).map(|_| ControlConnection::to(&home)).collect();
    assert_eq!(ControlConnection::to(&home).answer()["error"]["kind"], "busy");
    assert_eq!(connection.send("{\"op\":\"hello\"}\n").answer()["ok"]["office"], "o");
    drop(sitting);
    until("room for others", || home.run(&["status"]).code == Some(0));
}

#[test]
fn a_line_without_end_is_refused() {
    let (home, hub) = (Home::new(), hub());
    let _computer = home.computer(&hub, "desk", &sample_at(&home), &["--yes"]);
    let mut connection = ControlConnection::to(&home);
    let piece = vec![b'x'; 1 << 20];
    // It may be sent away before all of it is written.
    for _ in 0..20 {
        if connection.0.get_mut().write_all(&piece).is_err() {
            break;
        }
    }
    let mut answer = String::new();
    let _ = connection.0.read_line(&mut answer);
    assert!(answer.is_empty() || answer.contains("bad_request"), "{answer}");
    assert_eq!(home.run(&["call", "echo", r#"{"text": "fine"}"#]).ok(), "fine\n");
}

#[test]
fn a_tool_is_told_to_stop_when_its_caller_hangs_up() {
    let (home, hub) = (Home::new(), hub());
    let _computer = home.computer(&hub, "desk", &sample_at(&home), &["--yes"]);
    let request = json!({"op": "call", "tool": "wait", "arguments": {"seconds": 3000}, "timeout": 3600});
    let mut connection = ControlConnection::to(&home);
    connection.send(&format!("{request}\n"));
    drop(connection);
    until("the end of the call", || home.json(&["status", "--json"])["servers"][0]["failed_calls"] == 1);
}

#[test]
fn one_of_several_computers_is_named() {
    let (home, hub) = (Home::new(), hub());
    let config = sample_at(&home);
    let mut desk = home.computer(&hub, "desk", &config, &["--yes"]);
    let socket = home.path("a2c/desk@o.sock");
    let modes = [home.path("a2c"), socket.clone()].map(|path| std::fs::metadata(path).unwrap().mode() & 0o777);
    assert_eq!(modes, [0o700, 0o600]);
    let _lap = home.computer(&hub, "lap", &config, &["--yes"]);
    home.run(&["status"]).fails_saying(&["2 Computers run", "desk@o, lap@o"]);
    assert!(home.run(&["status", "--name", "lap"]).ok().starts_with("lap@o"));
    assert!(home.run(&["status", "--socket", socket.to_str().unwrap()]).ok().starts_with("desk@o"));
    home.run(&["status", "--name", "x"]).fails_saying(&["no such Computer", "desk@o, lap@o"]);
    home.run(&["status", "--office", "x"]).fails_saying(&["no such Computer"]);
    home.run(&["status", "--socket", "/no/such"]).fails_saying(&["no Computer answers at /no/such"]);

    let twin = ran(home.starting(&hub, "desk", &config, &["--yes"]).output().unwrap());
    twin.fails_saying(&["another Computer named 'desk' runs in office 'o'", "--control none"]);
    assert!(home.run(&["status", "--name", "desk"]).ok().starts_with("desk@o"), "it still answers");
    // At an orderly end nothing is left.
    assert!(desk.terminate().success());
    assert!(!socket.exists());
    assert!(home.run(&["status"]).ok().starts_with("lap@o"));

    let place = home.path("own.sock");
    let _own = home.computer(&hub, "own", &config, &["--control", place.to_str().unwrap()]);
    assert!(home.run(&["status", "--socket", place.to_str().unwrap()]).ok().starts_with("own@o"));
    let _none = home.computer(&hub, "none", &config, &["--control", "none"]);
    assert_eq!(std::fs::read_dir(home.path("a2c")).unwrap().count(), 1, "only the one of lap");
    let file = home.write("a-file", "");
    let refused = ran(home.starting(&hub, "x", &config, &["--control", &file]).output().unwrap());
    refused.fails_saying(&["a-file", "another kind of file"]);
    assert!(std::path::Path::new(&file).exists());
}

#[test]
fn a_folder_of_everybody_is_not_used() {
    let (home, hub) = (Home::new(), hub());
    let config = sample_at(&home);
    std::fs::create_dir(home.path("a2c")).unwrap();
    std::fs::set_permissions(home.path("a2c"), PermissionsExt::from_mode(0o777)).unwrap();
    let computer = home.computer(&hub, "desk", &config, &["--yes"]);
    let log = computer.stderr_tail();
    assert!(log.contains("cannot be operated") && log.contains("can be written by others"), "{log}");
    assert!(!home.path("a2c/desk@o.sock").exists());
    let place = home.arg("a2c/own.sock");
    let refused = ran(home.starting(&hub, "x", &config, &["--control", &place]).output().unwrap());
    refused.fails_saying(&["can be written by others", "choose a folder of your own"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_computer_leaves_its_place_to_the_next() {
    let (home, hub) = (Home::new(), hub());
    let mark = Mark::new("control");
    let mut server = sample();
    server["env"] = json!({"WORD": mark.word()});
    let config = home.write("c.json", &servers(&json!({"sample": server})));
    let mut first = home.computer(&hub, "desk", &config, &["--yes"]);
    first.kill();
    assert!(home.path("a2c/desk@o.sock").exists());
    home.run(&["status"]).fails_saying(&["no Computer is running"]);
    assert_eq!(home.run(&["preflight"]).code, Some(12));
    until("the end of its servers", || mark.living().is_empty());
    let mut second = home.computer(&hub, "desk", &config, &["--yes"]);
    assert!(home.run(&["status"]).ok().contains("sample  stdio  ready"));
    assert!(second.terminate().success());
    assert_eq!(mark.living(), Vec::<u32>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn another_user_is_sent_away() {
    let may_be_others = rustix::process::geteuid().is_root();
    let (home, hub) = (Home::new(), hub());
    let as_other_user = |args: &[&str]| {
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid", "65534", "--clear-groups"]).args(args).output()
    };
    // Only root can act as another user, and only where the program can be read by all.
    let reachable = |program| as_other_user(&[program, "--version"]).is_ok_and(|output| output.status.success());
    if !may_be_others || !reachable(env!("CARGO_BIN_EXE_a2c")) {
        return;
    }
    std::fs::set_permissions(home.path("."), PermissionsExt::from_mode(0o755)).unwrap();
    let socket = home.arg("own.sock");
    let computer = home.computer(&hub, "desk", &sample_at(&home), &["--control", &socket]);
    let status = [env!("CARGO_BIN_EXE_a2c"), "computer", "status", "--socket", &socket];
    ran(as_other_user(&status).unwrap()).fails_saying(&["no Computer answers"]);
    // Also where the rights of the file would let them in.
    std::fs::set_permissions(&socket, PermissionsExt::from_mode(0o666)).unwrap();
    ran(as_other_user(&status).unwrap()).fails_saying(&["a2c:"]);
    until("a warning", || computer.stderr_tail().contains("refused a connection of another user"));
    home.run(&status[2..]).ok();
}

#[test]
fn a_changed_file_is_taken_over_and_what_was_added_stays() {
    let (home, hub) = (Home::new(), hub());
    let config = sample_at(&home);
    let computer = home.computer(&hub, "desk", &config, &["--yes"]);
    let program = env!("CARGO_BIN_EXE_a2c");
    home.run(&["add", "unsaved", "--", program, "sample-server"]).ok();

    // Written in its place.
    home.write("c.json", &servers(&json!({"sample": sample(), "more": sample()})));
    assert_eq!(home.run(&["preflight", "sample", "more", "unsaved", "--wait", "60"]).code, Some(0));
    until("its line in the log", || computer.stderr_tail().contains("change=added"));

    // Not valid: told, and nothing changes.
    home.write("c.json", r#"{"servers": {"sample": {"comand": "x"}}}"#);
    until("a complaint", || computer.stderr_tail().contains("the configuration stays as it was"));
    assert!(computer.stderr_tail().contains("comand"), "{}", computer.stderr_tail());
    assert_eq!(home.run(&["preflight", "sample", "more", "unsaved"]).code, Some(0));

    // Put in its place by another name, as editors do.
    let mut other = sample();
    other["forbidden_tools"] = json!(["add"]);
    let draft = home.write("draft.json", &servers(&json!({"sample": other})));
    std::fs::rename(draft, &config).unwrap();
    until("the removal", || home.state("more").is_null());
    assert_eq!(home.run(&["preflight", "sample", "unsaved"]).code, Some(0));
    let restarts = &home.json(&["status", "--json"])["servers"][0]["restarts"];
    assert_eq!(restarts, 0, "new rules do not restart a server");
    until("the new rules", || home.run(&["tools", "add", "--server", "sample", "--json"]).stdout == "[]\n");
}
