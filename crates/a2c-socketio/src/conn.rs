//! One link as its users see it: the queue to its writer and the calls that wait for answers.
//!
//! A `Conn` is made when a link is connected and ended when the link is lost. An [`AckReply`] or a
//! call that still holds it afterwards finds it closed: nothing that belongs to one link can be
//! sent on, or be answered by, another.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot};

use crate::engine::encoded_len;
use crate::error::{CallError, EmitError};
use crate::packet::OutgoingPacket;
use crate::payload::Payload;

/// The outcome of a call.
#[derive(Debug)]
pub(crate) enum AckOutcome {
    Answer(Payload),
    /// The link ended with the request still in the queue.
    NeverSent,
}

pub(crate) struct Conn {
    pub(crate) sid: String,
    pub(crate) namespace: String,
    outgoing: mpsc::Sender<OutgoingPacket>,
    max_frame: usize,
    /// Whether binary frames travel as base64, which counts against `max_frame`.
    base64: bool,
    waiters: Mutex<AckWaiters>,
}

struct AckWaiters {
    next_id: u64,
    /// `None` once the link has ended.
    waiting: Option<HashMap<u64, oneshot::Sender<AckOutcome>>>,
}

impl Conn {
    pub(crate) fn new(
        sid: String,
        namespace: String,
        max_frame: usize,
        base64: bool,
        queue: usize,
    ) -> (Arc<Self>, mpsc::Receiver<OutgoingPacket>) {
        let (outgoing, receiver) = mpsc::channel(queue);
        let conn = Conn {
            sid,
            namespace,
            outgoing,
            max_frame,
            base64,
            waiters: Mutex::new(AckWaiters { next_id: 0, waiting: Some(HashMap::new()) }),
        };
        (Arc::new(conn), receiver)
    }

    pub(crate) async fn emit(&self, name: &str, payload: Payload) -> Result<(), EmitError> {
        self.send(OutgoingPacket::event(&self.namespace, None, name, payload)).await
    }

    async fn send(&self, packet: OutgoingPacket) -> Result<(), EmitError> {
        self.check_size(&packet)?;
        self.outgoing.send(packet).await.map_err(|_| EmitError::NotConnected)
    }

    fn check_size(&self, packet: &OutgoingPacket) -> Result<(), EmitError> {
        let size = packet.largest_frame(|bytes| match self.base64 {
            true => encoded_len(bytes),
            false => bytes,
        });
        if size > self.max_frame {
            return Err(EmitError::TooLarge { size, limit: self.max_frame });
        }
        Ok(())
    }

    /// Queues a request; the answer is awaited on what this returns. The waiter exists before
    /// the packet does, so no answer can come too early.
    pub(crate) async fn request(self: Arc<Self>, name: &str, payload: Payload) -> Result<AckWaiter, CallError> {
        let (sender, answer) = oneshot::channel();
        let id = self.waiters().register(sender).ok_or(CallError::NotConnected)?;
        let waiter = AckWaiter { conn: self, id, answer };
        let conn = &waiter.conn;
        conn.send(OutgoingPacket::event(&conn.namespace, Some(id), name, payload)).await?;
        Ok(waiter)
    }

    /// Hands an answer to the call that waits for it, if it still does.
    pub(crate) fn answer(&self, id: u64, payload: Payload) {
        match self.waiters().take(id) {
            // A call that was dropped between these two steps no longer waits.
            Some(waiter) => drop(waiter.send(AckOutcome::Answer(payload))),
            None => tracing::debug!(id, "an acknowledgement without a pending call"),
        }
    }

    /// Ends the link for its users: queued requests were never sent, all others are lost.
    pub(crate) fn end(&self, queue: &mut mpsc::Receiver<OutgoingPacket>) {
        queue.close();
        let mut waiting = self.waiters().waiting.take().unwrap_or_default();
        while let Ok(packet) = queue.try_recv() {
            if let Some(waiter) = packet.awaits.and_then(|id| waiting.remove(&id)) {
                drop(waiter.send(AckOutcome::NeverSent));
            }
        }
    }

