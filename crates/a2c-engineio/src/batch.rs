//! Writes that wait for the end of what is being read.
//!
//! While the messages of one read are handled, whatever they cause to be sent is queued; afterwards each socket that got
//! something is written to once, by the task that read. That saves a wake-up of the receiving task per message, and many
//! answers to one client become one write. Outside of a batch a socket is flushed by its own task: always right, only
//! slower.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::Waker;

/// Beyond this many, the tasks of the sockets do it themselves, on all cores.
const MANY: usize = 64;

/// Something that was queued to.
pub(crate) trait Flush: Send + Sync {
    /// Writes what can be written without waiting.
    fn flush(&self);
    /// Has the socket's own task do it.
    fn wake(&self);
    /// Whether little waits; otherwise `waker` is woken when that changes.
    fn is_short(&self, waker: &Waker) -> bool;
}

/// Sockets that do not take in what they are sent, and are waited for.
pub(crate) type SlowReceivers = Vec<Arc<dyn Flush>>;

#[derive(Default)]
struct Batch {
    touched: Vec<Arc<dyn Flush>>,
    slow: SlowReceivers,
}

thread_local! {
    static BATCH: RefCell<Option<Batch>> = const { RefCell::new(None) };
}

/// Runs `handle`, then flushes what it queued. Returns whom the sender has to wait for.
pub(crate) fn run<R>(handle: impl FnOnce() -> R) -> (R, SlowReceivers) {
    let open = OpenBatch { outer: BATCH.replace(Some(Batch::default())) };
    let outcome = handle();
    (outcome, open.end())
}

/// Flushes what was queued so far, and goes on.
pub(crate) fn flush() {
    let touched = BATCH.with_borrow_mut(|batch| batch.as_mut().map(|batch| std::mem::take(&mut batch.touched)));
    touched.into_iter().flatten().for_each(|socket| socket.flush());
}

/// A batch that is being filled. Also a handler that panics leaves the thread as it was, and what it queued is written:
/// otherwise those sockets would count as seen to, and nobody would see to them.
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

/// Notes a socket for the end of the batch; without a batch, its own task is woken.
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

/// Notes that whoever is being handled should wait for a socket.
pub(crate) fn wait_for(socket: Arc<dyn Flush>) {
    BATCH.with_borrow_mut(|batch| {
        if let Some(batch) = batch {
            batch.slow.push(socket);
        }
    });
}
