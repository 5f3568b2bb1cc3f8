//! An Agent that calls without pause and checks every answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::SharedRun;
use super::fate::{End, Life};
use super::pending_calls::PendingCalls;
use crate::wire::{Broken, Kind, Link, NotSeated, OFFICE_IDS, Packet, Seat, field};

/// Calls in flight of one Agent.
pub const IN_FLIGHT: usize = 8;

/// The limit that a call names, in seconds; the hub answers five seconds later at the latest.
const TIMEOUT: u64 = 2;

/// How long an acknowledgement may take before it counts as lost. The machine is busy, and this is not about speed.
const LOST: Duration = Duration::from_secs(30);

/// How often the pending calls are searched for lost ones.
const SEARCH: Duration = Duration::from_secs(1);

/// Takes the seat again and again until the end of the play.
pub async fn play(shared: Arc<SharedRun>, seat: Seat, mut life: Life, computers: Vec<String>) {
    let mut calls = 0;
    while let Some(link) = shared.take(&seat).await {
        let agent = Agent {
            pending_calls: PendingCalls::new(&seat.office),
            shared: &shared,
            seat: &seat,
            link,
            life: &mut life,
            computers: &computers,
            calls: &mut calls,
        };
        agent.live().await;
    }
}

/// One connection of the Agent.
struct Agent<'a> {
    shared: &'a SharedRun,
    seat: &'a Seat,
    life: &'a mut Life,
    computers: &'a [String],
    /// Calls ever made from this seat: request ids are never used again.
    calls: &'a mut u64,
    link: Link,
    pending_calls: PendingCalls,
}

impl Agent<'_> {
    async fn live(mut self) {
        loop {
            let until = (Instant::now() + self.life.stay()).min(self.shared.end);
            let how = self.life.end();
            let over = until == self.shared.end;
            let lived = match how {
                _ if over => self.work(until, true).await,
                End::Leave => match self.work(until, false).await {
                    Ok(()) => self.step_out().await,
                    Err(broken) => Err(broken),
                },
                _ => self.work(until, how == End::Goodbye).await,
            };
            let waiting = self.pending_calls.waiting() as u64;
            if let Err(problem) = lived {
                return self.shared.tally.note(|totals| {
                    totals.cut_off += 1;
                    totals.lost += waiting;
                    totals.unexpected.push(format!("{:?}: {problem}", self.seat));
                });
            }
            if how == End::Leave && !over {
                continue;
            }
            self.shared.tally.note(|totals| totals.abandoned += waiting);
            return self.shared.end(self.link, if over { End::Goodbye } else { how }).await;
        }
    }

    /// Calls until `until`; with `finish`, then waits for every answer.
    async fn work(&mut self, until: Instant, finish: bool) -> Result<(), NotSeated> {
        let mut search = tokio::time::interval(SEARCH);
        let end = tokio::time::sleep_until(until.into());
        tokio::pin!(end);
        let mut calling = true;
        loop {
            while calling && self.pending_calls.waiting() < IN_FLIGHT {
                self.call().await?;
            }
            self.link.flush().await?;
            if !calling && (!finish || self.pending_calls.waiting() == 0) {
                return Ok(());
            }
            tokio::select! {
                packet = self.link.next() => {
                    let mut batch = Some(packet?);
                    while let Some(packet) = batch {
                        self.check(&packet);
                        batch = self.link.ready().transpose()?;
                    }
                }
                () = &mut end, if calling => calling = false,
                _ = search.tick() => {
                    let lost = self.pending_calls.overdue(Instant::now(), LOST) as u64;
                    self.shared.tally.note(|totals| totals.lost += lost);
                }
            }
        }
    }

    /// Leaves the office in the middle of its calls, which are to be answered nevertheless, and comes back.
    async fn step_out(&mut self) -> Result<(), NotSeated> {
        self.shared.tally.note(|totals| *totals.ends.entry(End::Leave).or_default() += 1);
        let (shared, office, pending_calls) = (self.shared, &self.seat.office, &mut self.pending_calls);
        self.seat.leave(&mut self.link, |packet| check(shared, office, pending_calls, packet)).await?;
        self.seat.join(&mut self.link, |packet| check(shared, office, pending_calls, packet)).await
    }

    async fn call(&mut self) -> Result<(), Broken> {
        let Seat { name, office, .. } = self.seat;
        // Sometimes a Computer that does not exist.
        let computer = match self.life.below(100) {
            0 => "missing",
            _ => &self.computers[self.life.below(self.computers.len())],
        };
        *self.calls += 1;
        let req_id = format!("{office}-{}", self.calls);
        let id = self.pending_calls.call(&req_id, computer, Instant::now());
        let request = format!(
            "{{\"agent\":\"{name}\",\"req_id\":\"{req_id}\",\"computer\":\"{computer}\",\"office_id\":\"{office}\",\
             \"tool_name\":\"echo\",\"params\":{{\"text\":\"hello\"}},\"timeout\":{TIMEOUT}}}"
        );
        self.shared.tally.note(|totals| totals.calls += 1);
        self.link.event(Some(id), "client:tool_call", &request).await
    }

    fn check(&mut self, packet: &Packet) {
        check(self.shared, &self.seat.office, &mut self.pending_calls, packet);
    }
}

/// Holds a packet against the pending calls; news of other offices are as wrong as their answers.
fn check(shared: &SharedRun, office: &str, pending_calls: &mut PendingCalls, packet: &Packet) {
    match (packet.kind, packet.id) {
        (Kind::Ack, Some(id)) if id < OFFICE_IDS => {
            let entry = pending_calls.acknowledged(id, packet.body());
            shared.tally.note(|totals| totals.enter(entry));
        }
        (Kind::Event, _) => shared.check_news(office, packet),
        _ => {}
    }
}

impl SharedRun {
    /// Comings and goings have to be those of one's own office.
    pub(super) fn check_news(&self, office: &str, packet: &Packet) {
        if let Some(told) = field(packet.body(), "office_id")
            && told != office
        {
            self.tally.note(|totals| {
                totals.wrong += 1;
                totals.unexpected.push(format!("{office} was told: {}", packet.body()));
            });
        }
    }
}
