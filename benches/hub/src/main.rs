//! Load on a hub and on what it is compared with, in one run.
//!
//! The members are all in this process, as raw frames (`wire`); each server is a process of its own (`servers`), whose
//! CPU time and memory are read from the system (`machine`), so that the generator does not count. The `phases` measure
//! one thing each, `chaos` looks for lost and doubled answers while members die, and `bars` judges the figures.

mod bars;
mod chaos;
mod cli;
mod cores;
mod figures;
mod machine;
mod phases;
mod progress;
mod servers;
mod wire;

use std::process::ExitCode;

use bars::Results;
use clap::Parser;
use cli::{Options, Phase};
use cores::Cores;
use phases::{Plan, broadcast, calls, fairness, growth, idle, joins};
use progress::Progress;
use servers::Server;

fn main() -> ExitCode {
    let options = Options::parse();
    let cores = if options.share_cores { None } else { Cores::split() };
    // Before the threads of the runtime exist: they stay where this one is.
    if let Some(cores) = cores {
        cores.stay();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads can be started");
    runtime.block_on(bench(&options, cores))
}

async fn bench(options: &Options, cores: Option<Cores>) -> ExitCode {
    let plan = Plan {
        connections: machine::connections(),
        servers: Server::found(&options.servers(), cores),
        quick: options.quick,
        offices: options.offices.clone(),
        cores,
        progress: Progress::new(),
    };
    let names: Vec<String> = plan.servers.iter().map(Server::to_string).collect();
    plan.progress.print(format_args!(
        "{}\nup to {} connections; cores {}; servers: {}",
        machine::about(),
        plan.connections,
        if plan.cores.is_some() { "split between server and load" } else { "shared by server and load" },
        names.join(", ")
    ));

    let mut results = Results::default();
    if options.wants(Phase::Calls) {
        results.calls = calls::run(&plan).await;
    }
    if options.wants(Phase::Idle) {
        results.idle = idle::run(&plan).await;
    }
    if options.wants(Phase::Joins) {
        results.joins = joins::run(&plan).await;
    }
    if options.wants(Phase::Broadcast) {
        results.broadcast = broadcast::run(&plan).await;
    }
    if options.wants(Phase::Growth) {
        results.growth = growth::run(&plan).await;
    }
    if options.wants(Phase::Fairness) {
        results.fairness = fairness::run(&plan).await;
    }
    if options.wants(Phase::Chaos) && plan.servers.contains(&Server::A2c) {
        let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        results.chaos = Some(chaos::run(&plan, options.chaos_seconds(), seed).await);
    }
    plan.progress.print(results.summary());
    if results.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
