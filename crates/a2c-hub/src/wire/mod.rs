//! The Socket.IO protocol of the hub, on top of an Engine.IO transport.
//!
//! A text message is a [`Frame`]; a frame that announces attachments waits in its connection until they have
//! come. CONNECT and DISCONNECT end here; events and acknowledgements go to the [`Switchboard`]. Messages of one
//! connection are handled one after the other, in the order of their arrival, by its own task: that is what keeps the
//! order of calls.

pub(crate) mod outbox;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use a2c_protocol::{NAMESPACE, Role, version};
use bytes::Bytes;
use engineioxide::handler::EngineIoHandler;
use engineioxide::{DisconnectReason, Socket};
use engineioxide_core::Str;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::auth::Auth;
use crate::limits::Limits;
use crate::office::ConnId;
use crate::switchboard::{Newcomer, Switchboard};
use a2c_socketio_frame::{Frame, Kind};
use outbox::Outbox;

/// The longest CONNECT, credentials included, in bytes.
const MAX_CONNECT: usize = 64 << 10;

/// An Engine.IO connection with our state in it.
pub(crate) type EngineSocket = Socket<Connection>;

/// What the hub keeps with each Engine.IO connection.
#[derive(Default)]
pub(crate) struct Connection {
    /// Set by a successful CONNECT.
    member: OnceLock<ConnId>,
    /// A credential was refused; the next one is not looked at.
    refused: AtomicBool,
    /// A binary packet whose attachments have not all come.
    partial: Mutex<Option<Partial>>,
}

struct Partial {
    text: Str,
    expected: usize,
    received: Vec<Bytes>,
    bytes: usize,
}

/// Handles what comes in on every connection.
pub(crate) struct Wire {
    pub(crate) switchboard: Arc<Switchboard>,
    pub(crate) limits: Limits,
    pub(crate) auth: Auth,
    /// How long a connection may stay without a CONNECT.
    pub(crate) connect_timeout: Duration,
    /// Cancelled when the hub goes away: from then on nobody is let in.
    pub(crate) stop: CancellationToken,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").finish_non_exhaustive()
    }
}

impl EngineIoHandler for Wire {
    type Data = Connection;

    fn on_connect(self: Arc<Self>, socket: Arc<EngineSocket>) {
        let (limit, stop) = (self.connect_timeout, self.stop.clone());
        let weak = Arc::downgrade(&socket);
        tokio::spawn(async move {
            let _ = tokio::time::timeout(limit, stop.cancelled()).await;
            if let Some(socket) = weak.upgrade()
                && socket.data.member.get().is_none()
            {
                tracing::debug!("a connection did not send CONNECT in time");
                socket.close(DisconnectReason::TransportClose);
            }
        });
    }

    fn on_disconnect(&self, socket: Arc<EngineSocket>, reason: DisconnectReason) {
        if let Some(&conn) = socket.data.member.get() {
            self.switchboard.disconnected(conn, &format!("{reason:?}"));
        }
    }

    fn on_message(self: &Arc<Self>, text: Str, socket: Arc<EngineSocket>) {
        if partial(&socket).is_some() {
            return protocol_error(&socket, "text where an attachment was due");
        }
        let frame = match Frame::parse(&text) {
            Ok(frame) => frame,
            Err(e) => return protocol_error(&socket, &e.to_string()),
        };
        if frame.attachments > self.limits.max_attachments {
            return protocol_error(&socket, "too many attachments");
        }
        // A stranger has one thing to say, and it is short.
        if socket.data.member.get().is_none() && (frame.attachments > 0 || text.len() > MAX_CONNECT) {
            return protocol_error(&socket, "more than a CONNECT before CONNECT");
        }
        if frame.attachments > 0 {
            let expected = frame.attachments;
            *partial(&socket) = Some(Partial { bytes: text.len(), text, expected, received: Vec::new() });
            return;
        }
        self.dispatch(&frame, Vec::new(), &socket);
    }

    fn on_binary(self: &Arc<Self>, data: Bytes, socket: Arc<EngineSocket>) {
        let mut slot = partial(&socket);
        let Some(waiting) = slot.as_mut() else {
            drop(slot);
            return protocol_error(&socket, "an attachment that nothing announced");
        };
        waiting.bytes += data.len();
        if waiting.bytes > self.limits.hard_max() {
            drop(slot);
            return protocol_error(&socket, "attachments over the limit");
        }
        waiting.received.push(data);
        if waiting.received.len() < waiting.expected {
            return;
        }
        let Some(Partial { text, received, .. }) = slot.take() else { return };
        drop(slot);
        if let Ok(frame) = Frame::parse(&text) {
            self.dispatch(&frame, received, &socket);
        }
    }
}

