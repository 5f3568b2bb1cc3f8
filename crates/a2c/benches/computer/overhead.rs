//! What a call costs on its way through Agent, hub and Computer, against a plain MCP client at the same server.
//!
//! All of ours in one process, as the plain client is: what is compared is the work, not the number of processes.

use std::time::Duration;

use a2c_computer::config::ComputerConfig;
use a2c_computer::{Computer, ComputerOptions, Confirmation, LinkOptions, Seat};
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value, json};

use crate::bars::Bars;
use crate::round::{Round, many};
use crate::{Bench, computer_process};

/// How many rounds, by turns; and how many calls in each, one by one and with many in flight.
const ROUNDS: usize = 3;
const ONE_BY_ONE: usize = 4_000;
const TOGETHER: usize = 40_000;
const IN_FLIGHT: usize = 64;

pub(crate) async fn measure(bench: &Bench, bars: &mut Bars) {
    let config = json!({"servers": {"sample": computer_process::sample()}});
    let config = ComputerConfig::parse(&config.to_string()).expect("the configuration is valid");
    let seat = Seat { office: computer_process::OFFICE.into(), name: "overhead".into() };
    let options = ComputerOptions::new(LinkOptions::new(bench.hub.url()), seat, config);
    let computer = Computer::start(options.confirmation(Confirmation::Allow)).await.expect("the computer starts");
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_a2c"));
    command.arg("sample-server");
    let direct = ().serve(TokioChildProcess::new(command).expect("it starts")).await.expect("the sample answers");

    for (in_flight, count) in [(1, ONE_BY_ONE), (IN_FLIGHT, TOGETHER)] {
        let (mut through, mut plain) = (Round::default(), Round::default());
        for _ in 0..ROUNDS {
            let (agent, peer) = (bench.agent.clone(), direct.peer().clone());
            through.add(
                many(count, in_flight, move |number| {
                    let agent = agent.clone();
                    async move {
                        let result = agent.call_tool("overhead", "echo", text(number), Duration::from_secs(60)).await;
                        result.is_ok_and(|result| result.text() == number.to_string())
                    }
                })
                .await,
            );
            plain.add(
                many(count, in_flight, move |number| {
                    let peer = peer.clone();
                    let call = CallToolRequestParams::new("echo").with_arguments(text(number));
                    async move { peer.call_tool(call).await.is_ok() }
                })
                .await,
            );
        }
        through.print("call through a2c", in_flight);
        plain.print("call by plain MCP client", in_flight);
        if in_flight == 1 {
            bars.below("a call through a2c costs more, p50, one by one", through.ms(0.5) - plain.ms(0.5), 0.5, "ms");
        } else {
            bars.at_least("calls in a second, 64 in flight, of the plain client's", through.rate() / plain.rate(), 0.6);
        }
    }
    computer.stop().await;
    drop(direct);
}

fn text(number: usize) -> Map<String, Value> {
    Map::from_iter([("text".to_owned(), Value::from(number.to_string()))])
}
