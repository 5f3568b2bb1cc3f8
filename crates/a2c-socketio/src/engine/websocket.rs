//! The websocket transport: one frame per packet, many packets per flush.

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{FutureExt, SinkExt, StreamExt};
use reqwest::Upgraded;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::packet::EngineFrame;
use crate::error::DisconnectReason;

type Stream = WebSocketStream<Upgraded>;

pub(crate) struct WebsocketReader {
    stream: SplitStream<Stream>,
}

pub(crate) struct WebsocketWriter {
    sink: SplitSink<Stream, Message>,
}

pub(crate) async fn open(upgraded: Upgraded, max_message: usize) -> (WebsocketReader, WebsocketWriter) {
    let config = WebSocketConfig::default().max_message_size(Some(max_message)).max_frame_size(Some(max_message));
    let socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await;
    let (sink, stream) = socket.split();
    (WebsocketReader { stream }, WebsocketWriter { sink })
}

impl WebsocketReader {
    pub(crate) async fn next(&mut self) -> Result<EngineFrame, DisconnectReason> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => return Ok(EngineFrame::Text(text)),
                Some(Ok(Message::Binary(bytes))) => return Ok(EngineFrame::Binary(bytes)),
                Some(Ok(Message::Close(frame))) => {
                    // One more look lets the answering close frame out.
                    let _ = self.stream.next().now_or_never();
                    let detail = frame.map(|frame| format!("{} {}", frame.code, frame.reason));
                    return Err(DisconnectReason::ServerClosed(detail.map(|detail| detail.trim_end().to_owned())));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Err(error)) => return Err(reason(error)),
                None => return Err(DisconnectReason::ServerClosed(None)),
            }
        }
    }
}

impl WebsocketWriter {
    /// Hands a frame to the socket's buffer.
    pub(crate) async fn feed(&mut self, frame: EngineFrame) -> Result<(), DisconnectReason> {
        let message = match frame {
            EngineFrame::Text(text) => Message::Text(text),
            EngineFrame::Binary(bytes) => Message::Binary(bytes),
        };
        self.sink.feed(message).await.map_err(reason)
    }

    pub(crate) async fn flush(&mut self) -> Result<(), DisconnectReason> {
        self.sink.flush().await.map_err(reason)
    }

    pub(crate) async fn close(&mut self) -> Result<(), DisconnectReason> {
        self.sink.send(Message::Close(None)).await.map_err(reason)
    }
}

fn reason(error: Error) -> DisconnectReason {
    match error {
        Error::ConnectionClosed | Error::AlreadyClosed => DisconnectReason::ServerClosed(None),
        Error::Capacity(CapacityError::MessageTooLong { max_size, .. }) => {
            DisconnectReason::Limit { what: "a message with a size", limit: max_size }
        }
        error @ Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
            DisconnectReason::Transport(error.into())
        }
        Error::Protocol(error) => DisconnectReason::Protocol(error.to_string()),
        Error::Utf8(_) => DisconnectReason::Protocol("a text frame that is not UTF-8".into()),
        other => DisconnectReason::Transport(other.into()),
    }
}
