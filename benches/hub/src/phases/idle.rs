//! Members that are connected, joined and silent: what they cost in memory, and what keeping them alive costs in CPU.

use std::time::{Duration, Instant};

use super::Plan;
use super::crowd::{Crowd, pairs};
use crate::machine::{cpu_nanos, rss_kib};
use crate::servers::Server;
use crate::wire::NotSeated;

/// Pings that everybody has to see before the measurement ends.
const PINGS: u32 = 2;

/// How long the members stay at least, and how long the pings may take.
const HOLD: (Duration, Duration) = (Duration::from_secs(12), Duration::from_secs(90));

/// How often the crowd is counted.
const GLANCE: Duration = Duration::from_millis(500);

/// What idle members cost one server.
pub struct Row {
    pub server: Server,
    pub members: usize,
    /// Members that the server sent away while they did nothing wrong.
    pub gone: usize,
    pub kib_each: f64,
}

/// Measures and prints all servers.
pub async fn run(plan: &Plan) -> Vec<Row> {
    plan.progress.print(format_args!(
        "\n## idle\n\nJoined members, two to an office, that do nothing but answer pings (every 5 s, at least {PINGS} \
         rounds).\n\n\
         | server | RSS idle MiB | members | gone | RSS MiB | KiB/member | CPU ms/s | CPU µs/ping |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|"
    ));
    let mut rows = Vec::new();
    for &server in &plan.servers {
        let members = members(plan, server);
        plan.progress.say(&format!("idle: {server}, {members} members"));
        match measure(plan, server, members).await {
            Ok(row) => rows.push(row),
            Err(problem) => plan.progress.print(format_args!("| {server} | – | {members} | {problem} |")),
        }
    }
    rows
}

fn members(plan: &Plan, server: Server) -> usize {
    let wanted = match (server, plan.quick) {
        (Server::Python, _) => 1000,
        (_, true) => 2000,
        (_, false) => 10_000,
    };
    wanted.min(plan.connections)
}

async fn measure(plan: &Plan, server: Server, members: usize) -> Result<Row, NotSeated> {
    let running = plan.start(server);
    let crowd = Crowd::seated(running.address, pairs(0..members)).await?;
    let (cpu, begin, before) = (cpu_nanos(running.pid), Instant::now(), crowd.pings());
    let enough = before.0 + PINGS;
    while begin.elapsed() < HOLD.0 || (crowd.pings().0 < enough && begin.elapsed() < HOLD.1) {
        tokio::time::sleep(GLANCE).await;
    }
    let (cpu, took) = (cpu_nanos(running.pid) - cpu, begin.elapsed());
    let (rss, pings) = (rss_kib(running.pid), crowd.pings().1 - before.1);
    let row = Row {
        server,
        members,
        gone: crowd.gone(),
        kib_each: rss.saturating_sub(running.idle_kib) as f64 / members as f64,
    };
    plan.progress.print(format_args!(
        "| {server} | {:.1} | {members} | {} | {:.1} | {:.1} | {:.1} | {:.1} |",
        running.idle_kib as f64 / 1024.0,
        row.gone,
        rss as f64 / 1024.0,
        row.kib_each,
        cpu as f64 / 1e6 / took.as_secs_f64(),
        cpu as f64 / 1e3 / pings as f64,
    ));
    Ok(row)
}
