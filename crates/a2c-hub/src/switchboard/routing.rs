//! Requests to Computers, and their answers.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use a2c_engineio::QueueFull;
use a2c_protocol::office::MAX_NAME;
use a2c_protocol::seconds::Seconds;
use a2c_protocol::{ErrorBody, ErrorCode, event};
use bytes::Bytes;
use serde_json::value::RawValue;

use super::reply::{AckSender, event_packet};
use super::state::refusal_of;
use super::{Mailbox, ReceivedPacket, Sender, Switchboard, truncated};
use crate::metrics::{LimitKind, RequestOutcome};
use crate::office::ConnId;
use crate::route::calls::{AlreadyRunning, CallId, PendingCall};
use crate::route::envelope::{Envelope, MalformedEvent, stamp};
use crate::telemetry::{CallEnd, CallStart};

/// How long the hub waits beyond the time limit of a tool call.
const GRACE: Duration = Duration::from_secs(5);

impl<M: Mailbox> Switchboard<M> {
    /// Passes a request on to the Computer that it names. The hub registers the call before it sends the request.
    pub(super) fn route(
        &self,
        sender: &Sender<M>,
        event: &str,
        payload: &RawValue,
        packet: ReceivedPacket<'_>,
    ) -> Result<(), ErrorBody> {
        let (conn, bytes) = (sender.conn, packet.size());
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
        let id = CallId(self.next.fetch_add(1, Ordering::Relaxed));

        let (computer, seat) = {
            let state = self.state();
            let computer = state.offices.computer(conn, &computer_name).map_err(|e| refusal_of(&e, &computer_name))?;
            (computer, state.seat(conn)?.clone())
        };
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
        let packet = event_packet(event, sender.reply.id.map(|_| id.0), rest, packet.attachments);
        let (tool, arguments) = self.telemetry.tool_and_arguments(&envelope, span.is_some());

        // Registered and queued under one lock: a member that leaves afterwards ends a call whose request is queued.
        let mut state = self.state();
        let gone = || ErrorBody::computer_not_found(&computer_name);
        if state.offices.computer(conn, &computer_name) != Ok(computer) {
            return Err(gone());
        }
        let mailbox = state.members.get(&computer).ok_or_else(gone)?.mailbox.clone();
        let identity = &state.members.get(&conn).ok_or_else(gone)?.identity;
        let telemetry = self.telemetry.begin_call(CallStart {
            event,
            identity,
            agent: &seat,
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
            mailbox.try_send(packet).map_err(full)?;
            self.telemetry.end_call(telemetry, CallEnd::passed_on());
            return Ok(());
        };
        let max_calls = self.limits.max_calls;
        if state.calls.of(conn) >= max_calls {
            self.telemetry.count_limit(LimitKind::CallsInFlight);
            let message = format!("{max_calls} calls of this agent are in flight: wait for some of them");
            return Err(ErrorBody::new(ErrorCode::LimitExceeded, message).with("limit", max_calls));
        }
        let is_tool_call = event == event::TOOL_CALL;
        let (agent, req_id, deadline) = (conn, envelope.req_id, Instant::now() + limit);
        let call = PendingCall { agent, ack, computer, req_id, deadline, is_tool_call, telemetry };
        state.calls.start(id, call).map_err(|AlreadyRunning| malformed(MalformedEvent::RequestIdInUse))?;
        mailbox.try_send(packet).map_err(|reason| {
            state.calls.end(id);
            full(reason)
        })
    }

    /// Passes an answer on to the Agent that waits for it; returns whether the Computer had to answer this call.
    pub(crate) fn ack(&self, conn: ConnId, packet: ReceivedPacket<'_>) -> bool {
        let Some(id) = packet.frame.id.map(CallId) else { return false };
        if !self.state().calls.is_asked(id, conn) {
            tracing::debug!(?conn, id = id.0, "an answer without a pending call");
            self.telemetry.metrics.unclaimed_answers.inc();
            return false;
        }
        let bytes = packet.size();
        // Checked before the call is removed: a call is in flight until its answer is queued.
        let checked = self.check_size(&packet).and_then(|()| check_answer(packet.frame.body));
        let (call, queued) = {
            let mut state = self.state();
            // The call may have timed out in between.
            let Some(call) = state.calls.answered(id, conn) else { return true };
            let reply =
                state.members.get(&call.agent).map(|a| AckSender { mailbox: a.mailbox.clone(), id: Some(call.ack) });
            match (&checked, &reply) {
                (Ok(()), Some(reply)) => reply.pass(packet.from(packet.frame.body), packet.attachments),
                (Err(error), Some(reply)) => reply.json(error),
                (_, None) => {}
            }
            (call, reply.is_some())
        };
        let end = match checked {
            Ok(()) if queued => CallEnd::answered(bytes),
            Ok(()) => CallEnd::with(RequestOutcome::AgentLeft, ErrorCode::NotInOffice),
            Err(error) => CallEnd::with(RequestOutcome::of(error.code), error.code),
        };
        self.telemetry.end_call(call.telemetry, end);
        self.check_idle();
        true
    }

    /// Answers every call whose deadline has passed with an error.
    pub(crate) fn expire(&self, now: Instant) {
        let mut state = self.state();
        for call in state.calls.expired(now) {
            let name = state.offices.seat(call.computer).map(|s| s.name.to_string()).unwrap_or_default();
            let message = format!("Computer '{name}' did not answer in time");
            let error = ErrorBody::new(ErrorCode::Timeout, message).with("computer", name);
            state.answer(call, &error, RequestOutcome::TimedOut, &self.telemetry);
        }
        drop(state);
        self.check_idle();
    }
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
