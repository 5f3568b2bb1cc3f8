//! A websocket client that puts its frames on the wire itself, so that it can also send wrong ones.

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::OpCode;
use tokio_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};

use super::{Server, within};

/// A websocket to the engine.
pub(crate) struct RawWebsocket<S = TcpStream> {
    socket: WebSocketStream<S>,
}

impl RawWebsocket {
    /// A session of its own.
    pub(crate) async fn open(server: &Server) -> Self {
        let mut wire = Self::upgrade(server, "").await;
        let open = wire.text().await;
        assert!(open.starts_with("0{\"maxPayload\"") || open.starts_with("0{"), "{open}");
        wire
    }

    /// A websocket with these words in its query, nothing read or sent yet.
    pub(crate) async fn upgrade(server: &Server, query: &str) -> Self {
        Self::over(server.connect().await, query).await
    }

    /// Vanishes without a word, as a machine that loses its power.
    pub(crate) fn vanish(self) {
        self.socket.into_inner().set_zero_linger().unwrap();
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> RawWebsocket<S> {
    pub(crate) async fn over(stream: S, query: &str) -> Self {
        let url = format!("ws://localhost/engine.io/?EIO=4&transport=websocket{query}");
        let handshake = tokio_tungstenite::client_async(url, stream);
        Self { socket: within("the websocket handshake", handshake).await.unwrap().0 }
    }

    /// Sends a text frame; an engine that has hung up already is fine.
    pub(crate) async fn send(&mut self, text: impl Into<String>) {
        let _ = self.socket.send(Message::text(text.into())).await;
    }

    pub(crate) async fn send_message(&mut self, message: Message) {
        let _ = self.socket.send(message).await;
    }

    /// Sends frames in one write.
    pub(crate) async fn send_together(&mut self, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            self.socket.feed(Message::text(text)).await.unwrap();
        }
        self.socket.flush().await.unwrap();
    }

    /// Puts bytes on the wire.
    pub(crate) async fn raw(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.socket.get_mut().write_all(bytes).await?;
        self.socket.get_mut().flush().await
    }

    /// The next message of any kind; nothing after the end.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        within("a frame", self.socket.next()).await?.ok()
    }

    /// The next text that is no ping; pings are answered.
    pub(crate) async fn text(&mut self) -> String {
        self.try_text().await.expect("the engine hung up")
    }

    /// The same; nothing after the end.
    pub(crate) async fn try_text(&mut self) -> Option<String> {
        // As a whole: pings alone would keep it waiting for ever.
        let text = async {
            loop {
                match self.next().await? {
                    Message::Text(text) if text == "2" => self.send("3").await,
                    Message::Text(text) => return Some(text.to_string()),
                    Message::Close(_) => return None,
                    other => panic!("{other:?}"),
                }
            }
        };
        within("a text", text).await
    }

    /// Asks for something to be said, which has to come next.
    pub(crate) async fn echoes(&mut self, text: &str) {
        self.send(format!("4echo {text}")).await;
        assert_eq!(self.text().await, format!("4{text}"));
    }

    /// The code with which the engine closes the websocket; its Engine.IO goodbye may come first.
    pub(crate) async fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.next().await {
                Some(Message::Close(close)) => return close.map(|close| close.code.into()),
                Some(_) => {}
                None => return None,
            }
        }
    }
}

/// A frame as a client sends it.
pub(crate) fn frame(opcode: OpCode, payload: &[u8], is_final: bool) -> Vec<u8> {
    let header = FrameHeader { opcode, is_final, mask: Some([7, 0, 255, 42]), ..FrameHeader::default() };
    let mut bytes = Vec::new();
    Frame::from_payload(header, payload.to_vec().into()).format(&mut bytes).unwrap();
    bytes
}
