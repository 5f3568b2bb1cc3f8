//! The Node environment of the tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::environment::{ensure, read, run};
use crate::workspace_root;

const REMEDY: &str = "install Node 20 or newer with npm, give npm access to a registry, then run \
                      the tests again (delete tests/interop/node/node_modules to start over)";

/// A folder of scripts with the packages they import.
#[derive(Debug, Clone)]
pub struct NodeEnv {
    /// `tests/interop/node`, with `node_modules` installed.
    pub dir: PathBuf,
}

impl NodeEnv {
    /// A command that runs a script of the folder.
    pub fn script(&self, name: impl AsRef<Path>) -> Command {
        let mut command = Command::new("node");
        command.current_dir(&self.dir).arg(name.as_ref());
        command
    }
}

/// The folder `tests/interop/node` with the packages its lock file names; installed when needed.
pub fn node() -> NodeEnv {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    NodeEnv { dir: DIR.get_or_init(make).clone() }
}

fn make() -> PathBuf {
    let dir = workspace_root().join("tests/interop/node");
    let recipe = read(&dir.join("package-lock.json"));
    ensure(&dir, &dir.join("node_modules/.stamp"), &recipe, || {
        let mut npm = Command::new("npm");
        npm.current_dir(&dir).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
        run(&mut npm, REMEDY);
    });
    dir
}
