//! A Computer that answers, mostly, and sometimes misbehaves.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::SharedRun;
use super::fate::{End, Life, Manner};
use crate::wire::{Broken, Kind, Link, NotSeated, Packet, Seat, field};

/// How long a late answer is kept.
const LATE: Duration = Duration::from_millis(100);

/// Ids of calls that are remembered, so that meddling does not hit a call of one's own.
const REMEMBERED: usize = 64;

/// Takes the seat again and again until the end of the play.
pub async fn play(shared: Arc<SharedRun>, seat: Seat, mut life: Life) {
    let filler = "x".repeat(20_000);
    while let Some(link) = shared.take(&seat).await {
        let computer = Computer {
            shared: &shared,
            seat: &seat,
            life: &mut life,
            filler: &filler,
            link,
            late: Vec::new(),
            recent: VecDeque::with_capacity(REMEMBERED),
        };
        computer.live().await;
    }
}

/// One connection of the Computer.
struct Computer<'a> {
    shared: &'a SharedRun,
    seat: &'a Seat,
    life: &'a mut Life,
    filler: &'a str,
    link: Link,
    /// Answers that wait, with the ids they answer.
    late: Vec<(u64, String)>,
    recent: VecDeque<u64>,
}

impl Computer<'_> {
    async fn live(mut self) {
        loop {
            // The Computers stay a little longer than the load: the Agents wait for their last answers.
            let until = (Instant::now() + self.life.stay()).min(self.shared.end + Duration::from_secs(1));
            let how = self.life.end();
            let lived = match self.work(until).await {
                Ok(()) if how == End::Leave => self.step_out().await,
                other => other.map_err(NotSeated::from),
            };
            if let Err(problem) = lived {
                return self.shared.tally.note(|totals| {
                    totals.cut_off += 1;
                    totals.unexpected.push(format!("{:?}: {problem}", self.seat));
                });
            }
            match how {
                End::Leave if self.shared.is_over() => return self.shared.end(self.link, End::Goodbye).await,
                End::Leave => {}
                how => return self.shared.end(self.link, how).await,
            }
        }
    }

    async fn work(&mut self, until: Instant) -> Result<(), Broken> {
        let mut late = tokio::time::interval(LATE);
        let end = tokio::time::sleep_until(until.into());
        tokio::pin!(end);
        loop {
            tokio::select! {
                packet = self.link.next() => {
                    let mut batch = Some(packet?);
                    while let Some(packet) = batch {
                        self.handle(&packet).await?;
                        batch = self.link.ready().transpose()?;
                    }
                }
                _ = late.tick() => {
                    for (id, result) in std::mem::take(&mut self.late) {
                        self.link.ack(id, &result).await?;
                    }
                }
                () = &mut end => return Ok(()),
            }
            self.link.flush().await?;
        }
    }

    /// Leaves with calls unanswered and comes back; its later answers to these calls count for nothing.
    async fn step_out(&mut self) -> Result<(), NotSeated> {
        self.shared.tally.note(|totals| *totals.ends.entry(End::Leave).or_default() += 1);
        self.seat.leave(&mut self.link, |_| {}).await?;
        self.seat.join(&mut self.link, |_| {}).await
    }

    async fn handle(&mut self, packet: &Packet) -> Result<(), Broken> {
        let (Kind::Event, Some(id)) = (packet.kind, packet.id) else {
            if packet.kind == Kind::Event {
                self.shared.check_news(&self.seat.office, packet);
            }
            return Ok(());
        };
        self.remember(id);
        let call = packet.body();
        let Seat { name, office, .. } = self.seat;
        if field(call, "computer") != Some(name) || field(call, "office_id") != Some(office) {
            self.shared.tally.note(|totals| {
                totals.wrong += 1;
                totals.unexpected.push(format!("{name} in {office} was called: {call}"));
            });
        }
        let req_id = field(call, "req_id").unwrap_or_default();
        let text = &self.filler[..self.life.size()];
        let result = format!(
            "{{\"req_id\":\"{req_id}\",\"served_by\":\"{name}@{office}\",\"isError\":false,\
             \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}"
        );
        match self.life.manner() {
            Manner::AtOnce => self.link.ack(id, &result).await,
            Manner::Twice => {
                self.link.ack(id, &result).await?;
                self.link.ack(id, &result).await
            }
            Manner::Late => {
                self.late.push((id, result));
                Ok(())
            }
            Manner::Never => Ok(()),
            Manner::Meddling => {
                if let Some(other) = self.other_computers_call(id) {
                    self.link.ack(other, "{\"served_by\":\"a meddler\"}").await?;
                }
                self.link.ack(id, &result).await
            }
        }
    }

    fn remember(&mut self, id: u64) {
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(id);
    }

    /// The id of a call that was made shortly before one of ours and did not come to us: ids count up.
    fn other_computers_call(&mut self, ours: u64) -> Option<u64> {
        let other = ours.checked_sub(1 + self.life.below(REMEMBERED / 2) as u64)?;
        (!self.recent.contains(&other)).then_some(other)
    }
}
