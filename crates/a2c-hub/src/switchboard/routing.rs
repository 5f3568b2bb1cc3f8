//! Requests to Computers, and their answers.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2c_engineio::QueueFull;
use a2c_protocol::office::MAX_NAME;
use a2c_protocol::seconds::Seconds;
use a2c_protocol::{ErrorBody, ErrorCode, Role, event};
use bytes::Bytes;
use serde_json::value::RawValue;

use super::office_room::{CallContext, InFlight};
use super::reply::{AckSender, event_packet};
use super::{Mailbox, Member, ReceivedPacket, Sender, Switchboard, truncated};
use crate::metrics::{LimitKind, RequestOutcome};
use crate::office::Unreachable;
use crate::route::calls::{AlreadyRunning, PendingCall};
use crate::route::envelope::{Envelope, MalformedEvent, stamp};
use crate::route::placeholders::StrayPlaceholder;
use crate::telemetry::{CallEnd, CallStart};

/// How long the hub waits beyond the time limit of a tool call.
const GRACE: Duration = Duration::from_secs(5);

impl<M: Mailbox> Switchboard<M> {
    /// Passes a request on to the Computer that it names. The hub registers the call before it sends the request.
    pub(super) fn route(
        &self,
        sender: &Sender<'_, M>,
        event: &str,
        payload: &RawValue,
        packet: ReceivedPacket<'_>,
    ) -> Result<(), ErrorBody> {
        let (conn, bytes) = (sender.member.conn, packet.size());
        if event.len() > MAX_NAME {
            return Err(ErrorBody::bad_request(format!("the name of an event is no longer than {MAX_NAME} bytes")));
        }
        let malformed =
            |what: MalformedEvent| ErrorBody::bad_request(format!("{} is malformed: {what}", truncated(event)));
        let envelope = Envelope::parse(payload).map_err(malformed)?;
        let computer_name = envelope.computer_name().map_err(malformed)?;
        if computer_name.len() > MAX_NAME {
            return Err(malformed(MalformedEvent::ComputerTooLong));
        }
        if envelope.req_id.as_ref().is_some_and(|id| id.len() > MAX_NAME) {
            return Err(malformed(MalformedEvent::RequestIdTooLong));
        }
        if self.is_shutting_down() {
            return Err(ErrorBody::new(ErrorCode::Internal, super::SHUTTING_DOWN));
        }
        let limit = match envelope.timeout.map(Seconds::duration) {
            Some(own) => own + GRACE,
            None => self.call_timeout,
        };
        let taken = sender.member.seat().ok_or_else(in_no_office)?;
        let seat = &taken.seated.seat;
        if seat.role != Role::Agent {
            return Err(refusal_of(&Unreachable::CallerNoAgent, &computer_name));
        }
        let found = taken.room.state().computer(conn, &computer_name);
        let computer = found.map_err(|e| refusal_of(&e, &computer_name))?;
        let id = computer.next_call();

        let mut stamped = stamp(payload.get(), "agent", envelope.agent, &seat.name);
        let span = self.telemetry.span(envelope.traceparent.map(|raw| raw.get().trim_matches('"')));
        if let Some(span) = span {
            let context = span.context().to_string();
            stamped = Cow::Owned(match &stamped {
                Cow::Borrowed(text) => stamp(text, "traceparent", envelope.traceparent, &context).into_owned(),
                Cow::Owned(text) => restamp(text, "traceparent", &context).map_err(malformed)?,
            });
        }
        let rest = rest_of(&packet, stamped);
        let packet = event_packet(event, sender.reply.id.map(|_| id.number), rest, packet.attachments);
        let (tool, arguments) = self.telemetry.tool_and_arguments(&envelope, span.is_some());

        let telemetry = self.telemetry.begin_call(CallStart {
            event,
            identity: &sender.member.identity,
            agent: seat,
            computer: &computer_name,
            tool: tool.as_deref(),
            req_id: envelope.req_id.as_deref(),
            arguments,
            bytes,
            span,
        });
        let full = |QueueFull| {
            self.telemetry.count_limit(LimitKind::Backlog);
            let message = format!("Computer '{computer_name}' has too many requests waiting: try again later");
            ErrorBody::new(ErrorCode::LimitExceeded, message).with("computer", computer_name.as_str())
        };
        let Some(ack) = sender.reply.id else {
            // The Agent asked for no answer, so the call ends when its request is queued.
            computer.mailbox.try_send(packet).map_err(full)?;
            self.telemetry.end_call(telemetry, CallEnd::passed_on());
            return Ok(());
        };
        let max_calls = self.limits.max_calls;
        let (is_tool_call, deadline) = (event == event::TOOL_CALL, Instant::now() + limit);
        let in_flight = InFlight::new(&self.calls_in_flight);
        let context =
            CallContext { agent: taken.seated.clone(), computer: computer.clone(), telemetry, _in_flight: in_flight };
        let call = PendingCall { agent: conn, ack, req_id: envelope.req_id, deadline, is_tool_call, context };
        {
            // Registered before it is sent: a Computer that leaves from now on ends the call.
            let mut state = taken.room.state();
            if state.computer(conn, &computer_name).is_ok_and(|present| !Arc::ptr_eq(&present, &computer)) {
                return Err(ErrorBody::computer_not_found(&computer_name));
            }
            state.computer(conn, &computer_name).map_err(|e| refusal_of(&e, &computer_name))?;
            if state.calls.of(conn) >= max_calls {
                self.telemetry.count_limit(LimitKind::CallsInFlight);
                let message = format!("{max_calls} calls of this agent are in flight: wait for some of them");
                return Err(ErrorBody::new(ErrorCode::LimitExceeded, message).with("limit", max_calls));
            }
            state.calls.start(id, call).map_err(|AlreadyRunning| malformed(MalformedEvent::RequestIdInUse))?;
        }
        match computer.mailbox.try_send(packet) {
            Ok(()) => Ok(()),
            // Unless the call has ended meanwhile: then it was answered.
            Err(reason) => taken.room.state().calls.end(id).map_or(Ok(()), |_| Err(full(reason))),
        }
    }

