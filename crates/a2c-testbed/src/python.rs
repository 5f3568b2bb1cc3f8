//! The Python environment of the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::environment::{ensure, read, run};
use crate::workspace_root;

const REMEDY: &str = "install Python 3.11 or newer with its venv module, give pip access to a \
                      package index, then run the tests again (delete tests/interop/python/.venv \
                      to start over)";

/// The interpreter of a virtual environment with everything `tests/interop/python/requirements.txt`
/// names; made when needed, which takes a minute the first time.
pub fn python() -> &'static Path {
    static INTERPRETER: OnceLock<PathBuf> = OnceLock::new();
    INTERPRETER.get_or_init(make)
}

/// A program that a package of the environment brings.
pub fn python_program(name: &str) -> PathBuf {
    python().with_file_name(name)
}

/// A command that runs a script of `tests/interop/python`.
pub fn python_script(name: &str) -> Command {
    let mut command = Command::new(python());
    command.arg(workspace_root().join("tests/interop/python").join(name));
    command
}

fn make() -> PathBuf {
    let folder = workspace_root().join("tests/interop/python");
    let requirements = folder.join("requirements.txt");
    let environment = folder.join(".venv");
    let interpreter = environment.join("bin/python");
    let recipe = read(&requirements);
    ensure(&folder, &environment.join("stamp"), &recipe, || {
        if environment.exists() {
            fs::remove_dir_all(&environment)
                .unwrap_or_else(|error| panic!("cannot remove {}: {error}", environment.display()));
        }
        let base = system_python();
        run(Command::new(base).args(["-m", "venv"]).arg(&environment), REMEDY);
        run(
            Command::new(&interpreter)
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
                .arg(&requirements),
            REMEDY,
        );
    });
    interpreter
}

/// The first Python on the path that is new enough.
fn system_python() -> &'static str {
    let candidates = ["python3", "python3.13", "python3.12", "python3.11"];
    let new_enough = |name: &&str| {
        let check = "import sys; sys.exit(sys.version_info < (3, 11))";
        let checked = Command::new(name).args(["-c", check]).output();
        checked.is_ok_and(|output| output.status.success())
    };
    let found = candidates.into_iter().find(new_enough);
    found.unwrap_or_else(|| panic!("none of {candidates:?} is a Python of version 3.11 or newer\nWhat to do: {REMEDY}"))
}
