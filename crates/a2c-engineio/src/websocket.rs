//! Sessions on a websocket: one task reads, runs the heartbeat, and writes what other tasks could not write at once.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Body;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead as _, ReadBuf};
use tokio::time::{Instant, Sleep, timeout};
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use crate::backlog::Backlog;
use crate::batch::{self, SlowReceivers};
use crate::heartbeat::{Heartbeat, HeartbeatAction};
use crate::message_assembler::{Message, MessageAssembler};
use crate::message_clock::MessageClock;
use crate::packet::{self, ClientPacket, QueuedPacket};
use crate::request::BadRequest;
use crate::response_body::ResponseBody;
use crate::send_queue::{poll_send, wake};
use crate::slow_reader::SlowReader;
use crate::stream::{Stream, StreamReader, StreamWriter};
use crate::{CloseReason, Engine, Handler, OversizedMessage, Socket};

/// The size of one read, in bytes.
const CHUNK: usize = 64 << 10;

/// The size of a read while the client waits for memory: some control frames.
const LITTLE: usize = 256;

/// The number of messages of one read after which the first write happens; then after twice as many, and so on. A single
/// write at the end would keep the receivers idle while the rest is handled.
const FIRST_FEW: usize = 2;

/// After more messages than this in one read, the task yields: a read may hold thousands, and the runtime counts reads.
const MANY: usize = 64;

/// How long closing the websocket may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a websocket may take to take over from polling.
const TAKE_OVER: Duration = Duration::from_secs(10);

thread_local! {
    /// The read buffer of a thread, so that idle connections need none.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; CHUNK].into_boxed_slice());
}

/// Answers a request for a websocket; the session runs in its own task.
pub(crate) fn accept<H, B>(
    engine: &Arc<Engine<H>>,
    mut request: Request<B>,
    session: Option<Arc<Socket<H::Data>>>,
) -> Response<ResponseBody>
where
    H: Handler,
    B: Body + Send + 'static,
{
    let header = |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let has =
        |name, token: &str| header(name).is_some_and(|v| v.split(',').any(|t| t.trim().eq_ignore_ascii_case(token)));
    let is_upgrade = has(header::CONNECTION, "upgrade") && has(header::UPGRADE, "websocket");
    let (true, Some("13"), Some(key)) =
        (is_upgrade, header(header::SEC_WEBSOCKET_VERSION), header(header::SEC_WEBSOCKET_KEY))
    else {
        return BadRequest::Request.response();
    };
    let Ok(accepted) = HeaderValue::try_from(derive_accept_key(key.as_bytes())) else {
        return BadRequest::Request.response();
    };
    let upgraded = hyper::upgrade::on(&mut request);
    let (parts, _) = request.into_parts();
    let engine_of_task = engine.clone();
    engine.tasks.spawn(async move {
        let (engine, mut parts) = (engine_of_task, parts);
        let Ok(upgraded) = upgraded.await else { return };
        let (stream, early) = match upgraded.downcast::<TokioIo<Stream>>() {
            Ok(found) => (found.io.into_inner(), found.read_buf),
            Err(upgraded) => (Stream::other(TokioIo::new(upgraded)), Bytes::new()),
        };
        let (reader, writer) = stream.split();
        let frames = FrameReader { reader, assembler: MessageAssembler::with(&early) };
        match session {
            Some(socket) => take_over(engine, socket, frames, writer).await,
            None => {
                let data = engine.handler.opened(&parts);
                // The headers are not needed any more and must not stay in memory with the session.
                parts.headers.clear();
                drop(parts);
                let socket = engine.socket(data, engine.send_queue(Some(writer)));
                let open = engine.open_packet(&socket, &[]);
                socket.send_queue().control(|backlog| backlog.push_frame(OpCode::Data(Data::Text), open.as_bytes()));
                let socket = engine.begin(socket);
                WebsocketSession::new(engine, socket, frames).run().await;
            }
        }
    });

    let mut response = Response::new(ResponseBody::new(Bytes::new()));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    response.headers_mut().insert(header::SEC_WEBSOCKET_ACCEPT, accepted);
    response
}

