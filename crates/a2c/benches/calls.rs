//! How fast a call goes through everything, and what of it is ours.
//!
//! In one run, on one machine: joins right after connecting, calls Agent → hub → Computer → MCP server, and the same
//! calls by a plain MCP client directly to the same server. The ratio is what holds on other machines.

#![expect(clippy::print_stdout, reason = "figures go to standard output")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use a2c_agent::Agent;
use a2c_computer::config::ComputerConfig;
use a2c_computer::{Computer, ComputerOptions, Confirmation, LinkOptions, Seat, Transport};
use a2c_hub::{Hub, HubConfig};
use a2c_link::Link;
use a2c_protocol::Role;
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value, json};

const JOINS: usize = 10_000;
const CALLS: usize = 100_000;
const ONE_BY_ONE: usize = 10_000;

/// What a round of work came to.
struct Round {
    done: usize,
    took: Duration,
    times: Vec<Duration>,
}

#[tokio::main]
async fn main() {
    // `cargo bench` passes its own flags; there is nothing to choose here.
    let hub = Hub::start(HubConfig::on(([127, 0, 0, 1], 0).into())).await.expect("the hub starts");
    header();
    let joins = join_all(&hub).await;
    row("connect + join", 64, &joins, JOINS);

    let program = env!("CARGO_BIN_EXE_a2c");
    let config = json!({"mcpServers": {"sample": {"command": program, "args": ["sample-server"]}}});
    let computer = Computer::start(
        ComputerOptions::new(
            LinkOptions::new(hub.url()),
            Seat { office: "o".into(), name: "desk".into() },
            ComputerConfig::parse(&config.to_string()).expect("the configuration is valid"),
        )
        .confirmation(Confirmation::Allow),
    )
    .await
    .expect("the computer starts");
    let agent = Agent::connect(&LinkOptions::new(hub.url()), "bench").await.expect("connected");
    agent.join("o").await.expect("joined");

    let transport = TokioChildProcess::new({
        let mut command = tokio::process::Command::new(program);
        command.arg("sample-server");
        command
    })
    .expect("the sample starts");
    let direct = ().serve(transport).await.expect("the sample answers");

    for (in_flight, count) in [(1, ONE_BY_ONE), (64, CALLS)] {
        let (asking, peer) = (agent.clone(), direct.peer().clone());
        let through = many(count, in_flight, move |number| {
            let agent = asking.clone();
            async move {
                let result = agent.call_tool("desk", "echo", text(number), Duration::from_secs(60)).await;
                result.is_ok_and(|r| r.text() == number.to_string())
            }
        })
        .await;
        let plain = many(count, in_flight, move |number| {
            let peer = peer.clone();
            async move { peer.call_tool(CallToolRequestParams::new("echo").with_arguments(text(number))).await.is_ok() }
        })
        .await;
        row("call through a2c", in_flight, &through, count);
        row("call by plain MCP client", in_flight, &plain, count);
        let rate = |round: &Round| round.done as f64 / round.took.as_secs_f64();
        let over = through.percentile(0.5).as_secs_f64() - plain.percentile(0.5).as_secs_f64();
        println!("  → a2c / plain: rate {:.2}, p50 overhead {:+.3} ms", rate(&through) / rate(&plain), over * 1e3);
    }
    println!("calls still in flight in the hub: {}", hub.calls_in_flight());
    agent.close().await;
    computer.stop().await;
    drop(direct);
    hub.shutdown().await;
}

async fn join_all(hub: &Hub) -> Round {
    let mut options = LinkOptions::new(hub.url());
    options.transport = Transport::Websocket;
    many(JOINS, 64, move |number| {
        let options = options.clone();
        async move {
            let Ok((link, _inbox)) = Link::connect(&options, Role::Computer).await else { return false };
            let joined = link.join(&Seat { office: "joins".into(), name: format!("c{number}") }).await;
            link.close().await;
            joined.is_ok()
        }
    })
    .await
}

fn text(number: usize) -> Map<String, Value> {
    Map::from_iter([("text".to_owned(), Value::from(number.to_string()))])
}

async fn many<F>(count: usize, in_flight: usize, work: impl Fn(usize) -> F + Send + Sync + 'static) -> Round
where
    F: Future<Output = bool> + Send,
{
    let (next, work) = (Arc::new(AtomicUsize::new(0)), Arc::new(work));
    let begin = Instant::now();
    let worker = || {
        let (next, work) = (next.clone(), work.clone());
        async move {
            let (mut done, mut times) = (0, Vec::new());
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return (done, times);
                }
                let start = Instant::now();
                done += usize::from(work(number).await);
                times.push(start.elapsed());
            }
        }
    };
    let workers: Vec<_> = (0..in_flight).map(|_| tokio::spawn(worker())).collect();
    let mut round = Round { done: 0, took: Duration::ZERO, times: Vec::with_capacity(count) };
    for worker in workers {
        let (done, times) = worker.await.expect("a worker panicked");
        round.done += done;
        round.times.extend(times);
    }
    round.took = begin.elapsed();
    round.times.sort_unstable();
    round
}

impl Round {
    fn percentile(&self, p: f64) -> Duration {
        let index = ((self.times.len() as f64 * p) as usize).min(self.times.len().saturating_sub(1));
        self.times.get(index).copied().unwrap_or_default()
    }
}

fn header() {
    println!(
        "{:<26} {:>9} {:>9} {:>6} {:>10} {:>9} {:>9}",
        "", "in flight", "count", "lost", "per second", "p50 ms", "p99 ms"
    );
}

fn row(what: &str, in_flight: usize, round: &Round, count: usize) {
    let ms = |p| round.percentile(p).as_secs_f64() * 1e3;
    let rate = round.done as f64 / round.took.as_secs_f64();
    let lost = count - round.done;
    println!("{what:<26} {in_flight:>9} {count:>9} {lost:>6} {rate:>10.0} {:>9.3} {:>9.3}", ms(0.5), ms(0.99));
}
