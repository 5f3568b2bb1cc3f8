//! The progress that a server reports of its calls: it keeps a call from being given up, and is logged.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use a2c_process::cut;
use a2c_secrets::Redactor;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::sync::watch;

/// How much of a message is logged.
const MESSAGE: usize = 1 << 10;

/// The calls of one connection that listen for progress.
#[derive(Clone, Default)]
pub(crate) struct ProgressListeners {
    listeners: Arc<Mutex<HashMap<ProgressToken, watch::Sender<u64>>>>,
}

/// The listener of one call; it stops listening when dropped.
pub(crate) struct ProgressListener {
    all: ProgressListeners,
    token: ProgressToken,
    /// Counts the reports.
    pub(crate) count: watch::Receiver<u64>,
}

impl ProgressListeners {
    /// Listens for the progress of a call.
    pub(crate) fn listen(&self, token: ProgressToken) -> ProgressListener {
        let (sender, count) = watch::channel(0);
        self.listeners().insert(token.clone(), sender);
        ProgressListener { all: self.clone(), token, count }
    }

    /// Passes a report on to the call that it belongs to.
    pub(crate) fn report(&self, server: &str, progress: &ProgressNotificationParam, secrets: &Redactor) {
        if let Some(listener) = self.listeners().get(&progress.progress_token) {
            listener.send_modify(|count| *count += 1);
        }
        // What a tool says goes to the owner's log only, and not as loud as its end.
        if tracing::enabled!(tracing::Level::DEBUG) {
            let (done, total) = (progress.progress, progress.total);
            // Cut last: a secret that a cut goes through would not be recognised any more.
            let message = progress.message.as_deref().map(|message| cut(&secrets.redact(message), MESSAGE));
            tracing::debug!(server, done, total, message, "tool call progress");
        }
    }

    fn listeners(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, watch::Sender<u64>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ProgressListener {
    fn drop(&mut self) {
        self.all.listeners().remove(&self.token);
    }
}
