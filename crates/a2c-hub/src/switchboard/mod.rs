//! The middle of the hub: events and acknowledgements come in, the indexes decide, packets go out.
//!
//! One lock guards all state, held for index work and for putting packets into queues, never across an await. Requests
//! and answers are prepared outside of it, announcements, which go to everybody in an office, inside. What changes who is where (joins, leaves, departures) is announced while the lock is
//! held, so that everybody sees these changes in the order in which they happened.

mod reply;
mod state;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use a2c_protocol::event::{self, Inbound};
use a2c_protocol::notification::{OfficeChange, ToolCallCancel};
use a2c_protocol::office::{JoinOfficeReq, LeaveOfficeReq, ListRoomReq, ListRoomRet, MAX_NAME, SessionInfo};
use a2c_protocol::seconds::Seconds;
use a2c_protocol::{ErrorBody, ErrorCode, Role, request};
use bytes::Bytes;
use serde_json::value::RawValue;

use crate::limits::Limits;
use crate::office::{ConnId, Joined};
use crate::route::calls::{AlreadyRunning, Call, CallId};
use crate::route::envelope::{Announcement, Envelope, EventBody, stamp};
use crate::wire::outbox::Outbox;
use crate::wire::{EngineSocket, Packet};
use a2c_engineio::Full;
use a2c_socketio_frame::{Frame, Kind};
pub(crate) use reply::to_json;
use reply::{Reply, event_packet};
pub(crate) use state::Newcomer;
use state::{State, refusal_of};

/// How much longer than its own limit a tool call may take before the hub gives up on the Computer.
const GRACE: Duration = Duration::from_secs(5);

/// All state and what to do with it.
pub(crate) struct Switchboard {
    state: Mutex<State>,
    next: AtomicU64,
    limits: Limits,
    call_timeout: Duration,
}

impl Switchboard {
    pub(crate) fn new(limits: Limits, call_timeout: Duration) -> Self {
        Self { state: Mutex::default(), next: AtomicU64::new(1), limits, call_timeout }
    }

    /// Registers a client.
    pub(crate) fn admit(&self, newcomer: Newcomer) -> ConnId {
        let conn = ConnId(self.next.fetch_add(1, Ordering::Relaxed));
        self.state().members.insert(conn, newcomer);
        conn
    }

    /// Forgets a client: its seat is announced as free, its calls end.
    pub(crate) fn disconnected(&self, conn: ConnId, reason: &str) {
        let mut state = self.state();
        if state.members.remove(&conn).is_none() {
            return;
        }
        tracing::debug!(?conn, reason, "disconnected");
        if let Some(seat) = state.offices.remove(conn) {
            tracing::info!(office = &*seat.office, role = %seat.role, name = &*seat.name, reason, "left");
            state.departed(conn, &seat);
        }
    }

    /// Handles an event. Whoever asks for an acknowledgement gets one, whatever is wrong with the event.
    pub(crate) fn event(&self, conn: ConnId, socket: &Arc<EngineSocket>, packet: Packet<'_>) {
        let reply = Reply { outbox: Outbox::new(socket), id: packet.frame.id };
        if let Err(error) = self.handle(conn, socket, packet, &reply) {
            tracing::debug!(?conn, code = %error.code, message = error.message, "refused");
            reply.json(&error);
        }
    }

    /// Answers a packet that is not looked at: the one who sent it, or the one who waits for it.
    pub(crate) fn refuse(&self, conn: ConnId, outbox: &Outbox, frame: &Frame<'_>, error: &ErrorBody) {
        match (frame.kind, frame.id) {
            (Kind::Ack, Some(id)) => {
                let mut state = self.state();
                if let Some(call) = state.calls.answered(CallId(id), conn) {
                    state.answer(&call, error);
                }
            }
            _ => Reply { outbox: outbox.clone(), id: frame.id }.json(error),
        }
    }

