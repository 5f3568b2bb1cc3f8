//! Every library has a README and an example, and every example runs to a good end.

use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use crate::metadata::{self, Crate, list, text};
use crate::{Failed, cargo, failed, step};

/// How long an example may run.
const LIMIT: Duration = Duration::from_secs(60);

/// Checks that there are READMEs and examples, and runs the examples, which are built in this environment.
pub(crate) fn run(environment: &[(&str, &str)]) -> Result<(), Failed> {
    step("examples");
    let crates = metadata::workspace()?;
    let mut mistakes = missing(&crates);
    for (name, program) in build(environment)? {
        step(&format!("example {name}"));
        if let Err(why) = run_one(&program) {
            mistakes.push(format!("example {name}: {why}"));
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(failed(&mistakes.join("\n"))) }
}

/// What published libraries lack.
fn missing(crates: &[Crate]) -> Vec<String> {
    let mut mistakes = Vec::new();
    for library in crates.iter().filter(|one| one.has_library && one.published) {
        if !library.folder.join("README.md").exists() {
            mistakes.push(format!("{} has no README.md", library.name));
        }
        if library.examples.is_empty() {
            mistakes.push(format!("{} has no example", library.name));
        }
    }
    mistakes
}

/// Builds the examples of all crates, in the order of their names.
fn build(environment: &[(&str, &str)]) -> Result<Vec<(String, PathBuf)>, Failed> {
    let mut command = cargo();
    command.args(["build", "--workspace", "--examples", "--quiet", "--message-format", "json-render-diagnostics"]);
    command.envs(environment.iter().copied());
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.map_err(|error| failed(&format!("cannot run cargo build: {error}")))?;
    if !output.status.success() {
        return Err(failed("the examples do not build"));
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    let messages = stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut examples: Vec<(String, PathBuf)> = messages
        .filter(|message| list(&message["target"]["kind"]).any(|kind| text(kind) == "example"))
        .filter_map(|message| {
            let program = message["executable"].as_str()?.into();
            Some((text(&message["target"]["name"]).to_owned(), program))
        })
        .collect();
    examples.sort();
    Ok(examples)
}

fn run_one(program: &PathBuf) -> Result<(), String> {
    let mut command = Command::new(program);
    command.current_dir(a2c_testbed::workspace_root()).stdin(std::process::Stdio::null());
    let mut child = command.stdout(std::process::Stdio::null()).spawn().map_err(|error| error.to_string())?;
    let end = Instant::now() + LIMIT;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return ended(status),
            Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it did not end within {LIMIT:?}"));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn ended(status: ExitStatus) -> Result<(), String> {
    if status.success() { Ok(()) } else { Err(format!("it ended with {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(name: &str, examples: &[&str]) -> Crate {
        Crate {
            name: name.to_owned(),
            // The folder of this crate, which has no README.
            folder: env!("CARGO_MANIFEST_DIR").into(),
            published: true,
            has_library: true,
            roots: Vec::new(),
            examples: examples.iter().map(|name| (*name).to_owned()).collect(),
            features: Vec::new(),
            features_in_workspace: Vec::new(),
            dependencies: Vec::new(),
        }
    }

    #[test]
    fn a_library_without_a_readme_or_an_example_is_named() {
        assert_eq!(missing(&[library("a", &[])]), ["a has no README.md", "a has no example"]);
        assert_eq!(missing(&[library("a", &["one"])]), ["a has no README.md"]);
        assert_eq!(missing(&[Crate { published: false, ..library("a", &[]) }]), Vec::<String>::new());
        let whole = Crate { folder: a2c_testbed::workspace_root(), ..library("a", &["one"]) };
        assert_eq!(missing(&[whole]), Vec::<String>::new());
    }

    #[test]
    fn an_example_ends_well_or_says_why() {
        assert_eq!(run_one(&"true".into()), Ok(()));
        assert_eq!(run_one(&"false".into()), Err("it ended with exit status: 1".to_owned()));
        assert!(run_one(&"/no/such/program".into()).is_err());
    }
}
