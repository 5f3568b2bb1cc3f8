//! Automation: the same commands for people and for CI.

mod bench;
mod ci;
mod deny;
mod documentation;
mod examples;
mod features;
mod fuzz;
mod layers;
mod metadata;
mod names;
mod source;

use std::ffi::OsStr;
use std::process::{Command, ExitCode, Stdio};

const HELP: &str = "\
cargo xtask COMMAND

  test [ARGS]   Set up the Python and Node environments of the tests, then run all tests.
                ARGS go to the test runner (cargo-nextest where installed, else cargo test).
                With A2C_TEST_LOAD=full, tests under load do ten times as much.
  ci            What CI runs: all of this but benchmarks and libFuzzer, formatting, clippy, documentation.
  layers [CRATES]
                Check that crates depend only downwards, as docs/ARCHITECTURE.md says, that the modules
                of a crate form no circle, and that every crate has a page in docs/architecture whose
                modules exist. With names: show the circles of these crates.
  names         Check that every type that other modules see has a name of its own in the workspace.
  deny          Check licences, unwanted crates and sources of all dependencies, as deny.toml rules.
  typos         Look for misspelt words.
  features      Check every crate with every combination of its features.
  examples      Run every example of every crate; every library has a README and an example.
  bench computer [overhead] [crowd] [tools] [large]
                A call through everything against a plain MCP client (also as `bench calls`), fifty
                MCP servers of which fifteen misbehave, two thousand tools, and messages of 24 MiB.
  bench context [quick] [finder] [change] [desktop] [news]
                The Finder with a million documents, the Desktop with windows that hang, and how long
                a change takes to be heard
  bench hub [--quick] [--only NAME] [--servers NAMES] [--chaos [SECONDS]]
                The hub under load against the Python SDK's server and two bare relays; `--help`
                says more. A2C_BIN names another a2c than the one that is built for this.
  fuzz SECONDS [TARGETS]
                Give libFuzzer every target, or these, for so long each (needs cargo-fuzz). The tests
                of a2c-fuzz try all of them for some seconds without it.";

/// The environment in which cargo builds with clippy: one pass for what would take two, checking and building.
const CLIPPY_COMPILES: [(&str, &str); 2] =
    [("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"), ("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__")];

/// A step that failed; it has said why.
struct Failed;

fn main() -> ExitCode {
    if let Some(code) = documentation::in_place_of_rustdoc() {
        return code;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match args.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", &[][..]),
    };
    let outcome = match (command, rest) {
        ("test", rest) => test(rest, &[]),
        ("ci", []) => ci::ci(),
        ("layers", []) => layers::check(),
        ("layers", names) => layers::show(names),
        ("names", []) => names::check(),
        ("deny", []) => deny::check(),
        ("typos", []) => typos(),
        ("features", []) => features::check(),
        ("examples", []) => examples::run(&[]),
        ("bench", [name, rest @ ..]) => bench::run(name, rest),
        ("fuzz", [seconds, targets @ ..]) => fuzz::run(seconds, targets),
        _ => {
            eprintln!("{HELP}");
            return if matches!(command, "help" | "--help" | "-h") { ExitCode::SUCCESS } else { ExitCode::from(2) };
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed) => ExitCode::FAILURE,
    }
}

fn test(args: &[String], environment: &[(&str, &str)]) -> Result<(), Failed> {
    step("setting up the test environments");
    a2c_testbed::setup_all();
    // Examples in the documentation are tests too; nextest does not run them.
    if args.is_empty() {
        step("cargo test --workspace --doc");
        checked(cargo().args(["test", "--workspace", "--doc", "--quiet"]).envs(environment.iter().copied()))?;
    }
    run_tests(args, environment)
}

/// The tests that are programs of their own.
fn run_tests(args: &[String], environment: &[(&str, &str)]) -> Result<(), Failed> {
    let runner: &[&str] = if has_nextest() {
        &["nextest", "run", "--workspace", "--no-fail-fast"]
    } else {
        &["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests"]
    };
    let mut command = cargo();
    command.args(runner).args(args).envs(environment.iter().copied());
    // Many tests wait for other programs: with one for each core, the cores would be idle half of the time.
    let threads = std::thread::available_parallelism().map_or(2, |cores| 2 * cores.get()).to_string();
    for variable in ["NEXTEST_TEST_THREADS", "RUST_TEST_THREADS"] {
        if std::env::var_os(variable).is_none() {
            command.env(variable, &threads);
        }
    }
    step(&format!("cargo {}", [runner.join(" "), args.join(" ")].join(" ").trim_end()));
    checked(&mut command)
}

/// The program is one of the Python environment, so that everybody has the same.
fn typos() -> Result<(), Failed> {
    let program = a2c_testbed::python_program("typos");
    step("typos");
    checked(Command::new(program).current_dir(a2c_testbed::workspace_root()))
}

fn has_nextest() -> bool {
    let probe = cargo().args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    probe.is_ok_and(|status| status.success())
}

fn run<S: AsRef<OsStr>>(program: &str, args: impl IntoIterator<Item = S>) -> Result<(), Failed> {
    let mut command = if program == "cargo" { cargo() } else { Command::new(program) };
    command.args(args);
    let words: Vec<_> = command.get_args().map(|a| a.to_string_lossy().into_owned()).collect();
    step(&format!("{program} {}", words.join(" ")));
    checked(&mut command)
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(a2c_testbed::workspace_root());
    // What `cargo run` says about this program is not for the next cargo: build scripts that look at it would run again.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            command.env_remove(name);
        }
    }
    command
}

fn checked(command: &mut Command) -> Result<(), Failed> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            eprintln!("xtask: {:?} ended with {status}", command.get_program());
            Err(Failed)
        }
        Err(error) => {
            eprintln!("xtask: cannot run {:?}: {error}", command.get_program());
            Err(Failed)
        }
    }
}

/// Says what failed.
fn failed(why: &str) -> Failed {
    eprintln!("xtask: {why}");
    Failed
}

fn step(what: &str) {
    eprintln!("xtask: {what}");
}
