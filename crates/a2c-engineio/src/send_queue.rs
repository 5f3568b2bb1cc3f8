//! The way out of one session: a queue that a poll empties, or a websocket that is written to.
//!
//! Whoever queues may also write, as long as nothing waits for the stream to take more; from then on only the session's
//! own task does, because only it is woken when there is room.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::task::{Context, Poll, Waker};

use crate::backlog::Backlog;
use crate::memory_pool::PoolShare;
use crate::packet::{QueuedPacket, encode_payload};
use crate::stream::StreamWriter;
use crate::{CloseReason, QueueFull};

/// The way out and what waits for it.
pub(crate) struct SendQueue {
    transport: QueueTransport,
    /// Set once; from then on nothing is queued.
    closing: Option<CloseReason>,
    /// The task that writes, or the poll that waits.
    owner: Option<Waker>,
    /// Those who wait for the queue to get short, or for the end.
    waiting: Vec<Waker>,
    /// The socket is noted in a batch that will flush it.
    noted: bool,
    share: PoolShare,
}

enum QueueTransport {
    Polling {
        packets: VecDeque<QueuedPacket>,
        weight: usize,
        in_poll: bool,
        in_post: bool,
        probe: Probe,
    },
    Websocket {
        writer: StreamWriter,
        backlog: Backlog,
        blocked: bool,
    },
    /// The session is over.
    Gone,
}

/// How far a websocket is that wants to take over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Probe {
    None,
    /// It is there; whether anything gets through is not known yet.
    Silent,
    /// It has said its first word: the next poll is sent home, so that the client can go on.
    Heard,
    /// Further polls are in no hurry: a client whose websocket is stuck would do nothing but poll.
    SentHome,
}

/// What a poll has to do.
pub(crate) enum PollOutcome {
    Payload(Vec<u8>),
    /// Nothing is there, and a websocket wants to take over: wait only for a moment.
    Probed,
    /// The session is over, or went on elsewhere.
    Over,
}

/// How a drain ended.
pub(crate) enum Drained {
    Empty,
    /// The stream takes no more for now.
    Blocked,
    Broken(io::Error),
}

impl SendQueue {
    pub(crate) fn polling(share: PoolShare) -> Self {
        let packets = VecDeque::new();
        Self::over(
            QueueTransport::Polling { packets, weight: 0, in_poll: false, in_post: false, probe: Probe::None },
            share,
        )
    }

    pub(crate) fn websocket(writer: StreamWriter, share: PoolShare) -> Self {
        Self::over(QueueTransport::Websocket { writer, backlog: Backlog::default(), blocked: false }, share)
    }

    fn over(transport: QueueTransport, share: PoolShare) -> Self {
        Self { transport, closing: None, owner: None, waiting: Vec::new(), noted: false, share }
    }

    /// How much waits, in bytes.
    pub(crate) fn len(&self) -> usize {
        match &self.transport {
            QueueTransport::Polling { weight, .. } => *weight,
            QueueTransport::Websocket { backlog, .. } => backlog.len(),
            QueueTransport::Gone => 0,
        }
    }

    /// A limit of the session, as it is at the moment.
    pub(crate) fn shrunk(&self, limit: usize) -> usize {
        self.share.pool().shrunk(limit)
    }

    pub(crate) fn closing(&self) -> Option<CloseReason> {
        self.closing
    }

    pub(crate) fn is_websocket(&self) -> bool {
        matches!(self.transport, QueueTransport::Websocket { .. })
    }

    /// Ends the session for a reason, unless there is one already. Says whether this was the first.
    pub(crate) fn close(&mut self, reason: CloseReason) -> bool {
        if self.closing.is_some() {
            return false;
        }
        self.closing = Some(reason);
        // Nobody waits for a queue that nobody may ever empty again.
        self.wake_waiting();
        true
    }

