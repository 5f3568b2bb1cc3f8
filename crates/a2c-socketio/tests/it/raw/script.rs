//! Servers that do what a test says, byte by byte.

use std::future::Future;

use a2c_socketio::{Inbox, Incoming, Options, Transport};
pub(crate) use a2c_testbed::PATIENCE;
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// An ordinary handshake.
pub(crate) const OPEN: &str =
    r#"0{"sid":"e","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":100000000}"#;

pub(crate) async fn listen() -> (TcpListener, Options) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let options = Options::new(url).transport(Transport::Websocket).reconnect(None);
    (listener, options)
}

/// A server for one websocket, which `script` gets once the namespace is connected.
pub(crate) async fn websocket<F>(script: impl FnOnce(Socket) -> F + Send + 'static) -> Options
where
    F: Future<Output = ()> + Send,
{
    let (listener, options) = listen().await;
    tokio::spawn(async move {
        let mut socket = Socket::accept(&listener).await;
        socket.greet(OPEN).await;
        script(socket).await;
    });
    options
}

pub(crate) struct Socket(pub(crate) WebSocketStream<TcpStream>);

impl Socket {
    pub(crate) async fn accept(listener: &TcpListener) -> Self {
        let (stream, _) = listener.accept().await.unwrap();
        Socket(tokio_tungstenite::accept_async(stream).await.unwrap())
    }

    /// Both handshakes, as a good server does them.
    pub(crate) async fn greet(&mut self, open: &str) {
        self.send(open).await;
        assert_eq!(self.text().await, "40");
        self.send(r#"40{"sid":"s"}"#).await;
    }

    pub(crate) async fn send(&mut self, text: impl Into<String>) {
        self.0.send(Message::text(text.into())).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Option<Message> {
        let next = tokio::time::timeout(PATIENCE, self.0.next()).await;
        next.expect("the client is silent").and_then(Result::ok)
    }

    pub(crate) async fn text(&mut self) -> String {
        match self.next().await {
            Some(Message::Text(text)) => text.as_str().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    /// Reads until the client is gone.
    pub(crate) async fn drain(&mut self) {
        while self.next().await.is_some() {}
    }
}

/// A server that answers one HTTP request after the other with these bytes, each on a connection
/// of its own.
pub(crate) async fn http(answers: Vec<Vec<u8>>) -> Options {
    let (listener, options) = listen().await;
    tokio::spawn(async move {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_head(&mut stream).await;
            // The client may have heard enough before the end.
            let _ = stream.write_all(&answer).await;
            let _ = stream.shutdown().await;
        }
    });
    options.transport(Transport::Polling)
}

pub(crate) async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

/// An HTTP answer without a length: it ends with the connection.
pub(crate) fn answer(status: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n").into_bytes();
    bytes.extend_from_slice(body.as_ref());
    bytes
}

pub(crate) async fn next(inbox: &mut Inbox) -> Incoming {
    let next = tokio::time::timeout(PATIENCE, inbox.recv()).await;
    next.expect("nothing arrived").expect("the inbox has ended")
}
