//! The real program, run as users run it.

pub(crate) mod hub_files;
#[cfg(unix)]
pub(crate) mod owner;
#[cfg(unix)]
pub(crate) mod scripted;

use std::path::PathBuf;
use std::process::{Command, Output};

use a2c_testbed::Peer;
use tempfile::TempDir;

/// The `a2c` program with a clean environment.
pub(crate) fn a2c(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a2c"));
    command.args(args);
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("A2C_") || variable == "TRACEPARENT" {
            command.env_remove(variable);
        }
    }
    // Tests run at the same time, as one user: neither sockets nor what is remembered may meet.
    command.env("A2C_CONTROL", "none").env("A2C_STATE", "none");
    command
}

/// What a finished run left.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs to the end.
pub(crate) fn run(args: &[&str]) -> Ran {
    ran(a2c(args).output().expect("the program runs"))
}

pub(crate) fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Ran {
    /// The standard output of a run that succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self.stdout
    }

    /// A run that failed, saying all of these.
    #[track_caller]
    pub(crate) fn fails_saying(self, parts: &[&str]) {
        assert!(self.code.is_some_and(|c| c != 0), "it succeeded: {}", self.stdout);
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is not in: {}", self.stderr);
        }
    }
}

/// A hub on a free port.
pub(crate) fn hub() -> Peer {
    Peer::ready(a2c(&["server", "--listen", "127.0.0.1:0", "--auth", "none"]))
}

/// A configuration file that lives as long as the test.
pub(crate) struct Config {
    _dir: TempDir,
    pub(crate) path: PathBuf,
}

impl Config {
    pub(crate) fn new(text: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("computer.json");
        std::fs::write(&path, text).expect("the file can be written");
        Self { _dir: dir, path }
    }

    /// The sample server, with more keys for its entry.
    pub(crate) fn sample(extra: &serde_json::Value) -> Self {
        let mut server = serde_json::json!({
            "type": "stdio",
            "server_parameters": {"command": env!("CARGO_BIN_EXE_a2c"), "args": ["sample-server"]}
        });
        server.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        Self::new(&serde_json::json!({"servers": {"sample": server}}).to_string())
    }

    pub(crate) fn arg(&self) -> &str {
        self.path.to_str().expect("the path is UTF-8")
    }
}

/// A Computer named `desk` that runs the sample without asking.
pub(crate) fn computer(hub: &Peer, office: &str) -> (Peer, Config) {
    let config = Config::sample(&serde_json::json!({}));
    let args =
        ["computer", "--url", hub.address(), "--office", office, "--name", "desk", "--config", config.arg(), "--yes"];
    (Peer::ready(a2c(&args)), config)
}

/// Asks as the Agent of an office.
pub(crate) fn agent(hub: &Peer, office: &str, rest: &[&str]) -> Ran {
    let mut args = vec!["agent", "--url", hub.address(), "--office", office];
    args.extend(rest);
    run(&args)
}

/// Other tests open thousands of connections: one of them may hold the port for a moment as its own.
pub(crate) fn wait_until_free(address: &str) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while let Err(error) = std::net::TcpListener::bind(address) {
        assert!(std::time::Instant::now() < deadline, "{address} is not free again: {error}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}
