//! Calls through the server: offices with an Agent and a Computer each, every Agent with so many calls in flight, the
//! Computers answering at once.
//!
//! An Agent sends the next call when an answer comes, for as long as the measurement lasts; then the calls that are still
//! under way come home, so that all calls and all CPU time count.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::Plan;
use super::crowd::{pairs, seat_all};
use super::office::{Caller, Samples, answer};
use super::quiet;
use crate::figures::{Spread, median_by};
use crate::machine::{cpu_nanos, rss_kib};
use crate::servers::{Running, Server};
use crate::wire::{Buffer, NotSeated};

/// One kind of load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    pub offices: usize,
    pub in_flight: usize,
    pub result_bytes: usize,
}

/// What one server did under one kind of load.
pub struct Row {
    pub server: Server,
    pub setting: Setting,
    pub p99_ms: f64,
    pub cpu_micros: f64,
    pub lost: usize,
}

struct Round {
    calls: usize,
    lost: usize,
    took: Duration,
    spread: Spread,
    cpu_micros: f64,
    rss_kib: u64,
    /// The calls of a quiet office meanwhile.
    quiet: Option<Spread>,
}

impl Setting {
    /// From so many offices on, most of the time of a call passes in the queues of this process.
    fn has_quiet_office(&self) -> bool {
        self.offices >= 1000
    }

    /// Every combination that is compared.
    fn all(quick: bool) -> Vec<Self> {
        let offices: &[usize] = if quick { &[1, 16] } else { &[1, 16, 128, 1000] };
        let results: &[usize] = if quick { &[200] } else { &[200, 10_000, 1_000_000] };
        let mut all = Vec::new();
        for &offices in offices {
            for in_flight in [1, 8] {
                for &result_bytes in results {
                    // Many offices with large results would measure this process, not the server.
                    if result_bytes < 1_000_000 || offices <= 16 {
                        all.push(Self { offices, in_flight, result_bytes });
                    }
                }
            }
        }
        all
    }

    /// The Python server is slow enough to be measured in fewer settings.
    fn suits(&self, server: Server) -> bool {
        server != Server::Python || (self.offices <= 16 && self.result_bytes <= 10_000)
    }
}

const HEADER: &str = "\
| server | offices | in flight | result | calls | lost | calls/s | p50 ms | p99 ms | p99.9 ms | CPU µs/call | RSS MiB |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

/// Measures and prints all settings.
pub async fn run(plan: &Plan) -> Vec<Row> {
    plan.progress.print(format_args!(
        "\n## calls\n\nOne call at a time or eight, per Agent. CPU is the server's, per routed call; RSS is the server's \
         under this load; lost is calls without the right answer. Beside 1,000 offices, the calls of one more on a thread of \
         its own tell the server's part of the latencies from the generator's. The middle one of {} rounds, by CPU; of each percentile the middle one.\n\n{HEADER}",
        plan.rounds()
    ));
    let mut rows = Vec::new();
    let wanted = |setting: &Setting| plan.offices.is_empty() || plan.offices.contains(&setting.offices);
    for setting in Setting::all(plan.quick && plan.offices.is_empty()).into_iter().filter(wanted) {
        rows.extend(measure(plan, setting).await);
    }
    rows
}

