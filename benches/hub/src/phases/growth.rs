//! What more offices cost a call: the same number of calls in flight in every row, so that nothing but the number of
//! offices changes.
//!
//! Three ways to call. One call at a time that goes round all offices: each finds its members as cold as they get, in the
//! memory of the server and of the system. Eight at a time that go round: as before, under load. One at a time that stays
//! in one office while the others are merely there: what the number of offices alone costs. Eight calls in a single
//! office travel in batches, which many offices cannot have, so the eight are compared with eight offices.
//!
//! Two instances of a server run, one with few offices and one with many, and are measured in turns: the machine may be
//! slower a minute later, which must not look like growth. Keeping idle members alive costs the server CPU too; it is
//! measured while no calls run, and taken off.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;

use super::Plan;
use super::crowd::{pairs, seat_all};
use super::office::{Caller, answer};
use crate::figures::median_by;
use crate::machine::cpu_nanos;
use crate::servers::{Running, Server};
use crate::wire::{Buffer, NotSeated};

/// All ways to call.
pub const MANNERS: [Manner; 3] = [
    Manner { in_flight: 1, rounds_all: true },
    Manner { in_flight: 8, rounds_all: true },
    Manner { in_flight: 1, rounds_all: false },
];

/// How long the last answers may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of a result.
const RESULT: usize = 200;

/// Where calls go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Calls under way in all offices together.
    pub in_flight: usize,
    /// Whether each call goes to the next office, or all go to the first one.
    pub rounds_all: bool,
}

/// What a call costs one server with many offices, compared with few.
pub struct Row {
    pub server: Server,
    pub manner: Manner,
    pub few: usize,
    pub many: usize,
    /// How much more a call costs, in percent.
    pub percent: f64,
}

impl fmt::Display for Manner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in flight, {}", self.in_flight, if self.rounds_all { "all by turns" } else { "in one office" })
    }
}

/// Measures and prints our hub, and the bare relay to tell the hub's part from that of the library and the system.
pub async fn run(plan: &Plan) -> Vec<Row> {
    plan.progress.print(
        "\n## growth\n\nCalls in flight are of all offices together. CPU is the server's, per routed call, with and \
         without what it takes to keep everybody alive.\n\n\
         | server | calls | offices | CPU µs/call | offices | CPU µs/call | without keep-alive | lost | growth |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|",
    );
    let mut rows = Vec::new();
    for &server in plan.servers.iter().filter(|server| matches!(server, Server::A2c | Server::Relay)) {
        if let Err(problem) = measure(plan, server, &mut rows).await {
            plan.progress.print(format_args!("| {server} | {problem} |"));
        }
    }
    rows
}

async fn measure(plan: &Plan, server: Server, rows: &mut Vec<Row>) -> Result<(), NotSeated> {
    let most = (plan.connections / 2).min(if plan.quick { 1000 } else { 10_000 });
    let mut sizes = vec![100, 1000, most];
    sizes.retain(|size| *size <= most);
    sizes.dedup();

    let (mut one, mut eight, mut many) =
        (Offices::of(plan, server), Offices::of(plan, server), Offices::of(plan, server));
    one.grow(1).await?;
    eight.grow(8).await?;
    for size in sizes {
        plan.progress.say(&format!("growth: {server}, {size} offices"));
        many.grow(size).await?;
        let keep_alive = many.idle(plan.window() * 2).await;
        for manner in MANNERS {
            let few = if manner.in_flight == 1 { &one } else { &eight };
            let row = compare(plan, manner, few, &many, keep_alive).await;
            rows.extend(row.map(|percent| Row { server, manner, few: few.turns.len(), many: size, percent }));
        }
    }
    Ok(())
}

/// Measures few and many offices in turns and prints what came of it; how much more a call costs in many.
async fn compare(plan: &Plan, manner: Manner, few: &Offices, many: &Offices, keep_alive: f64) -> Option<f64> {
    few.round(manner, plan.window() / 4).await;
    many.round(manner, plan.window() / 4).await;
    let mut rounds = Vec::new();
    for _ in 0..plan.rounds() {
        rounds.push((few.round(manner, plan.window()).await, many.round(manner, plan.window()).await));
    }
    let lost: u64 = rounds.iter().map(|(few, many)| few.lost + many.lost).sum();
    let net = |round: &Round| round.cpu_micros() - keep_alive * round.took.as_secs_f64() / round.calls as f64 / 1e3;
    let growth = |(few, many): &(Round, Round)| (net(many) / few.cpu_micros() - 1.0) * 100.0;
    let round = median_by(rounds, growth)?;
    plan.progress.print(format_args!(
        "| {} | {manner} | {} | {:.1} | {} | {:.1} | {:.1} | {lost} | {:+.0} % |",
        many.server,
        few.turns.len(),
        round.0.cpu_micros(),
        many.turns.len(),
        round.1.cpu_micros(),
        net(&round.1),
        growth(&round),
    ));
    Some(growth(&round))
}

