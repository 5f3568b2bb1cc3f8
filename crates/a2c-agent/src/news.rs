//! What an Agent hears without asking.

use a2c_protocol::notification::Notification;

/// What reaches a subscriber, in the order in which it happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum News {
    /// The hub told something about the office.
    Notification(Notification),
    /// The hub told something this version does not know.
    Unknown {
        /// The event.
        event: String,
        /// Its payload.
        payload: serde_json::Value,
    },
    /// The connection was lost; it is being taken up again.
    Disconnected {
        /// Why.
        reason: String,
    },
    /// The connection is back, and so is the seat. What happened in between is not known.
    Reconnected,
    /// The connection is back, the seat is not.
    SeatLost {
        /// Why.
        reason: String,
    },
    /// The connection is over for good.
    Closed {
        /// Why.
        reason: String,
    },
}
