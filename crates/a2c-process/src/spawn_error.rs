//! Why a process did not start.

use std::io;
use std::path::Path;

use crate::launch::Launch;
use crate::redact::Redact;

/// Why a process did not start. The text names the program and the failure, without secrets; what to change, a caller
/// tells from the kind.
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
    /// The program is a directory.
    ProgramIsDirectory,
    /// The file is there and may not be executed.
    NotExecutable,
    /// The file may be executed, but is no program of this kind of machine, nor a script that names its interpreter.
    UnknownFormat,
    /// The arguments and the environment are too long together.
    ArgumentsTooLong,
    /// The program, an argument or the environment holds a NUL character.
    NulCharacter,
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
        let text = format!("cannot start '{}': {error}", launch.command.display());
        Self { kind: kind(launch, error), text: redact.redact(&text) }
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
    let program = Path::new(&launch.command);
    let is_path = launch.command.as_encoded_bytes().contains(&b'/');
    match error.kind() {
        io::ErrorKind::NotFound if is_path && program.is_file() => SpawnErrorKind::InterpreterNotFound,
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => SpawnErrorKind::ProgramNotFound,
        io::ErrorKind::PermissionDenied if program.is_dir() => SpawnErrorKind::ProgramIsDirectory,
        io::ErrorKind::PermissionDenied => SpawnErrorKind::NotExecutable,
        io::ErrorKind::ArgumentListTooLong => SpawnErrorKind::ArgumentsTooLong,
        io::ErrorKind::InvalidInput => SpawnErrorKind::NulCharacter,
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => SpawnErrorKind::Refused,
        _ => match error.raw_os_error() {
            Some(EXEC_FORMAT) => SpawnErrorKind::UnknownFormat,
            Some(TOO_MANY_FILES | TOO_MANY_FILES_IN_SYSTEM) => SpawnErrorKind::Refused,
            _ => SpawnErrorKind::Io,
        },
    }
}

/// `ENOEXEC`, `ENFILE` and `EMFILE`, the same numbers on every Unix. They have no [`io::ErrorKind`] of their own.
const EXEC_FORMAT: i32 = 8;
const TOO_MANY_FILES_IN_SYSTEM: i32 = 23;
const TOO_MANY_FILES: i32 = 24;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::MarkIssuer;
    use crate::redact::NoSecrets;

    #[tokio::test]
    async fn the_kind_says_why_a_program_does_not_start() {
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
        let check_launch = |mut launch: Launch, expected: SpawnErrorKind| {
            launch.env.push(("PATH".into(), "/nowhere".into()));
            let error = launch.command(&MarkIssuer::new().next()).spawn().unwrap_err();
            let text = format!("cannot start '{}': {error}", launch.command.display());
            let error = SpawnError::new(&launch, &error, &NoSecrets);
            assert_eq!((error.kind(), error.to_string()), (expected, text));
        };
        let check = |command: &str, cwd: Option<&str>, expected: SpawnErrorKind| {
            let mut launch = Launch::new(command);
            launch.cwd = cwd.map(Into::into);
            check_launch(launch, expected);
        };
        check("no-such-program", None, ProgramNotFound);
        check("/no/such/file", None, ProgramNotFound);
        check("", None, ProgramNotFound);
        check("/bin/true", Some("/no/such/directory"), WorkingDirectory);
        check(&file("plain", "#!/bin/sh"), None, NotExecutable);
        check(dir.path().to_str().unwrap(), None, ProgramIsDirectory);
        check(&executable("script", "#!/no/such/interpreter\n"), None, InterpreterNotFound);
        check(&executable("garbage", "\x01\x02\x03"), None, UnknownFormat);
        check("a\0b", None, NulCharacter);
        check_launch(Launch::new("/bin/true").args(["x".repeat(16 << 20)]), ArgumentsTooLong);
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
