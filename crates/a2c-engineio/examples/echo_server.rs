//! An Engine.IO server on a free port that sends every text back, and a websocket client that talks to it.
//!
//! `cargo run -p a2c-engineio --example echo_server`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use a2c_engineio::{CloseReason, Config, Engine, Handler, MemoryPool, OutgoingMessage, Socket, Stream, Text};
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;

struct Echo;

impl Handler for Echo {
    type Data = ();

    fn opened(&self, _: &http::request::Parts) {}

    fn text(&self, socket: &Arc<Socket<()>>, text: Text) {
        // A client that is never admitted may send little and is disconnected soon.
        socket.admit(1 << 20);
        socket.send(OutgoingMessage::text(text));
    }

    fn binary(&self, _: &Arc<Socket<()>>, _: Bytes) {}

    fn closed(&self, _: &Arc<Socket<()>>, reason: CloseReason) {
        println!("the session ended: {reason}");
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::new(
        Echo,
        Config {
            ping_interval: Duration::from_secs(25),
            ping_timeout: Duration::from_secs(20),
            max_payload: 1 << 20,
            unadmitted_max_message: 1 << 10,
            unadmitted_timeout: Duration::from_secs(10),
            max_backlog: 1 << 20,
            fair_time: Duration::from_secs(20),
            memory: MemoryPool::new(64 << 20),
        },
    );
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = engine.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let engine = server.clone();
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let engine = engine.clone();
                    async move { Ok::<_, Infallible>(engine.handle(request).await) }
                });
                let io = TokioIo::new(Stream::Tcp(stream));
                let _ = http1::Builder::new().serve_connection(io, service).with_upgrades().await;
            });
        }
    });

    let url = format!("ws://{address}/engine.io/?EIO=4&transport=websocket");
    let (mut socket, _) = tokio_tungstenite::client_async(url, TcpStream::connect(address).await?).await?;
    // The first packet is the handshake; `4` is a message.
    println!("handshake: {}", socket.next().await.ok_or("no handshake")??);
    socket.send(Message::text("4hello")).await?;
    println!("echo: {}", socket.next().await.ok_or("no echo")??);
    socket.send(Message::text("1")).await?;
    while let Some(Ok(_)) = socket.next().await {}
    engine.close().await;
    Ok(())
}
