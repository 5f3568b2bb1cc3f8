//! The benchmarks.

use std::path::PathBuf;
use std::process::Command;

use crate::{Failed, HELP, cargo, checked, run as step_through, step};

/// Runs the benchmark of a name.
pub(crate) fn run(name: &str, args: &[String]) -> Result<(), Failed> {
    match name {
        "computer" => computer(args),
        // The first part of it.
        "calls" => computer(&["overhead".to_owned()]),
        "context" => context(args),
        "hub" => hub(args),
        other => {
            eprintln!("there is no benchmark named '{other}'\n\n{HELP}");
            Err(Failed)
        }
    }
}

/// It runs our program and, for servers that misbehave, the Python environment; which is made first, not while measuring.
fn computer(args: &[String]) -> Result<(), Failed> {
    step("setting up the Python environment");
    a2c_testbed::python();
    let cargo = ["bench", "--package", "a2c", "--bench", "computer", "--"];
    step_through("cargo", cargo.into_iter().chain(args.iter().map(String::as_str)))
}

/// Its servers are the bench itself.
fn context(args: &[String]) -> Result<(), Failed> {
    let cargo = ["bench", "--package", "a2c", "--bench", "context", "--"];
    step_through("cargo", cargo.into_iter().chain(args.iter().map(String::as_str)))
}

/// The references are no dependency of the project: their bench is a workspace of its own, and our hub runs as users run
/// it. It prepares the Python and Node environments itself, for those of the references that are asked for.
fn hub(args: &[String]) -> Result<(), Failed> {
    let folder = a2c_testbed::workspace_root().join("benches/hub");
    let target = folder.join("target");
    step("cargo build in benches/hub");
    checked(cargo().args(["build", "--release", "--target-dir"]).arg(&target).current_dir(&folder))?;
    let mut bench = Command::new(target.join("release/hub-bench"));
    bench.args(args);
    if !args.iter().any(|arg| matches!(arg.as_str(), "--help" | "-h")) {
        bench.env("A2C_BIN", a2c()?);
    }
    checked(&mut bench)
}

/// The program under test: the one that A2C_BIN names, or a fresh build.
fn a2c() -> Result<PathBuf, Failed> {
    if let Some(program) = std::env::var_os("A2C_BIN") {
        return Ok(program.into());
    }
    step_through("cargo", ["build", "--release", "--package", "a2c"])?;
    let root = a2c_testbed::workspace_root();
    // A relative folder is meant from where cargo runs, which is the root.
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
    Ok(target.join("release/a2c"))
}
