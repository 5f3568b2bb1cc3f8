//! Streams that are not plain TCP: some take a few bytes at a time, some hold back what they were given until they are
//! flushed, as TLS does.

use a2c_engineio::{CloseReason, Stream};
use tokio::io::{AsyncRead, AsyncWrite, BufStream, DuplexStream};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Polling, RawWebsocket, Server, within};

/// How many bytes fit between the engine and its client.
const WIDTH: usize = 7;

fn narrow(server: &Server) -> DuplexStream {
    let (near, far) = tokio::io::duplex(WIDTH);
    server.serve(Stream::other(far));
    near
}

/// Holds back what is written until it is flushed.
fn holding_back(server: &Server) -> DuplexStream {
    let (near, far) = tokio::io::duplex(WIDTH);
    server.serve(Stream::other(BufStream::new(far)));
    near
}

async fn both_ways(server: &Server, stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut wire = RawWebsocket::over(stream, "").await;
    assert!(wire.text().await.starts_with("0{"));
    wire.echoes("hello").await;
    wire.echoes(&"x".repeat(20_000)).await;
    wire.send("4count 500").await;
    for n in 0..500 {
        assert_eq!(wire.text().await, format!("4{n}"));
    }
    // From another task, while nothing is read.
    wire.send("4stream 500").await;
    for n in 0..500 {
        assert_eq!(wire.text().await, format!("4push {n}"));
    }
    wire.send_message(Message::binary(vec![9; 5000])).await;
    assert_eq!(wire.text().await, "4blob");
    assert_eq!(wire.next().await, Some(Message::binary(vec![9; 5000])));
    wire.send("4bye").await;
    assert_eq!(wire.text().await, "1");
    assert_eq!(wire.close_code().await, Some(1000));
    drop(wire);
    assert_eq!(server.until_empty().await, [CloseReason::Dismissed]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_few_bytes_at_a_time() {
    let server = Server::start().await;
    both_ways(&server, narrow(&server)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn held_back_until_flushed() {
    let server = Server::start().await;
    both_ways(&server, holding_back(&server)).await;
}

#[tokio::test]
async fn an_upgrade_over_a_narrow_stream() {
    let server = Server::start().await;
    let mut polling = Polling::open(&server).await;
    polling.echoes("admitted").await;
    let mut wire = RawWebsocket::over(narrow(&server), &format!("&sid={}", polling.sid)).await;
    wire.send("2probe").await;
    assert_eq!(wire.text().await, "3probe");
    wire.send("5").await;
    wire.echoes("took over").await;
}

/// Two who talk to each other through eyes of a needle, from tasks of their own.
#[tokio::test(flavor = "multi_thread")]
async fn two_narrow_streams_talk() {
    let server = Server::start().await;
    let talk = async |me: &'static str, other: &'static str, stream: DuplexStream| {
        let mut wire = RawWebsocket::over(stream, "").await;
        assert!(wire.text().await.starts_with("0{"));
        wire.send(format!("4name {me}")).await;
        assert_eq!(wire.text().await, "4named");
        // The first one repeats it until the other one is there.
        let mut heard = 0;
        let mut said = 0;
        while heard < 300 {
            wire.send_together([format!("4to {other} {said}"), "4echo fence".into()]).await;
            said += 1;
            loop {
                let text = wire.text().await;
                if text == "4fence" {
                    break;
                }
                assert!(text.starts_with(&format!("4from {other} ")), "{text}");
                heard += 1;
            }
        }
    };
    let (a, b) = (narrow(&server), holding_back(&server));
    within("the conversation", async {
        tokio::select! { () = talk("a", "b", a) => {}, () = talk("b", "a", b) => {} }
    })
    .await;
}
