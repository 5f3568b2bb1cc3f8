//! One office as loud as the default limits allow, and the calls of another office beside it: on the same hub, and, to
//! tell the hub from the machine, on a second hub.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::Plan;
use super::crowd::{Crowd, seat_all};
use super::quiet::QuietOffice;
use crate::figures::Spread;
use crate::machine::peak_kib;
use crate::servers::Server;
use crate::wire::{Buffer, Link, NotSeated, Seat};

/// What the hub may hold of large messages, by default.
const MAX_MEMORY_MIB: u64 = 512;

/// Connections that the limit of one address allows, less those of the quiet office.
const MEMBERS: usize = 470;

/// A way in which an office is a burden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Burden {
    /// Twenty of 470 members announce 450 times a second.
    Announcements,
    /// Twenty of eighty members announce 15 MiB again and again, and sixty do not read.
    LargeAnnouncements,
    /// Eight members send the beginning of a message, and then only pongs.
    Unfinished,
}

impl Burden {
    const ALL: [Burden; 3] = [Burden::Announcements, Burden::LargeAnnouncements, Burden::Unfinished];

    fn words(self) -> &'static str {
        match self {
            Burden::Announcements => "470 members, 20 announce 450 times a second",
            Burden::LargeAnnouncements => "20 announce 15 MiB each, 60 do not read",
            Burden::Unfinished => "8 messages that never end",
        }
    }
}

/// The calls of the quiet office beside one burden.
pub struct Row {
    pub burden: Burden,
    /// Beside the loud office, on the same hub.
    pub beside_ms: f64,
    /// While the loud office is on another hub of this machine.
    pub apart_ms: f64,
    pub lost: usize,
    /// The most memory that the hub had, above `max_memory`.
    pub excess_mib: i64,
}

/// Measures and prints our hub; the others have no limits to hold.
pub async fn run(plan: &Plan) -> Vec<Row> {
    plan.progress.print(
        "\n## fairness\n\nCalls of one office, one at a time, while another office does what the limits of a public hub \
         allow: on the same hub, and on another hub of the same machine.\n\n\
         | the other office | p50 ms alone | p50 ms beside | p50 ms apart | p99 ms alone | p99 ms beside | p99 ms apart | lost | peak RSS MiB |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|",
    );
    let mut rows = Vec::new();
    for burden in Burden::ALL.into_iter().filter(|_| plan.servers.contains(&Server::A2c)) {
        plan.progress.say(&format!("fairness: {}", burden.words()));
        match measure(plan, burden).await {
            Ok(row) => rows.push(row),
            Err(problem) => plan.progress.print(format_args!("| {} | {problem} |", burden.words())),
        }
    }
    rows
}

async fn measure(plan: &Plan, burden: Burden) -> Result<Row, NotSeated> {
    let (hub, other) = (plan.start_public(), plan.start_public());
    // Long enough for what the other office does to pile up.
    let window = if plan.quick { Duration::from_secs(8) } else { Duration::from_secs(20) };
    let mut quiet = QuietOffice::open(hub.address, 0).await?;
    let alone = quiet.call(window).await;
    let loud = LoudOffice::open(other.address, burden).await?;
    let apart = quiet.call(window).await;
    drop(loud);
    drop(other);
    let loud = LoudOffice::open(hub.address, burden).await?;
    let beside = quiet.call(window).await;
    let peak = peak_kib(hub.pid) / 1024;
    drop(loud);
    let [alone_at, apart_at, beside_at] = [&alone, &apart, &beside].map(|calls| Spread::of(calls.times.clone()));
    let row = Row {
        burden,
        beside_ms: beside_at.ms(0.99),
        apart_ms: apart_at.ms(0.99),
        lost: alone.lost + apart.lost + beside.lost,
        excess_mib: peak as i64 - MAX_MEMORY_MIB as i64,
    };
    plan.progress.print(format_args!(
        "| {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {} | {peak} |",
        burden.words(),
        alone_at.ms(0.5),
        beside_at.ms(0.5),
        apart_at.ms(0.5),
        alone_at.ms(0.99),
        row.beside_ms,
        row.apart_ms,
        row.lost,
    ));
    Ok(row)
}

/// An office that is a burden until it is dropped.
struct LoudOffice {
    _readers: Option<Crowd>,
    _silent: Vec<Link>,
    _tasks: JoinSet<()>,
}

impl LoudOffice {
    async fn open(address: SocketAddr, burden: Burden) -> Result<Self, NotSeated> {
        let seat = |n: usize| Seat { role: "computer", name: format!("loud{n}"), office: "loud".to_owned() };
        let mut tasks = JoinSet::new();
        let (mut readers, mut silent) = (None, Vec::new());
        match burden {
            Burden::Announcements => {
                readers = Some(Crowd::seated(address, (20..MEMBERS).map(seat).collect()).await?);
                let every = Duration::from_secs(1) / 450;
                seat_all(address, (0..20).map(seat).collect(), Buffer::Small, |_, link| {
                    tasks.spawn(announce(link, every, "{\"computer\":\"x\"}".to_owned()));
                })
                .await?;
            }
            Burden::LargeAnnouncements => {
                seat_all(address, (20..80).map(seat).collect(), Buffer::Small, |_, link| silent.push(link)).await?;
                let large = format!("{{\"computer\":\"x\",\"text\":\"{}\"}}", "x".repeat(15 << 20));
                seat_all(address, (0..20).map(seat).collect(), Buffer::Large, |_, link| {
                    tasks.spawn(announce(link, Duration::from_millis(100), large.clone()));
                })
                .await?;
            }
            Burden::Unfinished => {
                seat_all(address, (0..8).map(seat).collect(), Buffer::Small, |_, link| {
                    tasks.spawn(link.never_end());
                })
                .await?;
            }
        }
        Ok(Self { _readers: readers, _silent: silent, _tasks: tasks })
    }
}

/// Announces again and again, and reads what comes back.
async fn announce(mut link: Link, every: Duration, payload: String) {
    let mut timer = tokio::time::interval(every);
    timer.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut next = 1 << 20;
    loop {
        tokio::select! {
            packet = link.next() => if packet.is_err() { return },
            _ = timer.tick() => {
                next += 1;
                let sent = link.event(Some(next), "server:update_desktop", &payload).await;
                if sent.is_err() || link.flush().await.is_err() {
                    return;
                }
            }
        }
    }
}
