//! What to change in the configuration of a server whose process does not start: the mistakes that usually are behind it.

use std::path::Path;

use a2c_process::SpawnErrorKind;
use a2c_protocol::config::StdioParameters;

/// What to change, in the words of the configuration. May hold secrets.
pub(super) fn start_hint(stdio: &StdioParameters, kind: SpawnErrorKind) -> Option<String> {
    let command = &*stdio.command;
    let cwd = stdio.cwd.as_deref().unwrap_or_default();
    let is_path = command.contains('/');
    let hint = match kind {
        SpawnErrorKind::Streams => return None,
        // A directory of this name may exist, but it is not what was meant.
        _ if cwd.starts_with('~') => format!("~ is not expanded: write ${{env:HOME}} into its cwd '{cwd}'"),
        SpawnErrorKind::WorkingDirectory => format!("its cwd '{cwd}' is not a directory"),
        SpawnErrorKind::InterpreterNotFound => {
            "the file is there, but the interpreter that its first line names is not".into()
        }
        SpawnErrorKind::ProgramNotFound => match program_to_install(command) {
            _ if command.is_empty() => "`command` is empty: write the program to run".into(),
            _ if command.starts_with('~') => "~ is not expanded: write ${env:HOME}".into(),
            _ if command.contains(' ') => "write arguments into `args`, not into `command`".into(),
            Some(what) => format!("install {what}, or write the full path of '{command}'"),
            None if is_path => "there is no such file".into(),
            None => "it is not on the PATH: install it, or write its full path".into(),
        },
        SpawnErrorKind::UnknownFormat => {
            "it is no program of this kind of machine; a script needs a first line such as #!/bin/sh".into()
        }
        SpawnErrorKind::ProgramIsDirectory => "it is a directory".into(),
        SpawnErrorKind::NotExecutable if is_path => format!("make it executable: chmod +x '{command}'"),
        SpawnErrorKind::ArgumentsTooLong => "`args` and `env` are too long together".into(),
        SpawnErrorKind::NulCharacter => "`command`, `args` or `env` contain a NUL character".into(),
        _ => return None,
    };
    Some(hint)
}

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
    use serde_json::json;

    #[test]
    fn a_hint_names_the_usual_mistake() {
        use SpawnErrorKind::*;
        let check = |command: &str, cwd: Option<&str>, kind: SpawnErrorKind, expected: &str| {
            let stdio: StdioParameters = serde_json::from_value(json!({"command": command, "cwd": cwd})).unwrap();
            let hint = start_hint(&stdio, kind).unwrap_or_default();
            assert!(hint.contains(expected) && hint.is_empty() == expected.is_empty(), "{command} {cwd:?}: {hint}");
        };
        check("npx", None, ProgramNotFound, "install Node.js");
        check("uvx", None, ProgramNotFound, "install uv");
        check("docker", None, ProgramNotFound, "install Docker");
        check("no-such-program", None, ProgramNotFound, "it is not on the PATH");
        check("/no/such/file", None, ProgramNotFound, "there is no such file");
        check("npx -y server", None, ProgramNotFound, "into `args`");
        check("~/server", None, ProgramNotFound, "~ is not expanded: write ${env:HOME}");
        check("", None, ProgramNotFound, "`command` is empty");
        check("true", Some("/no/such/directory"), WorkingDirectory, "its cwd '/no/such/directory' is not a directory");
        check("true", Some("~/x"), WorkingDirectory, "write ${env:HOME} into its cwd '~/x'");
        check("/plain", None, NotExecutable, "chmod +x '/plain'");
        check("plain", None, NotExecutable, "");
        check("/", None, ProgramIsDirectory, "it is a directory");
        check("/script", None, InterpreterNotFound, "the interpreter that its first line names");
        check("/garbage", None, UnknownFormat, "no program of this kind of machine");
        check("true", None, ArgumentsTooLong, "`args` and `env` are too long together");
        check("a\0b", None, NulCharacter, "NUL character");
        check("true", None, Refused, "");
        check("true", Some("~/x"), Streams, "");
    }
}
