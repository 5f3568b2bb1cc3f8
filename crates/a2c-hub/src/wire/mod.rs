//! The Socket.IO protocol of the hub, on top of an Engine.IO transport.
//!
//! A text message is a [`PacketFrame`]; one that announces attachments waits in its connection until they have arrived.
//! This module handles CONNECT and DISCONNECT; events and acknowledgements go to the [`Switchboard`]. The task of a
//! connection handles its messages one after the other, in the order of their arrival, which keeps the order of calls.

pub(crate) mod connection;
mod mailbox;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use a2c_engineio::{CloseReason, Handler, OutgoingMessage, OversizedMessage, Socket, Text};
use a2c_protocol::office::MAX_NAME;
use a2c_protocol::{ErrorBody, ErrorCode, NAMESPACE, Role};
use a2c_socketio_frame::{PacketFrame, PacketKind};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use bytes::Bytes;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::auth::{self, CurrentAccess, Renewal};
use crate::limits::HubLimits;
use crate::limits::address_limits::{AddressLimits, RefusalNote};
use crate::metrics::{Label as _, LimitKind, RefusalReason};
use crate::switchboard::{Admission, Mailbox as _, Member, ReceivedPacket, Switchboard};
use crate::telemetry::ClientIdentity;
use connection::{ClientConnection, PartialPacket, RateExceeded};
use mailbox::SocketMailbox;

/// The longest CONNECT, credentials included, in bytes.
pub(crate) const MAX_CONNECT: usize = 64 << 10;

/// How long a client waits for fresh keys before its credential is judged for the last time.
const RENEWAL_TIMEOUT: Duration = Duration::from_secs(5);

/// Up to this multiple of the allowed attachments, the hub skips them and answers; beyond it, the connection ends.
const PASSED_OVER: usize = 16;

/// The hub copies attachments smaller than this while they wait for the others.
const SMALL: usize = 16 << 10;

/// An Engine.IO session with the hub's state of the connection.
pub(crate) type EngineSocket = Socket<ClientConnection>;

/// The switchboard of the members that are connected over Engine.IO.
pub(crate) type HubSwitchboard = Switchboard<SocketMailbox>;

/// A member that is connected over Engine.IO.
pub(crate) type HubMember = Member<SocketMailbox>;

/// Handles the messages of all connections.
#[derive(Clone)]
pub(crate) struct SocketIoHandler {
    pub(crate) switchboard: Arc<HubSwitchboard>,
    pub(crate) limits: HubLimits,
    pub(crate) access: Arc<CurrentAccess>,
    pub(crate) address_limits: Arc<AddressLimits>,
    /// Cancelled when the hub stops: from then on it admits no client.
    pub(crate) stop: CancellationToken,
}

impl Handler for SocketIoHandler {
    type Data = ClientConnection;

    fn opened(&self, request: &Parts) -> ClientConnection {
        ClientConnection::new(request, self.switchboard.telemetry.clone())
    }

    fn closed(&self, socket: &Arc<EngineSocket>, reason: CloseReason) {
        let telemetry = &self.switchboard.telemetry;
        match reason {
            CloseReason::Slow => telemetry.metrics.slow_members.inc(),
            CloseReason::TooLarge => telemetry.count_limit(LimitKind::Payload),
            _ => {}
        }
        let is_notable =
            matches!(reason, CloseReason::Slow | CloseReason::Stalled | CloseReason::TooLarge | CloseReason::Excessive);
        let (address, why) = (socket.data.peer.address, reason.to_string());
        if is_notable && self.address_limits.note_refusal(address.ip(), &why, Instant::now()) != RefusalNote::Counted {
            tracing::warn!(%address, why, "a client is disconnected");
        }
        if let Some(member) = socket.data.member() {
            self.switchboard.disconnected(member.conn, &why);
        }
    }

