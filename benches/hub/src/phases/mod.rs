//! What is measured. Each phase prints its table and hands its rows to the summary.
//!
//! The servers take turns, round by round, so that a busy moment of the machine does not fall on one of them alone; of
//! the rounds the middle one counts.

pub mod broadcast;
pub mod calls;
mod crowd;
pub mod fairness;
pub mod growth;
pub mod idle;
pub mod joins;
mod office;
mod quiet;

use std::time::Duration;

use crate::cores::Cores;
use crate::progress::Progress;
use crate::servers::{Patience, Running, Server};

/// How much is measured.
pub struct Plan {
    pub servers: Vec<Server>,
    /// A few minutes instead of most of an hour.
    pub quick: bool,
    /// Only these numbers of offices, unless empty.
    pub offices: Vec<usize>,
    /// Connections that the system allows one process to have.
    pub connections: usize,
    /// Where servers have cores of their own.
    pub cores: Option<Cores>,
    pub progress: Progress,
}

impl Plan {
    /// Starts a server in the way in which all are compared.
    pub fn start(&self, server: Server) -> Running {
        server.start(Patience::Compared, self.cores)
    }

    /// Starts our hub with the limits that it has by default where other machines can reach it.
    pub fn start_public(&self) -> Running {
        Server::A2c.start(Patience::Public, self.cores)
    }

    /// Rounds of which the middle one counts.
    pub fn rounds(&self) -> usize {
        if self.quick { 1 } else { 3 }
    }

    /// How long one measurement lasts.
    pub fn window(&self) -> Duration {
        Duration::from_secs(if self.quick { 1 } else { 3 })
    }
}
