//! One session, over either transport.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::Instant;
use uuid::Uuid;

use crate::batch::{self, Flush};
use crate::heartbeat::{Heartbeat, SIGN_OF_LIFE};
use crate::memory_pool::{MemoryPool, PoolShare};
use crate::message_assembler::MessageSizes;
use crate::message_clock::MessageClock;
use crate::packet::{OutgoingMessage, QueuedPacket, SharedMessage};
use crate::response_body::ReadProgress;
use crate::send_queue::{Drained, QueueOutcome, SendQueue, wake};
use crate::{CloseReason, Config, QueueFull};

/// The multiple of the queue length at which senders wait, at which the session ends.
const HARD: usize = 4;

/// The multiple of the largest message up to which a message is dropped as it arrives; beyond it the session ends.
const DROPPED: usize = 16;

/// A session with a client.
pub struct Socket<D> {
    pub(crate) id: Uuid,
    /// The data of the handler.
    pub data: D,
    send_queue: Mutex<SendQueue>,
    /// Grows with every sign of life, see [`SIGN_OF_LIFE`].
    life: AtomicU64,
    /// The largest message that the engine reads from the client.
    max_message: AtomicUsize,
    is_admitted: AtomicBool,
    /// The state of the send queue, readable without its lock.
    is_closing: AtomicBool,
    max_backlog: usize,
    fair_time: Duration,
    inbound: PoolShare,
    /// The bytes of the message that is being read, and those that the handler holds.
    reading: AtomicUsize,
    gathering: AtomicUsize,
    /// The time that the handler has held incomplete messages.
    gather_clock: Mutex<Option<MessageClock>>,
    /// The heartbeat of a polling session.
    heart: Mutex<Heartbeat>,
    /// Wakes the heartbeat task of a polling session.
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
            fair_time: config.fair_time,
            inbound,
            reading: AtomicUsize::new(0),
            gathering: AtomicUsize::new(0),
            gather_clock: Mutex::default(),
            heart: Mutex::new(Heartbeat::new(Instant::now(), config.ping_interval, config.ping_timeout)),
            keeper: Notify::new(),
        }
    }

    /// Lifts the limits of unadmitted clients: the engine reads messages up to `max_message`, and the session may stay.
    pub fn admit(&self, max_message: usize) {
        self.max_message.store(max_message, Ordering::Relaxed);
        self.is_admitted.store(true, Ordering::Relaxed);
    }

    /// Queues a message unless the queue is full.
    pub fn try_send(self: &Arc<Self>, message: OutgoingMessage) -> Result<(), QueueFull> {
        let limit = self.send_queue().shrunk(self.max_backlog());
        self.queue(QueuedPacket::Message(message), limit)
    }

    /// Queues a message that must not be lost: where the queue is far too long, the session ends.
    pub fn send(self: &Arc<Self>, message: OutgoingMessage) {
        if self.queue(QueuedPacket::Message(message), self.max_backlog().saturating_mul(HARD)) == Err(QueueFull) {
            self.close(CloseReason::Slow);
        }
    }

    /// Like [`Self::send`], for a binary message without a text before it.
    pub fn send_binary(self: &Arc<Self>, data: Bytes) {
        let packet = QueuedPacket::Attachments([data].into());
        if self.queue(packet, self.max_backlog().saturating_mul(HARD)) == Err(QueueFull) {
            self.close(CloseReason::Slow);
        }
    }

    /// Like [`Self::send`], for a message to many clients.
    pub fn send_shared(self: &Arc<Self>, message: &SharedMessage) {
        let packet = QueuedPacket::Shared(message.clone());
        if self.queue(packet, self.max_backlog().saturating_mul(HARD)) == Err(QueueFull) {
            self.close(CloseReason::Slow);
        }
    }

    /// Makes the session part of a group, which shares memory.
    pub fn share_memory(&self, pool: &Arc<MemoryPool>) {
        self.inbound.move_to(pool);
        self.send_queue().move_to(pool);
    }

    /// Like [`Self::send`], and the engine reads on from the client whose message is being handled only when this queue is
    /// short again.
    pub fn send_and_wait(self: &Arc<Self>, message: OutgoingMessage) {
        self.send(message);
        let send_queue = self.send_queue();
        if send_queue.len() > send_queue.shrunk(self.max_backlog()) {
            drop(send_queue);
            batch::wait_for(self.clone());
        }
    }

    /// Ends the session; the engine calls [`Handler::closed`](crate::Handler::closed) soon, once.
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

    /// Reports how many bytes of incomplete messages of this client the handler holds.
    pub fn gather(&self, bytes: usize) {
        let before = self.gathering.swap(bytes, Ordering::Relaxed);
        if (before == 0) != (bytes == 0) {
            let mut clock = self.gather_clock.lock().unwrap_or_else(PoisonError::into_inner);
            *clock = (bytes > 0).then(|| MessageClock::new(Instant::now(), self.fair_time));
        }
        self.count_inbound();
    }

    /// Whether incomplete messages of this client have been held for too long.
    pub(crate) fn gathers_too_long(&self, now: Instant) -> bool {
        let bytes = self.gathering.load(Ordering::Relaxed);
        let clock = *self.gather_clock.lock().unwrap_or_else(PoisonError::into_inner);
        bytes > 0 && clock.is_some_and(|clock| clock.is_over(now, bytes, self.is_memory_awaited()))
    }

    /// Whether sessions wait for memory.
    pub(crate) fn is_memory_awaited(&self) -> bool {
        self.inbound.pool().is_awaited()
    }

    /// Ready when the message that is being read may take so many bytes.
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

    /// Releases memory: the message that is being read takes so many bytes.
    pub(crate) fn release(&self, held: usize) {
        if self.reading.swap(held, Ordering::Relaxed) != held {
            self.count_inbound();
        }
    }

    fn count_inbound(&self) {
        self.inbound.set(self.reading.load(Ordering::Relaxed) + self.gathering.load(Ordering::Relaxed));
    }

    /// The number of bytes that wait for the client.
    pub fn waiting(&self) -> usize {
        self.send_queue().len()
    }

    /// Whether the queue is empty; otherwise `waker` is woken when it is.
    pub(crate) fn is_drained(&self, waker: &Waker) -> bool {
        self.send_queue().wait_below(0, waker)
    }

    /// Whether the session has ended or is about to end.
    pub fn is_closed(&self) -> bool {
        self.is_closing.load(Ordering::Relaxed)
    }

    pub(crate) fn queue(self: &Arc<Self>, packet: QueuedPacket, limit: usize) -> Result<(), QueueFull> {
        let (queued, owner) = {
            let mut send_queue = self.send_queue();
            let queued = send_queue.queue(packet, limit)?;
            (queued, if queued == QueueOutcome::ForOwner { send_queue.owner() } else { None })
        };
        match queued {
            QueueOutcome::ForOwner => {
                wake(owner);
            }
            QueueOutcome::ForBatch => batch::touch(self.clone()),
            QueueOutcome::SeenTo | QueueOutcome::Dropped => {}
        }
        Ok(())
    }

    pub(crate) fn send_queue(&self) -> MutexGuard<'_, SendQueue> {
        // A queue is consistent between its methods, so a panic elsewhere leaves it usable.
        self.send_queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sizes of messages that are read from the client, and those that are dropped to be able to answer it.
    pub(crate) fn message_limits(&self) -> MessageSizes {
        let kept = self.max_message();
        MessageSizes { kept, dropped: if self.is_admitted() { kept.saturating_mul(DROPPED) } else { kept } }
    }

    pub(crate) fn max_message(&self) -> usize {
        self.max_message.load(Ordering::Relaxed)
    }

    /// The bytes that may wait for the client: for an unadmitted one, no more than the size of its messages.
    pub(crate) fn max_backlog(&self) -> usize {
        if self.is_admitted() { self.max_backlog } else { self.max_backlog.min(self.max_message()) }
    }

    pub(crate) fn heart(&self) -> MutexGuard<'_, Heartbeat> {
        self.heart.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn fair_time(&self) -> Duration {
        self.fair_time
    }

    pub(crate) fn is_admitted(&self) -> bool {
        self.is_admitted.load(Ordering::Relaxed)
    }

    pub(crate) fn life(&self) -> u64 {
        self.life.load(Ordering::Relaxed)
    }

    /// The client sent a message, which counts as an answer to a ping.
    pub(crate) fn heard(&self) {
        self.moved(SIGN_OF_LIFE);
    }

    /// The client sent or took some bytes.
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
