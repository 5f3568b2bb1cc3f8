//! One office: its members, its calls in flight and its announcements, behind a lock of its own.
//!
//! The methods change the state and return effects: packets for members and ends of calls. The switchboard performs them
//! when the lock is free again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use a2c_engineio::{MemoryPool, OutgoingMessage, SharedMessage};
use a2c_protocol::notification::{OfficeChange, ToolCallCancel};
use a2c_protocol::{ErrorBody, ErrorCode, Role, event};

use super::announcements::Announcements;
use super::reply::event_of;
use super::seated_member::SeatedMember;
use crate::metrics::RequestOutcome;
use crate::office::{ConnId, MemberSeat, Unreachable};
use crate::route::calls::{PendingCall, PendingCalls};
use crate::telemetry::CallTelemetry;

/// One office.
pub(crate) struct OfficeRoom<M> {
    /// The memory that its members may hold together.
    pub(crate) memory: Arc<MemoryPool>,
    /// The part of it for announcements.
    pub(crate) announcing: Arc<MemoryPool>,
    size: AtomicUsize,
    state: Mutex<OfficeRoomState<M>>,
}

/// The state of one office.
pub(crate) struct OfficeRoomState<M> {
    agent: Option<Arc<SeatedMember<M>>>,
    computers: HashMap<Arc<str>, Arc<SeatedMember<M>>>,
    pub(crate) calls: PendingCalls<CallContext<M>>,
    pub(crate) announcements: Announcements<SharedMessage>,
    /// All members, until one comes or goes.
    everyone: Option<Arc<[Arc<SeatedMember<M>>]>>,
    /// A task delivers announcements: only one does so at a time, which keeps their order.
    pub(crate) is_delivering: bool,
    /// The office is in the list of those whose announcements wait: once, however many are made meanwhile.
    pub(crate) is_listed: bool,
}

/// The two members of a call and its telemetry.
pub(crate) struct CallContext<M> {
    pub(crate) agent: Arc<SeatedMember<M>>,
    pub(crate) computer: Arc<SeatedMember<M>>,
    pub(crate) telemetry: CallTelemetry,
    /// Counts the call as in flight.
    pub(crate) _in_flight: InFlight,
}

/// Counts a call for as long as it is kept.
pub(crate) struct InFlight(Arc<AtomicUsize>);

impl InFlight {
    pub(crate) fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a change of state causes.
pub(crate) enum Effect<M> {
    /// A packet for a member.
    Send { to: Arc<SeatedMember<M>>, packet: OutgoingMessage },
    /// A call ends with an error.
    EndCall { call: PendingCall<CallContext<M>>, error: ErrorBody, outcome: RequestOutcome },
}

/// Why a call ends before its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Departure {
    Agent,
    Computer,
}

impl<M> OfficeRoom<M> {
    /// An empty office within the memory of the hub.
    pub(crate) fn new(memory: &Arc<MemoryPool>, share: usize, announcing: usize) -> Self {
        let memory = memory.part(share);
        let announcing = memory.part(announcing);
        let state = OfficeRoomState {
            agent: None,
            computers: HashMap::new(),
            calls: PendingCalls::default(),
            announcements: Announcements::default(),
            everyone: None,
            is_delivering: false,
            is_listed: false,
        };
        Self { memory, announcing, size: AtomicUsize::new(0), state: Mutex::new(state) }
    }

