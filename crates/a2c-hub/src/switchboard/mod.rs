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
mod ending;
mod reply;
mod routing;
mod seats;
mod state;
pub(crate) mod views;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use a2c_protocol::event::{self, Inbound};
use a2c_protocol::office::MAX_NAME;
use a2c_protocol::{ErrorBody, ErrorCode};
use a2c_socketio_frame::{Frame, Kind as FrameKind};
use tokio::sync::Notify;

use crate::ledger::Ledger;
use crate::limits::Limits;
use crate::metrics::{Kind, Label as _, Limit, Outcome};
use crate::office::ConnId;
use crate::route::calls::CallId;
use crate::route::envelope::{Envelope, EventBody};
use crate::wire::outbox::Outbox;
use crate::wire::{EngineSocket, Packet};
pub(crate) use ending::GOING_AWAY;
use reply::Reply;
pub(crate) use reply::to_json;
pub(crate) use state::Member;
use state::State;

/// All state and what to do with it.
pub(crate) struct Switchboard {
    state: Mutex<State>,
    next: AtomicU64,
    limits: Limits,
    call_timeout: Duration,
    pub(crate) ledger: Arc<Ledger>,
    /// The hub is about to go away: no new calls.
    is_ending: AtomicBool,
    /// Told when the last call is over, while the hub is about to go away.
    idle: Notify,
}

/// Whose packet is being handled.
struct Sender<'a> {
    conn: ConnId,
    socket: &'a Arc<EngineSocket>,
    reply: Reply,
}

impl Switchboard {
    pub(crate) fn new(limits: Limits, call_timeout: Duration, ledger: Arc<Ledger>) -> Self {
        let (state, next) = (Mutex::default(), AtomicU64::new(1));
        Self { state, next, limits, call_timeout, ledger, is_ending: AtomicBool::new(false), idle: Notify::new() }
    }

    /// Registers a client.
    pub(crate) fn admit(&self, member: Member) -> ConnId {
        let conn = ConnId(self.next.fetch_add(1, Ordering::Relaxed));
        self.ledger.connected(&member.who);
        let mut state = self.state();
        if let Some(moment) = member.pass.expires_at() {
            state.expiries.insert((moment, conn));
        }
        state.members.insert(conn, member);
        conn
    }

    /// Forgets a client: its seat is announced as free, its calls end.
    pub(crate) fn disconnected(&self, conn: ConnId, reason: &str) {
        let mut state = self.state();
        let Some(member) = state.members.remove(&conn) else { return };
        if let Some(moment) = member.pass.expires_at() {
            state.expiries.remove(&(moment, conn));
        }
        tracing::debug!(?conn, reason, "disconnected");
        if let Some(seat) = state.offices.remove(conn) {
            tracing::info!(office = &*seat.office, role = %seat.role, name = &*seat.name, reason, "left");
            state.departed(conn, &seat, &self.ledger);
            self.ledger.left(&member.who, &seat, reason);
        }
        drop(state);
        self.ledger.disconnected(&member.who, reason);
        self.check_idle();
    }

    /// Closes the connections of those whose pass has ended.
    pub(crate) fn close_expired(&self, now: SystemTime) {
        let mut state = self.state();
        while let Some(&(moment, conn)) = state.expiries.first()
            && moment <= now
        {
            state.expiries.pop_first();
            if let Some(member) = state.members.get(&conn) {
                tracing::info!(subject = &*member.who.subject, "the credential has expired: closing the connection");
                member.outbox.close();
            }
        }
    }

    /// Writes down that a member met a limit, once in a while.
    pub(crate) fn offended(&self, socket: &EngineSocket, conn: ConnId, limit: Limit) {
        if !socket.data.is_news(Instant::now()) {
            return;
        }
        let limit = limit.value();
        tracing::warn!(address = %socket.data.peer.address, limit, "a member met a limit");
        if let Some(member) = self.state().members.get(&conn) {
            self.ledger.offender(&member.who, limit);
        }
    }

    /// Handles an event. Whoever asks for an acknowledgement gets one, whatever is wrong with the event.
    pub(crate) fn event(&self, conn: ConnId, socket: &Arc<EngineSocket>, packet: Packet<'_>) {
        let reply = Reply { outbox: Outbox::new(socket), id: packet.frame.id };
        let sender = Sender { conn, socket, reply };
        let event = match self
            .check_size(&packet)
            .and_then(|()| EventBody::parse(packet.frame.body).map_err(ErrorBody::bad_request))
        {
            Ok(event) => event,
            Err(error) => {
                if error.code == ErrorCode::LimitExceeded {
                    self.offended(socket, conn, Limit::Payload);
                }
                self.ledger.handled(Kind::Unknown, Outcome::of(error.code));
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
                    self.ledger.call_refused(&member.who, seat, brief(name), envelope.as_ref(), &error);
                }
            }
            // How a join or a leave ended was told when it did.
            (Inbound::JoinOffice | Inbound::LeaveOffice, _) => {}
            (_, Ok(())) => self.ledger.handled(Kind::of(&event.name), Outcome::Ok),
            (_, Err(error)) => self.ledger.handled(Kind::of(&event.name), Outcome::of(error.code)),
        }
    }

    /// Answers a packet that is not looked at: the one who sent it, or the one who waits for it.
    pub(crate) fn refuse(&self, conn: ConnId, outbox: &Outbox, frame: &Frame<'_>, error: &ErrorBody) {
        match (frame.kind, frame.id) {
            (FrameKind::Ack, Some(id)) => {
                let mut state = self.state();
                if let Some(call) = state.calls.answered(CallId(id), conn) {
                    state.answer(call, error, Outcome::of(error.code), &self.ledger);
                }
            }
            _ => {
                self.ledger.handled(Kind::Unknown, Outcome::of(error.code));
                let reply = Reply { outbox: outbox.clone(), id: frame.id };
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

    fn handle(&self, sender: &Sender<'_>, event: &EventBody<'_>, packet: Packet<'_>) -> Result<(), ErrorBody> {
        let malformed = |what: String| ErrorBody::bad_request(format!("{} is malformed: {what}", brief(&event.name)));
        let payload = || event.payload().map_err(malformed);
        let kind = Kind::of(&event.name);
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
    fn settle(&self, sender: &Sender<'_>, kind: Kind, outcome: Result<(), ErrorBody>) {
        let counted = outcome.as_ref().map_or_else(|error| Outcome::of(error.code), |()| Outcome::Ok);
        self.ledger.handled(kind, counted);
        sender.reply.office(outcome.map_err(|error| error.message));
    }

    fn check_joins(&self, sender: &Sender<'_>) -> Result<(), ErrorBody> {
        sender.socket.data.join(&self.limits).map_err(|wait| {
            self.ledger.limit(Limit::Joins);
            self.offended(sender.socket, sender.conn, Limit::Joins);
            let seconds = wait.as_secs_f64().ceil() as u64;
            let message = format!("too many attempts to join: wait {seconds} s");
            ErrorBody::new(ErrorCode::LimitExceeded, message).with("retry_after", seconds)
        })
    }

    fn check_size(&self, packet: &Packet<'_>) -> Result<(), ErrorBody> {
        let (size, limit) = (packet.size(), self.limits.max_payload);
        if size <= limit {
            return Ok(());
        }
        self.ledger.limit(Limit::Payload);
        let message = format!("{size} bytes are over the limit of {limit} bytes");
        Err(ErrorBody::new(ErrorCode::LimitExceeded, message).with("limit", limit))
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

/// The beginning of a name from outside: enough to recognise it, and no way to have the hub send back what it got.
fn brief(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_NAME)]
}
