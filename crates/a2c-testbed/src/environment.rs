//! An environment on disk that is made once and made again when what it is made from changes.
//!
//! Many test processes start at once: a lock on the environment's folder lets one of them do the
//! work. A stamp holds what the environment was made from and is written last, so an interrupted
//! build is repeated.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

/// Runs `build` unless `stamp` already holds `recipe`. `folder` exists and serves as the lock.
pub(crate) fn ensure(folder: &Path, stamp: &Path, recipe: &str, build: impl FnOnce()) {
    let lock = File::open(folder).unwrap_or_else(|error| panic!("cannot open {}: {error}", folder.display()));
    lock.lock().unwrap_or_else(|error| panic!("cannot lock {}: {error}", folder.display()));
    if fs::read_to_string(stamp).is_ok_and(|made_from| made_from == recipe) {
        return;
    }
    build();
    fs::write(stamp, recipe).unwrap_or_else(|error| panic!("cannot write {}: {error}", stamp.display()));
}

/// Reads a file that is part of a recipe.
pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

/// Runs a command to its end and gives its output; panics with all that is known otherwise.
pub(crate) fn run(command: &mut Command, remedy: &str) -> String {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("cannot run {command:?}: {error}\nWhat to do: {remedy}"),
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        panic!("{command:?} failed ({})\n--- its output\n{stdout}{stderr}\n---\nWhat to do: {remedy}", output.status);
    }
    stdout.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_made_once_per_recipe() {
        let folder = std::env::temp_dir().join(format!("a2c-testbed-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let stamp = folder.join("stamp");
        let mut made = Vec::new();
        for recipe in ["a", "a", "b", "b", "a"] {
            ensure(&folder, &stamp, recipe, || made.push(recipe));
        }
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(made, ["a", "b", "a"]);
    }

    #[test]
    fn a_failed_command_tells_its_output_and_the_remedy() {
        let failed =
            std::panic::catch_unwind(|| run(Command::new("sh").args(["-c", "echo broken >&2; exit 3"]), "mend it"));
        let message = failed.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("broken"), "{message}");
        assert!(message.contains("exit status: 3"), "{message}");
        assert!(message.contains("What to do: mend it"), "{message}");
    }
}
