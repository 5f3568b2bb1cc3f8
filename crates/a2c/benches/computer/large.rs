//! One large message of an MCP server: what it costs a Computer in memory, and how long calls to another server wait
//! meanwhile. Each is measured at a Computer of its own.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use a2c_testbed::Peer;
use serde_json::{Value, json};

use crate::Bench;
use crate::bars::Bars;
use crate::computer_process::{ComputerProcess, sample, script};
use crate::round::Round;

const TRANSPORTS: [&str; 3] = ["stdio", "streamable", "sse"];
const SHAPES: [&str; 3] = ["dense", "rows", "text"];
const BYTES: u64 = 24 << 20;
/// Messages of each kind. The first one tells the memory: the Computer keeps the results for the Agent to read.
const MESSAGES: usize = 3;
/// The result goes to the Agent in pages: what is measured is the Computer.
const PAGE: &str = "65536";
const LIMIT: Duration = Duration::from_secs(120);

pub(crate) async fn measure(bench: &Bench, bars: &mut Bars) {
    let (mut dearest, mut longest) = (0.0_f64, 0.0_f64);
    for transport in TRANSPORTS {
        for shape in SHAPES {
            let (ratio, calls) = at(bench, transport, shape).await;
            calls.print(&format!("call beside {shape} over {transport}"), 1);
            println!("{:>34} {ratio:.2} times its size", "one message costs");
            dearest = dearest.max(ratio);
            longest = longest.max(calls.ms(1.0) - calls.ms(0.5));
        }
    }
    bars.at_most("memory for one large message, by its size", dearest, 4.0);
    bars.below("longest delay of a call beside a large message", longest, 50.0, "ms");
}

/// How many times its size a message costs, and the calls to the other server meanwhile.
async fn at(bench: &Bench, transport: &str, shape: &str) -> (f64, Round) {
    let name = format!("{transport}-{shape}");
    let (large, _server) = server(transport);
    let servers = json!({"large": large, "sample": sample()});
    let computer = ComputerProcess::start_with(bench, &name, &servers, &["--max-result", PAGE]);
    let stop = Arc::new(AtomicBool::new(false));
    call_sample(bench, &name, &stop, 50).await;
    let before = computer.peak_kib();
    let calls = {
        let (stop, agent, name) = (stop.clone(), bench.agent.clone(), name.clone());
        tokio::spawn(async move { sample_times(&agent, &name, &stop, usize::MAX).await })
    };
    let mut cost = 0.0;
    for number in 0..MESSAGES {
        let arguments = json!({ "bytes": BYTES });
        let result = bench.agent.call_tool(&name, shape, arguments, LIMIT).await.expect("the large message arrives");
        assert!(!result.is_error, "{}", result.text());
        if number == 0 {
            cost = (computer.peak_kib() - before) * 1024.0;
        }
    }
    stop.store(true, Ordering::Relaxed);
    let calls = calls.await.expect("calling does not panic");
    computer.stop();
    (cost / BYTES as f64, Round::of(calls))
}

async fn call_sample(bench: &Bench, computer: &str, stop: &AtomicBool, count: usize) {
    let done = sample_times(&bench.agent, computer, stop, count).await;
    assert_eq!(done.len(), count, "the sample server answers");
}

/// Calls the other server one by one.
async fn sample_times(agent: &a2c_agent::Agent, computer: &str, stop: &AtomicBool, most: usize) -> Vec<Duration> {
    let mut times = Vec::new();
    while !stop.load(Ordering::Relaxed) && times.len() < most {
        let begin = Instant::now();
        let answer = agent.call_tool(computer, "echo", json!({"text": "x"}), LIMIT).await;
        assert_eq!(answer.expect("the sample server answers").text(), "x");
        times.push(begin.elapsed());
    }
    times
}

/// The server of large messages, and its process where the Computer does not start it.
fn server(transport: &str) -> (Value, Option<Peer>) {
    if transport == "stdio" {
        return (script("large.py", &[]), None);
    }
    let mut command = Command::new(a2c_testbed::python());
    command.arg(a2c_testbed::workspace_root().join("tests/hostile/large.py")).arg(transport);
    let peer = Peer::ready(command);
    (json!({"type": transport, "server_parameters": {"url": peer.address(), "timeout": 120}}), Some(peer))
}
