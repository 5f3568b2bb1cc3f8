//! From a server's `resources/updated` to the Agent.

use std::time::{Duration, Instant};

use a2c_agent::{AgentEvent, AgentEvents, DesktopQuery};
use a2c_protocol::notification::Notification;
use serde_json::json;

use crate::Bench;
use crate::bars::Bars;
use crate::computer_process::ComputerProcess;
use crate::round::Round;
use crate::server::{nanos, started};

const CHANGES: usize = 300;
const BURST: usize = 1_000;
/// Longer than announcements of one kind are held back, twice: a document is announced when it changes, and again when
/// it has been read.
const PAUSE: Duration = Duration::from_millis(120);

pub(crate) async fn measure(bench: &Bench, bars: &mut Bars) {
    let servers = json!({"w": started("windows", "w", 3), "d": started("documents", "d", 1_000)});
    let computer = ComputerProcess::start(bench, "news", &servers);
    let mut heard = bench.agent.subscribe();
    for (tool, what) in [("w_touch", "window"), ("d_touch", "document")] {
        let mut times = Vec::new();
        for _ in 0..CHANGES {
            tokio::time::sleep(PAUSE).await;
            drain(&mut heard);
            let call = bench.agent.call_tool(&computer.name, tool, json!({}), Duration::from_secs(10));
            let arrived = async {
                while !is_update(&heard.recv().await.expect("the agent lives")) {}
                nanos()
            };
            let (told, arrived) = tokio::join!(call, arrived);
            let told: u128 = told.expect("it is called").text().parse().expect("a time");
            times.push(Duration::from_nanos(arrived.saturating_sub(told) as u64));
        }
        let round = Round::of(times);
        round.print(&format!("a {what} changes until it is heard"), 1);
        bars.below(&format!("from a changed {what} to the agent, p99"), round.ms(0.99), 5.0, "ms");
    }
    burst(bench, bars, &computer, &mut heard).await;
    computer.stop();
}

/// A thousand changes at once: how many are announced in the second that follows, and whether the last one is seen.
async fn burst(bench: &Bench, bars: &mut Bars, computer: &ComputerProcess, heard: &mut AgentEvents) {
    tokio::time::sleep(PAUSE).await;
    drain(heard);
    let begin = Instant::now();
    let call = bench.agent.call_tool(&computer.name, "w_touch", json!({ "times": BURST }), Duration::from_secs(10));
    let count = async {
        let mut count = 0;
        while let Ok(event) =
            tokio::time::timeout(Duration::from_secs(1).saturating_sub(begin.elapsed()), heard.recv()).await
        {
            count += u32::from(is_update(&event.expect("the agent lives")));
        }
        count
    };
    let (called, count) = tokio::join!(call, count);
    called.expect("it is called");
    let seen = bench.agent.desktop(&computer.name, DesktopQuery::default()).await.expect("the Desktop");
    // Each of the changes before was one, too.
    let last = format!("\n\n{}", CHANGES + BURST);
    let is_seen = seen.iter().all(|window| window.ends_with(&last));
    println!(
        "a burst of {BURST} changes: {count} announcements in a second, the last state is {}",
        if is_seen { "seen" } else { "NOT seen" }
    );
    bars.below(
        "announcements in the second of 1,000 changes",
        f64::from(count) + if is_seen { 0.0 } else { f64::INFINITY },
        22.0,
        "",
    );
}

fn drain(heard: &mut AgentEvents) {
    while heard.try_recv().is_some() {}
}

fn is_update(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::Notification(Notification::UpdateDesktop(_) | Notification::UpdateFinder(_)))
}