async fn measure(plan: &Plan, setting: Setting) -> Vec<Row> {
    let servers: Vec<Server> = plan.servers.iter().copied().filter(|server| setting.suits(*server)).collect();
    let mut rounds: Vec<Vec<Round>> = servers.iter().map(|_| Vec::new()).collect();
    for _ in 0..plan.rounds() {
        for (server, rounds) in servers.iter().zip(&mut rounds) {
            plan.progress.say(&format!("calls: {server}, {setting:?}"));
            match round(&plan.start(*server), setting, plan.window()).await {
                Ok(round) => rounds.push(round),
                Err(problem) => plan.progress.print(format_args!("{server}, {setting:?}: {problem}")),
            }
        }
    }
    let mut rows = Vec::new();
    for (server, rounds) in servers.into_iter().zip(rounds) {
        // One lost call is one too many, in whichever round.
        let lost = rounds.iter().map(|round| round.lost).sum();
        // The round in the middle by CPU may have had a bad moment for latency: each percentile has its own middle.
        let ms = [0.5, 0.99, 0.999].map(|share| {
            let of_rounds = rounds.iter().map(|round| round.spread.ms(share)).collect();
            median_by(of_rounds, |ms: &f64| *ms).unwrap_or(f64::NAN)
        });
        let Some(round) = median_by(rounds, |round| round.cpu_micros) else { continue };
        let row = Row { server, setting, p99_ms: ms[1], cpu_micros: round.cpu_micros, lost };
        plan.progress.print(row.text(&round, ms));
        if let Some(quiet) = &round.quiet {
            let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|share| quiet.ms(share));
            plan.progress.print(format_args!(
                "| {server} | a quiet one beside | | 200 | | | | {p50:.2} | {p99:.2} | {p999:.2} | | |"
            ));
        }
        rows.push(row);
    }
    rows
}

impl Row {
    fn text(&self, round: &Round, [p50, p99, p999]: [f64; 3]) -> String {
        let Setting { offices, in_flight, result_bytes } = self.setting;
        format!(
            "| {} | {offices} | {in_flight} | {result_bytes} | {} | {} | {:.0} | {p50:.2} | {p99:.2} | {p999:.2} | {:.1} | {:.0} |",
            self.server,
            round.calls,
            self.lost,
            round.calls as f64 / round.took.as_secs_f64(),
            self.cpu_micros,
            round.rss_kib as f64 / 1024.0,
        )
    }
}

async fn round(server: &Running, setting: Setting, window: Duration) -> Result<Round, NotSeated> {
    let buffer = if setting.offices <= 128 { Buffer::Large } else { Buffer::Small };
    let (mut computers, mut callers) = (JoinSet::new(), Vec::new());
    seat_all(server.address, pairs(0..setting.offices * 2), buffer, |number, link| match number % 2 {
        0 => drop(computers.spawn(answer(link, setting.result_bytes))),
        _ => callers.push(Caller::new(link, number / 2, setting.result_bytes)),
    })
    .await?;
    // Caches, compilers that wait for hot code, and buffers that grow once.
    let (mut callers, _) = load(callers, setting.in_flight, window / 4).await;
    let (cpu, begin) = (cpu_nanos(server.pid), Instant::now());
    let quiet = setting.has_quiet_office().then(|| quiet::beside(server.address, setting.offices, window));
    let samples;
    (callers, samples) = load(callers, setting.in_flight, window).await;
    let (took, cpu) = (begin.elapsed(), cpu_nanos(server.pid) - cpu);
    let rss_kib = rss_kib(server.pid);
    drop(callers);
    let quiet = match quiet {
        Some(quiet) => Some(Spread::of(quiet.join().expect("a quiet office does not panic")?.times)),
        None => None,
    };
    let calls = samples.times.len();
    Ok(Round {
        calls,
        lost: samples.lost,
        took,
        spread: Spread::of(samples.times),
        cpu_micros: cpu as f64 / 1e3 / calls as f64,
        rss_kib,
        quiet,
    })
}

/// Lets all Agents call at the same time.
async fn load(callers: Vec<Caller>, in_flight: usize, window: Duration) -> (Vec<Caller>, Samples) {
    let end = Instant::now() + window;
    let mut running = JoinSet::new();
    for mut caller in callers {
        running.spawn(async move {
            let samples = caller.call_until(end, in_flight).await;
            (caller, samples)
        });
    }
    let (mut callers, mut all) = (Vec::new(), Samples::default());
    while let Some(ended) = running.join_next().await {
        let (caller, samples) = ended.expect("an Agent of ours does not panic");
        callers.push(caller);
        all.times.extend(samples.times);
        all.lost += samples.lost;
    }
    (callers, all)
}
