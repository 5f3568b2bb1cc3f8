//! A Computer whose MCP servers do not want to end, and what is left when it is gone: nothing.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use a2c_testbed::processes::{bearing, children, runs};
use a2c_testbed::{Peer, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::program::{Config, a2c, hub};

/// What the relatives of each server are like; see `family.py`.
const TREES: [&[&str]; 10] = [
    &["stubborn"],
    &["group"],
    &["session"],
    &["daemon"],
    &["bare"],
    &["bare-daemon"],
    &["deaf", "session", "daemon"],
    &["deaf", "bare", "bare-daemon"],
    &["stubborn", "group", "session", "daemon", "bare", "bare-daemon"],
    &["fork"],
];

/// A Computer with servers of the worst kind.
struct ProcessTrees {
    computer: Peer,
    traces: ProcessTraces,
    _hub: Peer,
    _config: Config,
}

/// How the processes of one test are found.
struct ProcessTraces {
    /// A word in the environment of the Computer and of all its processes that have one.
    word: String,
    /// A folder of files in which processes have noted their numbers.
    pids: PathBuf,
}

impl ProcessTrees {
    fn new(trees: &[&[&str]]) -> Self {
        let hub = hub();
        let script = a2c_testbed::workspace_root().join("tests/hostile/family.py");
        let traces = ProcessTraces::new();
        let server = |(i, family): (usize, &&[&str])| {
            let file = traces.pids.join(i.to_string());
            let args = [&[script.to_str().unwrap(), file.to_str().unwrap()], *family].concat();
            (format!("s{i}"), json!({"command": a2c_testbed::python(), "args": args}))
        };
        let servers: serde_json::Map<_, _> = trees.iter().enumerate().map(server).collect();
        let config = Config::new(&json!({"mcpServers": servers}).to_string());
        let computer = Peer::ready(traces.computer(&hub, &config));
        Self { computer, traces, _hub: hub, _config: config }
    }

    fn guardian(&self) -> Option<u32> {
        let is_guardian = |pid: &u32| {
            std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.ends_with(b"\0guard\0")) && runs(*pid)
        };
        children(self.computer.pid()).into_iter().find(is_guardian)
    }
}

impl ProcessTraces {
    fn new() -> Self {
        let pids = tempfile::tempdir().unwrap().keep();
        Self { word: format!("test-{}", pids.file_name().unwrap().to_str().unwrap()), pids }
    }

    /// A Computer that leaves these traces.
    fn computer(&self, hub: &Peer, config: &Config) -> Command {
        let args = ["--url", hub.address(), "--office", "o", "--name", "desk", "--config", config.arg(), "--yes"];
        let mut command = a2c(&[&["computer"], &args[..]].concat());
        // As for a Computer that is itself started by another one.
        command.env("A2C_FAMILY", &self.word);
        command
    }

    /// The processes that have noted themselves, as far as they run.
    fn living(&self) -> Vec<(String, u32)> {
        let files = std::fs::read_dir(&self.pids).unwrap().flatten();
        let text: String = files.map(|file| std::fs::read_to_string(file.path()).unwrap()).collect();
        let told = text.lines().filter_map(|line| line.split_once(' '));
        told.map(|(name, pid)| (name.to_owned(), pid.parse().unwrap())).filter(|(_, pid)| runs(*pid)).collect()
    }

    /// Waits until the Computer, its guardian and all that they started have ended.
    #[track_caller]
    fn all_have_ended(&self) {
        until("the end of every process", || self.living().is_empty() && bearing(&self.word).is_empty());
    }
}

impl Drop for ProcessTraces {
    fn drop(&mut self) {
        // A test that failed must not leave behind what it found left behind.
        for pid in self.living().into_iter().map(|(_, pid)| pid).chain(bearing(&self.word)) {
            signal(pid, Signal::KILL);
        }
        let _ = std::fs::remove_dir_all(&self.pids);
    }
}

fn signal(pid: u32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal);
}

/// Whether the process has the same pipe as another one has as this descriptor.
fn shares_pipe(pid: u32, with: u32, descriptor: u32) -> bool {
    let pipe = std::fs::read_link(format!("/proc/{with}/fd/{descriptor}")).unwrap();
    assert!(pipe.to_str().unwrap().starts_with("pipe:"), "{pipe:?}");
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    descriptors.filter_map(|entry| std::fs::read_link(entry.path()).ok()).any(|other| other == pipe)
}

