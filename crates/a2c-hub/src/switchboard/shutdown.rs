//! A hub that goes away: no new calls, the old ones to their end, then everybody is told.

use std::sync::atomic::Ordering;

use a2c_protocol::notification::ToolCallCancel;
use a2c_protocol::{ErrorBody, ErrorCode, event};

use super::Switchboard;
use crate::metrics::RequestOutcome;
use crate::office::ConnId;

/// What is said to whoever wants something new.
pub(crate) const SHUTTING_DOWN: &str = "the hub is going away: connect again in a moment";

/// In an office with more members than this, only the Agent is told of each one that goes: when all go at once, telling
/// everybody about everybody grows with the square of their number.
const SMALL: usize = 64;

impl Switchboard {
    /// From now on nothing new is begun.
    pub(crate) fn begin_shutdown(&self) {
        self.is_shutting_down.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.is_shutting_down.load(Ordering::Relaxed)
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
        if self.is_shutting_down() && self.counts().1 == 0 {
            self.idle.notify_waiters();
        }
    }

    /// Ends all calls that are left, because the hub does.
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

    /// Empties all offices; everybody is told who left, as far as that is bearable.
    pub(crate) fn announce_departures(&self) {
        let mut state = self.state();
        let offices: Vec<(Option<ConnId>, Vec<ConnId>)> =
            state.offices.iter().map(|(_, agent, computers)| (agent, computers.collect())).collect();
        for (agent, computers) in offices {
            let is_small = computers.len() < SMALL;
            // The Agent goes last: it is the one that wants to know.
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
