//! The switchboard: it handles the events and acknowledgements of members with the indexes of seats and calls, and queues
//! the packets that they cause.
//!
//! One lock guards all state. Under it the hub changes the indexes, puts packets into the send queues of members (each
//! behind a short lock of its own; a body below 16 KiB is copied there), wakes their tasks, and puts audit records, spans
//! and log lines into their queues. It awaits nothing and writes to no socket or file. Requests and answers are checked
//! before the lock is taken; only heads of packets and errors are encoded under it. Announcements are encoded and queued
//! under it, once for each member of the office, so that all members see joins, leaves and updates in the order in which
//! they happened.
//!
//! | file | content |
//! |---|---|
//! | `mailbox` | what the switchboard needs of the connection of a member |
//! | `packet` | a packet that a member sent |
//! | `seats` | joining, leaving, the list of members |
//! | `announce` | announcements of a member to its office |
//! | `routing` | requests to Computers and their answers |
//! | `shutdown` | the end of the hub |
//! | `views` | the views for operators |

mod announce;
mod mailbox;
mod packet;
mod reply;
mod routing;
mod seats;
mod shutdown;
mod state;
pub(crate) mod views;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use a2c_protocol::event::{self, Inbound};
use a2c_protocol::office::MAX_NAME;
use a2c_protocol::{ErrorBody, ErrorCode};
use a2c_socketio_frame::{PacketFrame, PacketKind};
use tokio::sync::Notify;

use crate::limits::HubLimits;
use crate::metrics::{Label as _, LimitKind, RequestKind, RequestOutcome};
use crate::office::ConnId;
use crate::route::calls::CallId;
use crate::route::envelope::{Envelope, EventBody, MalformedEvent};
use crate::telemetry::Telemetry;
pub(crate) use mailbox::Mailbox;
pub(crate) use packet::ReceivedPacket;
use reply::AckSender;
pub(crate) use reply::to_json;
pub(crate) use shutdown::SHUTTING_DOWN;
pub(crate) use state::Member;
use state::SwitchboardState;

/// The state of the hub behind its lock, and the limits that apply to it.
pub(crate) struct Switchboard<M> {
    state: Mutex<SwitchboardState<M>>,
    next: AtomicU64,
    limits: HubLimits,
    call_timeout: Duration,
    pub(crate) telemetry: Arc<Telemetry>,
    /// The hub shuts down and begins no new calls.
    is_shutting_down: AtomicBool,
    /// Notified when the last call has ended during a shutdown.
    idle: Notify,
}

/// The sender of the packet that is being handled.
struct Sender<M> {
    conn: ConnId,
    reply: AckSender<M>,
}

impl<M: Mailbox> Switchboard<M> {
    pub(crate) fn new(limits: HubLimits, call_timeout: Duration, telemetry: Arc<Telemetry>) -> Self {
        let (state, next) = (Mutex::default(), AtomicU64::new(1));
        Self {
            state,
            next,
            limits,
            call_timeout,
            telemetry,
            is_shutting_down: AtomicBool::new(false),
            idle: Notify::new(),
        }
    }

    /// Registers an admitted client.
    pub(crate) fn admit(&self, member: Member<M>) -> ConnId {
        let conn = ConnId(self.next.fetch_add(1, Ordering::Relaxed));
        self.telemetry.connected(&member.identity);
        let mut state = self.state();
        if let Some(moment) = member.grant.expires_at() {
            state.expiries.insert((moment, conn));
        }
        state.members.insert(conn, member);
        conn
    }

    /// Removes a client: the hub announces its departure and ends its calls.
    pub(crate) fn disconnected(&self, conn: ConnId, reason: &str) {
        let mut state = self.state();
        let Some(member) = state.members.remove(&conn) else { return };
        if let Some(moment) = member.grant.expires_at() {
            state.expiries.remove(&(moment, conn));
        }
        tracing::debug!(?conn, reason, "disconnected");
        if let Some(seat) = state.offices.remove(conn) {
            tracing::info!(office = &*seat.office, role = %seat.role, name = &*seat.name, reason, "left");
            state.departed(conn, &seat, &self.telemetry);
            self.telemetry.left(&member.identity, &seat, reason);
        }
        drop(state);
        self.telemetry.disconnected(&member.identity, reason);
        self.check_idle();
    }