    /// Queues a packet where `limit` is not exceeded; a queue that is empty takes everything. Says whether somebody has
    /// to see to it that it is written.
    pub(crate) fn queue(&mut self, packet: QueuedPacket, limit: usize) -> Result<Queued, QueueFull> {
        if self.closing.is_some() {
            return Ok(Queued::Dropped);
        }
        let waiting = self.len();
        if waiting > 0 && waiting.saturating_add(packet.weight()) > limit {
            return Err(QueueFull);
        }
        let queued = match &mut self.transport {
            QueueTransport::Polling { packets, weight, .. } => {
                *weight += packet.weight();
                packets.push_back(packet.detached());
                Queued::ForOwner
            }
            QueueTransport::Websocket { backlog, blocked, .. } => {
                backlog.push(packet);
                if *blocked || mem::replace(&mut self.noted, true) { Queued::SeenTo } else { Queued::ForBatch }
            }
            QueueTransport::Gone => Queued::Dropped,
        };
        self.share.set(self.len());
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

    /// Has `waker` woken once the queue is shorter than `limit`, or the session over. Says whether it is so already.
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

    /// Some of what waited is gone.
    fn shortened(&mut self) {
        self.share.set(self.len());
        self.wake_waiting();
    }

    fn wake_waiting(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
        self.waiting.shrink_to(0);
    }

    /// Writes as much as the stream takes at once. Does nothing while the owner waits for the stream, or says goodbye on
    /// it: the stream wakes whoever tried last, and that has to stay the owner.
    pub(crate) fn flush(&mut self) -> Drained {
        self.noted = false;
        let QueueTransport::Websocket { writer, backlog, blocked } = &mut self.transport else { return Drained::Empty };
        if *blocked || self.closing.is_some() {
            return Drained::Empty;
        }
        let drained = drain(backlog, |slices| writer.try_write(slices));
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

    /// Writes as the owner: is woken when there is room. Returns how many bytes were taken after waiting for room, which
    /// shows that the peer reads.
    pub(crate) fn poll_drain(&mut self, cx: &mut Context<'_>) -> io::Result<u64> {
        self.noted = false;
        let QueueTransport::Websocket { writer, backlog, blocked } = &mut self.transport else { return Ok(0) };
        let (before, was_blocked) = (backlog.len(), *blocked);
        if before == 0 && !was_blocked {
            return Ok(0);
        }
        let drained = drain(backlog, |slices| writer.poll_write(cx, slices));
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

    /// Drops the stream and whatever waits.
    pub(crate) fn gone(&mut self) {
        self.transport = QueueTransport::Gone;
        self.shortened();
    }

    /// Begins a poll; there is at most one at a time.
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

    /// What a poll gets, once there is something; one that `is_brief` is only in it for a moment.
    pub(crate) fn poll_payload(&mut self, cx: &mut Context<'_>, max_bytes: usize, is_brief: bool) -> Poll<PollOutcome> {
        let closing = self.closing.is_some();
        let QueueTransport::Polling { packets, weight, probe, .. } = &mut self.transport else {
            return Poll::Ready(PollOutcome::Over);
        };
        if packets.is_empty() {
            if closing {
                self.transport = QueueTransport::Gone;
                return Poll::Ready(PollOutcome::Payload(b"1".to_vec()));
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
        *weight = packets.iter().map(QueuedPacket::weight).sum();
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

    /// Begins to take what the client posts: one thing at a time, or their order would be anybody's guess.
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

    /// A websocket asks to take over. Only one may ask at a time.
    pub(crate) fn probe(&mut self) -> Result<(), TransportBusy> {
        match &mut self.transport {
            QueueTransport::Polling { probe: probe @ Probe::None, .. } => {
                *probe = Probe::Silent;
                Ok(())
            }
            _ => Err(TransportBusy),
        }
    }

    /// The websocket has said its first word. Returns the poll that waits, to be sent home.
    pub(crate) fn probe_heard(&mut self) -> Option<Waker> {
        if let QueueTransport::Polling { probe, .. } = &mut self.transport {
            *probe = Probe::Heard;
        }
        self.owner.take()
    }

    /// The websocket did not take over after all.
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

    /// The websocket takes over with everything that waits. Returns the poll that may still wait. A client that is still
    /// posting must not say anything on the websocket yet.
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

/// Two polls, two posts, or two probes, at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransportBusy;

/// What became of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queued {
    /// The session is over.
    Dropped,
    /// Somebody will write it already.
    SeenTo,
    /// The poll that waits has to be woken.
    ForOwner,
    /// It is written at the end of the batch.
    ForBatch,
}

/// Wakes whoever is there.
pub(crate) fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Writes everything, as the one who is woken when there is room.
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
