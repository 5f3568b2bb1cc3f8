//! Batches of writes: one write per socket for all messages of one read.
//!
//! While a task handles the messages of one read, all messages that they cause are queued; afterwards the same task writes
//! each queue once. That saves a wake-up of the receiving task per message, and many answers to one client become one
//! write. Outside of a batch the task of each socket writes its queue, which is slower.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::Waker;

/// With more sockets than this, the tasks of the sockets write themselves, on all cores.
const MANY: usize = 64;

/// A socket with a queue to write.
pub(crate) trait Flush: Send + Sync {
    /// Writes what can be written without waiting.
    fn flush(&self);
    /// Wakes the task of the socket to write.
    fn wake(&self);
    /// Whether the queue is short; otherwise `waker` is woken when it becomes short.
    fn is_short(&self, waker: &Waker) -> bool;
}

/// Sockets with a long queue, for which the sender has to wait.
pub(crate) type SlowReceivers = Vec<Arc<dyn Flush>>;

#[derive(Default)]
struct Batch {
    touched: Vec<Arc<dyn Flush>>,
    slow: SlowReceivers,
}

thread_local! {
    static BATCH: RefCell<Option<Batch>> = const { RefCell::new(None) };
}

/// Runs `handle`, then writes what it queued. Returns the sockets that the sender has to wait for.
pub(crate) fn run<R>(handle: impl FnOnce() -> R) -> (R, SlowReceivers) {
    let open = OpenBatch { outer: BATCH.replace(Some(Batch::default())) };
    let outcome = handle();
    (outcome, open.end())
}

/// Writes what was queued so far; the batch continues.
pub(crate) fn flush() {
    let touched = BATCH.with_borrow_mut(|batch| batch.as_mut().map(|batch| std::mem::take(&mut batch.touched)));
    touched.into_iter().flatten().for_each(|socket| socket.flush());
}

/// A batch that is being filled. Dropping it writes the queues, also when the handler panics: otherwise the sockets would
/// stay marked as part of a batch and would never be written.
struct OpenBatch {
    outer: Option<Batch>,
}

impl OpenBatch {
    fn end(self) -> SlowReceivers {
        ManuallyDrop::new(self).flush()
    }

    fn flush(&mut self) -> SlowReceivers {
        let Batch { touched, slow } = BATCH.replace(self.outer.take()).unwrap_or_default();
        let flush = if touched.len() > MANY { Flush::wake } else { Flush::flush };
        touched.iter().for_each(|socket| flush(&**socket));
        slow
    }
}

impl Drop for OpenBatch {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Adds a socket to the batch; without a batch, wakes its task.
pub(crate) fn touch(socket: Arc<dyn Flush>) {
    let left = BATCH.with_borrow_mut(|batch| match batch {
        Some(batch) => {
            batch.touched.push(socket);
            None
        }
        None => Some(socket),
    });
    if let Some(socket) = left {
        socket.wake();
    }
}

/// Makes the sender of the present message wait for a socket.
pub(crate) fn wait_for(socket: Arc<dyn Flush>) {
    BATCH.with_borrow_mut(|batch| {
        if let Some(batch) = batch {
            batch.slow.push(socket);
        }
    });
}
