//! The way out to one member: a bounded queue that ends the connection rather than losing a packet.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use engineioxide::DisconnectReason;
use engineioxide_core::Str;

use super::EngineSocket;

/// Sends to one member.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<EngineSocket>);

/// The member's queue has no room: it reads more slowly than it is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

impl Outbox {
    pub(crate) fn new(socket: Arc<EngineSocket>) -> Self {
        Self(socket)
    }

    /// Queues a packet where there is room; a connection that is gone takes everything in silence.
    pub(crate) fn try_send(&self, text: Str, attachments: Vec<Bytes>) -> Result<(), Full> {
        use tokio::sync::mpsc::error::TrySendError;
        match self.0.reserve() {
            Ok(permit) if attachments.is_empty() => permit.emit(text),
            Ok(permit) => permit.emit_many(text, VecDeque::from(attachments)),
            Err(TrySendError::Full(())) => return Err(Full),
            Err(TrySendError::Closed(())) => {}
        }
        Ok(())
    }

    /// Queues a packet that must not be lost: without room, the member is disconnected, so that it knows.
    pub(crate) fn send_all(&self, text: Str, attachments: Vec<Bytes>) {
        if self.try_send(text, attachments) == Err(Full) {
            tracing::warn!("a member reads too slowly and is disconnected");
            self.close();
        }
    }

    /// [`Self::send_all`] without attachments.
    pub(crate) fn send(&self, text: Str) {
        self.send_all(text, Vec::new());
    }

    /// Ends the connection.
    pub(crate) fn close(&self) {
        self.0.close(DisconnectReason::ClosingServer);
    }
}
