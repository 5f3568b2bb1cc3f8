//! An admitted client and its seat.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use a2c_engineio::MemoryPool;
use a2c_protocol::{Role, Version};

use super::office_room::OfficeRoom;
use super::seated_member::{CallNumbers, SeatedMember};
use crate::auth::Grant;
use crate::limits::Rate;
use crate::limits::token_bucket::TokenBucket;
use crate::office::{ConnId, MemberSeat};
use crate::telemetry::ClientIdentity;

/// What the hub knows of a client when it admits it.
pub(crate) struct Admission<M> {
    pub(crate) identity: ClientIdentity,
    /// The permissions of its credential.
    pub(crate) grant: Grant,
    /// The role that it claimed at CONNECT; otherwise its first join fixes the role.
    pub(crate) role: Option<Role>,
    pub(crate) version: Option<Version>,
    pub(crate) mailbox: M,
}

/// An admitted client.
pub(crate) struct Member<M> {
    pub(crate) conn: ConnId,
    pub(crate) identity: ClientIdentity,
    pub(crate) grant: Grant,
    pub(crate) version: Option<Version>,
    pub(crate) mailbox: M,
    pub(crate) since: Instant,
    call_numbers: Arc<CallNumbers>,
    state: Mutex<MemberState<M>>,
}

struct MemberState<M> {
    role: Option<Role>,
    /// Its attempts to join an office.
    joins: TokenBucket,
    seat: Option<Arc<TakenSeat<M>>>,
}

/// The seat of a member, with its office.
pub(crate) struct TakenSeat<M> {
    pub(crate) seated: Arc<SeatedMember<M>>,
    pub(crate) room: Arc<OfficeRoom<M>>,
    /// The memory of its announcements that have not reached all members.
    pub(crate) announcing: Arc<MemoryPool>,
}

impl<M: Clone> Member<M> {
    pub(crate) fn new(conn: ConnId, admission: Admission<M>) -> Self {
        let Admission { identity, grant, role, version, mailbox } = admission;
        let state = Mutex::new(MemberState { role, joins: TokenBucket::default(), seat: None });
        Self { conn, identity, grant, version, mailbox, since: Instant::now(), call_numbers: Arc::default(), state }
    }

    pub(crate) fn role(&self) -> Option<Role> {
        self.state().role
    }

    pub(crate) fn set_role(&self, role: Role) {
        self.state().role = Some(role);
    }

    /// Where the member sits.
    pub(crate) fn seat(&self) -> Option<Arc<TakenSeat<M>>> {
        self.state().seat.clone()
    }

    /// Takes a seat in an office; `announcing` bounds the memory of its announcements.
    pub(crate) fn sit_down(
        &self,
        seat: MemberSeat,
        room: &Arc<OfficeRoom<M>>,
        announcing: usize,
    ) -> Arc<SeatedMember<M>> {
        let seated = Arc::new(SeatedMember {
            conn: self.conn,
            identity: self.identity.clone(),
            seat,
            version: self.version,
            mailbox: self.mailbox.clone(),
            call_numbers: self.call_numbers.clone(),
        });
        let announcing = room.announcing.part(announcing);
        self.set_seat(Some(Arc::new(TakenSeat { seated: seated.clone(), room: room.clone(), announcing })));
        seated
    }

    /// Gives up the seat.
    pub(crate) fn get_up(&self) -> Option<Arc<TakenSeat<M>>> {
        self.set_seat(None)
    }

    fn set_seat(&self, seat: Option<Arc<TakenSeat<M>>>) -> Option<Arc<TakenSeat<M>>> {
        std::mem::replace(&mut self.state().seat, seat)
    }

    /// Counts an attempt to join, or returns how long to wait for the next one.
    pub(crate) fn count_join(&self, rate: Rate, now: Instant) -> Result<(), Duration> {
        self.state().joins.take(rate, now)
    }

    fn state(&self) -> MutexGuard<'_, MemberState<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
