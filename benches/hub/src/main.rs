//! Load on a hub and on what it is compared with, in one run.
//!
//! For each server and each setting: N offices with an Agent and a Computer each, all in this process; a number of calls,
//! some in flight per Agent; Computers answer at once with a result of a given size. What is measured of the server is
//! its own CPU time and memory, read from the system, so that the generator does not count.

mod load;
mod measure;
mod servers;

use load::Setting;
use measure::Figures;

#[tokio::main]
async fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let settings = Setting::all(quick);
    println!(
        "server CPU is per routed call; RSS is of the server after the load; lost is calls without the right answer\n"
    );
    println!("{}", Figures::HEADER);
    for setting in settings {
        for server in servers::all() {
            if !setting.suits(server.name) {
                continue;
            }
            let running = server.start();
            match load::run(&running, &setting).await {
                Ok(figures) => println!("{}", figures.row(server.name, &setting)),
                Err(problem) => println!("| {} | {} | {problem} |", server.name, setting.label()),
            }
        }
    }
}