    fn handle(
        &self,
        conn: ConnId,
        socket: &Arc<EngineSocket>,
        packet: Packet<'_>,
        reply: &Reply,
    ) -> Result<(), ErrorBody> {
        self.check_size(&packet)?;
        let frame = &packet.frame;
        let event = EventBody::parse(frame.body).map_err(ErrorBody::bad_request)?;
        let malformed = |what: String| ErrorBody::bad_request(format!("{} is malformed: {what}", brief(&event.name)));
        let payload = || event.payload().map_err(malformed);
        match Inbound::of(&event.name) {
            Inbound::Client(name) => self.route(conn, name, payload()?, packet, reply),
            Inbound::Update(what) => self.update(conn, what, payload()?, packet, reply),
            Inbound::ToolCallCancel => self.cancel(conn, payload()?, reply),
            Inbound::ListRoom => self.list_room(conn, payload()?, reply),
            Inbound::JoinOffice => {
                let outcome = self.check_joins(socket).and_then(|()| payload()).and_then(|p| self.join(conn, p));
                reply.office(outcome.map_err(|e| e.message));
                Ok(())
            }
            Inbound::LeaveOffice => {
                let outcome = payload().and_then(|p| self.leave(conn, p));
                reply.office(outcome.map_err(|e| e.message));
                Ok(())
            }
            Inbound::Unknown => Err(ErrorBody::bad_request(format!(
                "unknown event {:?}: expected client:*, server:update_* or one of the server: events",
                brief(&event.name)
            ))),
        }
    }

    fn check_joins(&self, socket: &EngineSocket) -> Result<(), ErrorBody> {
        socket.data.join(&self.limits).map_err(|wait| {
            let seconds = wait.as_secs_f64().ceil() as u64;
            let message = format!("too many attempts to join: wait {seconds} s");
            ErrorBody::new(ErrorCode::LimitExceeded, message).with("retry_after", seconds)
        })
    }

    fn check_size(&self, packet: &Packet<'_>) -> Result<(), ErrorBody> {
        let size = packet.size();
        if size <= self.limits.max_payload {
            return Ok(());
        }
        let limit = self.limits.max_payload;
        Err(ErrorBody::new(ErrorCode::LimitExceeded, format!("{size} bytes are over the limit of {limit} bytes"))
            .with("limit", limit))
    }

    fn join(&self, conn: ConnId, payload: &RawValue) -> Result<(), ErrorBody> {
        let request: JoinOfficeReq = request::decode(payload.get())?;
        let mut state = self.state();
        let Some(member) = state.members.get(&conn) else { return Ok(()) };
        if let Some(role) = member.role
            && role != request.role
        {
            let message = format!("this connection is of role {role}: it cannot join as {}", request.role);
            return Err(ErrorBody::new(ErrorCode::Forbidden, message));
        }
        let JoinOfficeReq { role, name, office_id } = request;
        let joined = state
            .offices
            .join(conn, role, &name, &office_id)
            .map_err(|refusal| ErrorBody::new(ErrorCode::Forbidden, refusal.to_string()))?;
        if let Some(member) = state.members.get_mut(&conn) {
            member.role = Some(role);
        }
        if let Joined::Entered { left } = joined {
            if let Some(seat) = left {
                tracing::info!(office = &*seat.office, role = %seat.role, name = &*seat.name, "moved out");
                state.departed(conn, &seat);
            }
            tracing::info!(office = &*office_id, %role, name, "joined");
            let change = OfficeChange::of(&office_id, role, &name);
            state.tell_others(conn, &office_id, event::NOTIFY_ENTER_OFFICE, &change);
        }
        Ok(())
    }

    fn leave(&self, conn: ConnId, payload: &RawValue) -> Result<(), ErrorBody> {
        let request: LeaveOfficeReq = request::decode(payload.get())?;
        let mut state = self.state();
        let seat = state
            .offices
            .leave(conn, &request.office_id)
            .map_err(|refusal| ErrorBody::new(ErrorCode::OtherOffice, refusal.to_string()))?;
        tracing::info!(office = &*seat.office, role = %seat.role, name = &*seat.name, "left");
        state.departed(conn, &seat);
        Ok(())
    }

