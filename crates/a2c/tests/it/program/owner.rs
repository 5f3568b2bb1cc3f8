//! A Computer and its owner, who operates it from another terminal.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use a2c_testbed::Peer;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Ran, a2c, ran};

/// A folder for the sockets and states of Computers, and for their configurations.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn arg(&self, name: &str) -> String {
        self.path(name).to_str().expect("the path is UTF-8").to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("the file can be written");
        self.arg(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file can be read")
    }

    /// A command of the owner's, at home.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = a2c(&[&["computer"], args].concat());
        command.env_remove("A2C_CONTROL").env_remove("A2C_STATE");
        command.env("XDG_RUNTIME_DIR", self.0.path()).env("XDG_STATE_HOME", self.path("state"));
        command
    }

    /// Runs a command of the owner's to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args).stdin(Stdio::null()).output().expect("the program runs"))
    }

    /// Runs it with something on its standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &str) -> Ran {
        let file = self.write("standard-input", input);
        let input = std::fs::File::open(file).expect("the file can be read");
        ran(self.command(args).stdin(input).output().expect("the program runs"))
    }

    /// A Computer in an office, with more arguments.
    pub(crate) fn computer(&self, hub: &Peer, name: &str, config: &str, more: &[&str]) -> Peer {
        Peer::ready(self.starting(hub, name, config, more))
    }

    pub(crate) fn starting(&self, hub: &Peer, name: &str, config: &str, more: &[&str]) -> Command {
        let args = ["--url", hub.address(), "--office", "o", "--name", name, "--config", config];
        self.command(&[&args, more].concat())
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run(args).ok()).expect("it prints JSON")
    }

    /// What it prints, whether it succeeds or not.
    pub(crate) fn json_of_any(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run(args).stdout).expect("it prints JSON")
    }

    /// The state of a server.
    pub(crate) fn state(&self, server: &str) -> Value {
        let status = self.json(&["status", "--json"]);
        let servers = status["servers"].as_array().expect("there are servers");
        servers.iter().find(|s| s["name"] == server).map_or(Value::Null, |s| s["state"].clone())
    }
}

/// The sample server.
pub(crate) fn sample() -> Value {
    json!({"command": env!("CARGO_BIN_EXE_a2c"), "args": ["sample-server"]})
}

/// A configuration with these servers.
pub(crate) fn servers(servers: &Value) -> String {
    json!({ "servers": servers }).to_string()
}
