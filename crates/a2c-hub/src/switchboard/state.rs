//! The state under the switchboard's lock, and the packets that its changes cause.

use std::collections::{BTreeSet, HashMap};
use std::time::{Instant, SystemTime};

use a2c_engineio::OutgoingMessage;
use a2c_protocol::event;
use a2c_protocol::notification::{OfficeChange, ToolCallCancel};
use a2c_protocol::{ErrorBody, ErrorCode, Role, Version};
use serde::Serialize;

use super::mailbox::Mailbox;
use super::reply::{AckSender, event_of};
use crate::auth::Grant;
use crate::limits::token_bucket::TokenBucket;
use crate::metrics::RequestOutcome;
use crate::office::{ConnId, MemberSeat, Offices, Unreachable};
use crate::route::calls::{PendingCall, PendingCalls};
use crate::telemetry::{CallEnd, CallTelemetry, ClientIdentity, Telemetry};

/// An admitted client.
pub(crate) struct Member<M> {
    pub(crate) identity: ClientIdentity,
    /// The permissions of its credential.
    pub(crate) grant: Grant,
    /// The role that it claimed at CONNECT; otherwise its first join fixes the role.
    pub(crate) role: Option<Role>,
    pub(crate) version: Option<Version>,
    pub(crate) mailbox: M,
    pub(crate) since: Instant,
    /// Its attempts to join an office.
    pub(crate) joins: TokenBucket,
}

/// The clients that are connected, the seats they hold and the calls in flight.
pub(crate) struct SwitchboardState<M> {
    pub(crate) members: HashMap<ConnId, Member<M>>,
    pub(crate) offices: Offices,
    pub(crate) calls: PendingCalls<CallTelemetry>,
    /// The moments at which grants expire.
    pub(crate) expiries: BTreeSet<(SystemTime, ConnId)>,
}

impl<M> Default for SwitchboardState<M> {
    fn default() -> Self {
        Self {
            members: HashMap::new(),
            offices: Offices::default(),
            calls: PendingCalls::default(),
            expiries: BTreeSet::new(),
        }
    }
}

impl<M: Mailbox> SwitchboardState<M> {
    pub(crate) fn seat(&self, conn: ConnId) -> Result<&MemberSeat, ErrorBody> {
        self.offices.seat(conn).ok_or_else(|| refusal_of(&Unreachable::CallerInNoOffice, ""))
    }

    /// Ends the calls of a member that has left (an Agent that waits gets an error, a Computer a cancellation) and
    /// announces the departure to the others of its office.
    pub(crate) fn departed(&mut self, conn: ConnId, seat: &MemberSeat, telemetry: &Telemetry) {
        self.end_calls_of(conn, seat, telemetry);
        telemetry.metrics.broadcasts.inc();
        let change = OfficeChange::of(&seat.office, seat.role, &seat.name);
        self.tell_others(conn, &seat.office, event::NOTIFY_LEAVE_OFFICE, &change);
    }

    /// Announces to one member that another has left.
    pub(crate) fn tell_left(&self, to: ConnId, seat: &MemberSeat) {
        self.tell(to, event::NOTIFY_LEAVE_OFFICE, &OfficeChange::of(&seat.office, seat.role, &seat.name));
    }

    /// Ends the calls of a member that has left.
    pub(crate) fn end_calls_of(&mut self, conn: ConnId, seat: &MemberSeat, telemetry: &Telemetry) {
        for call in self.calls.of_departed(conn) {
            if call.computer == conn {
                let message = format!("Computer '{}' went away before it answered", seat.name);
                let error = ErrorBody::new(ErrorCode::NotFound, message).with("computer", &*seat.name);
                self.answer(call, &error, RequestOutcome::ComputerLeft, telemetry);
                continue;
            }
            if let (true, Some(req_id)) = (call.is_tool_call, &call.req_id) {
                let cancel = ToolCallCancel { agent: seat.name.to_string(), req_id: req_id.clone() };
                self.tell(call.computer, event::NOTIFY_TOOL_CALL_CANCEL, &cancel);
            }
            // An Agent that only left its office is still connected and gets an answer.
            let error = ErrorBody::new(ErrorCode::NotInOffice, "you left the office before the answer came");
            self.answer(call, &error, RequestOutcome::AgentLeft, telemetry);
        }
    }

    /// Ends a call with an error.
    pub(crate) fn answer(
        &self,
        call: PendingCall<CallTelemetry>,
        error: &ErrorBody,
        outcome: RequestOutcome,
        telemetry: &Telemetry,
    ) {
        if let Some(agent) = self.members.get(&call.agent) {
            AckSender { mailbox: agent.mailbox.clone(), id: Some(call.ack) }.json(error);
        }
        telemetry.end_call(call.telemetry, CallEnd::with(outcome, error.code));
    }

    pub(crate) fn tell(&self, conn: ConnId, event: &str, payload: &impl Serialize) {
        if let Some(member) = self.members.get(&conn) {
            member.mailbox.send(event_of(event, payload));
        }
    }

    pub(crate) fn tell_others(&self, sender: ConnId, office: &str, event: &str, payload: &impl Serialize) {
        self.send_to_others(sender, office, &event_of(event, payload));
    }

    pub(crate) fn send_to_others(&self, sender: ConnId, office: &str, packet: &OutgoingMessage) {
        for conn in self.offices.members(office).filter(|c| *c != sender) {
            if let Some(member) = self.members.get(&conn) {
                member.mailbox.send(packet.clone());
            }
        }
    }
}

/// The protocol error for a Computer that cannot be reached.
pub(crate) fn refusal_of(reason: &Unreachable, computer: &str) -> ErrorBody {
    match reason {
        Unreachable::CallerInNoOffice => ErrorBody::new(ErrorCode::NotInOffice, "in no office: join one first"),
        Unreachable::CallerNoAgent => ErrorBody::new(ErrorCode::Forbidden, "only an agent may call computers"),
        Unreachable::NoSuchComputer => ErrorBody::computer_not_found(computer),
    }
}
