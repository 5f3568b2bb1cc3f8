//! How each of the servers is started.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use a2c_testbed::Peer;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::in_process::{stdio, stdio_with};

/// The script of a server from npm.
fn npm(name: &str) -> PathBuf {
    a2c_testbed::node().dir.join(format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js"))
}

/// A server from npm on standard streams.
fn node(name: &str, args: &[&str], env: &Value) -> Value {
    let script = npm(name);
    let args = [&[script.to_str().unwrap()], args].concat();
    stdio_with(Path::new("node"), &args, env)
}

/// A server from PyPI on standard streams.
fn python(module: &str, args: &[&str]) -> Value {
    stdio(a2c_testbed::python(), &[&["-m", module], args].concat())
}

pub(crate) fn everything(env: &Value) -> Value {
    node("everything", &["stdio"], env)
}

/// May use one directory.
pub(crate) fn filesystem(dir: &Path) -> Value {
    node("filesystem", &[dir.to_str().unwrap()], &json!({}))
}

/// Keeps its graph in a file.
pub(crate) fn memory(file: &Path) -> Value {
    node("memory", &[], &json!({ "MEMORY_FILE_PATH": file }))
}

pub(crate) fn time() -> Value {
    python("mcp_server_time", &["--local-timezone", "Europe/Berlin"])
}

pub(crate) fn git(repository: &Path) -> Value {
    python("mcp_server_git", &["--repository", repository.to_str().unwrap()])
}

pub(crate) fn fetch(args: &[&str]) -> Value {
    python("mcp_server_fetch", args)
}

/// The server "everything" over HTTP: `streamableHttp` or `sse`; ready when it listens.
pub(crate) fn everything_over(transport: &str, port: u16) -> Peer {
    let mut command = a2c_testbed::node().script("mcp_everything.mjs");
    command.args([transport, &port.to_string()]);
    Peer::ready(command)
}

/// Our own server on the TypeScript SDK that speaks revision 2026-07-28 only.
pub(crate) fn without_initialize() -> Value {
    let script = a2c_testbed::node().dir.join("mcp_without_initialize.mjs");
    stdio(Path::new("node"), &[script.to_str().unwrap()])
}

/// The same over streamable HTTP.
pub(crate) fn without_initialize_over_http() -> Peer {
    let mut command = a2c_testbed::node().script("mcp_without_initialize.mjs");
    command.arg("http");
    Peer::ready(command)
}

/// Our own server on the Python package's FastMCP over HTTP: `streamable-http` or `sse`.
pub(crate) fn fastmcp_over(transport: &str) -> Peer {
    let mut command = Command::new(a2c_testbed::python());
    command.arg(a2c_testbed::workspace_root().join("tests/interop/python/fastmcp_http.py")).arg(transport);
    Peer::ready(command)
}

/// A server at an address.
pub(crate) fn at(kind: &str, url: &str) -> Value {
    json!({"type": kind, "server_parameters": {"url": url}})
}

/// A repository with one commit and one file that is not in it; `None`, said aloud, where there is no git.
pub(crate) fn repository() -> Option<TempDir> {
    let dir = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
        let mut command = Command::new("git");
        command.args(who).args(args).current_dir(dir.path()).stdout(Stdio::null());
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.status()
    };
    match git(&["init", "--quiet", "--initial-branch=main"]) {
        Ok(status) => assert!(status.success(), "git init"),
        Err(error) => {
            eprintln!("SKIPPED: mcp-server-git is not tested, as there is no git here: {error}");
            return None;
        }
    }
    std::fs::write(dir.path().join("kept.txt"), "kept\n").unwrap();
    for args in [&["add", "kept.txt"][..], &["commit", "--quiet", "-m", "Keep a file"]] {
        assert!(git(args).unwrap().success(), "git {args:?}");
    }
    std::fs::write(dir.path().join("new.txt"), "new\n").unwrap();
    Some(dir)
}
