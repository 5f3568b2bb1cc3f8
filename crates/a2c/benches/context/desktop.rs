//! Five hundred windows on fifty servers, of which three hang.

use std::time::{Duration, Instant};

use a2c_agent::DesktopQuery;
use serde_json::{Map, Value};

use crate::Bench;
use crate::bars::Bars;
use crate::computer_process::ComputerProcess;
use crate::round::many;
use crate::server::started;

const SERVERS: usize = 50;
const WINDOWS_OF_EACH: usize = 10;
const HANGING: usize = 3;
const LIMIT: Duration = Duration::from_secs(2);
const ASKS: usize = 3;

pub(crate) async fn measure(bench: &Bench, bars: &mut Bars) {
    let limit = ["--window-timeout", "2"];
    let well = ComputerProcess::start_with(bench, "well", &servers(0), &limit);
    let (agent, name) = (bench.agent.clone(), well.name.clone());
    let asks = many(200, 1, move |_| {
        let (agent, name) = (agent.clone(), name.clone());
        async move { shown(&agent, &name).await == SERVERS * WINDOWS_OF_EACH }
    });
    asks.await.print("get_desktop, 500 windows", 1);
    well.stop();
    let computer = ComputerProcess::start_with(bench, "windows", &servers(HANGING), &limit);
    let mut worst = Duration::ZERO;
    let complete = (SERVERS - HANGING) * WINDOWS_OF_EACH;
    for _ in 0..ASKS {
        let begin = Instant::now();
        let shown = shown(&bench.agent, &computer.name).await;
        worst = worst.max(begin.elapsed());
        assert_eq!(shown, complete, "every other window is there");
    }
    println!(
        "get_desktop, 500 windows, 30 of them hang: {complete} windows after {:.3} s, with a limit of {} s",
        worst.as_secs_f64(),
        LIMIT.as_secs()
    );
    bars.at_most("get_desktop with 3 servers that hang, of the limit", worst.as_secs_f64() / LIMIT.as_secs_f64(), 1.1);
    computer.stop();
}

fn servers(hanging: usize) -> Value {
    let servers: Map<String, Value> = (0..SERVERS)
        .map(|number| {
            let kind = if number < hanging { "hang" } else { "windows" };
            let name = format!("s{number}");
            (name.clone(), started(kind, &name, WINDOWS_OF_EACH))
        })
        .collect();
    servers.into()
}

async fn shown(agent: &a2c_agent::Agent, computer: &str) -> usize {
    agent.desktop(computer, DesktopQuery::default()).await.map_or(0, |windows| windows.len())
}
