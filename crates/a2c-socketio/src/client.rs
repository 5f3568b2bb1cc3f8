//! The handle to a connection.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::close::{self, CloseRequester};
use crate::conn::Conn;
use crate::connection_task::{ConnectionTask, CurrentLink};
use crate::dial::Dialer;
use crate::error::{CallError, EmitError, SocketConnectError};
use crate::inbox::{self, Inbox};
use crate::options::Options;
use crate::payload::Payload;
use crate::reconnect::ReconnectBackoff;
use crate::redial::Redial;

/// A connection to one namespace of one server; cheap to clone.
///
/// The connection stays open while a `Client` or its [`Inbox`] exists. When the last of them is
/// dropped it closes as [`Client::close`] does, in the background.
#[derive(Clone)]
pub struct Client {
    current: Arc<CurrentLink>,
    /// Shared with the inbox: dropping the last of them closes the connection.
    close: Arc<CloseRequester>,
    /// Fails when the background task has ended.
    done: watch::Receiver<()>,
}

impl Client {
    /// Connects. The first link is tried once, unless [`Options::retry_first`] has the reconnect policy hold for it, too.
    ///
    /// Must be called within a tokio runtime; one task is started on it.
    pub async fn connect(options: Options) -> Result<(Client, Inbox), SocketConnectError> {
        let mut dialer = Dialer::new(options)?;
        let established = match dialer.options.reconnect.filter(|_| dialer.options.retry_first) {
            None => dialer.dial().await?,
            Some(policy) => {
                let mut attempts = Redial { backoff: ReconnectBackoff::new(policy), is_first_link: true };
                attempts.run(&mut dialer, Duration::ZERO).await.map_err(|ended| ended.error)?
            }
        };

        let (close, close_request) = close::channel();
        let (delivery, inbox) = inbox::channel(dialer.options.inbox_capacity, close.clone());
        let (done_sender, done) = watch::channel(());
        let current = Arc::new(CurrentLink::default());
        let task =
            ConnectionTask { dialer, current: current.clone(), delivery, close: close_request, done: done_sender };
        task.start(established);
        Ok((Client { current, close, done }, inbox))
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
        self.close.close();
        self.closed().await;
    }

    /// Waits until the connection has closed for good, for any reason.
    pub async fn closed(&self) {
        // Nothing is ever sent: the error means that the task is gone.
        let _ = self.done.clone().changed().await;
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
        self.current.get()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("sid", &self.sid()).finish()
    }
}
