//! The switchboard: it handles the events and acknowledgements of members with the indexes of seats and calls, and queues
//! the packets that they cause.
//!
//! One lock guards all state. Under it the hub changes the indexes, puts packets into the send queues of members (each
//! behind a short lock of its own; a body below 16 KiB is copied there), wakes their tasks, and puts audit records, spans
//! and log lines into their queues. It awaits nothing and writes to no socket or file. Requests and answers are checked
//! and encoded before the lock is taken. Announcements are encoded and queued under it, once for each member of the
//! office, so that all members see joins, leaves and updates in the order in which they happened.
//!
//! | file | content |
//! |---|---|
//! | `seats` | joining, leaving, the list of members |
//! | `announce` | announcements of a member to its office |
//! | `routing` | requests to Computers and their answers |
//! | `shutdown` | the end of the hub |
//! | `views` | the views for operators |

mod announce;
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
use a2c_socketio_frame::{Frame, PacketKind};
use tokio::sync::Notify;

use crate::limits::HubLimits;
use crate::metrics::{Label as _, LimitKind, RequestKind, RequestOutcome};
use crate::office::ConnId;
use crate::route::calls::CallId;
use crate::route::envelope::{Envelope, EventBody, MalformedEvent};
use crate::telemetry::Telemetry;
use crate::wire::outbox::Outbox;
use crate::wire::{EngineSocket, ReceivedPacket};
use reply::AckSender;
pub(crate) use reply::to_json;
pub(crate) use shutdown::SHUTTING_DOWN;
pub(crate) use state::Member;
use state::SwitchboardState;

/// The state of the hub behind its lock, and the limits that apply to it.
pub(crate) struct Switchboard {
    state: Mutex<SwitchboardState>,
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
struct Sender<'a> {
    conn: ConnId,
    socket: &'a Arc<EngineSocket>,
    reply: AckSender,
}

impl Switchboard {
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
    pub(crate) fn admit(&self, member: Member) -> ConnId {
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
                member.outbox.close();
            }
        }
    }

    /// Logs that a member hit a limit, at most once a minute.
    pub(crate) fn limit_reached(&self, socket: &EngineSocket, conn: ConnId, limit: LimitKind) {
        if !socket.data.should_log(Instant::now()) {
            return;
        }
        let limit = limit.value();
        tracing::warn!(address = %socket.data.peer.address, limit, "a member hit a limit");
        if let Some(member) = self.state().members.get(&conn) {
            self.telemetry.limit_reached(&member.identity, limit);
        }
    }

    /// Handles an event. A sender that asks for an acknowledgement always gets one.
    pub(crate) fn event(&self, conn: ConnId, socket: &Arc<EngineSocket>, packet: ReceivedPacket<'_>) {
        let reply = AckSender { outbox: Outbox::new(socket), id: packet.frame.id };
        let sender = Sender { conn, socket, reply };
        let event = match self
            .check_size(&packet)
            .and_then(|()| EventBody::parse(packet.frame.body).map_err(|error| bad_request(&error)))
        {
            Ok(event) => event,
            Err(error) => {
                if error.code == ErrorCode::LimitExceeded {
                    self.limit_reached(socket, conn, LimitKind::Payload);
                }
                self.telemetry.handled(RequestKind::Unknown, RequestOutcome::of(error.code));
                return sender.reply.json(&error);
            }
        };
        let outcome = self.handle(&sender, &event, packet);
        let inbound = Inbound::of(&event.name);
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
            // Joins and leaves are reported by `acknowledge_seat`.
            (Inbound::JoinOffice | Inbound::LeaveOffice, _) => {}
            (_, Ok(())) => self.telemetry.handled(RequestKind::of(&event.name), RequestOutcome::Ok),
            (_, Err(error)) => self.telemetry.handled(RequestKind::of(&event.name), RequestOutcome::of(error.code)),
        }
    }

    /// Refuses a packet without reading it: an event is answered to its sender, an answer to the Agent that waits for it.
    pub(crate) fn refuse(&self, conn: ConnId, outbox: &Outbox, frame: &Frame<'_>, error: &ErrorBody) {
        match (frame.kind, frame.id) {
            (PacketKind::Ack, Some(id)) => {
                let mut state = self.state();
                if let Some(call) = state.calls.answered(CallId(id), conn) {
                    state.answer(call, error, RequestOutcome::of(error.code), &self.telemetry);
                }
            }
            _ => {
                self.telemetry.handled(RequestKind::Unknown, RequestOutcome::of(error.code));
                let reply = AckSender { outbox: outbox.clone(), id: frame.id };
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

    fn handle(&self, sender: &Sender<'_>, event: &EventBody<'_>, packet: ReceivedPacket<'_>) -> Result<(), ErrorBody> {
        let malformed =
            |what: MalformedEvent| ErrorBody::bad_request(format!("{} is malformed: {what}", truncated(&event.name)));
        let payload = || event.payload().map_err(malformed);
        let kind = RequestKind::of(&event.name);
        match Inbound::of(&event.name) {
            Inbound::Client(name) => self.route(sender, name, payload()?, packet),
            Inbound::Update(what) => self.update(sender, what, payload()?, packet),
            Inbound::ToolCallCancel => self.cancel(sender, payload()?),
            Inbound::ListRoom => self.list_room(sender, payload()?),
            Inbound::JoinOffice => {
                let outcome = self.check_joins(sender).and_then(|()| payload()).and_then(|p| self.join(sender.conn, p));
                self.acknowledge_seat(sender, kind, &outcome);
                Ok(())
            }
            Inbound::LeaveOffice => {
                let outcome = payload().and_then(|p| self.leave(sender.conn, p));
                self.acknowledge_seat(sender, kind, &outcome);
                Ok(())
            }
            Inbound::Unknown => Err(ErrorBody::bad_request(format!(
                "unknown event {:?}: expected client:*, server:update_* or one of the server: events",
                truncated(&event.name)
            ))),
        }
    }

    /// Answers a join or a leave, which have their own form of acknowledgement.
    fn acknowledge_seat(&self, sender: &Sender<'_>, kind: RequestKind, outcome: &Result<(), ErrorBody>) {
        let counted = outcome.as_ref().map_or_else(|error| RequestOutcome::of(error.code), |()| RequestOutcome::Ok);
        self.telemetry.handled(kind, counted);
        sender.reply.office(outcome.as_ref().copied());
    }

    fn check_joins(&self, sender: &Sender<'_>) -> Result<(), ErrorBody> {
        sender.socket.data.join(&self.limits).map_err(|wait| {
            self.telemetry.count_limit(LimitKind::Joins);
            self.limit_reached(sender.socket, sender.conn, LimitKind::Joins);
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

    fn state(&self) -> MutexGuard<'_, SwitchboardState> {
        // The indexes are consistent between statements, so a panic of another task leaves them usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bad_request(error: &MalformedEvent) -> ErrorBody {
    ErrorBody::bad_request(error.to_string())
}

/// The beginning of a name from a client: enough to recognise it, and too little to reflect a large payload.
fn truncated(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_NAME)]
}
