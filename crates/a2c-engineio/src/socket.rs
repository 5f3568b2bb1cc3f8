//! One session, whatever carries it at the moment.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;
use uuid::Uuid;

use crate::batch::{self, Flush};
use crate::heartbeat::SIGN_OF_LIFE;
use crate::memory_pool::PoolShare;
use crate::packet::{OutgoingMessage, QueuedPacket};
use crate::response_body::ReadProgress;
use crate::send_queue::{Drained, Queued, SendQueue, wake};
use crate::{CloseReason, Config, QueueFull};

/// How many times the length at which senders wait a queue may get before its session is ended.
const HARD: usize = 4;

/// A session with a client.
pub struct Socket<D> {
    pub(crate) id: Uuid,
    /// What the handler keeps with it.
    pub data: D,
    send_queue: Mutex<SendQueue>,
    /// Grows with every sign of life, see [`SIGN_OF_LIFE`].
    life: AtomicU64,
    /// The largest message that is read from it.
    max_message: AtomicUsize,
    is_admitted: AtomicBool,
    /// The same as in the send_queue, to be seen without its lock.
    is_closing: AtomicBool,
    max_backlog: usize,
    inbound: PoolShare,
    /// What of it is being read, and what the handler gathers.
    reading: AtomicUsize,
    gathering: AtomicUsize,
    /// Wakes the task that keeps a session which is polled.
    pub(crate) keeper: Notify,
}