#[test]
fn nothing_survives_a_computer_that_is_killed() {
    let trees = ProcessTrees::new(&TREES);
    let relatives = TREES.iter().flat_map(|family| family.iter()).filter(|t| !["deaf", "fork"].contains(t)).count();
    assert!(trees.traces.living().len() >= TREES.len() + relatives, "{:?}", trees.traces.living());
    signal(trees.computer.pid(), Signal::KILL);
    trees.traces.all_have_ended();
}

/// A program that does not end, and notes itself and two others that have left its group, one without an environment.
const ENDLESS: &str = r#"#!/bin/sh
setsid sleep 1000 & echo session $! >> "FILE"
env -i setsid sleep 1000 & echo bare $! >> "FILE"
echo self $$ >> "FILE"
sleep 1000
"#;

#[test]
fn no_program_of_an_input_survives_a_computer_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    // The keyring is asked through this program, too.
    let program = folder.path().join("secret-tool");
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([folder.path().into()].into_iter().chain(std::env::split_paths(&path))).unwrap();
    for input in [
        json!({"type": "command", "id": "key", "command": "secret-tool"}),
        json!({"type": "promptString", "id": "key", "password": true}),
    ] {
        let (hub, traces) = (hub(), ProcessTraces::new());
        std::fs::write(&program, ENDLESS.replace("FILE", traces.pids.join("pids").to_str().unwrap())).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let server = json!({"command": "cat", "env": {"KEY": "${input:key}"}});
        let config = Config::new(&json!({"inputs": [input], "mcpServers": {"s": server}}).to_string());
        // It is not ready as long as its server waits for the program.
        let mut command = traces.computer(&hub, &config);
        command.env("PATH", &path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut computer = command.spawn().unwrap();
        until("the start of the program", || traces.living().len() == 3);
        computer.kill().unwrap();
        computer.wait().unwrap();
        traces.all_have_ended();
    }
}

#[test]
fn nothing_survives_a_computer_that_is_stopped() {
    let trees = ProcessTrees::new(&TREES);
    signal(trees.computer.pid(), Signal::TERM);
    until("its end", || !runs(trees.computer.pid()));
    // Not a moment later: it is its promise.
    assert_eq!(trees.traces.living(), []);
    assert_eq!(bearing(&trees.traces.word), [0; 0]);
}

#[test]
fn a_guardian_that_dies_is_replaced_by_one_who_knows_everything() {
    let trees = ProcessTrees::new(&[&["deaf", "stubborn", "bare-daemon"]]);
    let first = trees.guardian().expect("a guardian");
    signal(first, Signal::KILL);
    until("another guardian", || trees.guardian().is_some_and(|pid| pid != first));
    until("a word of it", || trees.computer.stderr_tail().contains("the guardian is gone"));
    signal(trees.computer.pid(), Signal::KILL);
    trees.traces.all_have_ended();
}

#[test]
fn a_guardian_is_apart_from_its_computer_and_its_servers() {
    let trees = ProcessTrees::new(&[&["stubborn"]]);
    let guardian = trees.guardian().expect("a guardian");
    let status = std::fs::read_to_string(format!("/proc/{guardian}/status")).unwrap();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
    let blocked = u64::from_str_radix(blocked.trim(), 16).unwrap();
    for polite in [Signal::HUP, Signal::INT, Signal::TERM, Signal::QUIT] {
        assert!(blocked & (1 << (polite.as_raw() - 1)) != 0, "{polite:?}: {blocked:x}");
    }
    let stat = std::fs::read_to_string(format!("/proc/{guardian}/stat")).unwrap();
    let session = stat.rsplit(") ").next().unwrap().split(' ').nth(3).unwrap();
    assert_eq!(session, guardian.to_string(), "no terminal of others is its own");
    assert!(shares_pipe(trees.computer.pid(), guardian, 0));
    for (name, pid) in trees.traces.living() {
        assert!(!shares_pipe(pid, guardian, 0), "{name} would keep the guardian waiting");
    }
    assert!(!shares_pipe(guardian, trees.computer.pid(), 1), "it would keep the Computer's output open");
    assert!(!shares_pipe(guardian, trees.computer.pid(), 2));
}

#[test]
fn a_guardian_without_a_computer_does_not_stay() {
    let output = a2c(&["guard"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(1), 0, 0));
}
