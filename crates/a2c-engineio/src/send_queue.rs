//! The send queue of one session: a poll empties it, or it is written to a websocket.
//!
//! Any task that queues may also write, as long as the stream takes all bytes. When the stream is blocked, only the task
//! of the session writes, because only that task is woken when the stream has room.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::backlog::Backlog;
use crate::memory_pool::{MemoryPool, PoolShare};
use crate::packet::{QueuedPacket, encode_payload};
use crate::stream::StreamWriter;
use crate::{CloseReason, QueueFull};

/// The send queue of a session.
pub(crate) struct SendQueue {
    transport: QueueTransport,
    /// Set once; from then on the queue refuses packets.
    closing: Option<CloseReason>,
    /// The task that writes, or the poll that waits.
    owner: Option<Waker>,
    /// The tasks that wait for a short queue or for the end of the session.
    waiting: Vec<Waker>,
    /// The socket is part of a batch that will write the queue.
    noted: bool,
    share: PoolShare,
    progress: QueueProgress,
}

/// What a client has taken from its queue since the session began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct QueueProgress {
    /// The bytes.
    pub(crate) taken: u64,
    /// How often the queue became empty.
    pub(crate) emptied: u64,
}

enum QueueTransport {
    Polling {
        packets: VecDeque<QueuedPacket>,
        weight: usize,
        /// The part of the weight that only this queue holds.
        own: usize,
        in_poll: bool,
        in_post: bool,
        probe: Probe,
    },
    Websocket {
        writer: StreamWriter,
        backlog: Backlog,
        blocked: bool,
    },
    /// The session has ended.
    Gone,
}

/// The state of a websocket that takes over from polling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Probe {
    None,
    /// The websocket is open and has sent nothing.
    Silent,
    /// The websocket has sent its probe: the next poll is answered at once, so that the client can continue.
    Heard,
    /// A poll was answered; further polls wait a moment, since a client with a stuck websocket would poll all the time.
    SentHome,
}

/// The answer to a poll.
pub(crate) enum PollOutcome {
    Payload(Vec<u8>),
    /// The queue is empty and a websocket takes over: wait only for a moment.
    Probed,
    /// The session has ended, or continues on a websocket.
    Over,
}

/// The outcome of writing the queue.
pub(crate) enum Drained {
    Empty,
    /// The stream takes no more bytes for now.
    Blocked,
    Broken(io::Error),
}

impl SendQueue {
    pub(crate) fn polling(share: PoolShare) -> Self {
        let packets = VecDeque::new();
        Self::over(
            QueueTransport::Polling { packets, weight: 0, own: 0, in_poll: false, in_post: false, probe: Probe::None },
            share,
        )
    }

    pub(crate) fn websocket(writer: StreamWriter, share: PoolShare) -> Self {
        Self::over(QueueTransport::Websocket { writer, backlog: Backlog::default(), blocked: false }, share)
    }

    fn over(transport: QueueTransport, share: PoolShare) -> Self {
        Self {
            transport,
            closing: None,
            owner: None,
            waiting: Vec::new(),
            noted: false,
            share,
            progress: QueueProgress::default(),
        }
    }

    /// The bytes in the queue.
    pub(crate) fn len(&self) -> usize {
        match &self.transport {
            QueueTransport::Polling { weight, .. } => *weight,
            QueueTransport::Websocket { backlog, .. } => backlog.len(),
            QueueTransport::Gone => 0,
        }
    }

    /// The bytes that only this queue holds.
    fn own_len(&self) -> usize {
        match &self.transport {
            QueueTransport::Polling { own, .. } => *own,
            QueueTransport::Websocket { backlog, .. } => backlog.own_len(),
            QueueTransport::Gone => 0,
        }
    }

    /// What the client has taken so far.
    pub(crate) fn progress(&self) -> QueueProgress {
        self.progress
    }

    /// Counts what waits in another pool from now on.
    pub(crate) fn move_to(&self, pool: &Arc<MemoryPool>) {
        self.share.move_to(pool);
    }

