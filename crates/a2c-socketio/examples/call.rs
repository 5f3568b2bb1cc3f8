//! A call with an acknowledgement. The server is a few lines here: it accepts one websocket and answers every event with
//! its own arguments.
//!
//! `cargo run -p a2c-socketio --example call`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Duration;

use a2c_socketio::{Client, Incoming, Options, Payload, Transport};
use a2c_socketio_frame::{PacketFrame, PacketKind};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let server = tokio::spawn(serve(listener));

    let (client, mut inbox) = Client::connect(Options::new(url).transport(Transport::Websocket)).await?;
    if let Some(Incoming::Connected { sid, .. }) = inbox.recv().await {
        println!("connected as {sid}");
    }
    let answer = client.call("greet", Payload::json(&"hello")?, Duration::from_secs(5)).await?;
    println!("answered: {}", answer.get::<String>(1)?);
    client.close().await;
    server.await??;
    Ok(())
}

/// Speaks just enough Engine.IO and Socket.IO for one client.
async fn serve(listener: TcpListener) -> Result<(), tokio_tungstenite::tungstenite::Error> {
    let (stream, _) = listener.accept().await?;
    let mut socket = tokio_tungstenite::accept_async(stream).await?;
    socket.send(Message::text(r#"0{"sid":"e1","upgrades":[],"pingInterval":25000,"pingTimeout":20000}"#)).await?;
    while let Some(message) = socket.next().await {
        let Message::Text(text) = message? else { break };
        // `4` is a message; what follows is a Socket.IO packet.
        let Some(Ok(packet)) = text.strip_prefix('4').map(PacketFrame::parse) else { continue };
        let reply = match packet.kind {
            PacketKind::Connect => PacketFrame { body: r#"{"sid":"s1"}"#, ..packet },
            PacketKind::Event => PacketFrame { kind: PacketKind::Ack, ..packet },
            _ => break,
        };
        socket.send(Message::text(format!("4{}", reply.encode()))).await?;
    }
    Ok(())
}
