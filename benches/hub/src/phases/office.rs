//! An Agent that calls and a Computer that answers.

use std::time::{Duration, Instant};

use crate::wire::{Broken, Kind, Link, Packet, field};

/// How long an answer may take before its call is lost.
const LIMIT: Duration = Duration::from_secs(60);

/// What the calls of an Agent came to.
#[derive(Default)]
pub struct Samples {
    pub times: Vec<Duration>,
    /// Calls without an answer, or with another one than asked for.
    pub lost: usize,
}

/// The Agent of an office.
pub struct Caller {
    pub link: Link,
    office: usize,
    result_bytes: usize,
    next: u64,
    under_way: Vec<(u64, Instant)>,
}

impl Caller {
    pub fn new(link: Link, office: usize, result_bytes: usize) -> Self {
        Self { link, office, result_bytes, next: 0, under_way: Vec::new() }
    }

    /// Keeps so many calls in flight until `end`, then waits for the last answers.
    pub async fn call_until(&mut self, end: Instant, in_flight: usize) -> Samples {
        let mut samples = Samples::default();
        if self.rounds(end, in_flight, &mut samples).await.is_err() {
            samples.lost += self.under_way.drain(..).count();
        }
        samples
    }

    async fn rounds(&mut self, end: Instant, in_flight: usize, samples: &mut Samples) -> Result<(), Broken> {
        for _ in 0..in_flight {
            self.call().await?;
        }
        self.link.flush().await?;
        while !self.under_way.is_empty() {
            let packet = tokio::time::timeout(LIMIT, self.link.next()).await.map_err(|_| Broken::Closed)??;
            let mut batch = Some(packet);
            while let Some(packet) = batch {
                if let Some((time, right)) = self.answered(&packet) {
                    samples.times.push(time);
                    samples.lost += usize::from(!right);
                    if Instant::now() < end {
                        self.call().await?;
                    }
                }
                batch = self.link.ready().transpose()?;
            }
            self.link.flush().await?;
        }
        Ok(())
    }

    /// Queues a call.
    pub async fn call(&mut self) -> Result<(), Broken> {
        let (id, office) = (self.next, self.office);
        self.next += 1;
        let request = format!(
            "{{\"agent\":\"agent{office}\",\"req_id\":\"{office}-{id}\",\"computer\":\"computer{office}\",\
             \"office_id\":\"o{office}\",\"tool_name\":\"echo\",\"params\":{{\"text\":\"hello\"}},\"timeout\":60}}"
        );
        self.under_way.push((id, Instant::now()));
        self.link.event(Some(id), "client:tool_call", &request).await
    }

    /// How long the call took that this packet answers, and whether it has all of the right result.
    pub fn answered(&mut self, packet: &Packet) -> Option<(Duration, bool)> {
        let id = packet.id.filter(|_| packet.kind == Kind::Ack)?;
        let found = self.under_way.iter().position(|(sent, _)| *sent == id)?;
        let (_, sent) = self.under_way.swap_remove(found);
        let time = sent.elapsed();
        let req_id = format!("{}-{id}", self.office);
        let right = packet.body().len() >= self.result_bytes && field(packet.body(), "req_id") == Some(&req_id);
        Some((time, right))
    }
}

/// A Computer that answers at once for as long as it is connected.
pub async fn answer(mut link: Link, bytes: usize) {
    let text = "x".repeat(bytes);
    while let Ok(packet) = link.next().await {
        let mut batch = Some(packet);
        while let Some(packet) = batch {
            if let (Kind::Event, Some(id)) = (packet.kind, packet.id) {
                let req_id = field(packet.body(), "req_id").unwrap_or_default();
                let result = format!(
                    "{{\"req_id\":\"{req_id}\",\"isError\":false,\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}"
                );
                if link.ack(id, &result).await.is_err() {
                    return;
                }
            }
            batch = match link.ready() {
                Some(Err(_)) => return,
                Some(Ok(packet)) => Some(packet),
                None => None,
            };
        }
        if link.flush().await.is_err() {
            return;
        }
    }
}
