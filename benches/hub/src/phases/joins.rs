//! How fast members connect and join, 64 at a time over websockets, two to an office.

use std::time::Instant;

use super::Plan;
use super::crowd::{pairs, seat_all};
use crate::figures::median_by;
use crate::machine::cpu_nanos;
use crate::servers::Server;
use crate::wire::{Buffer, NotSeated};

/// How fast one server lets members in.
pub struct Row {
    pub server: Server,
    pub per_second: f64,
}

struct Round {
    per_second: f64,
    cpu_micros: f64,
}

/// Measures and prints all servers.
pub async fn run(plan: &Plan) -> Vec<Row> {
    plan.progress.print(format_args!(
        "\n## joins\n\nTCP, websocket, namespace and office, 64 members at a time; the middle one of {} rounds.\n\n\
         | server | members | joins/s | CPU µs/join |\n|---|---:|---:|---:|",
        plan.rounds()
    ));
    let mut rounds: Vec<Vec<Round>> = plan.servers.iter().map(|_| Vec::new()).collect();
    for _ in 0..plan.rounds() {
        for (&server, rounds) in plan.servers.iter().zip(&mut rounds) {
            plan.progress.say(&format!("joins: {server}"));
            match round(plan, server).await {
                Ok(round) => rounds.push(round),
                Err(problem) => plan.progress.print(format_args!("{server}: {problem}")),
            }
        }
    }
    let mut rows = Vec::new();
    for (&server, rounds) in plan.servers.iter().zip(rounds) {
        let Some(round) = median_by(rounds, |round| round.per_second) else { continue };
        let (members, Round { per_second, cpu_micros }) = (members(plan, server), round);
        plan.progress.print(format_args!("| {server} | {members} | {per_second:.0} | {cpu_micros:.0} |"));
        rows.push(Row { server, per_second });
    }
    rows
}

fn members(plan: &Plan, server: Server) -> usize {
    let wanted = match (server, plan.quick) {
        (Server::Python, _) => 1000,
        (_, true) => 2000,
        (_, false) => 8000,
    };
    wanted.min(plan.connections)
}

async fn round(plan: &Plan, server: Server) -> Result<Round, NotSeated> {
    let members = members(plan, server);
    let running = plan.start(server);
    let (cpu, begin) = (cpu_nanos(running.pid), Instant::now());
    let mut links = Vec::with_capacity(members);
    seat_all(running.address, pairs(0..members), Buffer::Small, |_, link| links.push(link)).await?;
    let (took, cpu) = (begin.elapsed(), cpu_nanos(running.pid) - cpu);
    drop(links);
    Ok(Round { per_second: members as f64 / took.as_secs_f64(), cpu_micros: cpu as f64 / 1e3 / members as f64 })
}
