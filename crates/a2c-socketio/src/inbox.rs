//! The inbox: events and changes of state in the order of their arrival.
//!
//! Only events count against the capacity: a change of state is always delivered, so the owner
//! learns why events stopped even when it was too slow to take them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;

use crate::close::CloseRequester;
use crate::conn::AckReply;
use crate::error::{DisconnectReason, SocketConnectError};
use crate::payload::Payload;

/// Something that happened on a connection.
///
/// The sequence is `Connected`, events, `Disconnected`, perhaps again `Connected` and so on, and
/// in the end one `Closed`.
#[derive(Debug)]
pub enum Incoming {
    /// A link is up; it can be used from now on.
    Connected {
        /// The id the server gave to this link.
        sid: String,
        /// Whether this is a new link in place of a lost one. The server knows nothing of the
        /// lost one: what was told to it must be told again.
        reconnected: bool,
    },
    /// The server sent an event.
    Event(Event),
    /// The link is gone; calls that waited on it have failed.
    Disconnected(DisconnectReason),
    /// There will be no other link. Nothing comes after this.
    Closed(Closed),
}

/// Why there will be no other link.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Closed {
    /// This side closed the connection.
    #[error("closed by this side")]
    Requested,
    /// The server disconnected this client on purpose, which says not to come back.
    #[error("the server disconnected this client")]
    ByServer,
    /// The link was lost and the options say not to reconnect.
    #[error("the link was lost and reconnecting is turned off")]
    NoReconnect,
    /// The server refused the new link in a way that trying again cannot change, or that the owner does not want to try
    /// again.
    #[error("reconnecting was refused: {0}")]
    Refused(#[source] SocketConnectError),
    /// All allowed attempts failed.
    #[error("gave up reconnecting after {attempts} attempts: {last}")]
    GaveUp {
        /// How many attempts were made.
        attempts: u32,
        /// Why the last one failed.
        #[source]
        last: SocketConnectError,
    },
}

/// An event from the server.
#[derive(Debug)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub payload: Payload,
    /// Present when the server waits for an answer. Dropping it sends none.
    pub ack: Option<AckReply>,
}

/// The receiving end of a connection. Like a [`crate::Client`] it keeps the connection open;
/// when it is dropped, further events are discarded.
pub struct Inbox {
    receiver: mpsc::UnboundedReceiver<Incoming>,
    waiting: Arc<AtomicUsize>,
    _close: Arc<CloseRequester>,
}

impl Inbox {
    /// The next thing that happened; `None` after [`Incoming::Closed`].
    ///
    /// Safe to cancel: nothing is lost when the future is dropped.
    pub async fn recv(&mut self) -> Option<Incoming> {
        let incoming = self.receiver.recv().await?;
        self.taken(&incoming);
        Some(incoming)
    }

    /// The next thing that happened, if it already has.
    pub fn try_recv(&mut self) -> Option<Incoming> {
        let incoming = self.receiver.try_recv().ok()?;
        self.taken(&incoming);
        Some(incoming)
    }

    fn taken(&self, incoming: &Incoming) {
        if matches!(incoming, Incoming::Event(_)) {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.waiting.load(Ordering::Relaxed);
        f.debug_struct("Inbox").field("waiting", &waiting).finish_non_exhaustive()
    }
}

/// The sending end.
pub(crate) struct InboxSender {
    sender: mpsc::UnboundedSender<Incoming>,
    waiting: Arc<AtomicUsize>,
    capacity: usize,
}

/// The two ends of an inbox; `close` is what keeps the connection open while the inbox exists.
pub(crate) fn channel(capacity: usize, close: Arc<CloseRequester>) -> (InboxSender, Inbox) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let delivery = InboxSender { sender, waiting: waiting.clone(), capacity };
    (delivery, Inbox { receiver, waiting, _close: close })
}

impl InboxSender {
    pub(crate) fn event(&self, event: Event) -> Result<(), DisconnectReason> {
        if self.sender.is_closed() {
            return Ok(());
        }
        // Only this side adds, so the count cannot grow between the check and the addition.
        if self.waiting.load(Ordering::Relaxed) >= self.capacity {
            return Err(DisconnectReason::InboxOverflow { limit: self.capacity });
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.state(Incoming::Event(event));
        Ok(())
    }

    pub(crate) fn state(&self, incoming: Incoming) {
        // Without an inbox there is no receiver.
        let _ = self.sender.send(incoming);
    }
}
