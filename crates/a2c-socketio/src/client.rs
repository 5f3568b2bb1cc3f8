//! The handle to a connection.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::conn::Conn;
use crate::dial::Dialer;
use crate::error::{CallError, EmitError, SocketConnectError};
use crate::inbox::{self, Inbox};
use crate::options::Options;
use crate::payload::Payload;
use crate::supervisor::{CurrentLink, Supervisor};

/// A connection to one namespace of one server; cheap to clone.
///
/// The connection stays open while a `Client` or its [`Inbox`] exists. When the last of them is
/// dropped it closes as [`Client::close`] does, in the background.
#[derive(Clone)]
pub struct Client {
    handle: Arc<Handle>,
}

/// What clients and the inbox share; dropping the last of them closes the connection.
pub(crate) struct Handle {
    current: Arc<CurrentLink>,
    close: watch::Sender<bool>,
    done: watch::Receiver<()>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.close.send_replace(true);
    }
}

impl Client {
    /// Connects once, without retries: the reconnect policy is for links that have been up.
    ///
    /// Must be called within a tokio runtime; one task is started on it.
    pub async fn connect(options: Options) -> Result<(Client, Inbox), SocketConnectError> {
        let dialer = Dialer::new(options)?;
        let established = dialer.dial().await?;

        let (delivery, inbox) = inbox::channel(dialer.options.inbox_capacity);
        let (close, close_requested) = watch::channel(false);
        let (done_sender, done) = watch::channel(());
        let current = Arc::new(CurrentLink::default());
        let supervisor =
            Supervisor { dialer, current: current.clone(), delivery, close: close_requested, done: done_sender };
        let handle = Arc::new(Handle { current, close, done });
        supervisor.start(established);
        let client = Client { handle: handle.clone() };
        Ok((client, inbox(handle)))
    }

    /// Sends an event. `Ok` means that it is queued in order, not that it has arrived; waits
    /// while the queue is full.
    pub async fn emit(&self, name: &str, payload: Payload) -> Result<(), EmitError> {
        let conn = self.conn().ok_or(EmitError::NotConnected)?;
        conn.emit(name, payload).await
    }

    /// Sends an event and waits for its acknowledgement. Dropping the future forgets the call.
    pub async fn call(&self, name: &str, payload: Payload, timeout: Duration) -> Result<Payload, CallError> {
        let conn = self.conn().ok_or(CallError::NotConnected)?;
        let mut queued = false;
        let answered = tokio::time::timeout(timeout, async {
            let waiter = conn.request(name, payload).await?;
            queued = true;
            waiter.answer().await
        })
        .await;
        match answered {
            Ok(outcome) => outcome,
            Err(_) if queued => Err(CallError::Timeout(timeout)),
            Err(_) => Err(CallError::Congested(timeout)),
        }
    }

    /// Closes the connection: what is queued is sent, the server is told, the background task
    /// ends. Returns when that has happened, at the latest after the close timeout.
    pub async fn close(&self) {
        self.handle.close.send_replace(true);
        self.closed().await;
    }

    /// Waits until the connection has closed for good, for any reason.
    pub async fn closed(&self) {
        // Nothing is ever sent: the error means that the task is gone.
        let _ = self.handle.done.clone().changed().await;
    }

    /// The id the server gave to the present link.
    pub fn sid(&self) -> Option<String> {
        self.conn().map(|conn| conn.sid.clone())
    }

    /// Whether there is a link at this moment.
    pub fn is_connected(&self) -> bool {
        self.conn().is_some()
    }

    fn conn(&self) -> Option<Arc<Conn>> {
        self.handle.current.get()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("sid", &self.sid()).finish()
    }
}
