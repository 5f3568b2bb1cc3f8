//! Heartbeats: which clients are dead, and which are only slow.

use std::time::Duration;

use a2c_engineio::{CloseReason, Config, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use crate::support::{Polling, RawWebsocket, Server, answer, config, frame, within};

const BEAT: Duration = Duration::from_millis(250);

async fn server_with_short_timeouts() -> Server {
    Server::with(Config { ping_interval: BEAT, ping_timeout: 4 * BEAT, unadmitted_timeout: 4 * BEAT, ..config() }).await
}

#[tokio::test]
async fn a_silent_client_is_disconnected() {
    let server = server_with_short_timeouts().await;
    let mut wire = RawWebsocket::open(&server).await;
    wire.echoes("admitted").await;
    let mut polling = Polling::open(&server).await;
    polling.echoes("admitted").await;
    assert_eq!(server.closed(2).await, [CloseReason::Silent; 2]);
    assert_eq!(wire.next().await.unwrap().to_text().unwrap(), "2", "it was asked");
    server.until_empty().await;
}

#[tokio::test]
async fn a_client_that_answers_stays() {
    let server = server_with_short_timeouts().await;
    let mut wire = RawWebsocket::open(&server).await;
    wire.echoes("admitted").await;
    for _ in 0..4 {
        assert_eq!(wire.next().await.unwrap().to_text().unwrap(), "2");
        wire.send("3").await;
    }
    let mut polling = Polling::open(&server).await;
    polling.echoes("admitted").await;
    for _ in 0..4 {
        tokio::select! {
            polled = polling.poll() => assert_eq!(polled, (200, "2".into())),
            text = wire.text() => panic!("{text}"),
        }
        assert_eq!(polling.post("3").await, 200);
    }
    wire.echoes("still there").await;
}

/// In the middle of a large message a client cannot answer: its growth counts as the answer.
#[tokio::test]
async fn a_large_message_that_comes_slowly() {
    let server = server_with_short_timeouts().await;
    let mut wire = RawWebsocket::open(&server).await;
    wire.echoes("admitted").await;
    let text = "x".repeat(1 << 20);
    let message = frame(OpCode::Data(Data::Text), format!("4echo {text}").as_bytes(), true);
    for piece in message.chunks(1 << 15) {
        tokio::time::sleep(BEAT / 2).await;
        wire.raw(piece).await.unwrap();
    }
    assert!(wire.text().await == format!("4{text}"));
}

#[tokio::test]
async fn a_large_post_that_comes_slowly() {
    let server = server_with_short_timeouts().await;
    let mut polling = Polling::open(&server).await;
    polling.echoes("admitted").await;
    let text = "x".repeat(1 << 20);
    let mut up = server.connect().await;
    let head =
        format!("POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n4echo ", polling.target, text.len() + 6);
    up.write_all(head.as_bytes()).await.unwrap();
    for piece in text.as_bytes().chunks(1 << 15) {
        tokio::time::sleep(BEAT / 2).await;
        up.write_all(piece).await.unwrap();
    }
    assert_eq!(answer(&mut up).await, Some((200, "ok".into())));
    assert!(polling.packet().await == format!("4{text}"));
}

/// Nor is there a ping to answer in the middle of a large answer to a poll.
#[tokio::test]
async fn a_large_poll_that_is_read_slowly() {
    let server = server_with_short_timeouts().await;
    let mut polling = Polling::open(&server).await;
    assert_eq!(polling.post("4big 4000000").await, 200);
    let (mut near, far) = tokio::io::duplex(16 << 10);
    server.serve(Stream::other(far));
    near.write_all(format!("GET {} HTTP/1.1\r\nhost: x\r\n\r\n", polling.target).as_bytes()).await.unwrap();
    let mut piece = vec![0; 256 << 10];
    let mut left = 4_000_000;
    while left > 0 {
        tokio::time::sleep(BEAT).await;
        let wanted = left.min(piece.len());
        within("the rest", near.read_exact(&mut piece[..wanted])).await.unwrap();
        left -= wanted;
    }
    polling.echoes("still there").await;
}

/// A frame or a body that comes byte by byte is no sign of life.
#[tokio::test]
async fn a_trickle_is_cut() {
    let server = server_with_short_timeouts().await;
    let mut wire = RawWebsocket::open(&server).await;
    wire.echoes("admitted").await;
    let polling = Polling::open(&server).await;
    let mut up = server.connect().await;
    let head = format!("POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: 900\r\n\r\n4", polling.target);
    up.write_all(head.as_bytes()).await.unwrap();
    let message = frame(OpCode::Data(Data::Text), &[b'4'; 900], true);
    let cut = within("the end of the trickle", async {
        for byte in message {
            let cut = (wire.raw(&[byte]).await.is_err(), up.write_all(b"x").await.is_err());
            if cut == (true, true) {
                return true;
            }
            tokio::time::sleep(BEAT / 8).await;
        }
        false
    });
    assert!(cut.await);
    assert_eq!(server.closed(2).await.len(), 2);
}

/// Who is not admitted has to go in time, whatever it says, and however much.
#[tokio::test]
async fn an_unadmitted_client_that_never_stops_sending() {
    let server = server_with_short_timeouts().await;
    let mut wire = RawWebsocket::open(&server).await;
    let chatter = frame(OpCode::Data(Data::Text), b"3", true).repeat(5000);
    within("the end", async { while wire.raw(&chatter).await.is_ok() {} }).await;
    assert_eq!(server.closed(1).await, [CloseReason::NotAdmitted]);

    let mut quiet = RawWebsocket::open(&server).await;
    while quiet.try_text().await.is_some() {}
    let mut polling = Polling::open(&server).await;
    while polling.post("3").await == 200 {}
    assert_eq!(server.closed(3).await, [CloseReason::NotAdmitted; 3]);
}

/// Little waits for an unadmitted client: it must not make the engine hold memory.
#[tokio::test]
async fn an_unadmitted_client_that_does_not_read() {
    let server = Server::start().await;
    let mut wire = RawWebsocket::open(&server).await;
    // Nothing admits it but what it says; a ping of the websocket says nothing.
    let pings = frame(OpCode::Control(Control::Ping), &[1; 125], true).repeat(8000);
    for _ in 0..50 {
        within("the pings to be taken", wire.raw(&pings)).await.unwrap();
    }
    wire.vanish();
    assert_eq!(server.until_empty().await.len(), 1);
}
