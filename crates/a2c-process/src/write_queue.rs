//! What waits to be written to a process, bounded in bytes.
//!
//! A process that does not read holds up its callers, and no memory: a caller waits for room before its item is queued.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// How many bytes may wait. A longer item waits alone.
pub(crate) const WAITING: u32 = 4 << 20;

/// The callers' end of a queue. Clones are the same queue; its end comes with the last clone.
#[derive(Debug)]
pub(crate) struct WriteQueue<T> {
    items: mpsc::UnboundedSender<Queued<T>>,
    room: Arc<Semaphore>,
    closed: CancellationToken,
}

/// An item, and the room that it takes.
#[derive(Debug)]
pub(crate) struct Queued<T> {
    pub(crate) item: T,
    _room: OwnedSemaphorePermit,
}

/// The queue takes nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueClosed;

impl<T> Clone for WriteQueue<T> {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), room: self.room.clone(), closed: self.closed.clone() }
    }
}

impl<T: Send + 'static> WriteQueue<T> {
    /// Has a task write what is queued, until `write` ends or the token is cancelled.
    pub(crate) fn start<F: Future<Output = ()> + Send + 'static>(
        closed: CancellationToken,
        write: impl FnOnce(mpsc::UnboundedReceiver<Queued<T>>) -> F,
    ) -> Self {
        let (items, queued) = mpsc::unbounded_channel();
        let room = Arc::new(Semaphore::new(WAITING as usize));
        let queue = Self { items, room: room.clone(), closed: closed.clone() };
        let write = write(queued);
        tokio::spawn(async move {
            closed.run_until_cancelled_owned(write).await;
            // Callers that wait for room wait in vain.
            room.close();
        });
        queue
    }

    /// Waits for room and queues an item of this many bytes. The queue is not held any longer: it ends once no caller
    /// can put anything.
    pub(crate) async fn put(self, item: T, bytes: usize) -> Result<(), QueueClosed> {
        let size = u32::try_from(bytes).unwrap_or(WAITING).min(WAITING);
        let room = self.room.acquire_many_owned(size).await.map_err(|_| QueueClosed)?;
        self.items.send(Queued { item, _room: room }).map_err(|_| QueueClosed)
    }

    /// Ends the writing at once, whatever waits.
    pub(crate) fn close(&self) {
        self.room.close();
        self.closed.cancel();
    }

    #[cfg(test)]
    pub(crate) fn is_full(&self) -> bool {
        self.room.available_permits() == 0
    }
}
