//! One word to a full office: a Computer says that its desktop changed, and the time is taken until the last of the other
//! members has heard it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Plan;
use super::crowd::seat_all;
use crate::figures::Spread;
use crate::machine::cpu_nanos;
use crate::servers::Server;
use crate::wire::{Buffer, Link, NotSeated, Seat};

/// How long a word may take to everybody.
const LIMIT: Duration = Duration::from_secs(30);

/// Words that are not counted.
const WARM_UP: usize = 10;

/// How fast one server tells an office.
pub struct Row {
    pub server: Server,
    pub p50_ms: f64,
    pub p99_ms: f64,
}

/// Measures and prints all servers.
pub async fn run(plan: &Plan) -> Vec<Row> {
    plan.progress.print(
        "\n## broadcast\n\nOne `server:update_desktop` in an office of Computers and an Agent, until the last of the \
         others has it.\n\n\
         | server | computers | rounds | missed | p50 ms | p99 ms | max ms | CPU µs/receiver |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|",
    );
    let mut rows = Vec::new();
    for &server in &plan.servers {
        // Each join is told to everybody before: the Python server takes minutes for a thousand.
        let computers = if server == Server::Python { 200 } else { 1000 };
        let rounds = if plan.quick { 50 } else { 300 };
        plan.progress.say(&format!("broadcast: {server}, {computers} computers"));
        match measure(plan, server, computers.min(plan.connections - 1), rounds).await {
            Ok(row) => rows.push(row),
            Err(problem) => plan.progress.print(format_args!("| {server} | {computers} | {problem} |")),
        }
    }
    rows
}

async fn measure(plan: &Plan, server: Server, computers: usize, rounds: usize) -> Result<Row, NotSeated> {
    let running = plan.start(server);
    let (mut office, mut speaker) = (Office::new(computers, WARM_UP + rounds), None);
    seat_all(running.address, seats(computers), Buffer::Small, |number, link| match number {
        0 => speaker = Some(link),
        _ => office.listen(link),
    })
    .await?;
    let Some(mut speaker) = speaker else { return Err(NotSeated::Silence) };

    let (mut cpu, mut times, mut missed) = (0, Vec::new(), 0);
    for word in 0..WARM_UP + rounds {
        if word == WARM_UP {
            (cpu, times) = (cpu_nanos(running.pid), Vec::new());
        }
        let begin = Instant::now();
        speaker.event(None, "server:update_desktop", "{\"computer\":\"computer0\"}").await?;
        speaker.flush().await?;
        match office.heard(word, &mut speaker).await {
            Some(last) => times.push(last.duration_since(begin)),
            None => missed += 1,
        }
    }
    let cpu = (cpu_nanos(running.pid) - cpu) as f64 / 1e3 / (rounds * computers) as f64;
    let spread = Spread::of(times);
    let row = Row {
        server,
        p50_ms: spread.ms(0.5),
        // A word that did not reach everybody has no time; it must not look like a fast one.
        p99_ms: if missed == 0 { spread.ms(0.99) } else { f64::INFINITY },
    };
    plan.progress.print(format_args!(
        "| {server} | {computers} | {rounds} | {missed} | {:.1} | {:.1} | {:.1} | {cpu:.1} |",
        row.p50_ms,
        row.p99_ms,
        spread.ms(1.0),
    ));
    Ok(row)
}

fn seats(computers: usize) -> Vec<Seat> {
    let computer = |n| Seat { role: "computer", name: format!("computer{n}"), office: "o0".to_owned() };
    (0..computers).map(computer).chain([Seat::agent(0)]).collect()
}

/// Everybody but the speaker.
struct Office {
    everybody: usize,
    /// How many have heard each word. Each member counts for itself: one who hears a word twice does not stand in for one
    /// who missed it.
    heard: Arc<[AtomicUsize]>,
    /// The number of a word that the last member has heard, and when.
    complete: mpsc::UnboundedReceiver<(usize, Instant)>,
    tell: mpsc::UnboundedSender<(usize, Instant)>,
    members: JoinSet<()>,
}

impl Office {
    fn new(everybody: usize, words: usize) -> Self {
        let (tell, complete) = mpsc::unbounded_channel();
        let heard = (0..words).map(|_| AtomicUsize::new(0)).collect();
        Self { everybody, heard, complete, tell, members: JoinSet::new() }
    }

    fn listen(&mut self, mut link: Link) {
        let (everybody, heard, tell) = (self.everybody, self.heard.clone(), self.tell.clone());
        self.members.spawn(async move {
            let mut word = 0;
            while let Ok(packet) = link.next().await {
                if packet.is_event("notify:update_desktop") {
                    if heard.get(word).is_some_and(|count| count.fetch_add(1, Ordering::Relaxed) + 1 == everybody) {
                        let _ = tell.send((word, Instant::now()));
                    }
                    word += 1;
                }
            }
        });
    }

    /// When the last member heard a word; the speaker's link is kept alive meanwhile.
    async fn heard(&mut self, word: usize, speaker: &mut Link) -> Option<Instant> {
        let limit = tokio::time::sleep(LIMIT);
        tokio::pin!(limit);
        loop {
            tokio::select! {
                complete = self.complete.recv() => match complete {
                    Some((number, when)) if number == word => return Some(when),
                    Some(_) => {}
                    None => return None,
                },
                packet = speaker.next() => if packet.is_err() { return None },
                () = &mut limit => return None,
            }
        }
    }
}
