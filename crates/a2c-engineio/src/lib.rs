//! An Engine.IO 4 server with few system calls and little memory per connection.
//!
//! It must not know Socket.IO or any protocol above. It speaks neither Engine.IO 3 nor JSONP, and it does not listen: an
//! HTTP server passes it requests, whose connections should be [`Stream`]s.
//!
//! A session begins as HTTP long-polling or as a websocket, may move from polling to the websocket, is kept alive by
//! pings, and carries text and binary messages both ways. How a message flows: the task of a connection reads all
//! available bytes, passes each message to the [`Handler`], which queues messages to other [`Socket`]s, and then writes
//! those queues itself (see `batch`). An idle websocket has one task, one timer and no buffer.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod backlog;
mod batch;
mod broadcast;
#[doc(hidden)]
pub mod fuzzing;
mod heartbeat;
mod large_work;
mod memory_pool;
mod message_assembler;
mod message_clock;
mod packet;
mod polling;
mod request;
mod response_body;
mod send_queue;
mod slow_reader;
mod socket;
mod stream;
mod websocket;

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use hyper::body::Body;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use large_work::LargeWork;
use memory_pool::PoolShare;
pub use memory_pool::{MemoryCharge, MemoryPool};
pub use packet::{OutgoingMessage, SharedMessage};
use request::{BadRequest, EngineRequest, SessionTransport};
pub use response_body::ResponseBody;
use send_queue::SendQueue;
pub use socket::Socket;
use stream::StreamWriter;
pub use stream::{Duplex, Stream};
/// Text that is shared, not copied.
pub use tungstenite::Utf8Bytes as Text;

/// The configuration of an engine.
#[derive(Debug, Clone)]
pub struct Config {
    /// The interval between two pings.
    pub ping_interval: Duration,
    /// How long a client may take to answer a ping.
    pub ping_timeout: Duration,
    /// The size of one message that the engine announces to clients.
    pub max_payload: usize,
    /// The largest message that the engine reads from a client that was not [admitted](Socket::admit).
    pub unadmitted_max_message: usize,
    /// How long a client may stay without being admitted.
    pub unadmitted_timeout: Duration,
    /// The bytes that may wait for a client before its senders have to wait or are refused. For a client that was not
    /// admitted, no more than `unadmitted_max_message`.
    pub max_backlog: usize,
    /// How long a client may take for a small message, and how long it may read too slowly. A large message has more time,
    /// according to its size.
    pub fair_time: Duration,
    /// The memory of large messages that all sessions together may hold. Beyond it each session gets less.
    pub memory: Arc<MemoryPool>,
}

/// Handles sessions and messages. The engine calls the methods on the task of a connection, so they must not block.
pub trait Handler: Send + Sync + 'static {
    /// The data of the handler in each session.
    type Data: Send + Sync + 'static;

    /// A session begins.
    fn opened(&self, request: &Parts) -> Self::Data;

    /// A text message arrived.
    fn text(&self, socket: &Arc<Socket<Self::Data>>, text: Text);

    /// A binary message arrived.
    fn binary(&self, socket: &Arc<Socket<Self::Data>>, data: Bytes);

    /// A message over the limit arrived, of which only the beginning was kept. By default the session ends.
    fn oversized(&self, socket: &Arc<Socket<Self::Data>>, message: OversizedMessage) {
        let _ = message;
        socket.close(CloseReason::TooLarge);
    }

    /// The session ended; called once. No further message is begun after it, but another task may still be handling what a
    /// polling client posted before.
    fn closed(&self, socket: &Arc<Socket<Self::Data>>, reason: CloseReason);
}

/// A message that was over the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OversizedMessage {
    /// Whether it was a text.
    pub is_text: bool,
    /// Its first bytes.
    pub beginning: Bytes,
    /// Its size in bytes.
    pub size: usize,
}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// The client closed the session.
    Left,
    /// The connection failed or ended without a close packet.
    Broken,
    /// The client did not answer a ping.
    Silent,
    /// The client was not admitted in time.
    NotAdmitted,
    /// The client broke the protocol.
    Protocol,
    /// The client exceeded its limits by far.
    Excessive,
    /// The client sent a message over the limit.
    TooLarge,
    /// The client read too slowly.
    Slow,
    /// The client sent a message too slowly, or never to its end.
    Stalled,
    /// This side ended the session.
    Dismissed,
}

impl std::fmt::Display for CloseReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Left => "left",
            Self::Broken => "connection broke",
            Self::Silent => "no sign of life",
            Self::NotAdmitted => "did not introduce itself in time",
            Self::Protocol => "broke the protocol",
            Self::Excessive => "did far more than it may",
            Self::TooLarge => "sent a message over the limit",
            Self::Slow => "reads too slowly",
            Self::Stalled => "sent a message too slowly",
            Self::Dismissed => "dismissed",
        })
    }
}

