//! Two thousand tools with schemas of the usual size, on fifty servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a2c_computer::{LinkOptions, Seat};
use a2c_link::Link;
use a2c_protocol::{Role, event};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::Bench;
use crate::bars::Bars;
use crate::computer_process::{ComputerProcess, OFFICE, script};
use crate::round::{Round, many};

const SERVERS: usize = 50;
const TOOLS_OF_EACH: usize = 40;
const ASKS: usize = 500;

pub(crate) async fn measure(bench: &Bench, bars: &mut Bars) {
    let each = script("unruly.py", &["many", &TOOLS_OF_EACH.to_string()]);
    let servers: Map<String, Value> = (0..SERVERS).map(|number| (format!("s{number}"), each.clone())).collect();
    let computer = ComputerProcess::start(bench, "tools", &servers.into());
    let (agent, name) = (bench.agent.clone(), computer.name.clone());
    // The office may be joined before the last of them has started.
    let complete = async {
        while !all_tools(agent.clone(), name.clone()).await {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), complete).await.expect("all servers start");
    let asks = many(ASKS, 1, move |_| all_tools(agent.clone(), name.clone())).await;
    asks.print("get_tools, 2,000 tools", 1);
    bench.agent.leave().await.expect("left");
    let (raw, size) = undecoded(bench, &computer.name).await;
    raw.print(&format!("the same, not decoded, {} KiB", size >> 10), 1);
    bench.agent.join(OFFICE).await.expect("joined again");
    bars.below("get_tools of 2,000 tools on 50 servers, p99", asks.ms(0.99), 15.0, "ms");
    computer.stop();
}

/// The same request, but the answer is not decoded: what is left is what the Agent's decoding costs.
async fn undecoded(bench: &Bench, computer: &str) -> (Round, usize) {
    let (link, _inbox) = Link::connect(&LinkOptions::new(bench.hub.url()), Role::Agent).await.expect("connected");
    link.join(&Seat { office: OFFICE.into(), name: "raw".into() }).await.expect("joined");
    let request = json!({"agent": "raw", "req_id": "r", "computer": computer});
    let size = Arc::new(AtomicUsize::new(0));
    let asks = {
        let (link, size) = (link.clone(), size.clone());
        many(ASKS, 1, move |_| {
            let (link, size, request) = (link.clone(), size.clone(), request.clone());
            async move {
                let answer: Result<Box<RawValue>, _> =
                    link.request(event::GET_TOOLS, &request, Duration::from_secs(60)).await;
                answer.is_ok_and(|answer| size.fetch_max(answer.get().len(), Ordering::Relaxed) < usize::MAX)
            }
        })
        .await
    };
    link.close().await;
    (asks, size.load(Ordering::Relaxed))
}

async fn all_tools(agent: a2c_agent::Agent, computer: String) -> bool {
    agent.tools(&computer).await.is_ok_and(|tools| tools.len() == SERVERS * TOOLS_OF_EACH)
}
