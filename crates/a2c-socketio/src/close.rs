//! The request of this side to close a connection, on its way from the handles to the task.

use std::sync::Arc;

use tokio::sync::watch;

/// Asks the task of a connection to close it: on request, and when the last handle is dropped.
pub(crate) struct CloseRequester(watch::Sender<bool>);

/// Tells the task of a connection that this side closes it.
#[derive(Clone)]
pub(crate) struct CloseRequest(watch::Receiver<bool>);

/// The two ends; clients and the inbox share the first.
pub(crate) fn channel() -> (Arc<CloseRequester>, CloseRequest) {
    let (sender, receiver) = watch::channel(false);
    (Arc::new(CloseRequester(sender)), CloseRequest(receiver))
}

impl CloseRequester {
    pub(crate) fn close(&self) {
        self.0.send_replace(true);
    }
}

impl Drop for CloseRequester {
    fn drop(&mut self) {
        self.close();
    }
}

impl CloseRequest {
    /// Whether this side has asked to close.
    pub(crate) fn is_made(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until this side asks to close.
    pub(crate) async fn made(&mut self) {
        // The sender asks to close before it goes.
        let _ = self.0.wait_for(|close| *close).await;
    }
}
