//! Fifty servers, of which five never answer, five crash every second and five flood their lists; and the same Computer
//! without these fifteen. The two take turns: each is alone on the machine while it is measured.

use std::time::Duration;

use a2c_agent::Agent;
use serde_json::{Map, Value, json};

use crate::Bench;
use crate::bars::Bars;
use crate::computer_process::{ComputerProcess, sample, script};
use crate::round::{Round, many};

const ROUNDS: usize = 3;
const HEALTHY: usize = 35;
const OF_EACH_KIND: usize = 5;
/// Calls in a round, and how many at the same time.
const CALLS: usize = 50_000;
const IN_FLIGHT: usize = 8;
/// How often the tools are asked for in a round, while calls go on, and the pause between two times.
const ASKS: usize = 200;
const PAUSE: Duration = Duration::from_millis(25);

/// What a Computer did in its rounds.
#[derive(Default)]
struct Measured {
    calls: Round,
    asks: Round,
}

pub(crate) async fn measure(bench: &Bench, bars: &mut Bars) {
    let (mut calm, mut unruly) = (Measured::default(), Measured::default());
    for _ in 0..ROUNDS {
        calm.add(at(bench, "calm", &servers(false)).await);
        unruly.add(at(bench, "unruly", &servers(true)).await);
    }
    calm.calls.print("call, 35 healthy servers", IN_FLIGHT);
    unruly.calls.print("call, and 15 that misbehave", IN_FLIGHT);
    calm.asks.print("get_tools, 35 healthy servers", 1);
    unruly.asks.print("get_tools, and 15 that misbehave", 1);
    bars.below("get_tools of 50 servers of which 15 misbehave, p99", unruly.asks.ms(0.99), 20.0, "ms");
    let ratio = unruly.calls.ms(0.99) / calm.calls.ms(0.99);
    bars.at_most("p99 of calls to healthy servers, beside 15 that misbehave", ratio, 2.0);
}

fn servers(with_unruly: bool) -> Value {
    let mut servers = Map::new();
    for number in 0..HEALTHY {
        servers.insert(format!("healthy-{number}"), sample());
    }
    if with_unruly {
        for number in 0..OF_EACH_KIND {
            servers.insert(format!("silent-{number}"), script("mcp_server.py", &["silent"]));
            servers.insert(format!("crash-{number}"), script("unruly.py", &["crash", "1"]));
            servers.insert(format!("flood-{number}"), script("unruly.py", &["flood", "100"]));
        }
    }
    servers.into()
}

async fn at(bench: &Bench, name: &str, servers: &Value) -> Measured {
    let computer = ComputerProcess::start(bench, name, servers);
    // A first call to each, not measured.
    call_healthy(&bench.agent, &computer.name, HEALTHY * 4).await;
    let asking = {
        let (agent, name) = (bench.agent.clone(), computer.name.clone());
        tokio::spawn(ask_for_tools(agent, name))
    };
    let calls = call_healthy(&bench.agent, &computer.name, CALLS).await;
    let asks = asking.await.expect("asking does not panic");
    computer.stop();
    Measured { calls, asks }
}

/// Calls that go round the healthy servers.
async fn call_healthy(agent: &Agent, computer: &str, count: usize) -> Round {
    let (agent, computer) = (agent.clone(), computer.to_owned());
    many(count, IN_FLIGHT, move |number| {
        let (agent, computer) = (agent.clone(), computer.clone());
        async move {
            let (tool, arguments) = (format!("healthy-{}_echo", number % HEALTHY), json!({"text": number.to_string()}));
            let result = agent.call_tool(&computer, &tool, arguments, Duration::from_secs(60)).await;
            result.is_ok_and(|result| result.text() == number.to_string())
        }
    })
    .await
}

/// Asks now and then, as an Agent does that was told of changes.
async fn ask_for_tools(agent: Agent, computer: String) -> Round {
    let mut asks = Round::default();
    for _ in 0..ASKS {
        let (agent, computer) = (agent.clone(), computer.clone());
        let ask = many(1, 1, move |_| {
            let (agent, computer) = (agent.clone(), computer.clone());
            async move { agent.tools(&computer).await.is_ok_and(|tools| tools.len() >= HEALTHY * 3) }
        });
        asks.add(ask.await);
        tokio::time::sleep(PAUSE).await;
    }
    asks
}

impl Measured {
    fn add(&mut self, other: Self) {
        self.calls.add(other.calls);
        self.asks.add(other.asks);
    }
}