/// Moves a session from polling to this websocket: `2probe`, `3probe`, and, once the client has finished its last poll,
/// `5`. Until then, and where this fails, the session stays on polling.
async fn take_over<H: Handler>(
    engine: Arc<Engine<H>>,
    socket: Arc<Socket<H::Data>>,
    mut frames: FrameReader,
    mut writer: StreamWriter,
) {
    if socket.send_queue().probe().is_err() {
        return;
    }
    let handshake = async {
        if frames.packet(&socket).await? != ClientPacket::Probe {
            return None;
        }
        let waiting = socket.send_queue().probe_heard();
        wake(waiting);
        let mut answer = Backlog::default();
        answer.push_frame(OpCode::Data(Data::Text), b"3probe");
        poll_fn(|cx| poll_send(&mut writer, &mut answer, cx)).await.ok()?;
        (frames.packet(&socket).await? == ClientPacket::Upgrade).then_some(())
    };
    let outcome = tokio::select! {
        outcome = timeout(TAKE_OVER, handshake) => outcome.ok().flatten(),
        () = poll_fn(|cx| socket.send_queue().poll_closing(cx)) => None,
    };
    if outcome.is_none() {
        tracing::debug!("a websocket did not take over from polling");
        return socket.send_queue().forget_probe();
    }
    let upgraded = socket.send_queue().upgrade(writer);
    let Ok(waiting) = upgraded else { return socket.close(CloseReason::Protocol) };
    wake(waiting);
    socket.keeper.notify_one();
    let mut session = WebsocketSession::new(engine, socket, frames);
    // The ping that is due, or the answer, is the same on either transport.
    session.heart = session.socket.heart().clone();
    session.run().await;
}

/// Reads the frames of a websocket.
struct FrameReader {
    reader: StreamReader,
    assembler: MessageAssembler,
}

impl FrameReader {
    /// Reads the available bytes; zero means the end.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if let Some(room) = self.assembler.large(CHUNK) {
            return tokio_util::io::poll_read_buf(Pin::new(&mut self.reader), cx, room);
        }
        self.poll_read_some(CHUNK, cx)
    }

    fn poll_read_some(&mut self, most: usize, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        SCRATCH.with_borrow_mut(|scratch| {
            let mut buffer = ReadBuf::new(&mut scratch[..most]);
            ready!(Pin::new(&mut self.reader).poll_read(cx, &mut buffer))?;
            self.assembler.push(buffer.filled());
            Poll::Ready(Ok(buffer.filled().len()))
        })
    }

    /// Reads one packet, before the session is on this websocket.
    async fn packet<D: Send + Sync + 'static>(&mut self, socket: &Socket<D>) -> Option<ClientPacket> {
        loop {
            match self.assembler.next(socket.message_limits()).ok()? {
                Some(Message::Text(text)) => return packet::parse(&text).ok(),
                Some(Message::Ping(_) | Message::Pong) => {}
                Some(_) => return None,
                None => {
                    if poll_fn(|cx| self.poll_read(cx)).await.ok()? == 0 {
                        return None;
                    }
                }
            }
        }
    }
}

/// A session on its websocket.
struct WebsocketSession<H: Handler> {
    engine: Arc<Engine<H>>,
    socket: Arc<Socket<H::Data>>,
    frames: FrameReader,
    heart: Heartbeat,
    /// When a client that was not admitted is disconnected.
    leave_at: Instant,
    /// The receivers that have to take their messages before the engine reads on from this client.
    slow: SlowReceivers,
    /// The engine does not read from this client, because of slow receivers or of short memory.
    is_kept_waiting: bool,
    /// What was held of incomplete messages when the client began to wait.
    held_before: usize,
    /// The message that has not arrived completely.
    message: Option<MessageClock>,
    reader_watch: SlowReader,
}

/// The next step of a session.
enum NextStep {
    Read,
    Beat,
    End(CloseReason),
}

impl<H: Handler> WebsocketSession<H> {
    fn new(engine: Arc<Engine<H>>, socket: Arc<Socket<H::Data>>, frames: FrameReader) -> Self {
        let now = Instant::now();
        let heart = Heartbeat::new(now, engine.config.ping_interval, engine.config.ping_timeout);
        let leave_at = now + engine.config.unadmitted_timeout;
        let reader_watch = SlowReader::new(now, engine.config.fair_time);
        Self {
            engine,
            socket,
            frames,
            heart,
            leave_at,
            slow: SlowReceivers::new(),
            is_kept_waiting: false,
            held_before: 0,
            message: None,
            reader_watch,
        }
    }

