//! What an Agent hears without asking.

use std::sync::Arc;

use a2c_link::{DisconnectReason, JoinError, LinkEnded};
use a2c_protocol::notification::Notification;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// How many events a subscriber may lag behind before it misses some.
const CAPACITY: usize = 1024;

/// Something that happened in the office or to the connection.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AgentEvent {
    /// The hub told something about the office.
    Notification(Notification),
    /// The hub sent an event that this version does not know.
    Unknown {
        /// The event.
        event: String,
        /// Its payload.
        payload: serde_json::Value,
    },
    /// The connection was lost; the Agent connects again by itself.
    Disconnected {
        /// What ended it.
        cause: Arc<DisconnectReason>,
    },
    /// The connection is back, and so is the seat. What happened in between is not known.
    Reconnected,
    /// The connection is back, the seat is not.
    SeatLost {
        /// Why the hub does not give it back.
        cause: JoinError,
    },
    /// This subscriber was too slow: these events were dropped, the next one follows them.
    Missed {
        /// How many.
        count: u64,
    },
    /// The connection is over for good.
    Closed {
        /// Why no other connection follows.
        cause: LinkEnded,
    },
}

/// The events of an Agent since [`Agent::subscribe`](crate::Agent::subscribe), in the order in which they happened.
#[derive(Debug)]
pub struct AgentEvents {
    receiver: broadcast::Receiver<AgentEvent>,
}

impl AgentEvents {
    /// The next event; `None` when the Agent and all its clones are gone.
    ///
    /// Safe to cancel: no event is lost when the future is dropped.
    pub async fn recv(&mut self) -> Option<AgentEvent> {
        match self.receiver.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(count)) => Some(AgentEvent::Missed { count }),
            Err(RecvError::Closed) => None,
        }
    }

    /// The next event, if there is one already.
    pub fn try_recv(&mut self) -> Option<AgentEvent> {
        match self.receiver.try_recv() {
            Ok(event) => Some(event),
            Err(TryRecvError::Lagged(count)) => Some(AgentEvent::Missed { count }),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}

/// The sending side. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Publisher {
    sender: broadcast::Sender<AgentEvent>,
}

impl Publisher {
    pub(crate) fn new() -> Self {
        Self { sender: broadcast::Sender::new(CAPACITY) }
    }

    pub(crate) fn subscribe(&self) -> AgentEvents {
        AgentEvents { receiver: self.sender.subscribe() }
    }

    pub(crate) fn publish(&self, event: AgentEvent) {
        // An Agent without subscribers is fine.
        let _ = self.sender.send(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_subscriber_is_told_how_much_it_missed() {
        let publisher = Publisher::new();
        let (mut slow, mut waiting) = (publisher.subscribe(), publisher.subscribe());
        assert!(waiting.try_recv().is_none());
        for _ in 0..CAPACITY + 3 {
            publisher.publish(AgentEvent::Reconnected);
        }
        assert!(matches!(slow.recv().await, Some(AgentEvent::Missed { count: 3 })));
        assert!(matches!(waiting.try_recv(), Some(AgentEvent::Missed { count: 3 })));
        drop(publisher);
        for _ in 0..CAPACITY {
            assert!(matches!(slow.recv().await, Some(AgentEvent::Reconnected)));
        }
        assert!(slow.recv().await.is_none());
    }
}
