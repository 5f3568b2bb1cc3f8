//! Everything that CI runs, with the time that each part takes.

use std::thread;
use std::time::{Duration, Instant};

use crate::{
    CLIPPY_COMPILES, Failed, cargo, checked, deny, documentation, examples, failed, features, layers, names, run,
    run_tests, step, typos,
};

/// The parts that are over, how long they took, and how much of the processors.
#[derive(Default)]
struct Times(Vec<(&'static str, Duration, Duration)>);

impl Times {
    fn part(&mut self, name: &'static str, work: impl FnOnce() -> Result<(), Failed>) -> Result<(), Failed> {
        let (start, before) = (Instant::now(), processor_time());
        let outcome = work();
        self.0.push((name, start.elapsed(), processor_time().saturating_sub(before)));
        outcome
    }

    fn tell(&self) {
        let line = |name: &str, time: Duration, processor: Duration| {
            eprintln!("xtask: {:>5.0} s {:>5.0} s  {name}", time.as_secs_f64(), processor.as_secs_f64());
        };
        eprintln!("xtask:  clock    cpu");
        for (name, time, processor) in &self.0 {
            line(name, *time, *processor);
        }
        line("together", self.0.iter().map(|part| part.1).sum(), self.0.iter().map(|part| part.2).sum());
    }
}

/// The processor time of all commands that have ended; zero where the system does not tell.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    // Fields 16 and 17 of the file, counted in hundredths of a second: user and system time of children.
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
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
    times.part("names", names::check)?;
    times.part("dependencies", deny::check)?;
    // Mostly waiting for downloads: they go on while the compiler works.
    let environments = thread::spawn(a2c_testbed::setup_all);
    times.part("clippy and building", build)?;
    times.part("environments", || environments.join().map_err(|_| failed("the test environments cannot be set up")))?;
    times.part("spelling", typos)?;
    times.part("tests", || run_tests(&[], BUILD))?;
    times.part("examples", || examples::run(BUILD))?;
    times.part("documentation", || documentation::check(BUILD))?;
    times.part("features", features::check)?;
    times.part("tests of features", features::test)
}

/// How CI builds: with clippy as the compiler, without what only the next build would have from it, and without line
/// numbers in backtraces, which a panic names anyway for its own place.
const BUILD: &[(&str, &str)] =
    &[CLIPPY_COMPILES[0], CLIPPY_COMPILES[1], ("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "0")];

fn build() -> Result<(), Failed> {
    step("cargo build with clippy");
    checked(cargo().args(["test", "--workspace", "--all-targets", "--no-run", "--quiet"]).envs(BUILD.iter().copied()))
}