/// The send queue of the client is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too much waits for this client already")]
pub struct QueueFull;

/// The server: all sessions and their handler.
pub struct Engine<H: Handler> {
    handler: H,
    config: Config,
    sessions: Mutex<HashMap<Uuid, Arc<Socket<H::Data>>>>,
    tasks: TaskTracker,
    is_closed: AtomicBool,
    large_work: LargeWork,
}

impl<H: Handler> Engine<H> {
    /// An engine without sessions.
    pub fn new(handler: H, config: Config) -> Arc<Self> {
        let (sessions, tasks, is_closed) = (Mutex::default(), TaskTracker::new(), AtomicBool::new(false));
        Arc::new(Self { handler, config, sessions, tasks, is_closed, large_work: LargeWork::default() })
    }

    /// The handler.
    pub fn handler(&self) -> &H {
        &self.handler
    }

    /// The number of sessions.
    pub fn sessions(&self) -> usize {
        self.lock().len()
    }

    /// Handles one HTTP request.
    pub async fn handle<B>(self: &Arc<Self>, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let ask = match EngineRequest::parse(request.method(), request.uri()) {
            Ok(ask) => ask,
            Err(problem) => return problem.response(),
        };
        let session = match ask.sid.map(|sid| self.lock().get(&sid).cloned().ok_or(BadRequest::UnknownSid)).transpose()
        {
            Ok(session) => session,
            Err(problem) => return problem.response(),
        };
        if session.is_none() && self.is_closed.load(Ordering::Relaxed) {
            return request::respond(StatusCode::SERVICE_UNAVAILABLE, "text/plain", "the server is going away\n");
        }
        match (ask.transport, session, request.method()) {
            (SessionTransport::Websocket, session, &Method::GET) => websocket::accept(self, request, session),
            (SessionTransport::Polling, None, &Method::GET) => polling::open(self, &request.into_parts().0),
            (SessionTransport::Polling, Some(session), &Method::GET) => polling::get(self, &session).await,
            (SessionTransport::Polling, Some(session), &Method::POST) => {
                polling::post(self, &session, request.into_body()).await
            }
            _ => BadRequest::Method.response(),
        }
    }

    /// Ends all sessions, refuses new ones, and returns when all connections are closed.
    pub async fn close(&self) {
        self.close_all();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Waits until all queued messages are written.
    pub async fn drained(&self) {
        let all: Vec<_> = self.lock().values().cloned().collect();
        for socket in all {
            poll_fn(|cx| if socket.is_drained(cx.waker()) { Poll::Ready(()) } else { Poll::Pending }).await;
        }
    }

    /// Like [`Self::close`], without waiting.
    pub fn close_all(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        let all: Vec<_> = self.lock().values().cloned().collect();
        for socket in all {
            socket.close(CloseReason::Dismissed);
        }
    }

    fn socket(&self, data: H::Data, send_queue: SendQueue) -> Socket<H::Data> {
        Socket::new(data, send_queue, PoolShare::of(&self.config.memory), &self.config)
    }

    fn send_queue(&self, writer: Option<StreamWriter>) -> SendQueue {
        let share = PoolShare::of(&self.config.memory);
        match writer {
            Some(writer) => SendQueue::websocket(writer, share),
            None => SendQueue::polling(share),
        }
    }

    fn begin(&self, socket: Socket<H::Data>) -> Arc<Socket<H::Data>> {
        let socket = Arc::new(socket);
        self.lock().insert(socket.id, socket.clone());
        // The session may have begun while all others were closed.
        if self.is_closed.load(Ordering::Relaxed) {
            socket.close(CloseReason::Dismissed);
        }
        socket
    }

    /// Ends a session. The task that removes it from the list calls the handler, which is therefore called once.
    fn finish(&self, socket: &Arc<Socket<H::Data>>, reason: CloseReason) {
        socket.close(reason);
        if self.lock().remove(&socket.id).is_some() {
            let reason = socket.send_queue().closing().unwrap_or(reason);
            batch::run(|| self.handler.closed(socket, reason));
        }
    }

    /// The handshake packet.
    fn open_packet(&self, socket: &Socket<H::Data>, upgrades: &[&str]) -> String {
        let open = serde_json::json!({
            "sid": socket.id.simple().to_string(),
            "upgrades": upgrades,
            "pingInterval": self.config.ping_interval.as_millis() as u64,
            "pingTimeout": self.config.ping_timeout.as_millis() as u64,
            "maxPayload": self.config.max_payload,
        });
        format!("0{open}")
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<Socket<H::Data>>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