    /// Closes the connections whose grant has expired.
    pub(crate) fn close_expired(&self, now: SystemTime) {
        let mut state = self.state();
        while let Some(&(moment, conn)) = state.expiries.first()
            && moment <= now
        {
            state.expiries.pop_first();
            if let Some(member) = state.members.get(&conn) {
                tracing::info!(
                    subject = &*member.identity.subject,
                    "the credential has expired: closing the connection"
                );
                member.mailbox.close();
            }
        }
    }

    /// Records in the audit log that a member hit a limit.
    pub(crate) fn limit_reached(&self, conn: ConnId, limit: LimitKind) {
        if let Some(member) = self.state().members.get(&conn) {
            self.telemetry.limit_reached(&member.identity, limit.value());
        }
    }

    /// Handles an event. A sender that asks for an acknowledgement always gets one. Returns the limit on payloads or joins
    /// that the sender hit, for the caller to log.
    pub(crate) fn event(&self, conn: ConnId, mailbox: M, packet: ReceivedPacket<'_>) -> Option<LimitKind> {
        let sender = Sender { conn, reply: AckSender { mailbox, id: packet.frame.id } };
        let event = match self
            .check_size(&packet)
            .and_then(|()| EventBody::parse(packet.frame.body).map_err(|error| bad_request(&error)))
        {
            Ok(event) => event,
            Err(error) => {
                self.telemetry.handled(RequestKind::Unknown, RequestOutcome::of(error.code));
                sender.reply.json(&error);
                return (error.code == ErrorCode::LimitExceeded).then_some(LimitKind::Payload);
            }
        };
        let (inbound, kind) = (Inbound::of(&event.name), RequestKind::of(&event.name));
        let outcome = self.handle(&sender, inbound, &event, packet);
        if matches!(inbound, Inbound::JoinOffice | Inbound::LeaveOffice) {
            return self.acknowledge_seat(&sender, kind, &outcome);
        }
        if let Err(error) = &outcome {
            tracing::debug!(?conn, code = error.code.number(), why = error.message, "refused");
            sender.reply.json(error);
        }
        match (inbound, outcome) {
            // A call that went to a Computer is reported when it ends.
            (Inbound::Client(_), Ok(())) => {}
            (Inbound::Client(name), Err(error)) => {
                let envelope = event.payload().ok().and_then(|payload| Envelope::parse(payload).ok());
                let state = self.state();
                let (seat, member) = (state.offices.seat(conn), state.members.get(&conn));
                if let Some(member) = member {
                    self.telemetry.call_refused(&member.identity, seat, truncated(name), envelope.as_ref(), &error);
                }
            }
            (_, outcome) => self.telemetry.handled(kind, outcome_of(&outcome)),
        }
        None
    }

    /// Refuses a packet without reading it: an event is answered to its sender, an answer to the Agent that waits for it.
    pub(crate) fn refuse(&self, conn: ConnId, mailbox: M, frame: &PacketFrame<'_>, error: &ErrorBody) {
        match (frame.kind, frame.id) {
            (PacketKind::Ack, Some(id)) => {
                let mut state = self.state();
                if let Some(call) = state.calls.answered(CallId(id), conn) {
                    state.answer(call, error, RequestOutcome::of(error.code), &self.telemetry);
                }
            }
            _ => {
                self.telemetry.handled(RequestKind::Unknown, RequestOutcome::of(error.code));
                let reply = AckSender { mailbox, id: frame.id };
                // Joins and leaves have their own form of acknowledgement, also where the rest of the packet is not read.
                let name = frame.body.trim_start_matches(['[', ' ']);
                let is_office = [event::JOIN_OFFICE, event::LEAVE_OFFICE].iter().any(|event| {
                    name.strip_prefix('"')
                        .and_then(|rest| rest.strip_prefix(event))
                        .is_some_and(|rest| rest.starts_with('"'))
                });
                if is_office { reply.office(Err(error)) } else { reply.json(error) }
            }
        }
    }