    /// The number of members.
    pub(crate) fn size(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, OfficeRoomState<M>> {
        // The indexes are consistent between statements, so a panic of another task leaves them usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a member in and announces it to the others.
    pub(crate) fn enter(&self, member: &Arc<SeatedMember<M>>) {
        let seat = &member.seat;
        let change = OfficeChange::of(&seat.office, seat.role, &seat.name);
        let packet = SharedMessage::new(event_of(event::NOTIFY_ENTER_OFFICE, &change), ());
        let mut state = self.state();
        match seat.role {
            Role::Agent => state.agent = Some(member.clone()),
            Role::Computer => drop(state.computers.insert(seat.name.clone(), member.clone())),
        }
        state.everyone = None;
        state.announcements.entered(member.conn, packet);
        self.size.fetch_add(1, Ordering::Relaxed);
    }

    /// Lets a member go: ends its calls and, where `is_announced`, announces its departure.
    pub(crate) fn leave(&self, member: &SeatedMember<M>, is_announced: bool) -> Vec<Effect<M>> {
        let seat = &member.seat;
        let packet = is_announced.then(|| SharedMessage::new(left_packet(seat), ()));
        let mut state = self.state();
        let was_here = match seat.role {
            Role::Agent => state.agent.take_if(|agent| agent.conn == member.conn).is_some(),
            Role::Computer => state.computers.remove(&seat.name).is_some(),
        };
        if was_here {
            self.size.fetch_sub(1, Ordering::Relaxed);
        }
        state.everyone = None;
        if let Some(packet) = packet {
            state.announcements.left(member.conn, packet);
        }
        state.end_calls_of(member.conn, &seat.name)
    }
}

impl<M> OfficeRoomState<M> {
    /// Whether a member sits here.
    pub(crate) fn has(&self, member: &SeatedMember<M>) -> bool {
        let found = match member.seat.role {
            Role::Agent => self.agent.as_ref(),
            Role::Computer => self.computers.get(&member.seat.name),
        };
        found.is_some_and(|found| found.conn == member.conn)
    }

    /// The Computer of this name, for the Agent that calls it.
    pub(crate) fn computer(&self, caller: ConnId, name: &str) -> Result<Arc<SeatedMember<M>>, Unreachable> {
        if self.agent.as_ref().is_none_or(|agent| agent.conn != caller) {
            return Err(Unreachable::CallerInNoOffice);
        }
        self.computers.get(name).cloned().ok_or(Unreachable::NoSuchComputer)
    }

    /// The Agent of the office.
    pub(crate) fn agent(&self) -> Option<&Arc<SeatedMember<M>>> {
        self.agent.as_ref()
    }

    /// All members.
    pub(crate) fn everyone(&mut self) -> Arc<[Arc<SeatedMember<M>>]> {
        let (agent, computers) = (&self.agent, &self.computers);
        self.everyone.get_or_insert_with(|| agent.iter().chain(computers.values()).cloned().collect()).clone()
    }

    /// The present task delivers no more. Returns whether the office has to be listed, because announcements wait.
    pub(crate) fn stop_delivering(&mut self) -> bool {
        self.is_delivering = false;
        !self.announcements.is_empty() && !std::mem::replace(&mut self.is_listed, true)
    }

    /// Ends the calls of a member that has left: an Agent that waits gets an error, a Computer a cancellation.
    fn end_calls_of(&mut self, conn: ConnId, name: &str) -> Vec<Effect<M>> {
        let mut effects = Vec::new();
        for call in self.calls.of_departed(conn) {
            let departure = if call.context.computer.conn == conn { Departure::Computer } else { Departure::Agent };
            if departure == Departure::Agent {
                effects.extend(cancellation(&call));
            }
            let (error, outcome) = match departure {
                Departure::Computer => {
                    let message = format!("Computer '{name}' went away before it answered");
                    let error = ErrorBody::new(ErrorCode::NotFound, message).with("computer", name);
                    (error, RequestOutcome::ComputerLeft)
                }
                // An Agent that only left its office is still connected and gets an answer.
                Departure::Agent => {
                    let error = ErrorBody::new(ErrorCode::NotInOffice, "you left the office before the answer came");
                    (error, RequestOutcome::AgentLeft)
                }
            };
            effects.push(Effect::EndCall { call, error, outcome });
        }
        effects
    }

    /// Ends every call whose deadline has passed.
    pub(crate) fn end_expired_calls(&mut self, now: Instant) -> Vec<Effect<M>> {
        let expired = self.calls.expired(now).into_iter();
        let effects = expired.map(|call| {
            let name = call.context.computer.seat.name.to_string();
            let message = format!("Computer '{name}' did not answer in time");
            let error = ErrorBody::new(ErrorCode::Timeout, message).with("computer", name);
            Effect::EndCall { call, error, outcome: RequestOutcome::TimedOut }
        });
        effects.collect()
    }

    /// Ends every call, because the hub stops.
    pub(crate) fn end_all_calls(&mut self, error: &ErrorBody) -> Vec<Effect<M>> {
        let mut effects = Vec::new();
        for call in self.calls.take_all() {
            effects.extend(cancellation(&call));
            effects.push(Effect::EndCall { call, error: error.clone(), outcome: RequestOutcome::Failed });
        }
        effects
    }
}

/// The announcement that a member has left.
pub(crate) fn left_packet(seat: &MemberSeat) -> OutgoingMessage {
    event_of(event::NOTIFY_LEAVE_OFFICE, &OfficeChange::of(&seat.office, seat.role, &seat.name))
}

/// Tells a Computer that the answer to a tool call is not awaited any more.
fn cancellation<M>(call: &PendingCall<CallContext<M>>) -> Option<Effect<M>> {
    let req_id = call.req_id.as_ref().filter(|_| call.is_tool_call)?;
    let agent = call.context.agent.seat.name.to_string();
    let cancel = ToolCallCancel { agent, req_id: req_id.clone() };
    let packet = event_of(event::NOTIFY_TOOL_CALL_CANCEL, &cancel);
    Some(Effect::Send { to: call.context.computer.clone(), packet })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;
    use crate::telemetry::{CallStart, ClientIdentity, Telemetry};
    use std::time::Duration;

    fn member(conn: u64, role: Role, name: &str) -> Arc<SeatedMember<()>> {
        let address = ([127, 0, 0, 1], 1).into();
        Arc::new(SeatedMember {
            conn: ConnId(conn),
            identity: ClientIdentity { sid: "s".into(), subject: "t".into(), address },
            seat: MemberSeat { office: "o".into(), role, name: name.into() },
            version: None,
            mailbox: (),
            call_numbers: Arc::default(),
        })
    }

    /// An office with an Agent and two Computers.
    fn room() -> (OfficeRoom<()>, [Arc<SeatedMember<()>>; 3]) {
        let room = OfficeRoom::new(&MemoryPool::new(1 << 20), 1 << 20, 1 << 20);
        let members = [member(1, Role::Agent, "a"), member(2, Role::Computer, "c"), member(3, Role::Computer, "d")];
        members.iter().for_each(|member| room.enter(member));
        (room, members)
    }

    fn call(
        [agent, computer]: [&Arc<SeatedMember<()>>; 2],
        req_id: &str,
        deadline: Instant,
    ) -> PendingCall<CallContext<()>> {
        let telemetry = Telemetry { metrics: Metrics::default(), audit: None, tracer: None }.begin_call(CallStart {
            event: event::TOOL_CALL,
            identity: &agent.identity,
            agent: &agent.seat,
            computer: "c",
            tool: None,
            req_id: None,
            arguments: None,
            bytes: 0,
            span: None,
        });
        let _in_flight = InFlight::new(&Arc::default());
        let context = CallContext { agent: agent.clone(), computer: computer.clone(), telemetry, _in_flight };
        let (agent, req_id) = (agent.conn, Some(req_id.to_owned()));
        PendingCall { agent, ack: 7, req_id, deadline, is_tool_call: true, context }
    }

    fn ends(effects: &[Effect<()>]) -> Vec<RequestOutcome> {
        let end = |effect: &Effect<()>| match effect {
            Effect::EndCall { outcome, .. } => Some(*outcome),
            Effect::Send { .. } => None,
        };
        effects.iter().filter_map(end).collect()
    }

    fn sent(effects: &[Effect<()>]) -> Vec<(ConnId, String)> {
        let send = |effect: &Effect<()>| match effect {
            Effect::Send { to, packet } => {
                Some((to.conn, packet.head.clone() + &String::from_utf8_lossy(&packet.body)))
            }
            Effect::EndCall { .. } => None,
        };
        effects.iter().filter_map(send).collect()
    }

    #[test]
    fn a_computer_is_found_by_the_agent_of_its_office_only() {
        let (room, [agent, computer, _]) = room();
        let found = room.state().computer(agent.conn, "c").map(|found| found.conn);
        assert_eq!(found, Ok(computer.conn));
        assert_eq!(room.state().computer(agent.conn, "x").err(), Some(Unreachable::NoSuchComputer));
        assert_eq!(room.state().computer(ConnId(9), "c").err(), Some(Unreachable::CallerInNoOffice));
        assert!(room.state().has(&computer));
        room.leave(&computer, true);
        assert!(!room.state().has(&computer));
        assert_eq!(room.size(), 2);
        assert_eq!(room.state().everyone().len(), 2);
    }

    #[test]
    fn an_office_whose_announcements_wait_is_listed_once() {
        let (room, _) = room();
        let mut state = room.state();
        state.is_delivering = true;
        assert!(state.stop_delivering());
        assert!(!state.stop_delivering(), "it is in the list");
        state.is_listed = false;
        while state.announcements.next(None, 1, Instant::now()).is_some() {}
        assert!(!state.stop_delivering() && !state.is_delivering, "nothing waits");
    }

    #[test]
    fn a_computer_that_leaves_fails_its_calls_and_an_agent_cancels_them() {
        let (room, [agent, computer, other]) = room();
        let soon = Instant::now() + Duration::from_secs(1);
        for (number, to) in [(1, &computer), (2, &computer), (3, &other)] {
            let one = call([&agent, to], &number.to_string(), soon);
            room.state().calls.start(to.call(number), one).unwrap();
        }
        let effects = room.leave(&computer, true);
        assert_eq!(ends(&effects), [RequestOutcome::ComputerLeft; 2]);
        assert_eq!(sent(&effects), []);
        let effects = room.leave(&agent, true);
        assert_eq!(ends(&effects), [RequestOutcome::AgentLeft]);
        let sent = sent(&effects);
        assert!(sent.len() == 1 && sent[0].0 == other.conn && sent[0].1.contains(r#""req_id":"3""#), "{sent:?}");
    }

    #[test]
    fn calls_end_at_their_deadline_or_with_the_hub() {
        let (room, [agent, computer, other]) = room();
        let now = Instant::now();
        room.state().calls.start(computer.call(1), call([&agent, &computer], "1", now)).unwrap();
        let late = now + Duration::from_secs(9);
        room.state().calls.start(other.call(1), call([&agent, &other], "2", late)).unwrap();
        assert_eq!(ends(&room.state().end_expired_calls(now)), [RequestOutcome::TimedOut]);
        let error = ErrorBody::new(ErrorCode::Internal, "the hub stops");
        let effects = room.state().end_all_calls(&error);
        assert_eq!(ends(&effects), [RequestOutcome::Failed]);
        assert_eq!(sent(&effects).len(), 1, "the Computer may stop working");
    }
}