    async fn run(mut self) {
        let (reason, code) = match self.serve().await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        self.engine.finish(&self.socket, reason);
        if reason != CloseReason::Broken {
            self.socket.send_queue().control(|backlog| {
                if reason != CloseReason::Left {
                    backlog.push(QueuedPacket::Close);
                }
                backlog.push_close(code);
            });
            let _ = timeout(CLOSE_TIMEOUT, poll_fn(|cx| self.socket.send_queue().poll_finish(cx))).await;
        }
    }

    /// Serves the session until it ends; returns the reason and the close code of the websocket.
    async fn serve(&mut self) -> Result<std::convert::Infallible, (CloseReason, u16)> {
        let mut timer = std::pin::pin!(tokio::time::sleep_until(self.due()));
        // Some bytes may have arrived together with the handshake.
        self.take()?;
        loop {
            match poll_fn(|cx| self.poll_step(cx, timer.as_mut())).await {
                NextStep::Read => {
                    // Checked here too: the timer does not fire while there is something to read.
                    if !self.socket.is_admitted() {
                        self.check_stay(Instant::now())?;
                    }
                    let had_message = self.message.is_some();
                    if self.take()? > MANY {
                        tokio::task::yield_now().await;
                    }
                    if self.message.is_some() && !had_message {
                        timer.as_mut().reset(self.due());
                    }
                }
                NextStep::Beat => {
                    self.beat()?;
                    timer.as_mut().reset(self.due());
                }
                NextStep::End(reason) => {
                    return Err((reason, if reason == CloseReason::TooLarge { 1009 } else { 1000 }));
                }
            }
        }
    }

    fn due(&self) -> Instant {
        let due = if self.socket.is_admitted() { self.heart.next() } else { self.heart.next().min(self.leave_at) };
        let fair_time = self.engine.config.fair_time;
        due.min(Instant::now() + if self.message.is_some() { fair_time / 4 } else { fair_time })
    }

    fn poll_step(&mut self, cx: &mut Context<'_>, mut timer: Pin<&mut Sleep>) -> Poll<NextStep> {
        {
            let mut send_queue = self.socket.send_queue();
            if let Some(reason) = send_queue.closing() {
                return Poll::Ready(NextStep::End(reason));
            }
            match send_queue.poll_drain(cx) {
                Ok(taken) => self.socket.moved(taken),
                Err(_) => return Poll::Ready(NextStep::End(CloseReason::Broken)),
            }
            send_queue.set_owner(cx.waker());
        }
        // Checked before reading: a client that never stops sending must not escape the heartbeat.
        if timer.as_mut().poll(cx).is_ready() {
            return Poll::Ready(NextStep::Beat);
        }
        self.slow.retain(|socket| !socket.is_short(cx.waker()));
        let has_receivers = self.slow.is_empty();
        let has_room = has_receivers && self.socket.poll_reserve(self.frames.assembler.wanted(CHUNK), cx).is_ready();
        self.keep_waiting(!has_room);
        let read = if has_room {
            self.frames.poll_read(cx)
        } else if has_receivers
            && self.frames.assembler.may_be_control()
            && self.frames.assembler.held() <= self.held_before
        {
            // A client that waits for memory may still answer a ping or leave.
            self.frames.poll_read_some(LITTLE, cx)
        } else {
            Poll::Pending
        };
        if let Poll::Ready(read) = read {
            return Poll::Ready(match read {
                Ok(0) | Err(_) => NextStep::End(CloseReason::Broken),
                Ok(n) => {
                    self.socket.moved(n as u64);
                    NextStep::Read
                }
            });
        }
        Poll::Pending
    }

    fn keep_waiting(&mut self, is_kept_waiting: bool) {
        if self.is_kept_waiting == is_kept_waiting {
            return;
        }
        self.is_kept_waiting = is_kept_waiting;
        self.held_before = self.frames.assembler.held();
        if let Some(clock) = &mut self.message {
            clock.pause(is_kept_waiting, Instant::now());
        }
    }