    fn text(&self, socket: &Arc<EngineSocket>, text: Text) {
        self.switchboard.telemetry.metrics.received_bytes.add(text.len() as u64);
        let gathering = socket.data.state().partial.is_some();
        if gathering {
            return protocol_error(socket, "text where an attachment was due");
        }
        let frame = match PacketFrame::parse(&text) {
            Ok(frame) => frame,
            Err(e) => return protocol_error(socket, &e.to_string()),
        };
        if frame.attachments > 0 {
            return self.announced(socket, &text, &frame);
        }
        self.dispatch(socket, ReceivedPacket { text: &text, frame, attachments: Vec::new() });
    }

    fn binary(&self, socket: &Arc<EngineSocket>, data: Bytes) {
        self.switchboard.telemetry.metrics.received_bytes.add(data.len() as u64);
        let mut state = socket.data.state();
        match &mut state.partial {
            None => {
                drop(state);
                return protocol_error(socket, "an attachment that nothing announced");
            }
            Some(PartialPacket::Skipping { remaining }) => {
                *remaining -= 1;
                if *remaining == 0 {
                    state.partial = None;
                }
                return;
            }
            Some(PartialPacket::Gathering { expected, received, bytes, .. }) => {
                *bytes += data.len();
                if *bytes > self.limits.max_message() {
                    let size = *bytes;
                    drop(state);
                    return self.refuse_gathered(socket, size);
                }
                socket.gather(*bytes);
                // A small attachment is a slice of everything that was read with it and would keep all of that in memory.
                received.push(if data.len() < SMALL { Bytes::copy_from_slice(&data) } else { data });
                if received.len() < *expected {
                    return;
                }
            }
        }
        let gathered = state.partial.take();
        drop(state);
        socket.gather(0);
        let Some(PartialPacket::Gathering { text, received, .. }) = gathered else { return };
        if let Ok(frame) = PacketFrame::parse(&text) {
            self.dispatch(socket, ReceivedPacket { text: &text, frame, attachments: received });
        }
    }

    fn oversized(&self, socket: &Arc<EngineSocket>, message: OversizedMessage) {
        self.switchboard.telemetry.metrics.received_bytes.add(message.size as u64);
        if !message.is_text {
            let mut state = socket.data.state();
            return match &mut state.partial {
                Some(PartialPacket::Gathering { bytes, .. }) => {
                    let size = *bytes + message.size;
                    drop(state);
                    self.refuse_gathered(socket, size);
                }
                Some(PartialPacket::Skipping { remaining }) => {
                    *remaining -= 1;
                    if *remaining == 0 {
                        state.partial = None;
                    }
                }
                None => {
                    drop(state);
                    protocol_error(socket, "an attachment that nothing announced");
                }
            };
        }
        // The beginning may end within a character.
        let beginning = message.beginning.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let Some(text) = beginning.strip_prefix('4') else {
            return protocol_error(socket, "a large packet that is no message");
        };
        if socket.data.state().partial.is_some() {
            return protocol_error(socket, "text where an attachment was due");
        }
        let attachments = PacketFrame::parse(text).map_or(0, |frame| frame.attachments);
        if attachments > self.limits.max_attachments.saturating_mul(PASSED_OVER) {
            return socket.close(CloseReason::Excessive);
        }
        if attachments > 0 {
            socket.data.state().partial = Some(PartialPacket::Skipping { remaining: attachments });
        }
        self.refuse_size(socket, text, message.size);
    }
}

impl SocketIoHandler {
    /// Refuses the packet whose attachments are being gathered, with the one that has just arrived, and skips the rest.
    fn refuse_gathered(&self, socket: &Arc<EngineSocket>, size: usize) {
        let partial = socket.data.state().partial.take();
        let Some(PartialPacket::Gathering { text, expected, received, .. }) = partial else { return };
        socket.gather(0);
        let remaining = expected - received.len() - 1;
        socket.data.state().partial = (remaining > 0).then_some(PartialPacket::Skipping { remaining });
        self.refuse_size(socket, &text, size);
    }