    /// Passes an answer on to the Agent that waits for it; returns whether the Computer had to answer this call.
    pub(crate) fn ack(&self, member: &Member<M>, packet: ReceivedPacket<'_>) -> bool {
        let Some(number) = packet.frame.id else { return false };
        let pending = member.seat().map(|taken| (taken.seated.call(number), taken));
        let Some((id, taken)) = pending.filter(|(id, taken)| taken.room.state().calls.is_pending(*id)) else {
            tracing::debug!(conn = ?member.conn, number, "an answer without a pending call");
            self.telemetry.metrics.unclaimed_answers.inc();
            return false;
        };
        let bytes = packet.size();
        // Checked before the call is removed: a call is in flight until its answer is queued.
        let stray = |stray: StrayPlaceholder| {
            ErrorBody::new(ErrorCode::Internal, format!("the computer's answer is malformed: {stray}"))
        };
        let checked = self
            .check_size(&packet)
            .and_then(|()| packet.check_placeholders().map_err(stray))
            .and_then(|()| check_answer(packet.frame.body));
        // The call may have timed out in between.
        let Some(call) = taken.room.state().calls.end(id) else { return true };
        let CallContext { agent, telemetry, _in_flight, .. } = call.context;
        let reply = AckSender { mailbox: agent.mailbox.clone(), id: Some(call.ack) };
        let end = match checked {
            Ok(()) => {
                reply.pass(packet.from(packet.frame.body), packet.attachments);
                CallEnd::answered(bytes)
            }
            Err(error) => {
                reply.json(&error);
                CallEnd::with(RequestOutcome::of(error.code), error.code)
            }
        };
        self.telemetry.end_call(telemetry, end);
        drop(_in_flight);
        self.check_idle();
        true
    }

    /// Answers every call whose deadline has passed with an error.
    pub(crate) fn expire(&self, now: Instant) {
        let rooms: Vec<_> = self.directory().rooms.values().cloned().collect();
        for room in rooms {
            let effects = room.state().end_expired_calls(now);
            self.perform(effects);
        }
        self.check_idle();
    }
}

/// The protocol error for a Computer that cannot be reached.
fn refusal_of(reason: &Unreachable, computer: &str) -> ErrorBody {
    match reason {
        Unreachable::CallerInNoOffice => in_no_office(),
        Unreachable::CallerNoAgent => ErrorBody::new(ErrorCode::Forbidden, "only an agent may call computers"),
        Unreachable::NoSuchComputer => ErrorBody::computer_not_found(computer),
    }
}

pub(super) fn in_no_office() -> ErrorBody {
    ErrorBody::new(ErrorCode::NotInOffice, "in no office: join one first")
}

/// An argument and the bracket that closes the arguments; where nothing was stamped, a slice of the received packet.
pub(super) fn rest_of(packet: &ReceivedPacket<'_>, stamped: Cow<'_, str>) -> Bytes {
    match stamped {
        Cow::Borrowed(payload) => packet.from(payload),
        Cow::Owned(payload) => (payload + "]").into(),
    }
}

/// Stamps a text that was stamped before.
fn restamp(object: &str, key: &str, value: &str) -> Result<String, MalformedEvent> {
    let unreadable = |error: serde_json::Error| MalformedEvent::Payload { problem: error.to_string() };
    let raw: &RawValue = serde_json::from_str(object).map_err(unreadable)?;
    Ok(stamp(raw.get(), key, Envelope::parse(raw)?.traceparent, value).into_owned())
}

/// Checks that an answer is a JSON object, so that an Agent never receives anything else.
fn check_answer(body: &str) -> Result<(), ErrorBody> {
    match serde_json::from_str::<Vec<&RawValue>>(body).as_deref() {
        Ok([first, ..]) if first.get().starts_with('{') => Ok(()),
        _ => Err(ErrorBody::new(ErrorCode::Internal, "the computer's answer is not a JSON object")),
    }
}
