//! A call whose caller waits no longer is cancelled, on every path out of waiting.

use a2c_link::Link;
use a2c_protocol::event;
use a2c_protocol::notification::ToolCallCancel;

/// Cancels a call when it is dropped before the answer came: after a timeout, or with the future that waited.
pub(crate) struct CancelOnDrop {
    waiting: Option<(Link, ToolCallCancel)>,
}

impl CancelOnDrop {
    pub(crate) fn new(link: Link, agent: String, req_id: String) -> Self {
        Self { waiting: Some((link, ToolCallCancel { agent, req_id })) }
    }

    /// The answer came.
    pub(crate) fn disarm(&mut self) {
        self.waiting = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (Some((link, cancel)), Ok(runtime)) = (self.waiting.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        runtime.spawn(async move {
            if let Err(error) = link.emit(event::TOOL_CALL_CANCEL, &cancel).await {
                tracing::debug!(%error, "the call could not be cancelled");
            }
        });
    }
}
