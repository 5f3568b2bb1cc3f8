//! A client that speaks in frames: it may send anything, at any time, and may vanish.

use std::net::SocketAddr;

use a2c_hub::Hub;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use super::within;

/// A websocket to the hub, after the Engine.IO handshake.
pub(crate) struct RawClient {
    socket: WebSocketStream<TcpStream>,
    next_id: u64,
}

impl RawClient {
    /// Opens a session without CONNECT.
    pub(crate) async fn open(hub: &Hub) -> Self {
        let mut client = Self::upgrade(hub, "a2c_version=0.2.0").await;
        let open = client.text().await;
        assert!(open.starts_with("0{"), "{open}");
        client
    }

    /// A websocket with these words in its query, nothing read or sent yet.
    pub(crate) async fn upgrade(hub: &Hub, query: &str) -> Self {
        let url = format!("ws://{}/smcp/?EIO=4&transport=websocket&{query}", hub.address());
        let handshake = async {
            let stream = TcpStream::connect(hub.address()).await.unwrap();
            tokio_tungstenite::client_async(url, stream).await.unwrap().0
        };
        Self { socket: within("the websocket handshake", handshake).await, next_id: 0 }
    }

    /// Whether a websocket without TLS gets nowhere.
    pub(crate) async fn is_refused(hub: &Hub) -> bool {
        let url = format!("ws://{}/smcp/?EIO=4&transport=websocket&a2c_version=0.2.0", hub.address());
        let stream = TcpStream::connect(hub.address()).await.unwrap();
        within("a refusal", tokio_tungstenite::client_async(url, stream)).await.is_err()
    }

    /// Opens a session and is let in.
    pub(crate) async fn connect(hub: &Hub) -> Self {
        let mut client = Self::open(hub).await;
        client.send("40/smcp,").await;
        client.welcomed().await;
        client
    }

    /// A connected member of an office.
    pub(crate) async fn joined(hub: &Hub, role: &str, name: &str, office: &str) -> Self {
        let mut client = Self::connect(hub).await;
        let request = json!({"role": role, "name": name, "office_id": office});
        assert_eq!(client.ask("server:join_office", &request).await, "[true,null]");
        client
    }

    /// Reads the CONNECT of the hub.
    pub(crate) async fn welcomed(&mut self) {
        let welcome = self.text().await;
        assert!(welcome.starts_with("40/smcp,{\"sid\":"), "{welcome}");
    }

    /// Sends a text frame; a hub that has hung up already is fine.
    pub(crate) async fn send(&mut self, text: impl Into<String>) {
        let _ = self.socket.send(Message::text(text.into())).await;
    }

    /// Sends text frames in one write.
    pub(crate) async fn send_together(&mut self, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            self.socket.feed(Message::text(text)).await.unwrap();
        }
        self.socket.flush().await.unwrap();
    }

    /// Announces a text of this size, sends half of it, and stops.
    pub(crate) async fn send_beginning(&mut self, bytes: usize) {
        let mut frame = vec![0x81, 0xff];
        frame.extend((bytes as u64).to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(vec![b'4'; bytes / 2]);
        within("half a message", self.socket.get_mut().write_all(&frame)).await.unwrap();
    }

    /// Sends these bytes as they are, below the websocket.
    pub(crate) async fn send_raw(&mut self, bytes: &[u8]) {
        let _ = within("some bytes", self.socket.get_mut().write_all(bytes)).await;
    }

    /// Sends a binary frame.
    pub(crate) async fn send_binary(&mut self, bytes: impl Into<Bytes>) {
        let _ = self.socket.send(Message::binary(bytes)).await;
    }

    /// The next text that is no ping; pings are answered.
    pub(crate) async fn text(&mut self) -> String {
        self.try_text().await.expect("the hub hung up")
    }

    /// The same; nothing where the hub hangs up.
    pub(crate) async fn try_text(&mut self) -> Option<String> {
        loop {
            match within("a frame", self.socket.next()).await {
                Some(Ok(Message::Text(text))) if text == "2" => self.send("3").await,
                Some(Ok(Message::Text(text))) => return Some(text.to_string()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(other)) => panic!("{other:?}"),
            }
        }
    }

    /// The next binary frame.
    pub(crate) async fn binary(&mut self) -> Bytes {
        match within("a binary frame", self.socket.next()).await {
            Some(Ok(Message::Binary(bytes))) => bytes,
            other => panic!("{other:?}"),
        }
    }

    /// Reads the request that comes next and gives the id under which the hub wants its answer.
    pub(crate) async fn request_id(&mut self) -> u64 {
        let text = self.text().await;
        let rest = text.find("/smcp,").map_or("", |at| &text[at + 6..]);
        let id = rest.split('[').next().and_then(|id| id.parse().ok());
        id.unwrap_or_else(|| panic!("not a request that wants an answer: {text}"))
    }

    /// Reads until the hub hangs up.
    pub(crate) async fn hung_up(&mut self) {
        while self.try_text().await.is_some() {}
    }

    /// Reads until the hub closes the connection, which must not admit a client any more.
    pub(crate) async fn hung_up_without_welcome(&mut self) {
        while let Some(text) = self.try_text().await {
            assert!(!text.starts_with("40/smcp"), "{text}");
        }
    }

    /// Sends an event whose body is any text, asks for an acknowledgement, and gives its arguments as text.
    /// Notifications that come first are dropped.
    pub(crate) async fn ask_text(&mut self, body: &str) -> String {
        self.next_id += 1;
        let head = format!("43/smcp,{}", self.next_id);
        self.send(format!("42/smcp,{}{body}", self.next_id)).await;
        loop {
            let text = self.text().await;
            if let Some(arguments) = text.strip_prefix(&head) {
                return arguments.to_owned();
            }
            assert!(text.starts_with("42/smcp,["), "{text}");
        }
    }

    pub(crate) async fn ask(&mut self, event: &str, request: &Value) -> String {
        self.ask_text(&json!([event, request]).to_string()).await
    }

    /// Vanishes without a word, as a machine that loses its power.
    pub(crate) fn vanish(self) {
        let stream = self.socket.into_inner();
        stream.set_zero_linger().unwrap();
    }
}

/// One HTTP/1.1 exchange on a connection of its own: status line, headers in lower case, body.
pub(crate) async fn http(hub: &Hub, method: &str, target: &str, headers: &str, body: &str) -> (String, String, String) {
    http_at(hub.address(), method, target, headers, body).await
}

/// The same, where only the address is known.
pub(crate) async fn http_at(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &str,
    body: &str,
) -> (String, String, String) {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let length = body.len();
        let request =
            format!("{method} {target} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n{headers}\r\n{body}");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let text = String::from_utf8_lossy(&answer).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let (status, headers) = head.split_once("\r\n").unwrap();
                let headers = headers.to_lowercase();
                let length = headers.lines().find_map(|line| line.strip_prefix("content-length: "));
                if length.is_none_or(|n| body.len() >= n.parse().unwrap()) {
                    return (status.to_owned(), headers, body.to_owned());
                }
            }
            let n = stream.read(&mut chunk).await.unwrap();
            assert!(n > 0, "the hub hung up after {text:?}");
            answer.extend_from_slice(&chunk[..n]);
        }
    };
    within("an HTTP answer", exchange).await
}