    /// Handles all complete messages; returns their number.
    fn take(&mut self) -> Result<usize, (CloseReason, u16)> {
        let (engine, socket, assembler) = (&*self.engine, &self.socket, &mut self.frames.assembler);
        let mut has_completed = false;
        let ready = assembler.ready();
        let (outcome, slow) = engine.large_work.run(ready, || {
            batch::run(|| {
                let (mut count, mut enough) = (0, FIRST_FEW);
                while !socket.is_closed() {
                    let message = assembler.next(socket.message_limits()).map_err(|violation| {
                        tracing::debug!(%violation, "closing the connection");
                        let reason =
                            if violation.close_code() == 1009 { CloseReason::TooLarge } else { CloseReason::Protocol };
                        (reason, violation.close_code())
                    })?;
                    let Some(message) = message else { return Ok(count) };
                    // Control frames pass in the middle of a message.
                    has_completed |= !matches!(message, Message::Ping(_) | Message::Pong | Message::Close);
                    handle(&engine.handler, socket, message)?;
                    count += 1;
                    if count == enough {
                        batch::flush();
                        enough *= 2;
                    }
                }
                Ok(count)
            })
        });
        self.slow = slow;
        let held = self.frames.assembler.held();
        self.socket.release(held);
        if self.frames.assembler.arrived() == 0 {
            self.message = None;
        } else if has_completed || self.message.is_none() {
            self.message = Some(MessageClock::new(Instant::now(), self.engine.config.fair_time));
        }
        outcome
    }

    /// Ends the session of a client that was not admitted in time.
    fn check_stay(&self, now: Instant) -> Result<(), (CloseReason, u16)> {
        if !self.socket.is_admitted() && now >= self.leave_at {
            return Err((CloseReason::NotAdmitted, 1000));
        }
        Ok(())
    }

    /// Ends the session of a client that sends a message, or reads what waits for it, far too slowly.
    fn check_pace(&mut self, now: Instant) -> Result<(), (CloseReason, u16)> {
        let (arrived, is_pressed) = (self.frames.assembler.arrived(), self.socket.is_memory_awaited());
        let is_over = self.message.is_some_and(|clock| clock.is_over(now, arrived, is_pressed));
        if is_over || self.socket.gathers_too_long(now) {
            return Err((CloseReason::Stalled, 1008));
        }
        let (waiting, progress) = {
            let send_queue = self.socket.send_queue();
            (send_queue.len(), send_queue.progress())
        };
        if self.reader_watch.is_too_slow(now, waiting, progress, is_pressed) {
            return Err((CloseReason::Slow, 1008));
        }
        Ok(())
    }

    fn beat(&mut self) -> Result<(), (CloseReason, u16)> {
        let now = Instant::now();
        self.check_stay(now)?;
        self.check_pace(now)?;
        if now < self.heart.next() {
            return Ok(());
        }
        if self.is_kept_waiting {
            // The client may have answered; the engine did not read from it.
            self.socket.heard();
        }
        match self.heart.beat(now, self.socket.life()) {
            HeartbeatAction::Alive => {}
            HeartbeatAction::Dead => return Err((CloseReason::Silent, 1000)),
            HeartbeatAction::Ping => self.socket.send_queue().control(|backlog| backlog.push(QueuedPacket::Ping)),
        }
        Ok(())
    }
}

impl<H: Handler> Drop for WebsocketSession<H> {
    fn drop(&mut self) {
        // A session never outlives its task, also when a handler panicked.
        self.engine.finish(&self.socket, CloseReason::Broken);
        self.socket.send_queue().gone();
    }
}

fn handle<H: Handler>(handler: &H, socket: &Arc<Socket<H::Data>>, message: Message) -> Result<(), (CloseReason, u16)> {
    socket.heard();
    match message {
        Message::Text(text) => match packet::parse(&text) {
            Ok(ClientPacket::Text(text)) => handler.text(socket, text),
            Ok(ClientPacket::Pong) => {}
            Ok(ClientPacket::Close) => return Err((CloseReason::Left, 1000)),
            Ok(ClientPacket::Binary(_) | ClientPacket::Probe | ClientPacket::Upgrade) => {
                return Err((CloseReason::Protocol, 1002));
            }
            Err(problem) => {
                tracing::debug!(%problem, "not a packet");
                return Err((CloseReason::Protocol, 1007));
            }
        },
        Message::Binary(data) => handler.binary(socket, data),
        Message::Oversized { is_text, beginning, size } => {
            handler.oversized(socket, OversizedMessage { is_text, beginning, size });
        }
        Message::Ping(payload) => {
            let (max, mut send_queue) = (socket.max_backlog(), socket.send_queue());
            // Not every ping needs an answer, and a client that does not read the answers gets no more of them.
            if send_queue.len() <= max {
                // The present task is the owner and writes it.
                send_queue.control(|backlog| backlog.push_frame(OpCode::Control(Control::Pong), &payload));
            }
        }
        Message::Pong => {}
        Message::Close => return Err((CloseReason::Left, 1000)),
    }
    Ok(())
}
