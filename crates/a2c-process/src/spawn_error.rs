//! Why a process did not start, and the mistakes that usually are behind it.

use std::io;
use std::path::Path;

use crate::launch::Launch;
use crate::redact::Redact;

/// Why a process did not start. The text names the program, the failure and what to change, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SpawnError {
    kind: SpawnErrorKind,
    text: String,
}

/// What kept a process from starting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnErrorKind {
    /// The working directory is missing, or is no directory.
    WorkingDirectory,
    /// There is no such program.
    ProgramNotFound,
    /// The program is a script whose interpreter is missing.
    InterpreterNotFound,
    /// The file is there and cannot be executed: a directory, no permission, or no program of this kind of machine.
    NotExecutable,
    /// The arguments or the environment are too long, or hold a NUL character.
    InvalidArguments,
    /// The operating system refuses it for now: too many processes or open files, or too little memory.
    Refused,
    /// Any other failure of the operating system.
    Io,
    /// The process started without usable standard streams.
    Streams,
}

impl SpawnErrorKind {
    /// Whether the same launch may work later without any change to it.
    pub fn is_temporary(self) -> bool {
        matches!(self, Self::Refused)
    }
}

impl SpawnError {
    pub(crate) fn new(launch: &Launch, error: &io::Error, redact: &dyn Redact) -> Self {
        let kind = kind(launch, error);
        let command = launch.command.display();
        let hint = hint(launch, kind, error).map(|hint| format!(" ({hint})")).unwrap_or_default();
        Self { kind, text: redact.redact(&format!("cannot start '{command}': {error}{hint}")) }
    }

    pub(crate) fn streams() -> Self {
        Self { kind: SpawnErrorKind::Streams, text: "its standard streams cannot be used".into() }
    }

    /// What kept it from starting.
    pub fn kind(&self) -> SpawnErrorKind {
        self.kind
    }
}

fn kind(launch: &Launch, error: &io::Error) -> SpawnErrorKind {
    if launch.cwd.as_ref().is_some_and(|cwd| !cwd.is_dir()) {
        return SpawnErrorKind::WorkingDirectory;
    }
    match error.kind() {
        io::ErrorKind::NotFound if is_path(launch) && Path::new(&launch.command).is_file() => {
            SpawnErrorKind::InterpreterNotFound
        }
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => SpawnErrorKind::ProgramNotFound,
        io::ErrorKind::PermissionDenied => SpawnErrorKind::NotExecutable,
        io::ErrorKind::ArgumentListTooLong | io::ErrorKind::InvalidInput => SpawnErrorKind::InvalidArguments,
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => SpawnErrorKind::Refused,
        _ => match error.raw_os_error() {
            Some(EXEC_FORMAT) => SpawnErrorKind::NotExecutable,
            Some(TOO_MANY_FILES | TOO_MANY_FILES_IN_SYSTEM) => SpawnErrorKind::Refused,
            _ => SpawnErrorKind::Io,
        },
    }
}

fn is_path(launch: &Launch) -> bool {
    launch.command.as_encoded_bytes().contains(&b'/')
}

fn hint(launch: &Launch, kind: SpawnErrorKind, error: &io::Error) -> Option<String> {
    let command = &*launch.command.to_string_lossy();
    let cwd = launch.cwd.as_ref().map(|cwd| cwd.to_string_lossy()).unwrap_or_default();
    let is_path = is_path(launch);
    let hint = match kind {
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
        SpawnErrorKind::NotExecutable if error.raw_os_error() == Some(EXEC_FORMAT) => {
            "it is no program of this kind of machine; a script needs a first line such as #!/bin/sh".into()
        }
        SpawnErrorKind::NotExecutable if Path::new(command).is_dir() => "it is a directory".into(),
        SpawnErrorKind::NotExecutable if is_path => format!("make it executable: chmod +x '{command}'"),
        SpawnErrorKind::InvalidArguments if error.kind() == io::ErrorKind::ArgumentListTooLong => {
            "`args` and `env` are too long together".into()
        }
        SpawnErrorKind::InvalidArguments => "`command`, `args` or `env` contain a NUL character".into(),
        _ => return None,
    };
    Some(hint)
}

/// `ENOEXEC`, `ENFILE` and `EMFILE`, the same numbers on every Unix. They have no [`io::ErrorKind`] of their own.
const EXEC_FORMAT: i32 = 8;
const TOO_MANY_FILES_IN_SYSTEM: i32 = 23;
const TOO_MANY_FILES: i32 = 24;

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
    use crate::mark::MarkIssuer;
    use crate::redact::NoSecrets;

    #[tokio::test]
    async fn a_command_that_does_not_start_is_explained() {
        use SpawnErrorKind::*;
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
        let check = |command: &str, cwd: Option<&str>, expected: &str, kind: SpawnErrorKind| {
            let mut launch = Launch::new(command);
            launch.env.push(("PATH".into(), "/nowhere".into()));
            launch.cwd = cwd.map(Into::into);
            let error = launch.command(&MarkIssuer::new().next()).spawn().unwrap_err();
            let error = SpawnError::new(&launch, &error, &NoSecrets);
            let text = error.to_string();
            assert!(text.contains(expected) && text.contains(command), "{text}");
            assert_eq!(error.kind(), kind, "{text}");
        };
        check("npx", None, "install Node.js", ProgramNotFound);
        check("uvx", None, "install uv", ProgramNotFound);
        check("docker", None, "install Docker", ProgramNotFound);
        check("no-such-program", None, "not on the PATH", ProgramNotFound);
        check("/no/such/file", None, "no such file", ProgramNotFound);
        check("npx -y server", None, "into `args`", ProgramNotFound);
        check("~/server", None, "~ is not expanded", ProgramNotFound);
        check("", None, "`command` is empty", ProgramNotFound);
        check("/bin/true", Some("/no/such/directory"), "is not a directory", WorkingDirectory);
        check("/bin/true", Some("~/x"), "~ is not expanded", WorkingDirectory);
        check(&file("plain", "#!/bin/sh"), None, "chmod +x", NotExecutable);
        check(dir.path().to_str().unwrap(), None, "is a directory", NotExecutable);
        check(&executable("script", "#!/no/such/interpreter\n"), None, "the interpreter", InterpreterNotFound);
        check(&executable("garbage", "\x01\x02\x03"), None, "no program of this kind of machine", NotExecutable);
        check("a\0b", None, "NUL character", InvalidArguments);
    }

    /// `EAGAIN` and `ENOMEM` by their numbers on Linux.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_shortage_of_the_machine_is_temporary() {
        for number in [11, 12, TOO_MANY_FILES, TOO_MANY_FILES_IN_SYSTEM] {
            let error = io::Error::from_raw_os_error(number);
            let error = SpawnError::new(&Launch::new("x"), &error, &NoSecrets);
            assert!(error.kind().is_temporary(), "{error}");
        }
    }
}
