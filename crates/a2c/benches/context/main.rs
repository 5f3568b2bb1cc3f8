//! What Desktop and Finder cost: with a hundred thousand and a million documents, with windows that hang, and from a
//! server's word to the Agent's ear.
//!
//! The Computer is the real program in a process of its own; hub and Agent are in this one. `finder`, `change`, `desktop`
//! and `news` are the parts; a word on the command line that is one of these names runs only that one, and `quick` leaves
//! out the million. The servers are this very program, started as `serve …`.

#![expect(clippy::print_stdout, reason = "figures go to standard output")]

#[path = "../computer/bars.rs"]
mod bars;
mod change;
#[path = "../computer/computer_process.rs"]
mod computer_process;
mod desktop;
mod finder;
mod news;
#[path = "../computer/round.rs"]
mod round;
mod server;

use std::process::ExitCode;

use a2c_agent::Agent;
use a2c_computer::LinkOptions;
use a2c_hub::{Hub, HubConfig};

use bars::Bars;

/// What everything here is measured against: a hub and an Agent in this process.
struct Bench {
    hub: Hub,
    agent: Agent,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("serve", rest)) = args.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        server::serve(rest).await;
        return ExitCode::SUCCESS;
    }
    // `cargo bench` passes flags of its own.
    let wanted: Vec<&str> = args.iter().map(String::as_str).filter(|arg| !arg.starts_with('-')).collect();
    let is_quick = wanted.contains(&"quick");
    let parts: Vec<&str> = wanted.into_iter().filter(|arg| *arg != "quick").collect();
    let wants = |name: &str| parts.is_empty() || parts.contains(&name);
    let hub = Hub::start(HubConfig::on(([127, 0, 0, 1], 0).into())).await.expect("the hub starts");
    let agent = Agent::connect(&LinkOptions::new(hub.url()), "bench").await.expect("connected");
    agent.join(computer_process::OFFICE).await.expect("joined");
    let bench = Bench { hub, agent };
    let mut bars = Bars::default();
    round::header();
    if wants("news") {
        news::measure(&bench, &mut bars).await;
    }
    if wants("desktop") {
        desktop::measure(&bench, &mut bars).await;
    }
    if wants("change") {
        change::measure(is_quick);
    }
    if wants("finder") {
        finder::measure(&bench, &mut bars, is_quick).await;
    }
    println!();
    bars.print();
    bench.agent.close().await;
    bench.hub.shutdown().await;
    if bars.all_hold() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
