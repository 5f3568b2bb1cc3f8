//! Shutdown: the hub begins no new calls, waits for those in flight, and announces that its members leave.

use std::sync::atomic::Ordering;

use a2c_protocol::{ErrorBody, ErrorCode, Role};

use super::directory::Directory;
use super::office_room::left_packet;
use super::{Mailbox, Switchboard};

/// The answer to a request during the shutdown.
pub(crate) const SHUTTING_DOWN: &str = "the hub is going away: connect again in a moment";

/// In an office with more members than this, only the Agent hears of each departure: to tell all members of all
/// departures would cost the square of their number.
const SMALL_OFFICE: usize = 64;

impl<M: Mailbox> Switchboard<M> {
    /// Begins the shutdown: from now on the hub refuses new calls.
    pub(crate) fn begin_shutdown(&self) {
        self.is_shutting_down.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.is_shutting_down.load(Ordering::Relaxed)
    }

    /// Waits until no call is in flight.
    pub(crate) async fn idle(&self) {
        let told = self.idle.notified();
        tokio::pin!(told);
        // Registered before the check, so that the last call cannot end in between.
        told.as_mut().enable();
        if self.calls_in_flight() > 0 {
            told.await;
        }
    }

    /// Wakes [`Self::idle`] when no call is in flight.
    pub(super) fn check_idle(&self) {
        if self.is_shutting_down() && self.calls_in_flight() == 0 {
            self.idle.notify_waiters();
        }
    }

    /// Answers all calls in flight with an error, because the hub stops.
    pub(crate) fn fail_remaining_calls(&self) {
        let message = "the hub stopped before the answer came; the request may have had an effect";
        let error = ErrorBody::new(ErrorCode::Internal, message);
        let rooms: Vec<_> = self.directory().rooms.values().cloned().collect();
        for room in rooms {
            let effects = room.state().end_all_calls(&error);
            self.perform(effects);
        }
    }

    /// Removes all members from their offices and announces that. In a large office only the Agent hears of it.
    pub(crate) fn announce_departures(&self) {
        let rooms: Vec<_> = self.directory().rooms.values().cloned().collect();
        for room in rooms {
            let (everyone, agent) = {
                let mut state = room.state();
                (state.everyone(), state.agent().cloned())
            };
            let is_small = everyone.len() <= SMALL_OFFICE;
            // The Agent leaves last, because it has to hear of the others.
            let (agents, computers): (Vec<_>, Vec<_>) =
                everyone.iter().partition(|member| member.seat.role == Role::Agent);
            for member in computers.into_iter().chain(agents) {
                self.telemetry.left(&member.identity, &member.seat, "the hub ends");
                let is_agent = agent.as_ref().is_some_and(|agent| agent.conn == member.conn);
                let effects = room.leave(member, is_small || is_agent);
                self.perform(effects);
                match &agent {
                    Some(agent) if !is_small && !is_agent => agent.mailbox.send(left_packet(&member.seat)),
                    _ => self.deliver(&room),
                }
            }
        }
        let mut directory = self.directory();
        let Directory { members, seats, rooms, .. } = &mut *directory;
        for member in members.values() {
            seats.remove(member.conn);
            member.get_up();
        }
        rooms.clear();
    }
}
