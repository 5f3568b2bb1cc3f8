//! How a server's process is started, and what it says when that fails.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use a2c_protocol::config::StdioParameters;
use a2c_secrets::Redactor;
use tokio::process::Command;

use super::family::{self, Family, Marker};
use super::guardian::Guardian;
use crate::servers::log::ServerLog;

/// What a child inherits of our environment; the rest is none of its business.
pub(crate) const INHERITED: [&str; 9] =
    ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/// What is needed to start a server.
pub(crate) struct Launch<'a> {
    /// The server's name.
    pub(crate) name: &'a str,
    /// What to run, with every placeholder replaced.
    pub(crate) stdio: &'a StdioParameters,
    /// What must not be seen of it.
    pub(crate) secrets: &'a Redactor,
    /// Where its lines go.
    pub(crate) log: &'a Arc<ServerLog>,
    /// Whose process it will be.
    pub(crate) family: &'a Family,
    /// Who ends it when we cannot.
    pub(crate) guardian: Option<&'a Guardian>,
}

/// The command of a server. Its process leads a group and bears the mark.
pub(super) fn command(stdio: &StdioParameters, marker: &Marker) -> Command {
    let mut command = Command::new(&stdio.command);
    command.args(&stdio.args).env_clear();
    command.envs(INHERITED.into_iter().filter_map(|key| Some((key, std::env::var_os(key)?))));
    command.envs(stdio.env.iter().flatten());
    // Last: a configuration does not choose its family.
    command.env(family::VARIABLE, marker.variable());
    if let Some(cwd) = &stdio.cwd {
        command.current_dir(cwd);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    command
}

/// What stands in the way before anything is started.
pub(super) fn refuse(stdio: &StdioParameters) -> Option<String> {
    let encoding = stdio.encoding.to_ascii_lowercase().replace('_', "-");
    match encoding.as_str() {
        "utf-8" | "utf8" | "utf-8-sig" | "ascii" | "us-ascii" => None,
        _ => Some(format!("its encoding '{}' is not supported: MCP is UTF-8, remove `encoding`", stdio.encoding)),
    }
}

/// Why a process does not start, and the mistakes that usually are behind it.
pub(super) fn explain(stdio: &StdioParameters, error: &io::Error) -> String {
    let command = &stdio.command;
    let hint = hint(stdio, error).map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("cannot start '{command}': {error}{hint}")
}

fn hint(stdio: &StdioParameters, error: &io::Error) -> Option<String> {
    let command = stdio.command.as_str();
    if let Some(cwd) = &stdio.cwd {
        if cwd.starts_with('~') {
            return Some(format!("~ is not expanded: write ${{env:HOME}} into its cwd '{cwd}'"));
        }
        if !Path::new(cwd).is_dir() {
            return Some(format!("its cwd '{cwd}' is not a directory"));
        }
    }
    let is_path = command.contains('/');
    let hint = match error.kind() {
        io::ErrorKind::NotFound => match program_to_install(command) {
            _ if command.is_empty() => "`command` is empty: write the program to run".into(),
            _ if command.starts_with('~') => "~ is not expanded: write ${env:HOME}".into(),
            _ if is_path && Path::new(command).is_file() => {
                "the file is there, but the interpreter that its first line names is not".into()
            }
            _ if command.contains(' ') => "write arguments into `args`, not into `command`".into(),
            Some(what) => format!("install {what}, or write the full path of '{command}'"),
            None if is_path => "there is no such file".into(),
            None => "it is not on the PATH: install it, or write its full path".into(),
        },
        io::ErrorKind::PermissionDenied if Path::new(command).is_dir() => "it is a directory".into(),
        io::ErrorKind::PermissionDenied if is_path => format!("make it executable: chmod +x '{command}'"),
        io::ErrorKind::ArgumentListTooLong => "`args` and `env` are too long together".into(),
        io::ErrorKind::InvalidInput => "`command`, `args` or `env` contain a NUL character".into(),
        // No kind of its own: a file that is no program.
        _ if error.raw_os_error() == Some(EXEC_FORMAT) => {
            "it is no program of this kind of machine; a script needs a first line such as #!/bin/sh".into()
        }
        _ => return None,
    };
    Some(hint)
}

/// `ENOEXEC`, the same number on every Unix.
const EXEC_FORMAT: i32 = 8;

/// What brings the programs that MCP servers are usually started with.
fn program_to_install(command: &str) -> Option<&'static str> {
    Some(match Path::new(command).file_name()?.to_str()? {
        "npx" | "npm" | "node" => "Node.js, which brings node, npm and npx (package nodejs, and npm where it is apart)",
        "uvx" | "uv" => "uv, which brings uvx (package uv, or `pipx install uv`)",
        "python" => "Python (package python3; the program may be named python3)",
        "python3" | "pip" | "pip3" => "Python (package python3)",
        "pipx" => "pipx (package pipx)",
        "docker" => "Docker (package docker.io, docker-ce or docker-cli)",
        "podman" => "Podman (package podman)",
        "bun" | "bunx" => "Bun (npm package bun)",
        "deno" => "Deno (npm package deno)",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_command_that_does_not_start_is_explained() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let executable = |name: &str, text: &str| {
            use std::os::unix::fs::PermissionsExt as _;
            let path = file(name, text);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let check = |command: &str, cwd: Option<&str>, expected: &str| {
            let stdio: StdioParameters = serde_json::from_value(serde_json::json!({
                "command": command, "cwd": cwd, "env": {"PATH": "/nowhere"}
            }))
            .unwrap();
            let error = super::command(&stdio, &Family::new().start()).spawn().unwrap_err();
            let text = explain(&stdio, &error);
            assert!(text.contains(expected) && text.contains(command), "{text}");
        };
        check("npx", None, "install Node.js");
        check("uvx", None, "install uv");
        check("docker", None, "install Docker");
        check("no-such-program", None, "not on the PATH");
        check("/no/such/file", None, "no such file");
        check("npx -y server", None, "into `args`");
        check("~/server", None, "~ is not expanded");
        check("/bin/true", Some("/no/such/directory"), "is not a directory");
        check("/bin/true", Some("~/x"), "~ is not expanded");
        check(&file("plain", "#!/bin/sh"), None, "chmod +x");
        check(dir.path().to_str().unwrap(), None, "is a directory");
        check(&executable("script", "#!/no/such/interpreter\n"), None, "the interpreter");
    }

    #[test]
    fn only_utf_8_is_spoken() {
        let check = |encoding: &str, refused: bool| {
            let stdio = serde_json::from_value(serde_json::json!({"command": "x", "encoding": encoding})).unwrap();
            assert_eq!(refuse(&stdio).is_some(), refused, "{encoding}");
        };
        check("utf-8", false);
        check("UTF8", false);
        check("latin-1", true);
    }
}
