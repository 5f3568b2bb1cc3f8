//! A place in an office, and taking it.

use std::net::SocketAddr;
use std::time::Duration;

use super::link::{Broken, Buffer, Link};
use super::packet::{Kind, Packet};

/// How long a join may stay unanswered before it is asked for again: some servers lose what is sent in the instant of
/// the connection.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often a join is asked for.
const ATTEMPTS: u64 = 10;

/// Acknowledgement ids of joins and leaves start here; calls count from zero.
pub const OFFICE_IDS: u64 = 1 << 40;

/// Who sits where.
#[derive(Debug, Clone)]
pub struct Seat {
    pub role: &'static str,
    pub name: String,
    pub office: String,
}

/// The seat could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum NotSeated {
    #[error(transparent)]
    Broken(#[from] Broken),
    #[error("the join was refused: {0}")]
    Refused(String),
    #[error("the join was never acknowledged")]
    Silence,
}

impl Seat {
    /// The Agent of an office of the measurements.
    pub fn agent(office: usize) -> Self {
        Self { role: "agent", name: format!("agent{office}"), office: format!("o{office}") }
    }

    /// The Computer of an office of the measurements.
    pub fn computer(office: usize) -> Self {
        Self { role: "computer", name: format!("computer{office}"), office: format!("o{office}") }
    }

    /// Connects and joins.
    pub async fn take(&self, address: SocketAddr, buffer: Buffer) -> Result<Link, NotSeated> {
        let mut link = Link::open(address, self.role, buffer).await?;
        self.join(&mut link, |_| {}).await?;
        Ok(link)
    }

    /// Joins over an open link; what else arrives until the answer goes to `meanwhile`.
    pub async fn join(&self, link: &mut Link, mut meanwhile: impl FnMut(&Packet)) -> Result<(), NotSeated> {
        let seat =
            format!("{{\"role\":\"{}\",\"name\":\"{}\",\"office_id\":\"{}\"}}", self.role, self.name, self.office);
        for attempt in 0..ATTEMPTS {
            link.event(Some(OFFICE_IDS + attempt), "server:join_office", &seat).await?;
            link.flush().await?;
            match tokio::time::timeout(PATIENCE, answer(link, &mut meanwhile)).await {
                Ok(Ok(body)) if body.starts_with("[true") => return Ok(()),
                Ok(Ok(body)) => return Err(NotSeated::Refused(body)),
                Ok(Err(broken)) => return Err(broken.into()),
                Err(_) => {}
            }
        }
        Err(NotSeated::Silence)
    }

    /// Leaves the office and keeps the link; what else arrives until the answer goes to `meanwhile`.
    pub async fn leave(&self, link: &mut Link, mut meanwhile: impl FnMut(&Packet)) -> Result<(), NotSeated> {
        let office = format!("{{\"office_id\":\"{}\"}}", self.office);
        link.event(Some(OFFICE_IDS + ATTEMPTS), "server:leave_office", &office).await?;
        link.flush().await?;
        match answer(link, &mut meanwhile).await? {
            body if body.starts_with("[true") => Ok(()),
            body => Err(NotSeated::Refused(body)),
        }
    }
}

/// The answer to a join or a leave.
async fn answer(link: &mut Link, meanwhile: &mut impl FnMut(&Packet)) -> Result<String, Broken> {
    loop {
        let packet = link.next().await?;
        if packet.kind == Kind::Ack && packet.id.is_some_and(|id| id >= OFFICE_IDS) {
            return Ok(packet.body().to_owned());
        }
        meanwhile(&packet);
    }
}
