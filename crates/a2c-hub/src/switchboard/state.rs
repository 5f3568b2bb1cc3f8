//! Everything the hub knows, and telling it to those whom it concerns.

use std::collections::{BTreeSet, HashMap};
use std::time::{Instant, SystemTime};

use a2c_engineio::Outgoing;
use a2c_protocol::event;
use a2c_protocol::notification::{OfficeChange, ToolCallCancel};
use a2c_protocol::{ErrorBody, ErrorCode, Role, Version};
use serde::Serialize;

use super::reply::{Reply, event_of};
use crate::auth::Pass;
use crate::ledger::{Account, End, Ledger, Who};
use crate::metrics::Outcome;
use crate::office::{ConnId, Offices, Seat, Unreachable};
use crate::route::calls::{Call, Calls};
use crate::wire::outbox::Outbox;

/// A client that was let in.
pub(crate) struct Member {
    pub(crate) who: Who,
    /// What it may do.
    pub(crate) pass: Pass,
    /// The role it claimed; otherwise its first join fixes it.
    pub(crate) role: Option<Role>,
    pub(crate) version: Option<Version>,
    pub(crate) outbox: Outbox,
    pub(crate) since: Instant,
}

/// Who is connected, who sits where, who waits for whom.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) members: HashMap<ConnId, Member>,
    pub(crate) offices: Offices,
    pub(crate) calls: Calls<Account>,
    /// When passes end.
    pub(crate) expiries: BTreeSet<(SystemTime, ConnId)>,
}

impl State {
    pub(crate) fn seat(&self, conn: ConnId) -> Result<&Seat, ErrorBody> {
        self.offices.seat(conn).ok_or_else(|| refusal_of(&Unreachable::CallerInNoOffice, ""))
    }

    /// Tells the others of an office that a member is gone, and ends the calls it took part in: the Agent's waiting
    /// calls are answered, the Computers' running ones are cancelled.
    pub(crate) fn departed(&mut self, conn: ConnId, seat: &Seat, ledger: &Ledger) {
        self.end_calls_of(conn, seat, ledger);
        ledger.metrics.broadcasts.inc();
        let change = OfficeChange::of(&seat.office, seat.role, &seat.name);
        self.tell_others(conn, &seat.office, event::NOTIFY_LEAVE_OFFICE, &change);
    }

    /// Tells one member that another is gone.
    pub(crate) fn tell_left(&self, to: ConnId, seat: &Seat) {
        self.tell(to, event::NOTIFY_LEAVE_OFFICE, &OfficeChange::of(&seat.office, seat.role, &seat.name));
    }

    /// Ends the calls in which a member takes part, because it is gone.
    pub(crate) fn end_calls_of(&mut self, conn: ConnId, seat: &Seat, ledger: &Ledger) {
        for call in self.calls.of_departed(conn) {
            if call.computer == conn {
                let message = format!("Computer '{}' went away before it answered", seat.name);
                let error = ErrorBody::new(ErrorCode::NotFound, message).with("computer", &*seat.name);
                self.answer(call, &error, Outcome::ComputerLeft, ledger);
                continue;
            }
            if let (true, Some(req_id)) = (call.is_tool_call, &call.req_id) {
                let cancel = ToolCallCancel { agent: seat.name.to_string(), req_id: req_id.clone() };
                self.tell(call.computer, event::NOTIFY_TOOL_CALL_CANCEL, &cancel);
            }
            // An Agent that only left its office is still there to be answered.
            let error = ErrorBody::new(ErrorCode::NotInOffice, "you left the office before the answer came");
            self.answer(call, &error, Outcome::AgentLeft, ledger);
        }
    }

    /// Ends a call with an error.
    pub(crate) fn answer(&self, call: Call<Account>, error: &ErrorBody, outcome: Outcome, ledger: &Ledger) {
        if let Some(agent) = self.members.get(&call.agent) {
            Reply { outbox: agent.outbox.clone(), id: Some(call.ack) }.json(error);
        }
        ledger.close(call.account, End::with(outcome, error.code));
    }

    pub(crate) fn tell(&self, conn: ConnId, event: &str, payload: &impl Serialize) {
        if let Some(member) = self.members.get(&conn) {
            member.outbox.send(event_of(event, payload));
        }
    }

    pub(crate) fn tell_others(&self, sender: ConnId, office: &str, event: &str, payload: &impl Serialize) {
        self.send_to_others(sender, office, &event_of(event, payload));
    }

    pub(crate) fn send_to_others(&self, sender: ConnId, office: &str, packet: &Outgoing) {
        for conn in self.offices.members(office).filter(|c| *c != sender) {
            if let Some(member) = self.members.get(&conn) {
                member.outbox.send(packet.clone());
            }
        }
    }
}

/// Why a request does not reach a Computer, in the words of the protocol.
pub(crate) fn refusal_of(reason: &Unreachable, computer: &str) -> ErrorBody {
    match reason {
        Unreachable::CallerInNoOffice => ErrorBody::new(ErrorCode::NotInOffice, "in no office: join one first"),
        Unreachable::CallerNoAgent => ErrorBody::new(ErrorCode::Forbidden, "only an agent may call computers"),
        Unreachable::NoSuchComputer => ErrorBody::computer_not_found(computer),
    }
}