    /// A limit of the session, reduced while memory is short.
    pub(crate) fn shrunk(&self, limit: usize) -> usize {
        self.share.pool().shrunk(limit)
    }

    pub(crate) fn closing(&self) -> Option<CloseReason> {
        self.closing
    }

    pub(crate) fn is_websocket(&self) -> bool {
        matches!(self.transport, QueueTransport::Websocket { .. })
    }

    /// Ends the session for a reason. Returns false if it had ended before.
    pub(crate) fn close(&mut self, reason: CloseReason) -> bool {
        if self.closing.is_some() {
            return false;
        }
        self.closing = Some(reason);
        // The queue may never be emptied again, so no task may wait for it.
        self.wake_waiting();
        true
    }

    /// Queues a packet unless the queue would exceed `limit`; an empty queue takes any packet. Returns which task has to
    /// write it.
    pub(crate) fn queue(&mut self, packet: QueuedPacket, limit: usize) -> Result<QueueOutcome, QueueFull> {
        if self.closing.is_some() {
            return Ok(QueueOutcome::Dropped);
        }
        let waiting = self.len();
        if waiting > 0 && waiting.saturating_add(packet.weight()) > limit {
            return Err(QueueFull);
        }
        let queued = match &mut self.transport {
            QueueTransport::Polling { packets, weight, own, .. } => {
                *weight += packet.weight();
                *own += packet.own_weight();
                packets.push_back(packet.detached());
                QueueOutcome::ForOwner
            }
            QueueTransport::Websocket { backlog, blocked, .. } => {
                backlog.push(packet);
                if *blocked || mem::replace(&mut self.noted, true) {
                    QueueOutcome::SeenTo
                } else {
                    QueueOutcome::ForBatch
                }
            }
            QueueTransport::Gone => QueueOutcome::Dropped,
        };
        self.share.set(self.own_len());
        Ok(queued)
    }

    /// Queues control frames of the websocket itself.
    pub(crate) fn control(&mut self, push: impl FnOnce(&mut Backlog)) {
        if let QueueTransport::Websocket { backlog, .. } = &mut self.transport {
            push(backlog);
        }
    }

    pub(crate) fn owner(&mut self) -> Option<Waker> {
        self.owner.take()
    }

    pub(crate) fn set_owner(&mut self, waker: &Waker) {
        if !self.owner.as_ref().is_some_and(|owner| owner.will_wake(waker)) {
            self.owner = Some(waker.clone());
        }
    }

    /// Whether the queue is not longer than `limit` or the session has ended; otherwise `waker` is woken when it is so.
    pub(crate) fn wait_below(&mut self, limit: usize, waker: &Waker) -> bool {
        let is_short = self.closing.is_some() || self.len() <= limit;
        if !is_short {
            self.wait(waker);
        }
        is_short
    }

    fn wait(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|w| w.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }

    /// The queue became shorter.
    fn shortened(&mut self) {
        self.share.set(self.own_len());
        if self.len() == 0 {
            self.progress.emptied += 1;
        }
        self.wake_waiting();
    }

    fn wake_waiting(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
        self.waiting.shrink_to(0);
    }