    /// Tells the sender of a packet, or the Agent that waits for it, that the packet is too large.
    fn refuse_size(&self, socket: &Arc<EngineSocket>, text: &str, size: usize) {
        let (Ok(frame), Some(member)) = (PacketFrame::parse(text), socket.data.member()) else {
            return socket.close(CloseReason::TooLarge);
        };
        self.limit_reached(socket, &member, LimitKind::Payload);
        self.switchboard.refuse(&member, &frame, &over_limit(size, self.limits.max_payload));
    }

    /// Handles a packet whose attachments have not arrived.
    fn announced(&self, socket: &Arc<EngineSocket>, text: &Text, frame: &PacketFrame<'_>) {
        let (expected, limit) = (frame.attachments, self.limits.max_attachments);
        let Some(member) = socket.data.member() else {
            return protocol_error(socket, "a packet before CONNECT");
        };
        if expected <= limit {
            let (text, received) = (text.clone(), Vec::new());
            let bytes = text.len();
            socket.gather(bytes);
            socket.data.state().partial = Some(PartialPacket::Gathering { text, expected, received, bytes });
            return;
        }
        if expected > limit.saturating_mul(PASSED_OVER) {
            return socket.close(CloseReason::Excessive);
        }
        socket.data.state().partial = Some(PartialPacket::Skipping { remaining: expected });
        self.limit_reached(socket, &member, LimitKind::Attachments);
        let message = format!("{expected} attachments are over the limit of {limit}");
        let error = ErrorBody::new(ErrorCode::LimitExceeded, message).with("limit", limit);
        self.switchboard.refuse(&member, frame, &error);
    }

    fn dispatch(&self, socket: &Arc<EngineSocket>, packet: ReceivedPacket<'_>) {
        let frame = &packet.frame;
        if frame.namespace != NAMESPACE {
            if socket.data.request(&self.limits) == Err(RateExceeded::Abuse) {
                return socket.close(CloseReason::Excessive);
            }
            if frame.kind == PacketKind::Connect {
                let brief = &frame.namespace[..frame.namespace.floor_char_boundary(MAX_NAME)];
                connect_error(socket, brief, "Invalid namespace");
            }
            return;
        }
        match (frame.kind, socket.data.member()) {
            (PacketKind::Connect, None) => self.connect(frame.body, socket),
            // A second CONNECT of a connected client changes nothing.
            (PacketKind::Connect, Some(_)) => {}
            (PacketKind::Disconnect, _) => socket.close(CloseReason::Left),
            (PacketKind::Event, Some(member)) => match socket.data.request(&self.limits) {
                Ok(()) => {
                    if let Some(limit) = self.switchboard.event(&member, packet) {
                        self.log_limit(socket, &member, limit);
                    }
                }
                Err(RateExceeded::Wait(wait)) => {
                    self.limit_reached(socket, &member, LimitKind::RequestsPerSecond);
                    let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
                    let message = format!("too many requests: wait {seconds} s");
                    let error = ErrorBody::new(ErrorCode::LimitExceeded, message).with("retry_after", seconds);
                    self.switchboard.refuse(&member, frame, &error);
                }
                Err(RateExceeded::Abuse) => socket.close(CloseReason::Excessive),
            },
            (PacketKind::Ack, Some(member)) => {
                let was_awaited = self.switchboard.ack(&member, packet);
                // An answer to no call counts as a request.
                if !was_awaited && socket.data.request(&self.limits) == Err(RateExceeded::Abuse) {
                    socket.close(CloseReason::Excessive);
                }
            }
            (PacketKind::ConnectError, _) => protocol_error(socket, "CONNECT_ERROR from a client"),
            (PacketKind::Event | PacketKind::Ack, None) => protocol_error(socket, "a packet before CONNECT"),
        }
    }

    /// Counts and logs that a member hit a limit.
    fn limit_reached(&self, socket: &EngineSocket, member: &HubMember, limit: LimitKind) {
        self.switchboard.telemetry.count_limit(limit);
        self.log_limit(socket, member, limit);
    }

