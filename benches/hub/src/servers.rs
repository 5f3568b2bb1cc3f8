//! The servers under load, each a process of its own.

use std::fmt;
use std::net::SocketAddr;
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::process::Command;

use a2c_testbed::Peer;
use clap::ValueEnum;

use crate::cores::Cores;
use crate::machine::rss_kib;

/// A server that can be started. Ours first, then what it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Server {
    /// Our hub, named by A2C_BIN
    A2c,
    /// A relay without rules on the Socket.IO library of our hub
    Relay,
    /// A relay without rules on the Node socket.io server
    Node,
    /// The server of the public Python SDK
    Python,
}

/// A server that runs until it is dropped.
pub struct Running {
    pub address: SocketAddr,
    pub pid: u32,
    /// Resident memory before anybody connected.
    pub idle_kib: u64,
    _peer: Peer,
}

/// How long a member may be silent after a ping, and what it may do.
#[derive(Debug, Clone, Copy)]
pub enum Patience {
    /// The same for all servers, and long: this machine may be busy with the load itself.
    Compared,
    /// What our hub has by default, so that a silent death is noticed within ten seconds.
    Default,
    /// The same as all, and the limits that our hub has by default where other machines can reach it.
    Public,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Server::A2c => "a2c",
            Server::Relay => "bare relay (socketioxide)",
            Server::Node => "bare relay (Node socket.io)",
            Server::Python => "Python SDK server",
        })
    }
}

impl Server {
    /// Those of the wanted servers that can be started here; says which cannot.
    pub fn found(wanted: &[Server], cores: Option<Cores>) -> Vec<Server> {
        let mut servers = wanted.to_vec();
        servers.sort_unstable();
        servers.dedup();
        servers.retain(|server| {
            let starts = catch_unwind(|| drop(server.start(Patience::Compared, cores))).is_ok();
            if !starts {
                eprintln!("left out, because it does not start here: {server}");
            }
            starts
        });
        servers
    }

    /// Starts the server, on its cores where it has some of its own, and waits until it listens.
    pub fn start(self, patience: Patience, cores: Option<Cores>) -> Running {
        let command = match self {
            Server::A2c => a2c(patience),
            Server::Relay => relay(),
            Server::Node => a2c_testbed::node().script("bench_relay.mjs"),
            Server::Python => python(),
        };
        let peer = match cores {
            Some(cores) => cores.lend(|| Peer::ready(command)),
            None => Peer::ready(command),
        };
        let address = peer.address().trim_start_matches("http://").trim_end_matches('/');
        let address = address.parse().unwrap_or_else(|_| panic!("{self} listens on no address: {address}"));
        Running { address, pid: peer.pid(), idle_kib: rss_kib(peer.pid()), _peer: peer }
    }
}

/// `cargo xtask bench hub` builds it and says where it is.
fn a2c(patience: Patience) -> Command {
    let program = std::env::var_os("A2C_BIN").expect("A2C_BIN names the a2c program: use `cargo xtask bench hub`");
    let mut command = Command::new(program);
    command.args(["server", "--listen", "127.0.0.1:0", "--auth", "none", "--log", "error"]);
    if !matches!(patience, Patience::Default) {
        command.args(["--ping-timeout", "20"]);
    }
    if let Patience::Public = patience {
        command.args(["--connections-per-address", "512", "--requests-per-second", "500", "--joins-per-minute", "60"]);
        command.args(["--failed-connects-per-minute", "20", "--max-calls", "4096"]);
        // Before there was such a limit, the hub had none.
        command.env("A2C_HUB_DELIVERIES_PER_SECOND", "20000");
    }
    command
}

fn relay() -> Command {
    let mut program: PathBuf = std::env::current_exe().expect("this program");
    program.set_file_name("relay");
    Command::new(program)
}

fn python() -> Command {
    let mut command = Command::new(a2c_testbed::python());
    command.arg(a2c_testbed::workspace_root().join("tests/interop/python/bench_server.py"));
    command
}