    /// Writes as much as the stream takes at once. Does nothing while the owner waits for the stream or closes it: the
    /// stream wakes the task that tried last, which has to be the owner.
    pub(crate) fn flush(&mut self) -> Drained {
        self.noted = false;
        let QueueTransport::Websocket { writer, backlog, blocked } = &mut self.transport else { return Drained::Empty };
        if *blocked || self.closing.is_some() {
            return Drained::Empty;
        }
        let before = backlog.len();
        let drained = drain(backlog, |slices| writer.try_write(slices));
        self.progress.taken += (before - backlog.len()) as u64;
        let drained = match drained {
            Drained::Empty => match writer.poll_flush(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Ok(())) => Drained::Empty,
                Poll::Ready(Err(e)) => Drained::Broken(e),
                Poll::Pending => Drained::Blocked,
            },
            other => other,
        };
        *blocked = matches!(drained, Drained::Blocked);
        self.shortened();
        drained
    }

    /// Writes as the owner, which is woken when the stream has room. Returns the bytes that the stream took after it was
    /// blocked, which show that the peer reads.
    pub(crate) fn poll_drain(&mut self, cx: &mut Context<'_>) -> io::Result<u64> {
        self.noted = false;
        let QueueTransport::Websocket { writer, backlog, blocked } = &mut self.transport else { return Ok(0) };
        let (before, was_blocked) = (backlog.len(), *blocked);
        if before == 0 && !was_blocked {
            return Ok(0);
        }
        let drained = drain(backlog, |slices| writer.poll_write(cx, slices));
        self.progress.taken += (before - backlog.len()) as u64;
        let taken = if was_blocked { (before - backlog.len()) as u64 } else { 0 };
        *blocked = match drained {
            Drained::Empty => match writer.poll_flush(cx) {
                Poll::Ready(outcome) => outcome.map(|()| false)?,
                Poll::Pending => true,
            },
            Drained::Blocked => true,
            Drained::Broken(e) => return Err(e),
        };
        if before != backlog.len() {
            self.shortened();
        }
        Ok(taken)
    }

    /// Writes the rest and closes the stream, as the owner.
    pub(crate) fn poll_finish(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let QueueTransport::Websocket { writer, backlog, .. } = &mut self.transport else { return Poll::Ready(Ok(())) };
        match drain(backlog, |slices| writer.poll_write(cx, slices)) {
            Drained::Empty => writer.poll_shutdown(cx),
            Drained::Blocked => Poll::Pending,
            Drained::Broken(e) => Poll::Ready(Err(e)),
        }
    }

    /// Drops the stream and the queue.
    pub(crate) fn gone(&mut self) {
        self.transport = QueueTransport::Gone;
        self.shortened();
    }

    /// Begins a poll; a session has at most one at a time.
    pub(crate) fn begin_poll(&mut self) -> Result<(), TransportBusy> {
        match &mut self.transport {
            QueueTransport::Polling { in_poll, .. } if !*in_poll => {
                *in_poll = true;
                Ok(())
            }
            QueueTransport::Polling { .. } => Err(TransportBusy),
            _ => Ok(()),
        }
    }

    /// The answer to a poll, once there is one; a poll that `is_brief` waits only for a moment.
    pub(crate) fn poll_payload(&mut self, cx: &mut Context<'_>, max_bytes: usize, is_brief: bool) -> Poll<PollOutcome> {
        let closing = self.closing.is_some();
        let QueueTransport::Polling { packets, weight, own, probe, .. } = &mut self.transport else {
            return Poll::Ready(PollOutcome::Over);
        };
        if packets.is_empty() {
            if closing {
                self.transport = QueueTransport::Gone;
                // A client that closes the session itself needs no close packet.
                let last = if self.closing == Some(CloseReason::Left) { b"6" } else { b"1" };
                return Poll::Ready(PollOutcome::Payload(last.to_vec()));
            }
            match probe {
                Probe::Heard => {
                    *probe = Probe::SentHome;
                    return Poll::Ready(PollOutcome::Payload(b"6".to_vec()));
                }
                Probe::SentHome if !is_brief => return Poll::Ready(PollOutcome::Probed),
                _ => {}
            }
            self.set_owner(cx.waker());
            return Poll::Pending;
        }
        let payload = encode_payload(packets, max_bytes);
        self.progress.taken += payload.len() as u64;
        *weight = packets.iter().map(QueuedPacket::weight).sum();
        *own = packets.iter().map(QueuedPacket::own_weight).sum();
        if packets.is_empty() {
            packets.shrink_to(0);
        }
        self.shortened();
        Poll::Ready(PollOutcome::Payload(payload))
    }

    pub(crate) fn end_poll(&mut self) {
        if let QueueTransport::Polling { in_poll, .. } = &mut self.transport {
            *in_poll = false;
        }
    }

    /// Begins a post; a session has at most one at a time, which keeps the order of packets.
    pub(crate) fn begin_post(&mut self) -> Result<(), TransportBusy> {
        match &mut self.transport {
            QueueTransport::Polling { in_post, .. } if !*in_post => {
                *in_post = true;
                Ok(())
            }
            _ => Err(TransportBusy),
        }
    }

    pub(crate) fn end_post(&mut self) {
        if let QueueTransport::Polling { in_post, .. } = &mut self.transport {
            *in_post = false;
        }
    }

    /// A websocket begins to take over; only one may do so at a time.
    pub(crate) fn probe(&mut self) -> Result<(), TransportBusy> {
        match &mut self.transport {
            QueueTransport::Polling { probe: probe @ Probe::None, .. } => {
                *probe = Probe::Silent;
                Ok(())
            }
            _ => Err(TransportBusy),
        }
    }

    /// The websocket has sent its probe. Returns the poll that waits, which has to be answered.
    pub(crate) fn probe_heard(&mut self) -> Option<Waker> {
        if let QueueTransport::Polling { probe, .. } = &mut self.transport {
            *probe = Probe::Heard;
        }
        self.owner.take()
    }

    /// The websocket did not take over.
    pub(crate) fn forget_probe(&mut self) {
        if let QueueTransport::Polling { probe, .. } = &mut self.transport {
            *probe = Probe::None;
        }
    }

    /// Waits for the end of the session.
    pub(crate) fn poll_closing(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.closing.is_some() {
            return Poll::Ready(());
        }
        self.wait(cx.waker());
        Poll::Pending
    }

    /// Moves the queue to the websocket. Returns the poll that may still wait. Fails while the client posts, because the
    /// order of its packets would be lost.
    pub(crate) fn upgrade(&mut self, writer: StreamWriter) -> Result<Option<Waker>, TransportBusy> {
        let QueueTransport::Polling { packets, in_post: false, .. } = &mut self.transport else {
            return Err(TransportBusy);
        };
        let mut backlog = Backlog::default();
        packets.drain(..).for_each(|packet| backlog.push(packet));
        self.transport = QueueTransport::Websocket { writer, backlog, blocked: false };
        Ok(self.owner.take())
    }
}