    fn list_room(&self, conn: ConnId, payload: &RawValue, reply: &Reply) -> Result<(), ErrorBody> {
        let request: ListRoomReq = request::decode(payload.get())?;
        let state = self.state();
        let seat = state.seat(conn)?;
        if *seat.office != *request.office_id {
            let message = "the members of another office are not shown: ask for your own";
            return Err(ErrorBody::new(ErrorCode::OtherOffice, message));
        }
        let info = |member: ConnId| {
            let (seat, known) = (state.offices.seat(member)?, state.members.get(&member)?);
            Some(SessionInfo {
                sid: known.sid.clone(),
                name: seat.name.to_string(),
                role: seat.role,
                office_id: seat.office.to_string(),
                a2c_version: known.version,
            })
        };
        let mut sessions: Vec<_> = state.offices.members(&seat.office).filter_map(info).collect();
        sessions.sort_by(|a, b| (a.role.as_str(), &a.name).cmp(&(b.role.as_str(), &b.name)));
        reply.json(&ListRoomRet { sessions, req_id: request.req_id });
        Ok(())
    }

    fn update(
        &self,
        conn: ConnId,
        what: &str,
        payload: &RawValue,
        packet: Packet<'_>,
        reply: &Reply,
    ) -> Result<(), ErrorBody> {
        if what.len() > MAX_NAME {
            return Err(ErrorBody::bad_request(format!("the name of an update is no longer than {MAX_NAME} bytes")));
        }
        let announcement = Announcement::parse(payload).map_err(ErrorBody::bad_request)?;
        let state = self.state();
        let seat = state.seat(conn)?;
        if seat.role != Role::Computer {
            return Err(ErrorBody::new(ErrorCode::Forbidden, "only a computer announces updates"));
        }
        let stamped = stamp(payload.get(), "computer", announcement.computer, &seat.name);
        let rest = rest_of(&packet, stamped);
        let packet = event_packet(&event::notify_update(what), None, rest, packet.attachments);
        state.send_to_others(conn, &seat.office, &packet);
        reply.empty();
        Ok(())
    }

    fn cancel(&self, conn: ConnId, payload: &RawValue, reply: &Reply) -> Result<(), ErrorBody> {
        let _: ToolCallCancel = request::decode(payload.get())?;
        let announcement = Announcement::parse(payload).map_err(ErrorBody::bad_request)?;
        let state = self.state();
        let seat = state.seat(conn)?;
        if seat.role != Role::Agent {
            return Err(ErrorBody::new(ErrorCode::Forbidden, "only an agent cancels calls"));
        }
        let stamped = stamp(payload.get(), "agent", announcement.agent, &seat.name);
        let rest = stamped.into_owned() + "]";
        let packet = event_packet(event::NOTIFY_TOOL_CALL_CANCEL, None, rest.into(), Vec::new());
        state.send_to_others(conn, &seat.office, &packet);
        reply.empty();
        Ok(())
    }

