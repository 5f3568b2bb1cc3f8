//! The servers under load, each a process of its own.

use std::path::PathBuf;
use std::process::Command;

use a2c_testbed::Peer;

/// A server that can be started.
pub struct Server {
    pub name: &'static str,
    command: fn() -> Command,
}

/// A server that runs until it is dropped.
pub struct Running {
    pub url: String,
    pub pid: u32,
    _peer: Peer,
}

/// Ours first, then what it is compared with.
pub fn all() -> Vec<Server> {
    vec![
        Server { name: "a2c", command: a2c },
        Server { name: "bare relay (socketioxide)", command: relay },
        Server { name: "bare relay (Node socket.io)", command: node },
        Server { name: "Python SDK server", command: python },
    ]
}

impl Server {
    pub fn start(&self) -> Running {
        let peer = Peer::ready((self.command)());
        Running { url: peer.address().to_owned(), pid: peer.pid(), _peer: peer }
    }
}

/// `cargo xtask bench hub` builds it and says where it is.
fn a2c() -> Command {
    let program = std::env::var_os("A2C_BIN").expect("A2C_BIN names the a2c program: use `cargo xtask bench hub`");
    let mut command = Command::new(program);
    command.args(["server", "--listen", "127.0.0.1:0", "--auth", "none", "--ping-timeout", "20", "--log", "error"]);
    command
}

fn relay() -> Command {
    let mut program: PathBuf = std::env::current_exe().expect("this program");
    program.set_file_name("relay");
    Command::new(program)
}

fn node() -> Command {
    a2c_testbed::node().script("bench_relay.mjs")
}

fn python() -> Command {
    let mut command = Command::new(a2c_testbed::python());
    command.arg(a2c_testbed::workspace_root().join("tests/interop/python/bench_server.py"));
    command
}
