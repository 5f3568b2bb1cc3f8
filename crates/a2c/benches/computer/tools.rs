//! Two thousand tools with schemas of the usual size, on fifty servers.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::Bench;
use crate::bars::Bars;
use crate::desk::{Desk, script};
use crate::round::many;

const SERVERS: usize = 50;
const TOOLS_OF_EACH: usize = 40;
const ASKS: usize = 500;

pub(crate) async fn measure(bench: &Bench, bars: &mut Bars) {
    let each = script("unruly.py", &["many", &TOOLS_OF_EACH.to_string()]);
    let servers: Map<String, Value> = (0..SERVERS).map(|number| (format!("s{number}"), each.clone())).collect();
    let desk = Desk::start(bench, "tools", &servers.into());
    let (agent, name) = (bench.agent.clone(), desk.name.clone());
    // The office may be joined before the last of them has started.
    let complete = async {
        while !all_tools(agent.clone(), name.clone()).await {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), complete).await.expect("all servers start");
    let asks = many(ASKS, 1, move |_| all_tools(agent.clone(), name.clone())).await;
    asks.print("get_tools, 2,000 tools", 1);
    bars.below("get_tools of 2,000 tools on 50 servers, p99", asks.ms(0.99), 30.0, "ms");
    desk.stop();
}

async fn all_tools(agent: a2c_agent::Agent, computer: String) -> bool {
    agent.tools(&computer).await.is_ok_and(|tools| tools.len() == SERVERS * TOOLS_OF_EACH)
}