/// A second poll, post or probe at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransportBusy;

/// Which task writes a queued packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueOutcome {
    /// None: the session has ended.
    Dropped,
    /// A task that is already going to write the queue.
    SeenTo,
    /// The poll that waits; the caller has to wake it.
    ForOwner,
    /// The present task, at the end of the batch.
    ForBatch,
}

/// Wakes a task, if there is one.
pub(crate) fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Writes everything; the task is woken when the stream has room.
pub(crate) fn poll_send(
    writer: &mut StreamWriter,
    backlog: &mut Backlog,
    cx: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    match drain(backlog, |slices| writer.poll_write(cx, slices)) {
        Drained::Empty => writer.poll_flush(cx),
        Drained::Blocked => Poll::Pending,
        Drained::Broken(e) => Poll::Ready(Err(e)),
    }
}

fn drain(backlog: &mut Backlog, mut write: impl FnMut(&[io::IoSlice<'_>]) -> Poll<io::Result<usize>>) -> Drained {
    while !backlog.is_empty() {
        let outcome = backlog.write_with(|slices| {
            let outcome = write(slices);
            let taken = if let Poll::Ready(Ok(taken)) = &outcome { *taken } else { 0 };
            (outcome, taken)
        });
        match outcome {
            Poll::Pending => return Drained::Blocked,
            Poll::Ready(Ok(0)) => return Drained::Broken(io::ErrorKind::WriteZero.into()),
            Poll::Ready(Ok(_)) => {}
            Poll::Ready(Err(e)) => return Drained::Broken(e),
        }
    }
    Drained::Empty
}
