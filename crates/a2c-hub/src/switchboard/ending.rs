//! A hub that goes away: no new calls, the old ones to their end, then everybody is told.

use std::sync::atomic::Ordering;

use super::Switchboard;
use crate::office::ConnId;

/// What is said to whoever wants something new.
pub(crate) const GOING_AWAY: &str = "the hub is going away: connect again in a moment";

/// In an office with more members than this, only the Agent is told of each one that goes: when all go at once, telling
/// everybody about everybody grows with the square of their number.
const SMALL: usize = 64;

impl Switchboard {
    /// From now on nothing new is begun.
    pub(crate) fn begin_ending(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// Waits for the last call.
    pub(crate) async fn idle(&self) {
        let told = self.idle.notified();
        tokio::pin!(told);
        // Registered before the look, so that the last call cannot end in between.
        told.as_mut().enable();
        if self.counts().1 > 0 {
            told.await;
        }
    }

    /// Tells whoever waits for it that there are no calls left.
    pub(super) fn check_idle(&self) {
        if self.is_ending() && self.counts().1 == 0 {
            self.idle.notify_waiters();
        }
    }

    /// Empties all offices; everybody is told who left, as far as that is bearable.
    pub(crate) fn farewell(&self) {
        let mut state = self.state();
        let offices: Vec<(Option<ConnId>, Vec<ConnId>)> =
            state.offices.iter().map(|(_, agent, computers)| (agent, computers.collect())).collect();
        for (agent, computers) in offices {
            let is_small = computers.len() < SMALL;
            // The Agent goes last: it is the one that wants to know.
            for conn in computers.into_iter().chain(agent) {
                let Some(seat) = state.offices.remove(conn) else { continue };
                if let Some(member) = state.members.get(&conn) {
                    self.ledger.left(&member.who, &seat, "the hub ends");
                }
                if is_small || Some(conn) == agent {
                    state.departed(conn, &seat, &self.ledger);
                } else if let Some(agent) = agent {
                    state.end_calls_of(conn, &seat, &self.ledger);
                    state.tell_left(agent, &seat);
                }
            }
        }
    }
}