struct Round {
    calls: u64,
    lost: u64,
    took: Duration,
    cpu_nanos: u64,
}

impl Round {
    fn cpu_micros(&self) -> f64 {
        self.cpu_nanos as f64 / 1e3 / self.calls as f64
    }
}

/// Offices whose Agents pass turns on: who has a turn makes a call, and its answer passes the turn to the next office.
struct Offices {
    server: Server,
    running: Running,
    members: JoinSet<()>,
    turns: Vec<UnboundedSender<Turn>>,
}

/// The right to make calls one after the other until `end`.
#[derive(Clone)]
struct Turn {
    end: Instant,
    shared: Arc<Shared>,
    /// Held by everybody who has a turn; once all are gone, the round is over.
    _running: mpsc::Sender<()>,
}

struct Shared {
    /// Of the offices that are called.
    turns: Vec<UnboundedSender<Turn>>,
    next: AtomicUsize,
    calls: AtomicU64,
    wrong: AtomicU64,
}

impl Shared {
    fn pass_on(&self, turn: Turn) {
        let office = self.next.fetch_add(1, Ordering::Relaxed) % self.turns.len();
        // An Agent that was sent away takes its turn with it, which counts as a lost call.
        let _ = self.turns[office].send(turn);
    }
}

impl Offices {
    /// None yet, on an instance of their own.
    fn of(plan: &Plan, server: Server) -> Self {
        Self { server, running: plan.start(server), members: JoinSet::new(), turns: Vec::new() }
    }

    /// Adds offices up to a number.
    async fn grow(&mut self, size: usize) -> Result<(), NotSeated> {
        let seats = pairs(self.turns.len() * 2..size * 2);
        let first = self.turns.len();
        seat_all(self.running.address, seats, Buffer::Small, |number, link| {
            if number % 2 == 0 {
                self.members.spawn(answer(link, RESULT));
            } else {
                let (turn, turns) = mpsc::unbounded_channel();
                self.turns.push(turn);
                self.members.spawn(take_turns(Caller::new(link, first + number / 2, RESULT), turns));
            }
        })
        .await
    }

    /// CPU time per second, in nanoseconds, that the server needs while no calls run.
    async fn idle(&self, window: Duration) -> f64 {
        let (cpu, begin) = (cpu_nanos(self.running.pid), Instant::now());
        tokio::time::sleep(window).await;
        (cpu_nanos(self.running.pid) - cpu) as f64 / begin.elapsed().as_secs_f64()
    }

    async fn round(&self, manner: Manner, window: Duration) -> Round {
        let called = if manner.rounds_all { &self.turns[..] } else { &self.turns[..1] };
        let shared = Arc::new(Shared {
            turns: called.to_vec(),
            next: AtomicUsize::new(0),
            calls: AtomicU64::new(0),
            wrong: AtomicU64::new(0),
        });
        let (running, mut over) = mpsc::channel(1);
        let (cpu, begin) = (cpu_nanos(self.running.pid), Instant::now());
        for _ in 0..manner.in_flight {
            shared.pass_on(Turn { end: begin + window, shared: shared.clone(), _running: running.clone() });
        }
        drop(running);
        // The calls that are still under way come home, or are lost.
        if tokio::time::timeout(window + PATIENCE, over.recv()).await.is_err() {
            shared.wrong.fetch_add(1, Ordering::Relaxed);
        }
        let (took, cpu_nanos) = (begin.elapsed(), cpu_nanos(self.running.pid) - cpu);
        Round {
            calls: shared.calls.load(Ordering::Relaxed),
            lost: shared.wrong.load(Ordering::Relaxed),
            took,
            cpu_nanos,
        }
    }
}

/// An Agent: a call for each turn, the turn passed on with the answer.
async fn take_turns(mut caller: Caller, mut turns: UnboundedReceiver<Turn>) {
    let mut held: Vec<Turn> = Vec::new();
    loop {
        tokio::select! {
            turn = turns.recv() => {
                let Some(turn) = turn else { return };
                if caller.call().await.is_err() || caller.link.flush().await.is_err() {
                    turn.shared.wrong.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                held.push(turn);
            }
            packet = caller.link.next() => {
                let Ok(packet) = packet else { break };
                let Some((_, right)) = caller.answered(&packet) else { continue };
                let Some(turn) = held.pop() else { continue };
                turn.shared.calls.fetch_add(1, Ordering::Relaxed);
                turn.shared.wrong.fetch_add(u64::from(!right), Ordering::Relaxed);
                if Instant::now() < turn.end {
                    turn.shared.clone().pass_on(turn);
                }
            }
        }
    }
    for turn in held {
        turn.shared.wrong.fetch_add(1, Ordering::Relaxed);
    }
}
