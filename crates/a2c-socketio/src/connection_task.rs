//! The background task of a connection: run a link to its end, then replace it as the policy says.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;
use tokio::time::Instant;
use tracing::debug;

use crate::close::CloseRequest;
use crate::conn::Conn;
use crate::dial::{Dialer, Established};
use crate::error::DisconnectReason;
use crate::inbox::{Closed, InboxSender, Incoming};
use crate::reconnect::ReconnectBackoff;
use crate::redial::Redial;
use crate::session::LinkSession;

/// The link that can be used now, if there is one.
#[derive(Default)]
pub(crate) struct CurrentLink(RwLock<Option<Arc<Conn>>>);

impl CurrentLink {
    pub(crate) fn get(&self) -> Option<Arc<Conn>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, conn: Option<Arc<Conn>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = conn;
    }
}

/// What the task of a connection works with.
pub(crate) struct ConnectionTask {
    pub(crate) dialer: Dialer,
    pub(crate) current: Arc<CurrentLink>,
    pub(crate) delivery: InboxSender,
    pub(crate) close: CloseRequest,
    /// Dropped with the task, which wakes all that wait for its end.
    pub(crate) done: watch::Sender<()>,
}

impl ConnectionTask {
    /// Starts the task. The link can be used when this returns.
    pub(crate) fn start(self, first: Established) {
        let session = self.announce(first, false);
        tokio::spawn(self.run(session));
    }

    async fn run(mut self, first: LinkSession) {
        let closed = self.keep_connected(first).await;
        debug!(%closed, "closed");
        self.delivery.state(Incoming::Closed(closed));
        drop(self.done);
    }

    async fn keep_connected(&mut self, first: LinkSession) -> Closed {
        let policy = self.dialer.options.reconnect;
        let mut redial = policy.map(|policy| Redial { backoff: ReconnectBackoff::new(policy), is_first_link: false });
        let mut session = first;
        loop {
            let since = Instant::now();
            let reason = self.link(session).await;
            debug!(%reason, "disconnected");
            let next = match (&reason, &mut redial) {
                (DisconnectReason::ClosedByUs, _) => Err(Closed::Requested),
                (DisconnectReason::ServerDisconnect, _) => Err(Closed::ByServer),
                (_, None) => Err(Closed::NoReconnect),
                (_, Some(redial)) => Ok(redial),
            };
            self.delivery.state(Incoming::Disconnected(reason));
            let redial = match next {
                Ok(redial) => redial,
                Err(closed) => return closed,
            };
            redial.backoff.lost(since.elapsed());
            session = match self.redial(redial).await {
                Ok(established) => self.announce(established, true),
                Err(closed) => return closed,
            };
        }
    }

    /// Makes a link known: to the clients first, so that a reader of the inbox can use it at once.
    fn announce(&self, established: Established, reconnected: bool) -> LinkSession {
        let session = LinkSession::new(established, &self.dialer.options);
        self.current.set(Some(session.conn.clone()));
        self.delivery.state(Incoming::Connected { sid: session.conn.sid.clone(), reconnected });
        session
    }

    /// One link to its end. Its calls have failed when this returns.
    async fn link(&self, session: LinkSession) -> DisconnectReason {
        let conn = session.conn.clone();
        let close_timeout = self.dialer.options.close_timeout;
        let (reason, mut queue) = session.run(&self.delivery, &self.close, close_timeout).await;
        self.current.set(None);
        conn.end(&mut queue);
        reason
    }

    /// Dials until a link is up, the attempts end, or this side closes the connection.
    async fn redial(&mut self, redial: &mut Redial) -> Result<Established, Closed> {
        let delay = redial.delay();
        tokio::select! {
            outcome = redial.run(&mut self.dialer, delay) => outcome.map_err(Closed::from),
            () = self.close.made() => Err(Closed::Requested),
        }
    }
}
