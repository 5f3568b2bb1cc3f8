//! Everything that CI runs, with the time that each part takes.

use std::thread;
use std::time::{Duration, Instant};

use crate::{Failed, cargo, checked, deny, examples, failed, features, layers, run, step, test, typos};

/// The parts that are over, and how long they took.
#[derive(Default)]
struct Times(Vec<(&'static str, Duration)>);

impl Times {
    fn part(&mut self, name: &'static str, work: impl FnOnce() -> Result<(), Failed>) -> Result<(), Failed> {
        let start = Instant::now();
        let outcome = work();
        self.0.push((name, start.elapsed()));
        outcome
    }

    fn tell(&self) {
        for (name, time) in &self.0 {
            eprintln!("xtask: {:>5.0} s  {name}", time.as_secs_f64());
        }
        let total: Duration = self.0.iter().map(|(_, time)| *time).sum();
        eprintln!("xtask: {:>5.0} s  together", total.as_secs_f64());
    }
}

/// Runs everything; ends with the first part that fails.
pub(crate) fn ci() -> Result<(), Failed> {
    let mut times = Times::default();
    let outcome = parts(&mut times);
    times.tell();
    outcome
}

fn parts(times: &mut Times) -> Result<(), Failed> {
    times.part("formatting", || run("cargo", ["fmt", "--all", "--check"]))?;
    times.part("layers", layers::check)?;
    times.part("dependencies", deny::check)?;
    // Mostly waiting for downloads: they go on while the compiler works.
    let environments = thread::spawn(a2c_testbed::setup_all);
    times.part("clippy", || run("cargo", ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    times.part("documentation", documentation)?;
    times.part("features", features::check)?;
    times.part("environments", || environments.join().map_err(|_| failed("the test environments cannot be set up")))?;
    times.part("spelling", typos)?;
    times.part("tests", || test(&[]))?;
    times.part("tests of features", features::test)?;
    times.part("examples", examples::run)
}

/// Documents what clippy has just checked. The examples are among the targets because they need what tests need: without
/// them the dependencies would be checked once more, with other features.
fn documentation() -> Result<(), Failed> {
    step("cargo doc");
    let targets = ["--lib", "--bins", "--examples"];
    let mut command = cargo();
    command.args(["doc", "--workspace", "--no-deps", "--document-private-items"]).args(targets);
    checked(command.env("RUSTDOCFLAGS", "-D warnings"))
}
