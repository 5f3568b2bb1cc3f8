//! The switchboard: it handles the events and acknowledgements of members with the indexes of seats and calls, and queues
//! the packets that they cause.
//!
//! Each office has its own lock, so that offices do not wait for each other. Under it the hub changes the members, calls
//! and announcements of the office, which returns effects: packets for members and ends of calls. They are performed when
//! the lock is free again. An announcement goes to all members outside of it too; one task at a time delivers the
//! announcements of an office, so that all members see joins, departures and updates in the order in which they happened.
//!
//! The lock of the directory guards the list of members and offices. Only connecting, joining, leaving and the views of
//! operators take it, before the lock of an office. No task awaits anything or writes to a socket or file under a lock.
//!
//! | file | content |
//! |---|---|
//! | `mailbox` | what the switchboard needs of the connection of a member |
//! | `packet` | a packet that a member sent |
//! | `member`, `seated_member` | an admitted client, and how its office sees it |
//! | `office_room` | one office: its members, calls and announcements, and the effects of their changes |
//! | `announcements` | the announcements that wait for their turn |
//! | `directory` | all members and offices |
//! | `seats` | joining, leaving, the list of members |
//! | `announce` | announcements of a member to its office, and their delivery |
//! | `routing` | requests to Computers and their answers |
//! | `shutdown` | the end of the hub |
//! | `views` | the views for operators |

mod announce;
mod announcements;
mod directory;
mod mailbox;
mod member;
mod office_room;
mod packet;
mod reply;
mod routing;
mod seated_member;
mod seats;
mod shutdown;
pub(crate) mod views;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use a2c_engineio::MemoryPool;
use a2c_protocol::event::{self, Inbound};
use a2c_protocol::office::MAX_NAME;
use a2c_protocol::{ErrorBody, ErrorCode};
use a2c_socketio_frame::{PacketFrame, PacketKind};
use tokio::sync::Notify;

use crate::limits::HubLimits;
use crate::metrics::{Label as _, LimitKind, RequestKind, RequestOutcome};
use crate::office::ConnId;
use crate::route::calls::PendingCall;
use crate::route::envelope::{Envelope, EventBody, MalformedEvent};
use crate::telemetry::{CallEnd, Telemetry};
use announce::WaitingRooms;
use directory::Directory;
pub(crate) use mailbox::Mailbox;
pub(crate) use member::{Admission, Member};
use office_room::{CallContext, Effect};
pub(crate) use packet::ReceivedPacket;
use reply::AckSender;
pub(crate) use reply::to_json;
pub(crate) use shutdown::SHUTTING_DOWN;

/// The members and offices of the hub, and the limits that apply to them.
pub(crate) struct Switchboard<M> {
    directory: Mutex<Directory<M>>,
    next: AtomicU64,
    calls_in_flight: Arc<AtomicUsize>,
    /// The memory of all members; each office has a share of it.
    memory: Arc<MemoryPool>,
    /// The offices with announcements that wait.
    waiting_rooms: WaitingRooms<M>,
    limits: HubLimits,
    call_timeout: Duration,
    pub(crate) telemetry: Arc<Telemetry>,
    /// The hub shuts down and begins no new calls.
    is_shutting_down: AtomicBool,
    /// Notified when the last call has ended during a shutdown.
    idle: Notify,
}

/// The sender of the packet that is being handled.
struct Sender<'a, M> {
    member: &'a Arc<Member<M>>,
    reply: AckSender<M>,
}

impl<M: Mailbox> Switchboard<M> {
    pub(crate) fn new(
        limits: HubLimits,
        memory: Arc<MemoryPool>,
        call_timeout: Duration,
        telemetry: Arc<Telemetry>,
    ) -> Self {
        Self {
            directory: Mutex::default(),
            next: AtomicU64::new(1),
            calls_in_flight: Arc::default(),
            memory,
            waiting_rooms: WaitingRooms::default(),
            limits,
            call_timeout,
            telemetry,
            is_shutting_down: AtomicBool::new(false),
            idle: Notify::new(),
        }
    }

    /// Registers an admitted client.
    pub(crate) fn admit(&self, admission: Admission<M>) -> Arc<Member<M>> {
        let conn = ConnId(self.next.fetch_add(1, Ordering::Relaxed));
        let member = Arc::new(Member::new(conn, admission));
        self.telemetry.connected(&member.identity);
        self.directory().admit(member.clone());
        member
    }

    /// Removes a client: the hub announces its departure and ends its calls.
    pub(crate) fn disconnected(&self, conn: ConnId, reason: &str) {
        let mut directory = self.directory();
        let Some(member) = directory.remove(conn) else { return };
        tracing::debug!(?conn, reason, "disconnected");
        let departure = self.vacate(&mut directory, &member, reason);
        drop(directory);
        if let Some(departure) = departure {
            self.complete(departure);
        }
        self.telemetry.disconnected(&member.identity, reason);
        self.check_idle();
    }

