//! What the switchboard needs of the connection of a member: a place for packets.

use std::sync::Arc;

use a2c_engineio::{MemoryPool, OutgoingMessage, QueueFull, SharedMessage};

/// Queues packets for one member. Cheap to clone; no method waits.
pub(crate) trait Mailbox: Clone + Send + Sync + 'static {
    /// Queues a packet unless the member reads too slowly. A closed connection drops it.
    fn try_send(&self, packet: OutgoingMessage) -> Result<(), QueueFull>;

    /// Queues a packet that must not be lost: without room, the member is disconnected.
    fn send(&self, packet: OutgoingMessage);

    /// Queues a packet that goes to many members.
    fn broadcast(&self, packet: &SharedMessage);

    /// Counts what is held for the member in another pool.
    fn share_memory(&self, pool: &Arc<MemoryPool>);

    /// Queues an answer. The hub reads on from the Computer that gave it when this queue is short again.
    fn answer(&self, packet: OutgoingMessage);

    /// The number of bytes that wait for the member.
    fn waiting(&self) -> usize;

    /// Ends the connection with a DISCONNECT, after which a client does not reconnect by itself.
    fn dismiss(&self);

    /// Ends the connection.
    fn close(&self);
}