    /// Passes a request on to the Computer it names. The call is registered before it is sent.
    fn route(
        &self,
        conn: ConnId,
        event: &str,
        payload: &RawValue,
        packet: Packet<'_>,
        reply: &Reply,
    ) -> Result<(), ErrorBody> {
        let malformed = |what| ErrorBody::bad_request(format!("{} is malformed: {what}", brief(event)));
        let envelope = Envelope::parse(payload).map_err(malformed)?;
        let computer_name = envelope.computer_name().map_err(malformed)?;
        if computer_name.len() > MAX_NAME {
            return Err(malformed(format!("field `computer`: no name is longer than {MAX_NAME} bytes")));
        }
        if envelope.req_id.as_ref().is_some_and(|id| id.len() > MAX_NAME) {
            return Err(malformed(format!("field `req_id`: is longer than {MAX_NAME} bytes")));
        }
        let is_tool_call = event == event::TOOL_CALL;
        let limit = match envelope.timeout.map(Seconds::duration) {
            Some(own) => own + GRACE,
            None => self.call_timeout,
        };
        let id = CallId(self.next.fetch_add(1, Ordering::Relaxed));

        let (computer, agent_name) = {
            let state = self.state();
            let computer = state.offices.computer(conn, &computer_name).map_err(|e| refusal_of(&e, &computer_name))?;
            (computer, state.seat(conn)?.name.clone())
        };
        let stamped = stamp(payload.get(), "agent", envelope.agent, &agent_name);
        let rest = rest_of(&packet, stamped);
        let packet = event_packet(event, reply.id.map(|_| id.0), rest, packet.attachments);

        // Registered and queued in one step: whoever leaves from here on ends a call that is on its way.
        let mut state = self.state();
        let gone = || ErrorBody::computer_not_found(&computer_name);
        if state.offices.computer(conn, &computer_name) != Ok(computer) {
            return Err(gone());
        }
        let outbox = state.members.get(&computer).ok_or_else(gone)?.outbox.clone();
        if let Some(ack) = reply.id {
            if state.calls.of(conn) >= self.limits.max_calls {
                let limit = self.limits.max_calls;
                let message = format!("{limit} calls of this agent are in flight: wait for some of them");
                return Err(ErrorBody::new(ErrorCode::LimitExceeded, message).with("limit", limit));
            }
            let deadline = Instant::now() + limit;
            let call = Call { agent: conn, ack, computer, req_id: envelope.req_id, deadline, is_tool_call };
            state.calls.start(id, call).map_err(|AlreadyRunning| {
                let message = "a call with this req_id is still running: use a new one for each call";
                malformed(format!("field `req_id`: {message}"))
            })?;
        }
        outbox.try_send(packet).map_err(|Full| {
            state.calls.end(id);
            let message = format!("Computer '{computer_name}' has too many requests waiting: try again later");
            ErrorBody::new(ErrorCode::LimitExceeded, message).with("computer", computer_name.as_str())
        })
    }

    /// Passes an answer back to the Agent that waits for it; says whether somebody did.
    pub(crate) fn ack(&self, conn: ConnId, packet: Packet<'_>) -> bool {
        let Some(id) = packet.frame.id else { return false };
        let (call, outbox) = {
            let mut state = self.state();
            let Some(call) = state.calls.answered(CallId(id), conn) else {
                tracing::debug!(?conn, id, "an answer that nobody waits for");
                return false;
            };
            let Some(agent) = state.members.get(&call.agent) else { return true };
            let outbox = agent.outbox.clone();
            (call, outbox)
        };
        let reply = Reply { outbox, id: Some(call.ack) };
        match self.check_size(&packet).and_then(|()| check_answer(packet.frame.body)) {
            Ok(()) => reply.pass(packet.from(packet.frame.body), packet.attachments),
            Err(error) => reply.json(&error),
        }
        true
    }

    /// Answers every call whose time is over.
    pub(crate) fn expire(&self, now: Instant) {
        let mut state = self.state();
        for call in state.calls.expired(now) {
            let name = state.offices.seat(call.computer).map(|s| s.name.to_string()).unwrap_or_default();
            let message = format!("Computer '{name}' did not answer in time");
            state.answer(&call, &ErrorBody::new(ErrorCode::Timeout, message).with("computer", name));
        }
    }

    /// How many clients are connected, and how many calls are in flight.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.members.len(), state.calls.len())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The indexes are consistent between statements; a panic elsewhere must not take the hub down.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An argument and the bracket that closes the arguments; where nothing was stamped, a slice of the packet it came in.
fn rest_of(packet: &Packet<'_>, stamped: Cow<'_, str>) -> Bytes {
    match stamped {
        Cow::Borrowed(payload) => packet.from(payload),
        Cow::Owned(payload) => (payload + "]").into(),
    }
}

/// An answer is one JSON object; anything else would reach an Agent that cannot know what to make of it.
fn check_answer(body: &str) -> Result<(), ErrorBody> {
    match serde_json::from_str::<Vec<&RawValue>>(body).as_deref() {
        Ok([first, ..]) if first.get().starts_with('{') => Ok(()),
        _ => Err(ErrorBody::new(ErrorCode::Internal, "the computer's answer is not a JSON object")),
    }
}

/// The beginning of a name from outside: enough to recognise it, and no way to have the hub send back what it got.
fn brief(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_NAME)]
}