    /// Logs that a member hit a limit, at most once a minute.
    fn log_limit(&self, socket: &EngineSocket, member: &HubMember, limit: LimitKind) {
        if socket.data.should_log(Instant::now()) {
            tracing::warn!(address = %socket.data.peer.address, limit = limit.value(), "a member hit a limit");
            self.switchboard.limit_reached(member, limit);
        }
    }

    /// Handles a CONNECT.
    fn connect(&self, auth: &str, socket: &Arc<EngineSocket>) {
        let headers = {
            let mut state = socket.data.state();
            if state.is_refused || state.is_awaiting_keys {
                drop(state);
                return protocol_error(socket, "another credential after the first one");
            }
            std::mem::take(&mut state.headers)
        };
        self.judge(headers, auth, socket, JudgementRound::First);
    }

    /// Judges the same CONNECT again when there are fresh keys, or when there was enough time for them.
    fn judge_after(
        &self,
        renewal: impl Future<Output = ()> + Send + 'static,
        headers: HeaderMap,
        auth: &str,
        socket: &Arc<EngineSocket>,
    ) {
        socket.data.state().is_awaiting_keys = true;
        let (handler, auth, socket) = (self.clone(), auth.to_owned(), socket.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = handler.stop.cancelled() => return,
                _ = tokio::time::timeout(RENEWAL_TIMEOUT, renewal) => {}
            }
            socket.data.state().is_awaiting_keys = false;
            if !socket.is_closed() {
                handler.judge(headers, &auth, &socket, JudgementRound::Last);
            }
        });
    }

    /// Admits a client, or refuses it. The member is registered before its CONNECT is queued, so that the hub can handle
    /// everything that the client sends after it has read CONNECT.
    fn judge(&self, headers: HeaderMap, auth: &str, socket: &Arc<EngineSocket>, round: JudgementRound) {
        let (connection, now) = (&socket.data, Instant::now());
        let address = connection.peer.address;
        let refuse = |refusal, is_guess: bool, why: &str, told: &str| {
            let telemetry = &self.switchboard.telemetry;
            if is_guess {
                telemetry.refused_guess(address, why);
            } else {
                telemetry.refused(&self.address_limits, address, refusal, why);
            }
            connect_error(socket, NAMESPACE, told);
        };
        if self.switchboard.is_shutting_down() {
            // Closed, not refused: many clients do not reconnect after a refusal.
            return socket.close(CloseReason::Dismissed);
        }
        if let Some(wait) = self.address_limits.locked_out(address.ip(), now) {
            connection.state().is_refused = true;
            self.switchboard.telemetry.count_limit(LimitKind::FailedConnects);
            let told = format!("429 too many wrong credentials from this address: wait {} s", wait.as_secs() + 1);
            return refuse(RefusalReason::Limit, false, "too many wrong credentials from this address", &told);
        }
        let claim = auth::Claim {
            headers: &headers,
            payload: auth,
            certificate: connection.peer.certificate.as_ref().map(|certificate| &*certificate.subject),
            address: address.ip(),
            now: SystemTime::now(),
        };
        let access = self.access.clients();
        let grant = match access.authenticate(&claim) {
            // A connection does not outlive the certificate that it was made with.
            Ok(grant) => match &connection.peer.certificate {
                Some(certificate) => grant.until(certificate.ends),
                None => grant,
            },
            Err(refused) => {
                if round == JudgementRound::First {
                    match access.renewal(&refused) {
                        Some(Renewal::Soon(renewal)) => return self.judge_after(renewal, headers, auth, socket),
                        // A client that is refused for good would not come back when the keys are there.
                        Some(Renewal::Later(wait)) => {
                            connection.state().is_refused = true;
                            let told =
                                format!("429 the key of this token is not known yet: wait {} s", wait.as_secs() + 1);
                            return refuse(RefusalReason::Auth, false, &refused.to_string(), &told);
                        }
                        None => {}
                    }
                }
                if refused.is_guess() {
                    self.address_limits.credential_failed(address.ip(), now);
                }
                connection.state().is_refused = true;
                return refuse(RefusalReason::Auth, refused.is_guess(), &refused.to_string(), "401");
            }
        };
        let role = match role_of(auth) {
            Ok(Some(role)) if !grant.permits_role(role) => {
                connection.state().is_refused = true;
                let told = format!("403 this credential does not permit the role {role}");
                return refuse(RefusalReason::Auth, false, &told, &told);
            }
            Ok(role) => role,
            Err(reason) => {
                connection.state().headers = headers;
                return connect_error(socket, NAMESPACE, &reason.to_string());
            }
        };
        let mailbox = SocketMailbox::new(socket);
        // Not the Engine.IO id: other members see this id, and the Engine.IO id authenticates a polling client.
        let sid = uuid::Uuid::new_v4().simple().to_string();
        let welcome = serde_json::json!({ "sid": sid }).to_string();
        let identity = ClientIdentity { sid: sid.into(), subject: grant.subject().into(), address };
        let version = connection.version;
        let member = self.switchboard.admit(Admission { identity, grant, role, version, mailbox: mailbox.clone() });
        if connection.member.set(Arc::downgrade(&member)).is_err() {
            self.switchboard.disconnected(member.conn, "connected twice");
            return;
        }
        socket.admit(self.limits.max_message());
        mailbox.send(encode(PacketKind::Connect, NAMESPACE, &welcome));
        // The connection may have ended during the admission, before the member could be removed.
        if socket.is_closed() {
            self.switchboard.disconnected(member.conn, "gone while connecting");
        }
        // The hub may have closed all other connections in the meantime.
        if self.stop.is_cancelled() {
            mailbox.close();
        }
    }
}

