//! The documentation and its examples, made from what the tests were built of.
//!
//! `cargo doc` checks every dependency once more, for minutes. `cargo test --doc` has rustdoc work with what is built
//! already; so this program takes the place of rustdoc there, has the real one run the examples, and then has it write the
//! pages with the same arguments. What is a program and no library has no pages: nobody links to them.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

use crate::{Failed, cargo, checked, failed, step};

/// Names the real rustdoc where this program takes its place.
const REAL: &str = "XTASK_RUSTDOC";

/// Options of rustdoc that are about running examples, and whether a value follows.
const OF_EXAMPLES: [(&str, bool); 6] = [
    ("--test", false),
    ("--no-run", false),
    ("--test-args", true),
    ("--test-run-directory", true),
    ("--test-runtool", true),
    ("--test-runtool-arg", true),
];

/// Runs the examples of every library and writes its pages; a warning is an error.
pub(crate) fn check(environment: &[(&str, &str)]) -> Result<(), Failed> {
    step("cargo test --workspace --doc, with pages");
    let program = env::current_exe().map_err(|error| failed(&format!("this program has no path: {error}")))?;
    let real = env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    let mut command = cargo();
    command.args(["test", "--workspace", "--doc", "--quiet"]).envs(environment.iter().copied());
    checked(command.env("RUSTDOC", program).env(REAL, real))
}

/// Does the work of rustdoc where it is called in its place.
pub(crate) fn in_place_of_rustdoc() -> Option<ExitCode> {
    let real = env::var_os(REAL)?;
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let run = |args: &[OsString]| {
        let status = Command::new(&real).env_remove(REAL).args(args).status();
        status.is_ok_and(|status| status.success())
    };
    let has_examples = args.iter().any(|arg| arg == "--test");
    let done = run(&args) && (!has_examples || run(&for_pages(&args)));
    Some(if done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The arguments that write the pages of what these run the examples of.
fn for_pages(args: &[OsString]) -> Vec<OsString> {
    let mut pages: Vec<OsString> = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        match OF_EXAMPLES.iter().find(|(option, _)| *option == name) {
            Some((_, true)) if !text.contains('=') => drop(args.next()),
            Some(_) => {}
            None => pages.push(arg.clone()),
        }
    }
    let folder = a2c_testbed::workspace_root().join("target/doc");
    pages.extend(["--document-private-items", "-Dwarnings", "--out-dir"].map(OsString::from));
    pages.push(folder.into());
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_written_with_the_arguments_of_the_examples() {
        let given =
            "--edition=2024 --crate-name x --test src/lib.rs --test-run-directory=/a --test-args -q --extern y=/y";
        let given: Vec<OsString> = given.split(' ').map(OsString::from).collect();
        let pages = for_pages(&given);
        let kept: Vec<_> = pages.iter().take_while(|arg| *arg != "--document-private-items").collect();
        assert_eq!(kept, ["--edition=2024", "--crate-name", "x", "src/lib.rs", "--extern", "y=/y"]);
    }
}
