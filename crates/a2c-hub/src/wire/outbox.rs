//! The way out to one member: what must not be lost ends the connection rather than being lost.

use std::sync::Arc;

use a2c_engineio::{CloseReason, OutgoingMessage, QueueFull};
use a2c_protocol::NAMESPACE;
use a2c_socketio_frame::PacketKind;
use bytes::Bytes;

use super::EngineSocket;

/// Sends to one member.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<EngineSocket>);

impl Outbox {
    pub(crate) fn new(socket: &Arc<EngineSocket>) -> Self {
        Self(socket.clone())
    }

    /// Queues a packet unless the member reads too slowly; a connection that is gone takes everything in silence.
    pub(crate) fn try_send(&self, packet: OutgoingMessage) -> Result<(), QueueFull> {
        self.count(&packet);
        self.0.try_send(packet)
    }

    /// Queues a packet that must not be lost: without room, the member is disconnected, so that it knows.
    pub(crate) fn send(&self, packet: OutgoingMessage) {
        self.count(&packet);
        self.0.send(packet);
    }

    /// Queues an answer; whoever gave it is read on when the member has taken it in.
    pub(crate) fn answer(&self, packet: OutgoingMessage) {
        self.count(&packet);
        self.0.send_and_wait(packet);
    }

    /// How many bytes wait for the member.
    pub(crate) fn waiting(&self) -> usize {
        self.0.waiting()
    }

    /// Ends the connection for good: a client that is told so does not come back by itself.
    pub(crate) fn dismiss(&self) {
        self.send(super::encode(PacketKind::Disconnect, NAMESPACE, ""));
        self.close();
    }

    /// Ends the connection.
    pub(crate) fn close(&self) {
        self.0.close(CloseReason::Dismissed);
    }

    fn count(&self, packet: &OutgoingMessage) {
        let bytes = packet.head.len() + packet.body.len() + packet.attachments.iter().map(Bytes::len).sum::<usize>();
        self.0.data.telemetry.metrics.sent_bytes.add(bytes as u64);
    }
}
