//! Shutdown: the hub begins no new calls, waits for those in flight, and announces that its members leave.

use std::sync::atomic::Ordering;

use a2c_protocol::notification::ToolCallCancel;
use a2c_protocol::{ErrorBody, ErrorCode, event};

use super::{Mailbox, Switchboard};
use crate::metrics::RequestOutcome;
use crate::office::ConnId;

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
        if self.counts().1 > 0 {
            told.await;
        }
    }

    /// Wakes [`Self::idle`] when no call is in flight.
    pub(super) fn check_idle(&self) {
        if self.is_shutting_down() && self.counts().1 == 0 {
            self.idle.notify_waiters();
        }
    }

    /// Answers all calls in flight with an error, because the hub stops.
    pub(crate) fn fail_remaining_calls(&self) {
        let mut state = self.state();
        let message = "the hub stopped before the answer came; the request may have had an effect";
        let error = ErrorBody::new(ErrorCode::Internal, message);
        for call in state.calls.take_all() {
            if let (true, Some(req_id), Some(seat)) = (call.is_tool_call, &call.req_id, state.offices.seat(call.agent))
            {
                let cancel = ToolCallCancel { agent: seat.name.to_string(), req_id: req_id.clone() };
                state.tell(call.computer, event::NOTIFY_TOOL_CALL_CANCEL, &cancel);
            }
            state.answer(call, &error, RequestOutcome::Failed, &self.telemetry);
        }
    }

    /// Removes all members from their offices and announces that. In a large office only the Agent hears of it.
    pub(crate) fn announce_departures(&self) {
        let mut state = self.state();
        let offices: Vec<(Option<ConnId>, Vec<ConnId>)> =
            state.offices.iter().map(|(_, agent, computers)| (agent, computers.collect())).collect();
        for (agent, computers) in offices {
            let is_small = computers.len() < SMALL_OFFICE;
            // The Agent leaves last, because it has to hear of the others.
            for conn in computers.into_iter().chain(agent) {
                let Some(seat) = state.offices.remove(conn) else { continue };
                if let Some(member) = state.members.get(&conn) {
                    self.telemetry.left(&member.identity, &seat, "the hub ends");
                }
                if is_small || Some(conn) == agent {
                    state.departed(conn, &seat, &self.telemetry);
                } else if let Some(agent) = agent {
                    state.end_calls_of(conn, &seat, &self.telemetry);
                    state.tell_left(agent, &seat);
                }
            }
        }
    }
}
