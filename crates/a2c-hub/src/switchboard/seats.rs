//! Joining and leaving offices, and the list of members.

use std::sync::Arc;

use a2c_protocol::office::{JoinOfficeReq, LeaveOfficeReq, ListRoomReq, ListRoomRet, SessionInfo};
use a2c_protocol::{ErrorBody, ErrorCode, Role, request};
use serde_json::value::RawValue;

use super::directory::Directory;
use super::office_room::{Effect, OfficeRoom};
use super::routing::in_no_office;
use super::{Mailbox, Member, Sender, Switchboard};
use crate::office::{Joined, MemberSeat};
use crate::telemetry::ClientIdentity;

/// The part of the hub's memory that one office may hold.
const OFFICE_SHARE: usize = 4;

/// The part of an office's memory that its announcements may hold.
const ANNOUNCING_SHARE: usize = 2;

/// What remains to be done when a member has left its office.
pub(super) struct LeftRoom<M> {
    room: Arc<OfficeRoom<M>>,
    effects: Vec<Effect<M>>,
}

impl<M: Mailbox> Switchboard<M> {
    pub(super) fn join(&self, member: &Arc<Member<M>>, payload: &RawValue) -> Result<(), ErrorBody> {
        let JoinOfficeReq { role, name, office_id } = request::decode(payload.get())?;
        let wanted = MemberSeat { office: office_id.into(), role, name: name.into() };
        let mut directory = self.directory();
        // A polling client may have been removed meanwhile.
        if !directory.members.contains_key(&member.conn) {
            return Ok(());
        }
        let joined = permits(member, &wanted).map_err(|refusal| refusal.to_string()).and_then(|()| {
            let MemberSeat { office, role, name } = &wanted;
            directory.seats.join(member.conn, *role, name, office).map_err(|refusal| refusal.to_string())
        });
        let joined = match joined {
            Ok(joined) => joined,
            Err(why) => {
                let (subject, address) = (&*member.identity.subject, member.identity.address);
                tracing::info!(subject, %address, why, "a join was refused");
                self.telemetry.join_refused(&member.identity, &wanted, &why);
                return Err(ErrorBody::new(ErrorCode::Forbidden, why));
            }
        };
        member.set_role(role);
        let Joined::Entered { left } = joined else {
            self.telemetry.joined(&member.identity, &wanted);
            return Ok(());
        };
        let departure = left.and_then(|_| self.get_up(&mut directory, member, "moved"));
        let MemberSeat { office, role, name } = &wanted;
        let ClientIdentity { subject, address, .. } = &member.identity;
        tracing::info!(office = &**office, %role, name = &**name, subject = &**subject, %address, "joined");
        let room = directory.rooms.entry(office.clone()).or_insert_with(|| {
            let share = self.limits.max_memory / OFFICE_SHARE;
            Arc::new(OfficeRoom::new(&self.memory, share, share / ANNOUNCING_SHARE))
        });
        let room = room.clone();
        self.telemetry.joined(&member.identity, &wanted);
        room.enter(&member.sit_down(wanted, &room, self.limits.max_payload));
        member.mailbox.share_memory(&room.memory);
        drop(directory);
        if let Some(departure) = departure {
            self.complete(departure);
        }
        self.telemetry.metrics.broadcasts.inc();
        self.deliver(&room);
        Ok(())
    }

    pub(super) fn leave(&self, member: &Arc<Member<M>>, payload: &RawValue) -> Result<(), ErrorBody> {
        let request: LeaveOfficeReq = request::decode(payload.get())?;
        let mut directory = self.directory();
        directory
            .seats
            .leave(member.conn, &request.office_id)
            .map_err(|refusal| ErrorBody::new(ErrorCode::OtherOffice, refusal.to_string()))?;
        let departure = self.get_up(&mut directory, member, "left");
        drop(directory);
        if let Some(departure) = departure {
            self.complete(departure);
        }
        Ok(())
    }

    /// Takes the seat of a member away, where it has one.
    pub(super) fn vacate(&self, directory: &mut Directory<M>, member: &Member<M>, reason: &str) -> Option<LeftRoom<M>> {
        directory.seats.remove(member.conn)?;
        self.get_up(directory, member, reason)
    }

    /// Removes a member from its office, after it was removed from the index of seats.
    fn get_up(&self, directory: &mut Directory<M>, member: &Member<M>, reason: &str) -> Option<LeftRoom<M>> {
        let taken = member.get_up()?;
        let seat = &taken.seated.seat;
        let address = member.identity.address;
        tracing::info!(office = &*seat.office, role = %seat.role, name = &*seat.name, %address, reason, "left");
        let effects = taken.room.leave(&taken.seated, true);
        directory.forget_if_empty(&seat.office);
        member.mailbox.share_memory(&self.memory);
        self.telemetry.left(&member.identity, seat, reason);
        Some(LeftRoom { room: taken.room.clone(), effects })
    }

    /// Ends the calls of a member that has left, and announces the departure. The lock of the directory must be free.
    pub(super) fn complete(&self, departure: LeftRoom<M>) {
        self.perform(departure.effects);
        self.telemetry.metrics.broadcasts.inc();
        self.deliver(&departure.room);
    }

    pub(super) fn list_room(&self, sender: &Sender<'_, M>, payload: &RawValue) -> Result<(), ErrorBody> {
        let request: ListRoomReq = request::decode(payload.get())?;
        let taken = sender.member.seat().ok_or_else(in_no_office)?;
        if *taken.seated.seat.office != *request.office_id {
            let message = "the members of another office are not shown: ask for your own";
            return Err(ErrorBody::new(ErrorCode::OtherOffice, message));
        }
        let everyone = taken.room.state().everyone();
        let mut sessions: Vec<_> = everyone
            .iter()
            .map(|member| SessionInfo {
                sid: member.identity.sid.to_string(),
                name: member.seat.name.to_string(),
                role: member.seat.role,
                office_id: member.seat.office.to_string(),
                a2c_version: member.version,
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
fn permits<M: Clone>(member: &Member<M>, wanted: &MemberSeat) -> Result<(), SeatRefusal> {
    let MemberSeat { office, role, name } = wanted;
    match (member.role(), &member.grant) {
        (Some(own), _) if own != *role => Err(SeatRefusal::OtherRole { own, wanted: *role }),
        (_, grant) if !grant.permits_role(*role) => Err(SeatRefusal::Role(*role)),
        (_, grant) if !grant.permits_office(office) => Err(SeatRefusal::Office(office.clone())),
        (_, grant) if !grant.permits_name(name) => Err(SeatRefusal::Name(name.clone())),
        _ => Ok(()),
    }
}
