//! Joining and leaving offices, and the list of members.

use std::sync::Arc;

use a2c_protocol::notification::OfficeChange;
use a2c_protocol::office::{JoinOfficeReq, LeaveOfficeReq, ListRoomReq, ListRoomRet, SessionInfo};
use a2c_protocol::{ErrorBody, ErrorCode, Role, event, request};
use serde_json::value::RawValue;

use super::state::{Member, SwitchboardState};
use super::{Mailbox, Sender, Switchboard};
use crate::office::{ConnId, Joined, MemberSeat};

impl<M: Mailbox> Switchboard<M> {
    pub(super) fn join(&self, conn: ConnId, payload: &RawValue) -> Result<(), ErrorBody> {
        let JoinOfficeReq { role, name, office_id } = request::decode(payload.get())?;
        let wanted = MemberSeat { office: office_id.into(), role, name: name.into() };
        let mut state = self.state();
        let outcome = self.seat(&mut state, conn, &wanted);
        if let Some(member) = state.members.get(&conn) {
            match &outcome {
                Ok(()) => self.telemetry.joined(&member.identity, &wanted),
                Err(refusal) => {
                    let (subject, address, why) =
                        (&*member.identity.subject, member.identity.address, &*refusal.message);
                    tracing::info!(subject, %address, why, "a join was refused");
                    self.telemetry.join_refused(&member.identity, &wanted, why);
                }
            }
        }
        outcome
    }

    fn seat(&self, state: &mut SwitchboardState<M>, conn: ConnId, wanted: &MemberSeat) -> Result<(), ErrorBody> {
        let MemberSeat { office, role, name } = wanted;
        let Some(member) = state.members.get(&conn) else { return Ok(()) };
        permits(member, wanted).map_err(|refusal| ErrorBody::new(ErrorCode::Forbidden, refusal.to_string()))?;
        let joined = state
            .offices
            .join(conn, *role, name, office)
            .map_err(|refusal| ErrorBody::new(ErrorCode::Forbidden, refusal.to_string()))?;
        if let Some(member) = state.members.get_mut(&conn) {
            member.role = Some(*role);
        }
        if let Joined::Entered { left } = joined {
            if let Some(seat) = left {
                tracing::info!(office = &*seat.office, role = %seat.role, name = &*seat.name, "moved out");
                state.departed(conn, &seat, &self.telemetry);
                if let Some(member) = state.members.get(&conn) {
                    self.telemetry.left(&member.identity, &seat, "moved");
                }
            }
            let subject = state.members.get(&conn).map(|member| &*member.identity.subject);
            tracing::info!(office = &**office, %role, name = &**name, subject, "joined");
            let change = OfficeChange::of(office, *role, name);
            state.tell_others(conn, office, event::NOTIFY_ENTER_OFFICE, &change);
            self.telemetry.metrics.broadcasts.inc();
        }
        Ok(())
    }

    pub(super) fn leave(&self, conn: ConnId, payload: &RawValue) -> Result<(), ErrorBody> {
        let request: LeaveOfficeReq = request::decode(payload.get())?;
        let mut state = self.state();
        let seat = state
            .offices
            .leave(conn, &request.office_id)
            .map_err(|refusal| ErrorBody::new(ErrorCode::OtherOffice, refusal.to_string()))?;
        tracing::info!(office = &*seat.office, role = %seat.role, name = &*seat.name, "left");
        state.departed(conn, &seat, &self.telemetry);
        if let Some(member) = state.members.get(&conn) {
            self.telemetry.left(&member.identity, &seat, "left");
        }
        Ok(())
    }

    pub(super) fn list_room(&self, sender: &Sender<M>, payload: &RawValue) -> Result<(), ErrorBody> {
        let request: ListRoomReq = request::decode(payload.get())?;
        let state = self.state();
        let seat = state.seat(sender.conn)?;
        if *seat.office != *request.office_id {
            let message = "the members of another office are not shown: ask for your own";
            return Err(ErrorBody::new(ErrorCode::OtherOffice, message));
        }
        // Collected under the lock, encoded after it.
        let known = |member: ConnId| {
            let (seat, known) = (state.offices.seat(member)?, state.members.get(&member)?);
            Some((known.identity.sid.clone(), seat.clone(), known.version))
        };
        let members: Vec<_> = state.offices.members(&seat.office).filter_map(known).collect();
        drop(state);
        let mut sessions: Vec<_> = members
            .into_iter()
            .map(|(sid, seat, a2c_version)| SessionInfo {
                sid: sid.to_string(),
                name: seat.name.to_string(),
                role: seat.role,
                office_id: seat.office.to_string(),
                a2c_version,
            })
            .collect();
        sessions.sort_by(|a, b| (a.role.as_str(), &a.name).cmp(&(b.role.as_str(), &b.name)));
        sender.reply.json(&ListRoomRet { sessions, req_id: request.req_id });
        Ok(())
    }
}

/// Why a member may not take a seat, before the rules of offices are asked.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum SeatRefusal {
    #[error("this connection is of role {own}: it cannot join as {wanted}")]
    OtherRole { own: Role, wanted: Role },
    #[error("this credential does not permit the role {0}: ask the operator of the hub")]
    Role(Role),
    #[error("this credential does not permit office '{0}': ask the operator of the hub")]
    Office(Arc<str>),
    #[error("this credential does not permit the name '{0}': ask the operator of the hub")]
    Name(Arc<str>),
}

/// Checks that the claimed role and the grant of a member permit a seat.
fn permits<M>(member: &Member<M>, wanted: &MemberSeat) -> Result<(), SeatRefusal> {
    let MemberSeat { office, role, name } = wanted;
    match (member.role, &member.grant) {
        (Some(own), _) if own != *role => Err(SeatRefusal::OtherRole { own, wanted: *role }),
        (_, grant) if !grant.permits_role(*role) => Err(SeatRefusal::Role(*role)),
        (_, grant) if !grant.permits_office(office) => Err(SeatRefusal::Office(office.clone())),
        (_, grant) if !grant.permits_name(name) => Err(SeatRefusal::Name(name.clone())),
        _ => Ok(()),
    }
}
