//! The outbox of one member. Where a packet that must not be lost finds no room, the hub ends the connection.

use std::sync::Arc;

use a2c_engineio::{CloseReason, OutgoingMessage, QueueFull};
use a2c_protocol::NAMESPACE;
use a2c_socketio_frame::PacketKind;
use bytes::Bytes;

use super::EngineSocket;

/// Queues packets for one member.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<EngineSocket>);

impl Outbox {
    pub(crate) fn new(socket: &Arc<EngineSocket>) -> Self {
        Self(socket.clone())
    }

    /// Queues a packet unless the member reads too slowly. A closed connection drops it.
    pub(crate) fn try_send(&self, packet: OutgoingMessage) -> Result<(), QueueFull> {
        self.count(&packet);
        self.0.try_send(packet)
    }

    /// Queues a packet that must not be lost: without room, the member is disconnected.
    pub(crate) fn send(&self, packet: OutgoingMessage) {
        self.count(&packet);
        self.0.send(packet);
    }

    /// Queues an answer. The hub reads on from the Computer that gave it when this queue is short again.
    pub(crate) fn answer(&self, packet: OutgoingMessage) {
        self.count(&packet);
        self.0.send_and_wait(packet);
    }

    /// The number of bytes that wait for the member.
    pub(crate) fn waiting(&self) -> usize {
        self.0.waiting()
    }

    /// Ends the connection with a DISCONNECT, after which a client does not reconnect by itself.
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
