//! The mailbox of one member: the send queue of its Engine.IO session, with the bytes counted.

use std::sync::Arc;

use a2c_engineio::{CloseReason, MemoryPool, OutgoingMessage, QueueFull, SharedMessage};
use a2c_protocol::NAMESPACE;
use a2c_socketio_frame::PacketKind;
use bytes::Bytes;

use super::EngineSocket;
use crate::switchboard::Mailbox;

/// Queues packets in the Engine.IO session of one member.
#[derive(Clone)]
pub(crate) struct SocketMailbox(Arc<EngineSocket>);

impl SocketMailbox {
    pub(crate) fn new(socket: &Arc<EngineSocket>) -> Self {
        Self(socket.clone())
    }

    fn count(&self, packet: &OutgoingMessage) {
        let bytes = packet.head.len() + packet.body.len() + packet.attachments.iter().map(Bytes::len).sum::<usize>();
        self.0.data.telemetry.metrics.sent_bytes.add(bytes as u64);
    }
}

impl Mailbox for SocketMailbox {
    fn try_send(&self, packet: OutgoingMessage) -> Result<(), QueueFull> {
        self.count(&packet);
        self.0.try_send(packet)
    }

    fn send(&self, packet: OutgoingMessage) {
        self.count(&packet);
        self.0.send(packet);
    }

    fn broadcast(&self, packet: &SharedMessage) {
        self.count(packet.message());
        self.0.send_shared(packet);
    }

    fn share_memory(&self, pool: &Arc<MemoryPool>) {
        self.0.share_memory(pool);
    }

    fn answer(&self, packet: OutgoingMessage) {
        self.count(&packet);
        self.0.send_and_wait(packet);
    }

    fn waiting(&self) -> usize {
        self.0.waiting()
    }

    fn dismiss(&self) {
        self.send(super::encode(PacketKind::Disconnect, NAMESPACE, ""));
        self.close();
    }

    fn close(&self) {
        self.0.close(CloseReason::Dismissed);
    }
}
