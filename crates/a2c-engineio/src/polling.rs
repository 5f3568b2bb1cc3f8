//! Sessions over HTTP long-polling: a GET waits for packets to the client, a POST brings packets of the client.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::request::Parts;
use http::{Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Body;
use tokio::time::{Instant, timeout};

use crate::heartbeat::HeartbeatAction;
use crate::message_clock::MessageClock;
use crate::packet::{self, ClientPacket, QueuedPacket};
use crate::request::{BadRequest, respond};
use crate::response_body::ResponseBody;
use crate::send_queue::PollOutcome;
use crate::slow_reader::SlowReader;
use crate::{CloseReason, Engine, Handler, Socket, batch};

/// How long a client may take between two pieces of a body.
const NEXT_PIECE: Duration = Duration::from_secs(10);

/// The memory that is taken for the next piece of a body.
const PIECE: usize = 64 << 10;

/// How long a poll waits while a websocket takes over.
const SENT_HOME: Duration = Duration::from_millis(100);

const TEXT: &str = "text/plain; charset=UTF-8";

/// Begins a session.
pub(crate) fn open<H: Handler>(engine: &Arc<Engine<H>>, request: &Parts) -> Response<ResponseBody> {
    let data = engine.handler.opened(request);
    let socket = engine.begin(engine.socket(data, engine.send_queue(None)));
    engine.tasks.spawn(keep(engine.clone(), socket.clone()));
    respond(StatusCode::OK, TEXT, engine.open_packet(&socket, &["websocket"]))
}

/// Runs the heartbeat of a polling session, also while no poll waits.
async fn keep<H: Handler>(engine: Arc<Engine<H>>, socket: Arc<Socket<H::Data>>) {
    let begun = Instant::now();
    let leave_at = begun + engine.config.unadmitted_timeout;
    let mut reader_watch = SlowReader::new(begun, engine.config.fair_time);
    loop {
        let next = socket.heart().next();
        let due = if socket.is_admitted() { next } else { next.min(leave_at) };
        let due = due.min(Instant::now() + engine.config.fair_time);
        tokio::select! {
            () = tokio::time::sleep_until(due) => {}
            () = socket.keeper.notified() => {}
        }
        let (closing, is_websocket, waiting, progress) = {
            let send_queue = socket.send_queue();
            (send_queue.closing(), send_queue.is_websocket(), send_queue.len(), send_queue.progress())
        };
        if is_websocket {
            return;
        }
        if let Some(reason) = closing {
            return engine.finish(&socket, reason);
        }
        let now = Instant::now();
        if !socket.is_admitted() && now >= leave_at {
            return engine.finish(&socket, CloseReason::NotAdmitted);
        }
        if socket.gathers_too_long(now) {
            return engine.finish(&socket, CloseReason::Stalled);
        }
        if reader_watch.is_too_slow(now, waiting, progress, socket.is_memory_awaited()) {
            return engine.finish(&socket, CloseReason::Slow);
        }
        if now < next {
            continue;
        }
        let action = socket.heart().beat(now, socket.life());
        match action {
            HeartbeatAction::Alive => {}
            HeartbeatAction::Dead => return engine.finish(&socket, CloseReason::Silent),
            HeartbeatAction::Ping => {
                let _ = socket.queue(QueuedPacket::Ping, usize::MAX);
            }
        }
    }
}

/// Answers a poll when there are packets.
pub(crate) async fn get<H: Handler>(engine: &Engine<H>, socket: &Arc<Socket<H::Data>>) -> Response<ResponseBody> {
    if socket.send_queue().begin_poll().is_err() {
        socket.close(CloseReason::Protocol);
        return BadRequest::Request.response();
    }
    if socket.send_queue().is_websocket() {
        return BadRequest::Request.response();
    }
    let poll = PollGuard(socket);
    let max = engine.config.max_payload;
    let polled = async |is_brief| poll_fn(|cx| poll.0.send_queue().poll_payload(cx, max, is_brief)).await;
    let polled = match polled(false).await {
        PollOutcome::Probed => timeout(SENT_HOME, polled(true)).await.unwrap_or(PollOutcome::Probed),
        polled => polled,
    };
    match polled {
        PollOutcome::Payload(payload) => {
            respond(StatusCode::OK, TEXT, payload).map(|answer| answer.read_by(socket.clone()))
        }
        PollOutcome::Probed => respond(StatusCode::OK, TEXT, "6"),
        PollOutcome::Over if socket.send_queue().is_websocket() => respond(StatusCode::OK, TEXT, "6"),
        PollOutcome::Over => BadRequest::Request.response(),
    }
}

/// A poll in progress; it also ends when the client disconnects.
struct PollGuard<'a, D: Send + Sync + 'static>(&'a Socket<D>);

impl<D: Send + Sync + 'static> Drop for PollGuard<'_, D> {
    fn drop(&mut self) {
        self.0.send_queue().end_poll();
    }
}

/// A post in progress; it also ends when the client disconnects.
struct PostGuard<'a, D: Send + Sync + 'static>(&'a Socket<D>);

impl<D: Send + Sync + 'static> Drop for PostGuard<'_, D> {
    fn drop(&mut self) {
        self.0.release(0);
        self.0.send_queue().end_post();
    }
}

/// Handles the packets that a client posts.
pub(crate) async fn post<H, B>(engine: &Engine<H>, socket: &Arc<Socket<H::Data>>, body: B) -> Response<ResponseBody>
where
    H: Handler,
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let begun = socket.send_queue().begin_post();
    if begun.is_err() {
        if !socket.send_queue().is_websocket() {
            socket.close(CloseReason::Protocol);
        }
        return BadRequest::Request.response();
    }
    let post = PostGuard(socket);
    let payload = match read(socket, body).await {
        Ok(payload) => payload,
        Err(reason) => {
            socket.close(reason);
            let status =
                if reason == CloseReason::TooLarge { StatusCode::PAYLOAD_TOO_LARGE } else { StatusCode::BAD_REQUEST };
            return respond(status, TEXT, reason.to_string());
        }
    };
    let work = || batch::run(|| take(engine, socket, &payload));
    let (outcome, mut slow) = engine.large_work.run(payload.len(), work);
    if let Err(reason) = outcome {
        socket.close(reason);
        // Closing the session is no error.
        return if reason == CloseReason::Left {
            respond(StatusCode::OK, TEXT, "ok")
        } else {
            BadRequest::Request.response()
        };
    }
    let mut taken_in = pin!(poll_fn(|cx| {
        slow.retain(|socket| !socket.is_short(cx.waker()));
        if slow.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    }));
    while timeout(engine.config.ping_timeout / 2, &mut taken_in).await.is_err() {
        // The client cannot answer a ping while the engine makes it wait.
        socket.heard();
    }
    drop(post);
    respond(StatusCode::OK, TEXT, "ok")
}

/// Reads a body up to the limit, as long as the client keeps sending.
async fn read<D, B>(socket: &Socket<D>, body: B) -> Result<Bytes, CloseReason>
where
    D: Send + Sync + 'static,
    B: Body<Data = Bytes>,
{
    let mut body = pin!(body);
    // Attachments travel as base64, and several packets in one body.
    let max_body = if socket.is_admitted() { socket.max_message().saturating_mul(4) } else { socket.max_message() };
    let mut payload = BytesMut::new();
    let mut clock = MessageClock::new(Instant::now(), socket.fair_time());
    loop {
        while timeout(socket.fair_time() / 4, poll_fn(|cx| socket.poll_reserve(payload.len() + PIECE, cx)))
            .await
            .is_err()
        {
            // The client cannot answer a ping while the engine makes it wait.
            socket.heard();
            clock.pause(true, Instant::now());
        }
        clock.pause(false, Instant::now());
        let piece = match timeout(NEXT_PIECE, body.frame()).await {
            Ok(None) => return Ok(payload.freeze()),
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(Some(Err(_))) => return Err(CloseReason::Broken),
            Err(_) => return Err(CloseReason::Silent),
        };
        // The session may have ended in the meantime, for example because the client sent too slowly.
        if socket.is_closed() {
            return Err(CloseReason::Broken);
        }
        if payload.len() + piece.len() > max_body {
            return Err(CloseReason::TooLarge);
        }
        if clock.is_over(Instant::now(), payload.len(), socket.is_memory_awaited()) {
            return Err(CloseReason::Stalled);
        }
        socket.moved(piece.len() as u64);
        payload.extend_from_slice(&piece);
        socket.release(payload.len());
    }
}

fn take<H: Handler>(engine: &Engine<H>, socket: &Arc<Socket<H::Data>>, payload: &Bytes) -> Result<(), CloseReason> {
    for packet in packet::decode_payload(payload) {
        if socket.is_closed() {
            return Ok(());
        }
        socket.heard();
        match packet {
            Ok(ClientPacket::Text(text)) => engine.handler.text(socket, text),
            Ok(ClientPacket::Binary(data)) => engine.handler.binary(socket, data),
            Ok(ClientPacket::Pong) => {}
            Ok(ClientPacket::Close) => return Err(CloseReason::Left),
            Ok(ClientPacket::Probe | ClientPacket::Upgrade) => return Err(CloseReason::Protocol),
            Err(problem) => {
                tracing::debug!(%problem, "not a packet");
                return Err(CloseReason::Protocol);
            }
        }
    }
    Ok(())
}
