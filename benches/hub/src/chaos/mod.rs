//! Full load while members die: is every call answered exactly once, with the right answer or an error that says why?
//!
//! Each seat of each office is a task that connects, joins, works, ends in a way that chance picks, and starts over.
//! Agents (`agent`) keep calls in flight and hold every acknowledgement that comes off the wire against their
//! `pending_calls`; Computers (`computer`) answer, mostly, and sometimes twice, late, never, or for another Computer. What
//! chance does follows from one seed, seat by seat; when it happens does not, since the machine has a say in that.

mod agent;
mod computer;
mod fate;
mod pending_calls;
mod tally;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::machine::{cpu_nanos, rss_kib};
use crate::phases::Plan;
use crate::progress::Progress;
use crate::servers::{Patience, Running, Server};
use crate::wire::{Buffer, Link, NotSeated, Seat};
use fate::{End, Life};
use tally::Tally;
pub use tally::Totals;

/// Offices, each with an Agent and some Computers.
const OFFICES: usize = 64;
const COMPUTERS: usize = 2;

/// When memory is first looked at: by then everybody has been there, and buffers have grown.
const SETTLED: f64 = 0.1;

/// How long a refused member waits before it asks again: its seat may still be held by its dead predecessor.
const AGAIN: Duration = Duration::from_millis(100);

/// How long a member that went silent keeps its connection: longer than it takes the hub to notice.
const SILENCE: Duration = Duration::from_secs(15);

/// How long the hub may take to notice that everybody has left, before its memory is looked at again.
const AFTERMATH: Duration = Duration::from_secs(12);

/// What all members share.
struct SharedRun {
    address: SocketAddr,
    end: Instant,
    tally: Tally,
}

/// What came of it.
pub struct Outcome {
    pub totals: Totals,
    pub seconds: u64,
}

/// Runs for so long and prints what happened.
pub async fn run(plan: &Plan, seconds: u64, seed: u64) -> Outcome {
    let progress = &plan.progress;
    progress.print(format_args!(
        "\n## chaos\n\n{OFFICES} offices of an Agent and {COMPUTERS} Computers, {} calls in flight per Agent, members that \
         die at random, for {seconds} s; seed {seed}\n",
        agent::IN_FLIGHT
    ));
    let running = Server::A2c.start(Patience::Default, plan.cores);
    let shared = Arc::new(SharedRun {
        address: running.address,
        end: Instant::now() + Duration::from_secs(seconds),
        tally: Tally::default(),
    });
    let (cpu, begin) = (cpu_nanos(running.pid), Instant::now());
    let mut members = everybody(&shared, seed);
    let settled = watch(progress, &running, &shared, seconds).await;
    let (cpu, took, loaded) = (cpu_nanos(running.pid) - cpu, begin.elapsed(), rss_kib(running.pid));
    while let Some(ended) = members.join_next().await {
        if let Err(panic) = ended {
            shared.tally.note(|totals| totals.unexpected.push(format!("a member of ours failed: {panic}")));
        }
    }
    progress.say("chaos: waiting until the hub has noticed that everybody left");
    tokio::time::sleep(AFTERMATH).await;

    let totals = shared.tally.totals();
    progress.print(&totals);
    let mib = |kib: u64| kib as f64 / 1024.0;
    progress.print(format_args!(
        "hub: {:.1} µs CPU per call, {:.0} % of a core; RSS {:.1} MiB idle, {:.1} MiB settled under load, {:.1} MiB at the \
         end of the load, {:.1} MiB after everybody left",
        cpu as f64 / 1e3 / totals.calls as f64,
        cpu as f64 / 1e7 / took.as_secs_f64(),
        mib(running.idle_kib),
        mib(settled),
        mib(loaded),
        mib(rss_kib(running.pid)),
    ));
    progress.print(format_args!(
        "chaos: {} in {seconds} s, seed {seed}: {} calls, {} lost, {} duplicated, {} wrong, {} cut off",
        if totals.passed() { "PASS" } else { "FAIL" },
        totals.calls,
        totals.lost,
        totals.duplicated,
        totals.wrong,
        totals.cut_off,
    ));
    Outcome { totals, seconds }
}

fn everybody(shared: &Arc<SharedRun>, seed: u64) -> JoinSet<()> {
    let mut members = JoinSet::new();
    for office in 0..OFFICES {
        for place in 0..=COMPUTERS {
            // Chance of a seat depends on the seed and the seat, not on what others do.
            let life = Life::new(seed, office * (COMPUTERS + 1) + place);
            match place {
                COMPUTERS => members.spawn(agent::play(shared.clone(), Seat::agent(office), life, names(office))),
                place => members.spawn(computer::play(shared.clone(), computer_seat(office, place), life)),
            };
        }
    }
    members
}

fn computer_seat(office: usize, place: usize) -> Seat {
    Seat { role: "computer", name: format!("c{place}"), office: format!("o{office}") }
}

fn names(office: usize) -> Vec<String> {
    (0..COMPUTERS).map(|place| computer_seat(office, place).name).collect()
}

/// Waits until the end of the load and gives the memory of the hub after it had settled.
async fn watch(progress: &Progress, server: &Running, shared: &SharedRun, seconds: u64) -> u64 {
    let settle = Duration::from_secs_f64(seconds as f64 * SETTLED);
    let (begin, mut settled) = (Instant::now(), None);
    while Instant::now() < shared.end {
        tokio::time::sleep(Duration::from_secs(1).min(shared.end.saturating_duration_since(Instant::now()))).await;
        if begin.elapsed() >= settle {
            settled.get_or_insert_with(|| rss_kib(server.pid));
        }
        let totals = shared.tally.totals();
        progress.say(&format!(
            "chaos: {} of {seconds} s, {} calls, {} deaths, {} lost, {} duplicated, {} wrong, RSS {} KiB",
            begin.elapsed().as_secs(),
            totals.calls,
            totals.deaths(),
            totals.lost,
            totals.duplicated,
            totals.wrong,
            rss_kib(server.pid)
        ));
    }
    settled.unwrap_or_else(|| rss_kib(server.pid))
}

impl SharedRun {
    fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Connects and joins, again and again until the seat is free; `None` at the end of the play.
    async fn take(&self, seat: &Seat) -> Option<Link> {
        let begin = Instant::now();
        while !self.is_over() {
            match seat.take(self.address, Buffer::Small).await {
                Ok(link) => {
                    self.tally.note(|totals| {
                        totals.joins += 1;
                        totals.longest_wait = totals.longest_wait.max(begin.elapsed());
                    });
                    return Some(link);
                }
                Err(NotSeated::Refused(_)) => self.tally.note(|totals| totals.refused += 1),
                Err(problem) => self.tally.note(|totals| totals.unexpected.push(format!("{seat:?}: {problem}"))),
            }
            tokio::time::sleep(AGAIN).await;
        }
        None
    }

    /// Ends a member in one of the ways that ask nothing of its office.
    async fn end(&self, link: Link, how: End) {
        self.tally.note(|totals| *totals.ends.entry(how).or_default() += 1);
        match how {
            End::Leave => {}
            End::Goodbye => link.goodbye().await,
            End::Killed => link.drop_dead(),
            End::Reset => link.reset(),
            // The member neither reads nor answers pings, like a machine that lost its network.
            End::Silent => drop(tokio::spawn(async move {
                tokio::time::sleep(SILENCE).await;
                drop(link);
            })),
        }
    }
}
