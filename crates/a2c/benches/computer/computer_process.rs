//! A Computer as users run it: the real program in a process of its own.
#![allow(dead_code, reason = "each bench uses its own part")]

use std::process::Command;

use a2c_testbed::Peer;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Bench;

/// The office of everybody here.
pub(crate) const OFFICE: &str = "o";

/// A Computer that runs until this is dropped.
pub(crate) struct ComputerProcess {
    pub(crate) name: String,
    _config: TempDir,
    process: Peer,
}

impl ComputerProcess {
    /// Starts it with these MCP servers; it is in the office when this returns.
    pub(crate) fn start(bench: &Bench, name: &str, servers: &Value) -> Self {
        Self::start_with(bench, name, servers, &[])
    }

    /// The same, with more on the command line.
    pub(crate) fn start_with(bench: &Bench, name: &str, servers: &Value, more: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("computer.json");
        std::fs::write(&file, json!({ "servers": servers }).to_string()).expect("the file can be written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_a2c"));
        command.args(["computer", "--url", &bench.hub.url(), "--office", OFFICE, "--name", name, "--yes", "--config"]);
        command.arg(&file).args(more);
        Self { name: name.to_owned(), _config: dir, process: Peer::ready(command) }
    }

    /// How much memory it holds, in KiB.
    pub(crate) fn resident_kib(&self) -> f64 {
        self.memory_kib("VmRSS:")
    }

    /// The most memory that it has held, in KiB.
    pub(crate) fn peak_kib(&self) -> f64 {
        self.memory_kib("VmHWM:")
    }

    fn memory_kib(&self, which: &str) -> f64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.process.pid())).expect("it runs, on Linux");
        let line = status.lines().find_map(|line| line.strip_prefix(which)).expect("it has memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// How long it has kept a processor busy, in milliseconds.
    pub(crate) fn cpu_ms(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.pid())).expect("it runs, on Linux");
        // The name in parentheses may hold anything; user and system time are the 12th and 13th field behind it.
        let (_, fields) = stat.rsplit_once(')').expect("it has a name");
        let ticks: f64 =
            fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<f64>().expect("a number")).sum();
        ticks * 10.0
    }

    /// Ends it in order.
    pub(crate) fn stop(mut self) {
        self.process.terminate();
    }
}

/// The sample server.
pub(crate) fn sample() -> Value {
    stdio(env!("CARGO_BIN_EXE_a2c"), &["sample-server"])
}

/// A server of the tests that misbehaves, or only has much to list.
pub(crate) fn script(file: &str, args: &[&str]) -> Value {
    let script = a2c_testbed::workspace_root().join("tests/hostile").join(file);
    let script = script.to_str().expect("the path is UTF-8");
    stdio(a2c_testbed::python().to_str().expect("the path is UTF-8"), &[&[script], args].concat())
}

fn stdio(command: &str, args: &[&str]) -> Value {
    json!({"type": "stdio", "server_parameters": {"command": command, "args": args}})
}