/// How often a CONNECT was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JudgementRound {
    /// It may be judged again with fresh keys.
    First,
    /// This judgement is final.
    Last,
}

/// The error for a packet over the limit.
fn over_limit(size: usize, limit: usize) -> ErrorBody {
    let message = format!("{size} bytes are over the limit of {limit} bytes");
    ErrorBody::new(ErrorCode::LimitExceeded, message).with("limit", limit)
}

#[derive(Deserialize)]
struct RoleClaim {
    role: Option<serde_json::Value>,
}

/// Why the `auth` of a CONNECT claims no role that the hub knows.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum RoleClaimError {
    #[error("auth is not a JSON object")]
    NotAnObject,
    #[error("unknown role: use agent or computer")]
    UnknownRole,
}

/// The role that a client claims in its CONNECT.
fn role_of(auth: &str) -> Result<Option<Role>, RoleClaimError> {
    if auth.is_empty() {
        return Ok(None);
    }
    if !auth.starts_with('{') {
        return Err(RoleClaimError::NotAnObject);
    }
    let claim: RoleClaim = serde_json::from_str(auth).map_err(|_| RoleClaimError::NotAnObject)?;
    match claim.role {
        None | Some(serde_json::Value::Null) => Ok(None),
        Some(role) => serde_json::from_value(role).map(Some).map_err(|_| RoleClaimError::UnknownRole),
    }
}

fn encode(kind: PacketKind, namespace: &str, body: &str) -> OutgoingMessage {
    OutgoingMessage::text(PacketFrame { kind, attachments: 0, namespace, id: None, body }.encode())
}

fn connect_error(socket: &Arc<EngineSocket>, namespace: &str, message: &str) {
    let body = serde_json::json!({ "message": message }).to_string();
    SocketMailbox::new(socket).send(encode(PacketKind::ConnectError, namespace, &body));
}

fn protocol_error(socket: &EngineSocket, reason: &str) {
    tracing::debug!(reason, "protocol error, closing the connection");
    socket.close(CloseReason::Protocol);
}
