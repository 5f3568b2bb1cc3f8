//! What a Computer costs, and what sick servers cost the others.
//!
//! In one run, on one machine, so that the ratios hold elsewhere: `overhead` compares a call Agent → hub → Computer → MCP
//! server with the same call by a plain MCP client; `crowd` asks a Computer with fifty servers, of which fifteen
//! misbehave, and the same one without these by turns; `tools` asks one for two thousand tools; `large` has a server answer
//! with large messages. A word on the command
//! line that is one of these names runs only that one.

#![expect(clippy::print_stdout, reason = "figures go to standard output")]

mod bars;
mod computer_process;
mod crowd;
mod large;
mod overhead;
mod round;
mod tools;

use a2c_agent::Agent;
use a2c_computer::LinkOptions;
use a2c_hub::{Hub, HubConfig};
use std::process::ExitCode;

use bars::Bars;

/// What everything here is measured against: a hub and an Agent in this process.
struct Bench {
    hub: Hub,
    agent: Agent,
}

#[tokio::main]
async fn main() -> ExitCode {
    // `cargo bench` passes flags of its own.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|arg| arg == name);
    let hub = Hub::start(HubConfig::on(([127, 0, 0, 1], 0).into())).await.expect("the hub starts");
    let agent = Agent::connect(&LinkOptions::new(hub.url()), "bench").await.expect("connected");
    agent.join(computer_process::OFFICE).await.expect("joined");
    let bench = Bench { hub, agent };
    let mut bars = Bars::default();
    round::header();
    if wants("overhead") {
        overhead::measure(&bench, &mut bars).await;
    }
    if wants("crowd") {
        crowd::measure(&bench, &mut bars).await;
    }
    if wants("tools") {
        tools::measure(&bench, &mut bars).await;
    }
    if wants("large") {
        large::measure(&bench, &mut bars).await;
    }
    println!("calls still in flight in the hub: {}\n", bench.hub.calls_in_flight());
    bars.print();
    bench.agent.close().await;
    bench.hub.shutdown().await;
    if bars.all_hold() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
