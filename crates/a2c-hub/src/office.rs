//! The index of offices and seats, as plain data.
//!
//! This file holds every rule about joining and leaving. The methods change the index and return what the hub has to
//! announce; they send nothing, await nothing and know no socket.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use a2c_protocol::Role;

/// The number of a connection, unique for as long as the hub runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ConnId(pub(crate) u64);

/// The seat of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemberSeat {
    /// The office.
    pub(crate) office: Arc<str>,
    /// Agent or Computer.
    pub(crate) role: Role,
    /// The name of the member, unique per role within the office.
    pub(crate) name: Arc<str>,
}

/// The outcome of a successful join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Joined {
    /// The caller had this seat already; the hub announces nothing.
    Already,
    /// The caller took the seat and gave up an older one where it had one.
    Entered {
        /// The seat that a moving Computer gave up.
        left: Option<MemberSeat>,
    },
}

/// Why a join is refused. A refused join changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JoinRefusal {
    /// The office has an Agent; an office takes one.
    #[error("office '{office}' already has an agent: leave it to that one, or join another office")]
    OfficeHasAgent {
        /// The office.
        office: String,
    },
    /// The Agent is in another office and has to leave that one first.
    #[error("this agent is in office '{office}' already: leave it first")]
    AgentElsewhere {
        /// The office that the Agent is in.
        office: String,
    },
    /// Another Computer of the office has this name.
    #[error("office '{office}' already has a computer named '{name}': choose another name")]
    NameTaken {
        /// The office.
        office: String,
        /// The name.
        name: String,
    },
    /// The connection has a seat under another name; a name stays while its seat does.
    #[error("this connection sits in office '{office}' as '{name}': leave before joining under another name")]
    OtherName {
        /// The office.
        office: String,
        /// The present name.
        name: String,
    },
}

/// The caller asked to leave an office that it is not in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not in office '{office}'")]
pub(crate) struct NotInThatOffice {
    /// The office in the request.
    pub(crate) office: String,
}

/// Why a Computer cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unreachable {
    /// The caller has no seat.
    CallerInNoOffice,
    /// The caller is not an Agent.
    CallerNoAgent,
    /// The caller's office has no Computer of this name. Other offices are not searched.
    NoSuchComputer,
}

#[derive(Debug, Default)]
struct OfficeMembers {
    agent: Option<ConnId>,
    computers: HashMap<Arc<str>, ConnId>,
}

impl OfficeMembers {
    fn is_empty(&self) -> bool {
        self.agent.is_none() && self.computers.is_empty()
    }
}

/// The index. An office exists while it has a member.
#[derive(Debug, Default)]
pub(crate) struct Offices {
    offices: HashMap<Arc<str>, OfficeMembers>,
    seats: HashMap<ConnId, MemberSeat>,
}

impl Offices {
    /// Gives a connection a seat, or refuses it.
    pub(crate) fn join(&mut self, conn: ConnId, role: Role, name: &str, office: &str) -> Result<Joined, JoinRefusal> {
        if let Some(seat) = self.seats.get(&conn) {
            let here = &*seat.office == office;
            if here && &*seat.name == name {
                return Ok(Joined::Already);
            }
            if here {
                return Err(JoinRefusal::OtherName { office: office.into(), name: seat.name.to_string() });
            }
            if role == Role::Agent {
                return Err(JoinRefusal::AgentElsewhere { office: seat.office.to_string() });
            }
        }
        if let Some(target) = self.offices.get(office) {
            match role {
                Role::Agent if target.agent.is_some() => {
                    return Err(JoinRefusal::OfficeHasAgent { office: office.into() });
                }
                Role::Computer if target.computers.contains_key(name) => {
                    return Err(JoinRefusal::NameTaken { office: office.into(), name: name.into() });
                }
                _ => {}
            }
        }
        let left = self.remove(conn);
        let office: Arc<str> = match self.offices.get_key_value(office) {
            Some((id, _)) => id.clone(),
            None => office.into(),
        };
        let name: Arc<str> = name.into();
        let target = self.offices.entry(office.clone()).or_default();
        match role {
            Role::Agent => target.agent = Some(conn),
            Role::Computer => drop(target.computers.insert(name.clone(), conn)),
        }
        self.seats.insert(conn, MemberSeat { office, role, name });
        Ok(Joined::Entered { left })
    }

    /// Gives up the caller's seat in this office.
    pub(crate) fn leave(&mut self, conn: ConnId, office: &str) -> Result<MemberSeat, NotInThatOffice> {
        match self.seats.get(&conn) {
            Some(seat) if &*seat.office == office => {
                self.remove(conn).ok_or_else(|| NotInThatOffice { office: office.into() })
            }
            _ => Err(NotInThatOffice { office: office.into() }),
        }
    }

    /// Removes the seat of a connection, in whichever office it is.
    pub(crate) fn remove(&mut self, conn: ConnId) -> Option<MemberSeat> {
        let seat = self.seats.remove(&conn)?;
        if let Entry::Occupied(mut office) = self.offices.entry(seat.office.clone()) {
            match seat.role {
                Role::Agent => office.get_mut().agent = None,
                Role::Computer => drop(office.get_mut().computers.remove(&seat.name)),
            }
            if office.get().is_empty() {
                office.remove();
            }
        }
        Some(seat)
    }