impl Wire {
    fn dispatch(&self, frame: &Frame<'_>, attachments: Vec<Bytes>, socket: &Arc<EngineSocket>) {
        if frame.namespace != NAMESPACE {
            if frame.kind == Kind::Connect {
                connect_error(socket, frame.namespace, "Invalid namespace");
            }
            return;
        }
        let member = socket.data.member.get().copied();
        match (frame.kind, member) {
            (Kind::Connect, None) => self.connect(frame.body, socket),
            // A second CONNECT of a connected client says nothing new.
            (Kind::Connect, Some(_)) => {}
            (Kind::Disconnect, _) => socket.close(DisconnectReason::TransportClose),
            (Kind::Event, Some(conn)) => self.switchboard.event(conn, frame, attachments),
            (Kind::Ack, Some(conn)) => self.switchboard.ack(conn, frame, attachments),
            (Kind::ConnectError, _) => protocol_error(socket, "CONNECT_ERROR from a client"),
            (Kind::Event | Kind::Ack, None) => protocol_error(socket, "a packet before CONNECT"),
        }
    }

    /// Admits a client: from the moment it reads our CONNECT, everything it sends finds its handler, because the
    /// member is registered before that packet is queued.
    fn connect(&self, auth: &str, socket: &Arc<EngineSocket>) {
        if socket.data.refused.load(Ordering::Relaxed) {
            return protocol_error(socket, "another credential after a refused one");
        }
        if !self.auth.admits(&socket.req_parts.headers, auth) {
            tracing::warn!("a client without a valid credential was refused");
            socket.data.refused.store(true, Ordering::Relaxed);
            return connect_error(socket, NAMESPACE, "401");
        }
        let role = match role_of(auth) {
            Ok(role) => role,
            Err(reason) => return connect_error(socket, NAMESPACE, &reason),
        };
        let query = socket.req_parts.uri.query().unwrap_or_default();
        let version = crate::http::query_value(query, version::VERSION_QUERY).and_then(|v| v.parse().ok());
        let outbox = Outbox::new(socket.clone());
        // Not the Engine.IO id: that one is what a polling client proves itself with, and members see this one.
        let sid = uuid::Uuid::new_v4().simple().to_string();
        let welcome = serde_json::json!({ "sid": sid }).to_string();
        let conn = self.switchboard.admit(Newcomer { sid, role, version, outbox: outbox.clone() });
        if socket.data.member.set(conn).is_err() {
            self.switchboard.disconnected(conn, "connected twice");
            return;
        }
        let packet = Frame { kind: Kind::Connect, attachments: 0, namespace: NAMESPACE, id: None, body: &welcome };
        outbox.send(packet.encode().into());
        // The connection may have ended while it was admitted; then nobody else will remove the member.
        if socket.is_closed() {
            self.switchboard.disconnected(conn, "gone while connecting");
        }
        // The hub may have said farewell to everybody else in the meantime.
        if self.stop.is_cancelled() {
            outbox.close();
        }
    }
}

const UNKNOWN_ROLE: &str = "unknown role: use agent or computer";

#[derive(Deserialize)]
struct Claim {
    role: Option<serde_json::Value>,
}

/// The role that a client claims in its CONNECT, where it claims one.
fn role_of(auth: &str) -> Result<Option<Role>, String> {
    if auth.is_empty() {
        return Ok(None);
    }
    if !auth.starts_with('{') {
        return Err("auth is not a JSON object".into());
    }
    let claim: Claim = serde_json::from_str(auth).map_err(|_| "auth is not a JSON object".to_owned())?;
    match claim.role {
        None | Some(serde_json::Value::Null) => Ok(None),
        // As text only: serde would also take {"agent": null} for a variant.
        Some(serde_json::Value::String(role)) => {
            serde_json::from_value(role.into()).map(Some).map_err(|_| UNKNOWN_ROLE.into())
        }
        Some(_) => Err(UNKNOWN_ROLE.into()),
    }
}

fn partial(socket: &EngineSocket) -> std::sync::MutexGuard<'_, Option<Partial>> {
    socket.data.partial.lock().unwrap_or_else(PoisonError::into_inner)
}

fn connect_error(socket: &Arc<EngineSocket>, namespace: &str, message: &str) {
    let body = serde_json::json!({ "message": message }).to_string();
    let packet = Frame { kind: Kind::ConnectError, attachments: 0, namespace, id: None, body: &body };
    Outbox::new(socket.clone()).send(packet.encode().into());
}

fn protocol_error(socket: &EngineSocket, reason: &str) {
    tracing::debug!(reason, "protocol error, closing the connection");
    socket.close(DisconnectReason::PacketParsingError);
}
