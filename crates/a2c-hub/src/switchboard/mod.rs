//! The middle of the hub: events and acknowledgements come in, the indexes decide, packets go out.
//!
//! One lock guards all state, held for index work and for putting packets into queues, never across an await or a write.
//! Requests and answers are prepared outside of it, announcements, which go to everybody in an office, inside. What
//! changes who is where (joins, leaves, departures) is announced while the lock is held, so that everybody sees these
//! changes in the order in which they happened.
//!
//! | file | what is in it |
//! |---|---|
//! | `seats` | joining, leaving, who is there |
//! | `announce` | what a member tells the others of its office |
//! | `routing` | requests to Computers and their answers |
//! | `ending` | a hub that goes away |
//! | `views` | what an operator sees |

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
use crate::route::envelope::{Envelope, EventBody};
use crate::telemetry::Telemetry;
use crate::wire::outbox::Outbox;
use crate::wire::{EngineSocket, ReceivedPacket};
use reply::AckSender;
pub(crate) use reply::to_json;
pub(crate) use shutdown::SHUTTING_DOWN;
pub(crate) use state::Member;
use state::SwitchboardState;

/// All state and what to do with it.
pub(crate) struct Switchboard {
    state: Mutex<SwitchboardState>,
    next: AtomicU64,
    limits: HubLimits,
    call_timeout: Duration,
    pub(crate) telemetry: Arc<Telemetry>,
    /// The hub is about to go away: no new calls.
    is_shutting_down: AtomicBool,
    /// Told when the last call is over, while the hub is about to go away.
    idle: Notify,
}

/// Whose packet is being handled.
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

    /// Registers a client.
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

    /// Forgets a client: its seat is announced as free, its calls end.
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

    /// Closes the connections of those whose grant has ended.
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

    /// Writes down that a member met a limit, once in a while.
    pub(crate) fn limit_reached(&self, socket: &EngineSocket, conn: ConnId, limit: LimitKind) {
        if !socket.data.should_log(Instant::now()) {
            return;
        }
        let limit = limit.value();
        tracing::warn!(address = %socket.data.peer.address, limit, "a member met a limit");
        if let Some(member) = self.state().members.get(&conn) {
            self.telemetry.limit_reached(&member.identity, limit);
        }
    }

    /// Handles an event. Whoever asks for an acknowledgement gets one, whatever is wrong with the event.
    pub(crate) fn event(&self, conn: ConnId, socket: &Arc<EngineSocket>, packet: ReceivedPacket<'_>) {
        let reply = AckSender { outbox: Outbox::new(socket), id: packet.frame.id };
        let sender = Sender { conn, socket, reply };
        let event = match self
            .check_size(&packet)
            .and_then(|()| EventBody::parse(packet.frame.body).map_err(ErrorBody::bad_request))
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
            // What went to a Computer is accounted for when it is over.
            (Inbound::Client(_), Ok(())) => {}
            (Inbound::Client(name), Err(error)) => {
                let state = self.state();
                let (seat, member) = (state.offices.seat(conn), state.members.get(&conn));
                let envelope = event.payload().ok().and_then(|payload| Envelope::parse(payload).ok());
                if let Some(member) = member {
                    self.telemetry.call_refused(&member.identity, seat, brief(name), envelope.as_ref(), &error);
                }
            }
            // How a join or a leave ended was told when it did.
            (Inbound::JoinOffice | Inbound::LeaveOffice, _) => {}
            (_, Ok(())) => self.telemetry.handled(RequestKind::of(&event.name), RequestOutcome::Ok),
            (_, Err(error)) => self.telemetry.handled(RequestKind::of(&event.name), RequestOutcome::of(error.code)),
        }
    }

    /// Answers a packet that is not looked at: the one who sent it, or the one who waits for it.
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
                // These two have an answer of their own kind, also when nobody looks at the rest of them.
                let name = frame.body.trim_start_matches(['[', ' ']);
                let is_office = [event::JOIN_OFFICE, event::LEAVE_OFFICE].iter().any(|event| {
                    name.strip_prefix('"')
                        .and_then(|rest| rest.strip_prefix(event))
                        .is_some_and(|rest| rest.starts_with('"'))
                });
                if is_office { reply.office(Err(error.message.clone())) } else { reply.json(error) }
            }
        }
    }

    fn handle(&self, sender: &Sender<'_>, event: &EventBody<'_>, packet: ReceivedPacket<'_>) -> Result<(), ErrorBody> {
        let malformed = |what: String| ErrorBody::bad_request(format!("{} is malformed: {what}", brief(&event.name)));
        let payload = || event.payload().map_err(malformed);
        let kind = RequestKind::of(&event.name);
        match Inbound::of(&event.name) {
            Inbound::Client(name) => self.route(sender, name, payload()?, packet),
            Inbound::Update(what) => self.update(sender, what, payload()?, packet),
            Inbound::ToolCallCancel => self.cancel(sender, payload()?),
            Inbound::ListRoom => self.list_room(sender, payload()?),
            Inbound::JoinOffice => {
                let outcome = self.check_joins(sender).and_then(|()| payload()).and_then(|p| self.join(sender.conn, p));
                self.settle(sender, kind, outcome);
                Ok(())
            }
            Inbound::LeaveOffice => {
                let outcome = payload().and_then(|p| self.leave(sender.conn, p));
                self.settle(sender, kind, outcome);
                Ok(())
            }
            Inbound::Unknown => Err(ErrorBody::bad_request(format!(
                "unknown event {:?}: expected client:*, server:update_* or one of the server: events",
                brief(&event.name)
            ))),
        }
    }

    /// Answers a join or a leave, which have an acknowledgement of their own kind.
    fn settle(&self, sender: &Sender<'_>, kind: RequestKind, outcome: Result<(), ErrorBody>) {
        let counted = outcome.as_ref().map_or_else(|error| RequestOutcome::of(error.code), |()| RequestOutcome::Ok);
        self.telemetry.handled(kind, counted);
        sender.reply.office(outcome.map_err(|error| error.message));
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

    /// How many clients are connected, and how many calls are in flight.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.members.len(), state.calls.len())
    }

    fn state(&self) -> MutexGuard<'_, SwitchboardState> {
        // The indexes are consistent between statements; a panic elsewhere must not take the hub down.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The beginning of a name from outside: enough to recognise it, and no way to have the hub send back what it got.
fn brief(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_NAME)]
}