    /// The seat of a connection.
    pub(crate) fn seat(&self, conn: ConnId) -> Option<&MemberSeat> {
        self.seats.get(&conn)
    }

    /// Every office, with its Agent and its Computers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, Option<ConnId>, impl Iterator<Item = ConnId>)> {
        self.offices.iter().map(|(id, office)| (id, office.agent, office.computers.values().copied()))
    }

    /// The number of offices.
    pub(crate) fn len(&self) -> usize {
        self.offices.len()
    }

    /// All seats.
    pub(crate) fn seats(&self) -> impl Iterator<Item = (ConnId, &MemberSeat)> {
        self.seats.iter().map(|(conn, seat)| (*conn, seat))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: ConnId = ConnId(1);
    const B: ConnId = ConnId(2);

    fn entered() -> Result<Joined, JoinRefusal> {
        Ok(Joined::Entered { left: None })
    }

    #[test]
    fn one_agent_per_office() {
        let mut offices = Offices::default();
        assert_eq!(offices.join(A, Role::Agent, "a", "o"), entered());
        assert_eq!(offices.join(B, Role::Agent, "b", "o"), Err(JoinRefusal::OfficeHasAgent { office: "o".into() }));
        assert!(offices.join(B, Role::Agent, "b", "o").unwrap_err().to_string().contains("already has an agent"));
        assert_eq!(offices.seat(B), None);
        assert_eq!(offices.join(B, Role::Agent, "b", "p"), entered());
    }

    #[test]
    fn joining_again_is_idempotent_but_not_under_another_name() {
        let mut offices = Offices::default();
        for role in [Role::Agent, Role::Computer] {
            let conn = if role == Role::Agent { A } else { B };
            assert_eq!(offices.join(conn, role, "n", "o"), entered());
            assert_eq!(offices.join(conn, role, "n", "o"), Ok(Joined::Already));
            assert!(matches!(offices.join(conn, role, "m", "o"), Err(JoinRefusal::OtherName { .. })));
            assert_eq!(offices.seat(conn).map(|s| &*s.name), Some("n"));
        }
    }

    #[test]
    fn an_agent_leaves_before_it_moves() {
        let mut offices = Offices::default();
        assert_eq!(offices.join(A, Role::Agent, "a", "o"), entered());
        assert_eq!(offices.join(A, Role::Agent, "a", "p"), Err(JoinRefusal::AgentElsewhere { office: "o".into() }));
        assert_eq!(offices.leave(A, "o").map(|s| s.office.to_string()), Ok("o".into()));
        assert_eq!(offices.join(A, Role::Agent, "a", "p"), entered());
    }

    #[test]
    fn a_computer_moves_and_a_refused_move_keeps_the_old_seat() {
        let mut offices = Offices::default();
        assert_eq!(offices.join(A, Role::Computer, "c", "o"), entered());
        assert_eq!(offices.join(B, Role::Computer, "c", "p"), entered());
        assert!(matches!(offices.join(A, Role::Computer, "c", "p"), Err(JoinRefusal::NameTaken { .. })));
        assert_eq!(offices.seat(A).map(|s| &*s.office), Some("o"));
        let moved = offices.join(A, Role::Computer, "c", "q");
        assert!(matches!(moved, Ok(Joined::Entered { left: Some(seat) }) if &*seat.office == "o"));
        assert!(!offices.offices.contains_key("o"), "an empty office is gone");
    }

    #[test]
    fn leaving_another_office_changes_nothing() {
        let mut offices = Offices::default();
        assert_eq!(offices.join(A, Role::Computer, "c", "o"), entered());
        assert!(offices.leave(A, "p").is_err());
        assert!(offices.leave(B, "o").is_err());
        assert_eq!(offices.seat(A).map(|s| &*s.office), Some("o"));
    }

    fn members(office: &OfficeMembers) -> impl Iterator<Item = ConnId> + '_ {
        office.agent.into_iter().chain(office.computers.values().copied())
    }

    proptest! {
        /// After any sequence of joins and leaves, the two halves of the index agree and no empty office is left.
        #[test]
        fn the_index_stays_consistent(steps in proptest::collection::vec((0u8..4, 0u64..6, 0u8..3, 0u8..3), 0..200)) {
            let mut offices = Offices::default();
            for (what, conn, name, office) in steps {
                let role = if conn % 2 == 0 { Role::Agent } else { Role::Computer };
                let (conn, name, office) = (ConnId(conn), format!("n{name}"), format!("o{office}"));
                let before = offices.seat(conn).cloned();
                match what {
                    0 => drop(offices.leave(conn, &office)),
                    1 => drop(offices.remove(conn)),
                    _ => if offices.join(conn, role, &name, &office).is_err() {
                        prop_assert_eq!(offices.seat(conn).cloned(), before);
                    }
                }
                let seated: usize = offices.offices.values().map(|o| members(o).count()).sum();
                prop_assert_eq!(seated, offices.seats.len());
                prop_assert!(offices.offices.values().all(|o| !o.is_empty()));
                for (conn, seat) in &offices.seats {
                    prop_assert!(members(&offices.offices[&seat.office]).any(|c| c == *conn));
                }
            }
        }
    }
}
