//! What there is to do about the resources of one server.

use std::sync::{PoisonError, RwLock};

use a2c_mcp::ResourceSupport;
use a2c_supervise::ChangeSignal;
use tokio::sync::watch;

/// What there is to do about the resources of one server, and how far the first pass over them has come.
pub(crate) struct SyncState {
    /// The server said that its list changed.
    pub(super) list_changed: ChangeSignal,
    /// The subscriptions are not those that are wanted.
    pub(super) to_subscribe: ChangeSignal,
    /// There is a document to read.
    pub(super) to_read: ChangeSignal,
    support: RwLock<ResourceSupport>,
    /// How far the first pass has come, over this connection.
    first_pass: watch::Sender<FirstPass>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FirstPass {
    pub(super) listed: bool,
    pub(super) subscribed: bool,
    pub(super) read: bool,
}

impl FirstPass {
    const DONE: Self = Self { listed: true, subscribed: true, read: true };
}

impl Default for SyncState {
    fn default() -> Self {
        Self {
            list_changed: ChangeSignal::new(),
            to_subscribe: ChangeSignal::new(),
            to_read: ChangeSignal::new(),
            support: RwLock::default(),
            first_pass: watch::Sender::new(FirstPass::default()),
        }
    }
}

impl SyncState {
    /// What the server can do with resources, as it last said.
    pub(crate) fn support(&self) -> ResourceSupport {
        *self.support.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the resources are known that the server had when the session began, or will not be known.
    pub(super) async fn known(&self) {
        let _ = self.first_pass.subscribe().wait_for(|pass| *pass == FirstPass::DONE).await;
    }

    /// A session begins.
    pub(super) fn begin(&self, support: ResourceSupport) {
        *self.support.write().unwrap_or_else(PoisonError::into_inner) = support;
        self.first_pass.send_replace(FirstPass::default());
    }

    /// The session has ended; no caller is to wait for what does not come.
    pub(super) fn ended(&self) {
        self.first_pass.send_replace(FirstPass::DONE);
    }

    /// The first pass has come further.
    pub(super) fn advance(&self, advance: impl FnOnce(&mut FirstPass)) {
        self.first_pass.send_modify(advance);
    }
}