    fn handle(
        &self,
        sender: &Sender<M>,
        inbound: Inbound<'_>,
        event: &EventBody<'_>,
        packet: ReceivedPacket<'_>,
    ) -> Result<(), ErrorBody> {
        let malformed =
            |what: MalformedEvent| ErrorBody::bad_request(format!("{} is malformed: {what}", truncated(&event.name)));
        let payload = || event.payload().map_err(malformed);
        match inbound {
            Inbound::Client(name) => self.route(sender, name, payload()?, packet),
            Inbound::Update(what) => self.update(sender, what, payload()?, packet),
            Inbound::ToolCallCancel => self.cancel(sender, payload()?),
            Inbound::ListRoom => self.list_room(sender, payload()?),
            Inbound::JoinOffice => {
                self.check_joins(sender.conn)?;
                self.join(sender.conn, payload()?)
            }
            Inbound::LeaveOffice => self.leave(sender.conn, payload()?),
            Inbound::Unknown => Err(ErrorBody::bad_request(format!(
                "unknown event {:?}: expected client:*, server:update_* or one of the server: events",
                truncated(&event.name)
            ))),
        }
    }

    /// Answers a join or a leave, which have their own form of acknowledgement. Returns the limit that a join hit.
    fn acknowledge_seat(
        &self,
        sender: &Sender<M>,
        kind: RequestKind,
        outcome: &Result<(), ErrorBody>,
    ) -> Option<LimitKind> {
        self.telemetry.handled(kind, outcome_of(outcome));
        sender.reply.office(outcome.as_ref().copied());
        let is_limited = outcome.as_ref().is_err_and(|error| error.code == ErrorCode::LimitExceeded);
        is_limited.then_some(LimitKind::Joins)
    }

    /// Counts an attempt to join.
    fn check_joins(&self, conn: ConnId) -> Result<(), ErrorBody> {
        let Some(rate) = self.limits.joins else { return Ok(()) };
        let mut state = self.state();
        let Some(member) = state.members.get_mut(&conn) else { return Ok(()) };
        member.joins.take(rate, Instant::now()).map_err(|wait| {
            self.telemetry.count_limit(LimitKind::Joins);
            let seconds = wait.as_secs_f64().ceil() as u64;
            let message = format!("too many attempts to join: wait {seconds} s");
            ErrorBody::new(ErrorCode::LimitExceeded, message).with("retry_after", seconds)
        })
    }

    fn check_size(&self, packet: &ReceivedPacket<'_>) -> Result<(), ErrorBody> {
        let (size, limit) = (packet.size(), self.limits.max_payload);
        if size <= limit {
            return Ok(());
        }
        self.telemetry.count_limit(LimitKind::Payload);
        let message = format!("{size} bytes are over the limit of {limit} bytes");
        Err(ErrorBody::new(ErrorCode::LimitExceeded, message).with("limit", limit))
    }

    /// The number of connected clients and of calls in flight.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.members.len(), state.calls.len())
    }

    fn state(&self) -> MutexGuard<'_, SwitchboardState<M>> {
        // The indexes are consistent between statements, so a panic of another task leaves them usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn outcome_of(outcome: &Result<(), ErrorBody>) -> RequestOutcome {
    outcome.as_ref().map_or_else(|error| RequestOutcome::of(error.code), |()| RequestOutcome::Ok)
}

fn bad_request(error: &MalformedEvent) -> ErrorBody {
    ErrorBody::bad_request(error.to_string())
}

/// The beginning of a name from a client: enough to recognise it, and too little to reflect a large payload.
fn truncated(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_NAME)]
}