impl<D: Send + Sync + 'static> Socket<D> {
    pub(crate) fn new(data: D, send_queue: SendQueue, inbound: PoolShare, config: &Config) -> Self {
        Self {
            id: Uuid::new_v4(),
            data,
            send_queue: Mutex::new(send_queue),
            life: AtomicU64::new(0),
            max_message: AtomicUsize::new(config.unadmitted_max_message),
            is_admitted: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            max_backlog: config.max_backlog,
            inbound,
            reading: AtomicUsize::new(0),
            gathering: AtomicUsize::new(0),
            keeper: Notify::new(),
        }
    }

    /// Lifts the limits that hold for strangers: messages up to `max_message` are read, and the session may stay.
    pub fn admit(&self, max_message: usize) {
        self.max_message.store(max_message, Ordering::Relaxed);
        self.is_admitted.store(true, Ordering::Relaxed);
    }

    /// Queues a message unless too much waits already.
    pub fn try_send(self: &Arc<Self>, message: OutgoingMessage) -> Result<(), QueueFull> {
        let limit = self.send_queue().shrunk(self.max_backlog());
        self.queue(QueuedPacket::Message(message), limit)
    }

    /// Queues a message that must not be lost: where far too much waits, the session ends, so that the client knows.
    pub fn send(self: &Arc<Self>, message: OutgoingMessage) {
        if self.queue(QueuedPacket::Message(message), self.max_backlog().saturating_mul(HARD)) == Err(QueueFull) {
            self.close(CloseReason::Slow);
        }
    }

    /// Like [`Self::send`], and whoever's message is being handled is read on only when this queue is short again.
    pub fn send_and_wait(self: &Arc<Self>, message: OutgoingMessage) {
        self.send(message);
        let send_queue = self.send_queue();
        if send_queue.len() > send_queue.shrunk(self.max_backlog()) {
            drop(send_queue);
            batch::wait_for(self.clone());
        }
    }

    /// Ends the session; the handler is told once, soon.
    pub fn close(&self, reason: CloseReason) {
        let owner = {
            let mut send_queue = self.send_queue();
            if !send_queue.close(reason) {
                return;
            }
            self.is_closing.store(true, Ordering::Relaxed);
            send_queue.owner()
        };
        wake(owner);
        self.keeper.notify_one();
    }

    /// Says how many bytes of this client's messages the handler holds, because something is still missing.
    pub fn gather(&self, bytes: usize) {
        self.gathering.store(bytes, Ordering::Relaxed);
        self.count_inbound();
    }

    /// Ready when a message of this size may be read from it.
    pub(crate) fn poll_reserve(&self, wanted: usize, cx: &mut Context<'_>) -> Poll<()> {
        if wanted <= self.reading.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        if !self.inbound.reserve(wanted + self.gathering.load(Ordering::Relaxed), cx.waker()) {
            return Poll::Pending;
        }
        self.reading.store(wanted, Ordering::Relaxed);
        Poll::Ready(())
    }

    /// Gives back what is not needed any more: no more than this is still being read.
    pub(crate) fn release(&self, wanted: usize) {
        if self.reading.fetch_min(wanted, Ordering::Relaxed) > wanted {
            self.count_inbound();
        }
    }

    fn count_inbound(&self) {
        self.inbound.set(self.reading.load(Ordering::Relaxed) + self.gathering.load(Ordering::Relaxed));
    }

    /// Whether it holds nothing that others could wait for.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.inbound.is_empty()
    }

    /// How many bytes wait for the client.
    pub fn waiting(&self) -> usize {
        self.send_queue().len()
    }

    /// Whether nothing waits for the client; otherwise `waker` is woken when that changes.
    pub(crate) fn is_drained(&self, waker: &Waker) -> bool {
        self.send_queue().wait_below(0, waker)
    }

    /// Whether the session is over or about to be.
    pub fn is_closed(&self) -> bool {
        self.is_closing.load(Ordering::Relaxed)
    }

    pub(crate) fn queue(self: &Arc<Self>, packet: QueuedPacket, limit: usize) -> Result<(), QueueFull> {
        let (queued, owner) = {
            let mut send_queue = self.send_queue();
            let queued = send_queue.queue(packet, limit)?;
            (queued, if queued == Queued::ForOwner { send_queue.owner() } else { None })
        };
        match queued {
            Queued::ForOwner => {
                wake(owner);
            }
            Queued::ForBatch => batch::touch(self.clone()),
            Queued::SeenTo | Queued::Dropped => {}
        }
        Ok(())
    }

    pub(crate) fn send_queue(&self) -> MutexGuard<'_, SendQueue> {
        // Whatever panicked, a queue is consistent between its methods.
        self.send_queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn max_message(&self) -> usize {
        self.max_message.load(Ordering::Relaxed)
    }

    /// How much may wait for it: for a stranger, no more than it may say.
    pub(crate) fn max_backlog(&self) -> usize {
        if self.is_admitted() { self.max_backlog } else { self.max_backlog.min(self.max_message()) }
    }

    pub(crate) fn is_admitted(&self) -> bool {
        self.is_admitted.load(Ordering::Relaxed)
    }

    pub(crate) fn life(&self) -> u64 {
        self.life.load(Ordering::Relaxed)
    }

    /// It said something, which is as good as an answer to a ping.
    pub(crate) fn heard(&self) {
        self.moved(SIGN_OF_LIFE);
    }

    /// It took or gave some bytes.
    pub(crate) fn moved(&self, bytes: u64) {
        self.life.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl<D: Send + Sync + 'static> ReadProgress for Socket<D> {
    fn took(&self, bytes: u64) {
        self.moved(bytes);
    }
}

impl<D: Send + Sync + 'static> Flush for Socket<D> {
    fn flush(&self) {
        let owner = {
            let mut send_queue = self.send_queue();
            match send_queue.flush() {
                Drained::Empty => None,
                Drained::Blocked => send_queue.owner(),
                Drained::Broken(e) => {
                    tracing::debug!(error = %e, "cannot write");
                    drop(send_queue);
                    return self.close(CloseReason::Broken);
                }
            }
        };
        wake(owner);
    }

    fn wake(&self) {
        let owner = self.send_queue().owner();
        wake(owner);
    }

    fn is_short(&self, waker: &Waker) -> bool {
        self.send_queue().wait_below(self.max_backlog() / 2, waker)
    }
}