    fn waiters(&self) -> MutexGuard<'_, AckWaiters> {
        // No code that can panic runs under the lock.
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AckWaiters {
    fn register(&mut self, sender: oneshot::Sender<AckOutcome>) -> Option<u64> {
        let id = self.next_id;
        self.waiting.as_mut()?.insert(id, sender);
        self.next_id += 1;
        Some(id)
    }

    fn take(&mut self, id: u64) -> Option<oneshot::Sender<AckOutcome>> {
        self.waiting.as_mut()?.remove(&id)
    }
}

/// A queued request; forgotten when dropped.
pub(crate) struct AckWaiter {
    conn: Arc<Conn>,
    id: u64,
    answer: oneshot::Receiver<AckOutcome>,
}

impl AckWaiter {
    pub(crate) async fn answer(mut self) -> Result<Payload, CallError> {
        match (&mut self.answer).await {
            Ok(AckOutcome::Answer(payload)) => Ok(payload),
            Ok(AckOutcome::NeverSent) => Err(CallError::NotConnected),
            Err(_) => Err(CallError::Disconnected),
        }
    }
}

impl Drop for AckWaiter {
    fn drop(&mut self) {
        self.conn.waiters().take(self.id);
    }
}

/// The right to answer one event, once, on the link it came from.
pub struct AckReply {
    conn: Arc<Conn>,
    id: u64,
}

impl AckReply {
    pub(crate) fn new(conn: Arc<Conn>, id: u64) -> Self {
        AckReply { conn, id }
    }

    /// Queues the answer. When the link the event came from has ended, nothing is sent and
    /// [`EmitError::NotConnected`] is returned, even if a newer link is up.
    ///
    /// After [`EmitError::TooLarge`] nothing was sent and a smaller answer can be; after success the
    /// event is answered, and a server ignores further answers.
    pub async fn send(&self, payload: Payload) -> Result<(), EmitError> {
        let packet = OutgoingPacket::ack(&self.conn.namespace, self.id, payload);
        self.conn.send(packet).await
    }
}

impl fmt::Debug for AckReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AckReply").field("id", &self.id).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conn(queue: usize) -> (Arc<Conn>, mpsc::Receiver<OutgoingPacket>) {
        Conn::new("sid".into(), "/".into(), 50, true, queue)
    }

    #[tokio::test]
    async fn ack_numbers_count_up_and_a_dropped_call_is_forgotten() {
        let (conn, mut queue) = conn(8);
        for expected in 0..3 {
            let waiter = conn.clone().request("e", Payload::empty()).await.unwrap();
            assert_eq!(queue.recv().await.unwrap().awaits, Some(expected));
            drop(waiter);
        }
        assert!(conn.waiters().waiting.as_ref().unwrap().is_empty());
    }

    #[tokio::test]
    async fn the_end_tells_what_was_sent_from_what_was_not() {
        let (conn, mut queue) = conn(8);
        let sent = conn.clone().request("e", Payload::empty()).await.unwrap();
        queue.recv().await.unwrap();
        let queued = conn.clone().request("e", Payload::empty()).await.unwrap();
        conn.end(&mut queue);
        assert_eq!(sent.answer().await.unwrap_err(), CallError::Disconnected);
        assert_eq!(queued.answer().await.unwrap_err(), CallError::NotConnected);

        let late = conn.clone().request("e", Payload::empty()).await;
        assert_eq!(late.err(), Some(CallError::NotConnected));
        let ack = AckReply::new(conn.clone(), 1).send(Payload::empty()).await;
        assert_eq!(ack, Err(EmitError::NotConnected));
    }

    #[tokio::test]
    async fn what_is_too_large_is_not_queued() {
        let (conn, mut queue) = conn(8);
        let too_large = [Payload::json(&"x".repeat(50)), Ok(Payload::binary(vec![0; 38]))];
        for payload in too_large {
            let refused = conn.emit("e", payload.unwrap()).await;
            assert!(matches!(refused, Err(EmitError::TooLarge { limit: 50, .. })));
        }
        assert!(queue.try_recv().is_err());
    }
}
