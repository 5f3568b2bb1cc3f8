//! All members and offices of the hub. Joins, departures and the views of operators use it; calls and announcements do not.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::SystemTime;

use super::member::Member;
use super::office_room::OfficeRoom;
use crate::office::{ConnId, Offices};

/// The members, the seats they hold and the offices.
pub(crate) struct Directory<M> {
    pub(crate) members: HashMap<ConnId, Arc<Member<M>>>,
    /// The rules of seats.
    pub(crate) seats: Offices,
    pub(crate) rooms: HashMap<Arc<str>, Arc<OfficeRoom<M>>>,
    /// The moments at which grants expire.
    pub(crate) expiries: BTreeSet<(SystemTime, ConnId)>,
}

impl<M> Default for Directory<M> {
    fn default() -> Self {
        let (members, seats) = (HashMap::new(), Offices::default());
        Self { members, seats, rooms: HashMap::new(), expiries: BTreeSet::new() }
    }
}

impl<M> Directory<M> {
    pub(crate) fn admit(&mut self, member: Arc<Member<M>>) {
        if let Some(moment) = member.grant.expires_at() {
            self.expiries.insert((moment, member.conn));
        }
        self.members.insert(member.conn, member);
    }

    pub(crate) fn remove(&mut self, conn: ConnId) -> Option<Arc<Member<M>>> {
        let member = self.members.remove(&conn)?;
        if let Some(moment) = member.grant.expires_at() {
            self.expiries.remove(&(moment, conn));
        }
        Some(member)
    }

    /// The members whose grant has expired.
    pub(crate) fn expired(&mut self, now: SystemTime) -> Vec<Arc<Member<M>>> {
        let mut expired = Vec::new();
        while let Some(&(moment, conn)) = self.expiries.first()
            && moment <= now
        {
            self.expiries.pop_first();
            expired.extend(self.members.get(&conn).cloned());
        }
        expired
    }

    /// Forgets an office without members.
    pub(crate) fn forget_if_empty(&mut self, office: &str) {
        if self.rooms.get(office).is_some_and(|room| room.size() == 0) {
            self.rooms.remove(office);
        }
    }
}
