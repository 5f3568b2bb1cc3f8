//! Files for a hub, and what it says about them.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::program::{Ran, a2c, ran};

/// Files of a test, which are private unless told otherwise.
pub(crate) struct Folder(pub(crate) TempDir);

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(folder.path(name), text).unwrap();
            folder.chmod(name, 0o600);
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn chmod(&self, name: &str, mode: u32) {
        std::fs::set_permissions(self.path(name), PermissionsExt::from_mode(mode)).unwrap();
    }

    /// Checks `hub.toml` of the folder, with more flags and variables.
    pub(crate) fn check(&self, args: &[&str], environment: &[(&str, &str)]) -> Ran {
        let file = self.path("hub.toml");
        let mut command = a2c(&[&["server", "--check", "--config", file.to_str().unwrap()], args].concat());
        ran(command.envs(environment.iter().copied()).current_dir(self.0.path()).output().unwrap())
    }
}

/// The rows of a check: value and origin by name.
pub(crate) fn rows(shown: &str) -> HashMap<&str, (&str, &str)> {
    shown
        .lines()
        .map(|line| {
            let (name, rest) = line.split_once(' ').unwrap();
            let (value, origin) = rest.trim().rsplit_once("  ").unwrap();
            (name, (value.trim(), origin.trim()))
        })
        .collect()
}