    /// Closes the connections whose grant has expired.
    pub(crate) fn close_expired(&self, now: SystemTime) {
        let expired = self.directory().expired(now);
        for member in expired {
            // Before the end of the connection gives a reason of its own.
            self.disconnected(member.conn, "the credential has expired");
            member.mailbox.close();
        }
    }

    /// Records in the audit log that a member hit a limit.
    pub(crate) fn limit_reached(&self, member: &Member<M>, limit: LimitKind) {
        self.telemetry.limit_reached(&member.identity, limit.value());
    }

    /// Handles an event. A sender that asks for an acknowledgement always gets one. Returns the limit on payloads or joins
    /// that the sender hit, for the caller to log.
    pub(crate) fn event(&self, member: &Arc<Member<M>>, packet: ReceivedPacket<'_>) -> Option<LimitKind> {
        let sender = Sender { member, reply: AckSender { mailbox: member.mailbox.clone(), id: packet.frame.id } };
        let event = match self
            .check_size(&packet)
            .and_then(|()| packet.check_placeholders().map_err(|stray| ErrorBody::bad_request(stray.to_string())))
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
            tracing::debug!(conn = ?member.conn, code = error.code.number(), why = error.message, "refused");
            sender.reply.json(error);
        }
        match (inbound, outcome) {
            // A call that went to a Computer is reported when it ends.
            (Inbound::Client(_), Ok(())) => {}
            (Inbound::Client(name), Err(error)) => {
                let envelope = event.payload().ok().and_then(|payload| Envelope::parse(payload).ok());
                let taken = member.seat();
                let seat = taken.as_ref().map(|taken| &taken.seated.seat);
                self.telemetry.call_refused(&member.identity, seat, truncated(name), envelope.as_ref(), &error);
            }
            (_, outcome) => self.telemetry.handled(kind, outcome_of(&outcome)),
        }
        None
    }

    /// Refuses a packet without reading it: an event is answered to its sender, an answer to the Agent that waits for it.
    pub(crate) fn refuse(&self, member: &Member<M>, frame: &PacketFrame<'_>, error: &ErrorBody) {
        match (frame.kind, frame.id) {
            (PacketKind::Ack, Some(number)) => {
                let Some(taken) = member.seat() else { return };
                let call = taken.room.state().calls.end(taken.seated.call(number));
                if let Some(call) = call {
                    self.end_call(call, error, RequestOutcome::of(error.code));
                    self.check_idle();
                }
            }
            _ => {
                self.telemetry.handled(RequestKind::Unknown, RequestOutcome::of(error.code));
                let reply = AckSender { mailbox: member.mailbox.clone(), id: frame.id };
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
        sender: &Sender<'_, M>,
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
                self.check_joins(sender.member)?;
                self.join(sender.member, payload()?)
            }
            Inbound::LeaveOffice => self.leave(sender.member, payload()?),
            Inbound::Unknown => Err(ErrorBody::bad_request(format!(
                "unknown event {:?}: expected client:*, server:update_* or one of the server: events",
                truncated(&event.name)
            ))),
        }
    }

    /// Answers a join or a leave, which have their own form of acknowledgement. Returns the limit that a join hit.
    fn acknowledge_seat(
        &self,
        sender: &Sender<'_, M>,
        kind: RequestKind,
        outcome: &Result<(), ErrorBody>,
    ) -> Option<LimitKind> {
        self.telemetry.handled(kind, outcome_of(outcome));
        sender.reply.office(outcome.as_ref().copied());
        let is_limited = outcome.as_ref().is_err_and(|error| error.code == ErrorCode::LimitExceeded);
        is_limited.then_some(LimitKind::Joins)
    }

    /// Counts an attempt to join.
    fn check_joins(&self, member: &Member<M>) -> Result<(), ErrorBody> {
        let Some(rate) = self.limits.joins else { return Ok(()) };
        member.count_join(rate, Instant::now()).map_err(|wait| {
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
        (self.directory().members.len(), self.calls_in_flight())
    }

    fn calls_in_flight(&self) -> usize {
        self.calls_in_flight.load(Ordering::Relaxed)
    }

    /// Does what a change of an office causes. Its lock must be free.
    fn perform(&self, effects: Vec<Effect<M>>) {
        for effect in effects {
            match effect {
                Effect::Send { to, packet } => to.mailbox.send(packet),
                Effect::EndCall { call, error, outcome } => self.end_call(call, &error, outcome),
            }
        }
    }

    /// Ends a call with an error.
    fn end_call(&self, call: PendingCall<CallContext<M>>, error: &ErrorBody, outcome: RequestOutcome) {
        let CallContext { agent, telemetry, .. } = call.context;
        AckSender { mailbox: agent.mailbox.clone(), id: Some(call.ack) }.json(error);
        self.telemetry.end_call(telemetry, CallEnd::with(outcome, error.code));
    }

    fn directory(&self) -> MutexGuard<'_, Directory<M>> {
        // The indexes are consistent between statements, so a panic of another task leaves them usable.
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
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
