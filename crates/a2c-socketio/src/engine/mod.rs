//! Engine.IO 4: opening a link over either transport, moving it from polling to websocket, and
//! carrying frames over it.
//!
//! The upgrade happens before anything else is sent: the link is still silent, so no frame can
//! overtake another and no poll has to be interrupted. A probe that fails leaves the link on
//! polling.

mod body;
mod endpoint;
mod http;
mod packet;
mod polling;
mod websocket;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tracing::debug;

use crate::error::{DisconnectReason, SocketConnectError};
use crate::options::{Options, Transport};
use body::ReceivedBody;
pub(crate) use body::encoded_len;
pub(crate) use http::Http;
pub(crate) use packet::{EngineFrame, EnginePacket};
use packet::{EngineFrameError, OpenHandshake};

/// How long a websocket probe may take before the link stays on polling.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// An open link.
pub(crate) struct EngineLink {
    pub(crate) reader: LinkReader,
    pub(crate) writer: LinkWriter,
    /// Silence longer than this means that the link is dead.
    pub(crate) patience: Duration,
    /// Bytes the server accepts in one frame.
    pub(crate) max_payload: usize,
    /// Whether binary frames travel as base64.
    pub(crate) base64: bool,
}

pub(crate) enum LinkReader {
    /// With what followed the handshake while the link was still on polling.
    Websocket(ReceivedBody, websocket::WebsocketReader),
    Polling(polling::PollingReader),
}

impl LinkReader {
    pub(crate) async fn next(&mut self) -> Result<EngineFrame, DisconnectReason> {
        match self {
            LinkReader::Websocket(before, reader) => match before.next() {
                Some(frame) => Ok(frame?),
                None => reader.next().await,
            },
            LinkReader::Polling(reader) => reader.next().await,
        }
    }
}

pub(crate) enum LinkWriter {
    Websocket(websocket::WebsocketWriter),
    Polling(polling::PollingWriter),
}

impl LinkWriter {
    /// Takes a frame for the next flush; may send what was taken before.
    pub(crate) async fn feed(&mut self, frame: EngineFrame) -> Result<(), DisconnectReason> {
        match self {
            LinkWriter::Websocket(writer) => writer.feed(frame).await,
            LinkWriter::Polling(writer) => writer.feed(&frame).await,
        }
    }

    pub(crate) async fn flush(&mut self) -> Result<(), DisconnectReason> {
        match self {
            LinkWriter::Websocket(writer) => writer.flush().await,
            LinkWriter::Polling(writer) => writer.flush().await,
        }
    }

    /// Flushes and tells the server that the link ends.
    pub(crate) async fn close(&mut self) -> Result<CloseProgress, DisconnectReason> {
        match self {
            LinkWriter::Websocket(writer) => writer.close().await.map(|()| CloseProgress::Sent),
            LinkWriter::Polling(writer) => writer.close().await.map(|()| CloseProgress::Confirmed),
        }
    }
}

/// How far the close of a link has come.
pub(crate) enum CloseProgress {
    /// The close is sent; the server answers by closing the link.
    Sent,
    /// The server has answered. It may keep a poll open for long after that.
    Confirmed,
}

/// Opens a link as the options say.
pub(crate) async fn open(http: &Arc<Http>, options: &Options) -> Result<EngineLink, SocketConnectError> {
    let max_message = options.limits.message;
    if options.transport == Transport::Websocket {
        let (mut reader, writer) = websocket::open(http.upgrade(None).await?, max_message).await;
        let open = handshake(&reader.next().await?)?;
        return Ok(websocket_link(ReceivedBody::nothing(), reader, writer, &open));
    }

    let mut rest = ReceivedBody::new(http.get(None).await?).map_err(DisconnectReason::from)?;
    let first = rest.next().unwrap_or(Ok(EngineFrame::Text("".into())));
    let open = handshake(&first.map_err(DisconnectReason::from)?)?;
    let offered = open.upgrades.iter().any(|name| name == "websocket");
    if options.transport == Transport::PollingThenWebsocket && offered {
        match timeout(PROBE_TIMEOUT, probe(http, &open.sid, max_message)).await {
            Ok(Ok((reader, mut writer))) => {
                writer.feed(EngineFrame::Text("5".into())).await?;
                writer.flush().await?;
                debug!("upgraded to websocket");
                return Ok(websocket_link(rest, reader, writer, &open));
            }
            Ok(Err(reason)) => debug!(%reason, "websocket probe failed, staying on polling"),
            Err(_) => debug!("websocket probe took too long, staying on polling"),
        }
    }
    let max_payload = open.max_payload.unwrap_or(usize::MAX);
    let (reader, writer) = polling::open(http.clone(), open.sid.clone(), rest, max_payload);
    Ok(EngineLink {
        reader: LinkReader::Polling(reader),
        writer: LinkWriter::Polling(writer),
        patience: patience(&open),
        max_payload,
        base64: true,
    })
}

/// A websocket on which the server has answered for the session `sid`.
async fn probe(
    http: &Http,
    sid: &str,
    max_message: usize,
) -> Result<(websocket::WebsocketReader, websocket::WebsocketWriter), DisconnectReason> {
    let (mut reader, mut writer) = websocket::open(http.upgrade(Some(sid)).await?, max_message).await;
    writer.feed(EngineFrame::Text("2probe".into())).await?;
    writer.flush().await?;
    let answer = reader.next().await?;
    match EnginePacket::decode(&answer)? {
        EnginePacket::Pong("probe") => Ok((reader, writer)),
        _ => Err(DisconnectReason::Protocol("the websocket probe was not answered with a pong".into())),
    }
}

fn websocket_link(
    before: ReceivedBody,
    reader: websocket::WebsocketReader,
    writer: websocket::WebsocketWriter,
    open: &OpenHandshake,
) -> EngineLink {
    EngineLink {
        reader: LinkReader::Websocket(before, reader),
        writer: LinkWriter::Websocket(writer),
        patience: patience(open),
        max_payload: open.max_payload.unwrap_or(usize::MAX),
        base64: false,
    }
}

fn handshake(frame: &EngineFrame) -> Result<OpenHandshake, DisconnectReason> {
    let EnginePacket::Open(json) = EnginePacket::decode(frame)? else {
        return Err(DisconnectReason::Protocol("the link did not begin with a handshake".into()));
    };
    serde_json::from_str(json).map_err(|error| DisconnectReason::Protocol(format!("an unreadable handshake: {error}")))
}

/// The silence after which a link is dead, at most a day: a larger value could not be added to an instant.
fn patience(open: &OpenHandshake) -> Duration {
    let millis = open.ping_interval.saturating_add(open.ping_timeout);
    Duration::from_millis(millis).min(Duration::from_secs(24 * 60 * 60))
}

impl From<EngineFrameError> for DisconnectReason {
    fn from(error: EngineFrameError) -> Self {
        DisconnectReason::Protocol(error.to_string())
    }
}
