//! What to start, as plain data.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::Command;

use crate::mark::{self, ProcessMark};

/// What a process inherits of our environment unless [`Launch::inherited`] says otherwise. The rest is not passed on.
pub const BASIC_ENVIRONMENT: [&str; 9] =
    ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/// What a program inherits that uses the session of the user, such as a password manager: [`BASIC_ENVIRONMENT`], and how
/// it finds its own settings and the session's keyring, on every operating system.
pub const SESSION_ENVIRONMENT: [&str; 20] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "USER",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "APPDATA",
    "LOCALAPPDATA",
    "PATHEXT",
    "SystemRoot",
    "TEMP",
    "TMP",
    "USERPROFILE",
];

/// A program with its arguments, its environment and its working directory. Values may be secrets: there is no `Debug`.
#[derive(Clone)]
pub struct Launch {
    /// The program: a path, or a name that is looked up on the `PATH`.
    pub command: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The names of the variables that it inherits of our environment, as far as they are set.
    pub inherited: Vec<&'static str>,
    /// Its own variables, which win over the inherited ones.
    pub env: Vec<(OsString, OsString)>,
    /// Where it runs; in our own working directory by default.
    pub cwd: Option<PathBuf>,
}

impl Launch {
    /// This program without arguments, with [`BASIC_ENVIRONMENT`].
    pub fn new(command: impl Into<OsString>) -> Self {
        let inherited = BASIC_ENVIRONMENT.to_vec();
        Self { command: command.into(), args: Vec::new(), inherited, env: Vec::new(), cwd: None }
    }

    /// Inherits these variables instead.
    #[must_use]
    pub fn inheriting(mut self, names: &[&'static str]) -> Self {
        self.inherited = names.to_vec();
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Its process leads a group and bears the mark.
    pub(crate) fn command(&self, mark: &ProcessMark) -> Command {
        let mut command = Command::new(&self.command);
        command.args(&self.args).env_clear();
        command.envs(self.inherited.iter().filter_map(|key| Some((key, std::env::var_os(key)?))));
        command.envs(self.env.iter().map(|(key, value)| (key, value)));
        // Last: a launch does not choose its mark.
        command.env(mark::VARIABLE, mark.variable());
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        command
    }
}
