//! A session that begins as a websocket, spoken to in frames.

use a2c_engineio::CloseReason;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use crate::support::{RawWebsocket, Server, exchange, frame, within};

const TEXT: OpCode = OpCode::Data(Data::Text);
const BINARY: OpCode = OpCode::Data(Data::Binary);
const CONTINUE: OpCode = OpCode::Data(Data::Continue);

#[tokio::test]
async fn messages_in_pieces_with_pings_in_between() {
    let server = Server::start().await;
    let mut wire = RawWebsocket::open(&server).await;
    wire.echoes("hello").await;
    let text = "é".repeat(10_000);
    let message = format!("4echo {text}").into_bytes();
    // Cut in the middle of characters too.
    let pieces: Vec<_> = message.chunks(777).collect();
    for (i, piece) in pieces.iter().enumerate() {
        let opcode = if i == 0 { TEXT } else { CONTINUE };
        wire.raw(&frame(opcode, piece, i + 1 == pieces.len())).await.unwrap();
        if i + 1 == pieces.len() {
            assert!(wire.text().await == format!("4{text}"));
        }
        wire.raw(&frame(OpCode::Control(Control::Pong), b"unasked", true)).await.unwrap();
        wire.raw(&frame(OpCode::Control(Control::Ping), &[i as u8], true)).await.unwrap();
        assert_eq!(wire.next().await, Some(Message::Pong(vec![i as u8].into())));
    }

    wire.raw(&[frame(BINARY, &[1, 2], false), frame(CONTINUE, &[], false), frame(CONTINUE, &[3], true)].concat())
        .await
        .unwrap();
    assert_eq!(wire.text().await, "4blob");
    assert_eq!(wire.next().await, Some(Message::binary(vec![1, 2, 3])));
}

#[tokio::test]
async fn a_frame_that_comes_byte_by_byte() {
    let server = Server::start().await;
    let mut wire = RawWebsocket::open(&server).await;
    for byte in frame(TEXT, b"4echo slowly", true) {
        wire.raw(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(wire.text().await, "4slowly");
}

#[tokio::test]
async fn what_breaks_the_protocol_is_told_by_code() {
    let server = Server::start().await;
    let unmasked = [0x81, 0x01, b'3'];
    let reserved = [0xc1, 0x81, 0, 0, 0, 0, b'3'];
    let cases: [(&[u8], u16, CloseReason); 12] = [
        (&unmasked, 1002, CloseReason::Protocol),
        (&reserved, 1002, CloseReason::Protocol),
        (&[0x83, 0x80, 0, 0, 0, 0], 1002, CloseReason::Protocol),
        (&frame(CONTINUE, b"x", true), 1002, CloseReason::Protocol),
        (&[frame(TEXT, b"4a", false), frame(TEXT, b"4b", true)].concat(), 1002, CloseReason::Protocol),
        (&frame(OpCode::Control(Control::Ping), &[0; 126], true), 1002, CloseReason::Protocol),
        (&frame(OpCode::Control(Control::Ping), b"", false), 1002, CloseReason::Protocol),
        (&frame(TEXT, b"2probe", true), 1002, CloseReason::Protocol),
        (&frame(TEXT, b"4echo \xff", true), 1007, CloseReason::Protocol),
        (&frame(TEXT, b"", true), 1007, CloseReason::Protocol),
        (&frame(TEXT, &[b'4'; 1001], true), 1009, CloseReason::TooLarge),
        (
            &[frame(TEXT, &[b'4'; 600], false), frame(CONTINUE, &[b'4'; 600], true)].concat(),
            1009,
            CloseReason::TooLarge,
        ),
    ];
    for (i, (bytes, code, reason)) in cases.iter().enumerate() {
        let mut wire = RawWebsocket::open(&server).await;
        wire.raw(bytes).await.unwrap();
        assert_eq!(wire.close_code().await, Some(*code), "case {i}");
        drop(wire);
        assert_eq!(server.closed(i + 1).await.last(), Some(reason), "case {i}");
    }
    server.until_empty().await;
}

/// The goodbye has to arrive although the client is still sending: a connection that is dropped with bytes unread is
/// reset, which takes the goodbye with it.
#[tokio::test]
async fn a_client_in_the_middle_of_something_too_large_learns_why() {
    let server = Server::start().await;
    for _ in 0..10 {
        let mut wire = RawWebsocket::open(&server).await;
        wire.echoes("admitted").await;
        let _ = wire.raw(&frame(TEXT, &vec![b'4'; 6 << 20], true)).await;
        assert_eq!(wire.close_code().await, Some(1009));
    }
    server.until_empty().await;
}

#[tokio::test]
async fn either_side_may_close() {
    let server = Server::start().await;
    let mut polite = RawWebsocket::open(&server).await;
    polite.send_message(Message::Close(None)).await;
    assert_eq!(polite.close_code().await, Some(1000));
    let mut engine_io = RawWebsocket::open(&server).await;
    engine_io.send("1").await;
    assert_eq!(engine_io.close_code().await, Some(1000));
    assert_eq!(server.closed(2).await, [CloseReason::Left; 2]);

    let mut dismissed = RawWebsocket::open(&server).await;
    dismissed.send_together(["4echo last words".into(), "4bye".into(), "4echo unheard".into()]).await;
    assert_eq!(dismissed.text().await, "4last words");
    assert_eq!(dismissed.text().await, "1");
    assert_eq!(dismissed.close_code().await, Some(1000));
    let gone = RawWebsocket::open(&server).await;
    gone.vanish();
    assert_eq!(server.closed(4).await[2..], [CloseReason::Dismissed, CloseReason::Broken]);
}

/// What comes in the same segment as the handshake is not lost.
#[tokio::test]
async fn frames_right_behind_the_handshake() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    let handshake = "GET /engine.io/?EIO=4&transport=websocket HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(&[handshake.as_bytes(), &frame(TEXT, b"4echo early", true)].concat()).await.unwrap();
    let mut got = Vec::new();
    while !got.ends_with(b"\x81\x064early") {
        let n = within("an echo", stream.read_buf(&mut got)).await.unwrap();
        assert!(n > 0, "{:?}", String::from_utf8_lossy(&got));
    }
}

#[tokio::test]
async fn requests_that_are_no_websocket() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    let target = "/engine.io/?EIO=4&transport=websocket";
    for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS"] {
        assert_eq!(exchange(&mut stream, method, target, "").await.0, 400, "{method}");
    }
    assert_eq!(server.engine.sessions(), 0);
}

/// The websocket's own pings may come faster than they are taken: they are not kept without bound, nor answered out of
/// order where they are answered.
#[tokio::test]
async fn a_flood_of_pings_from_a_client_that_does_not_read() {
    let server = Server::start().await;
    let mut wire = RawWebsocket::open(&server).await;
    let ping = frame(OpCode::Control(Control::Ping), &[7; 125], true);
    let flood = ping.repeat(1000);
    // Far more than all buffers between here and there hold; it takes them because it answers only so many.
    for _ in 0..400 {
        within("the flood to be taken", wire.raw(&flood)).await.unwrap();
    }
    wire.raw(&frame(TEXT, b"4echo still there", true)).await.unwrap();
    let mut pongs = 0;
    loop {
        match wire.next().await.unwrap() {
            Message::Pong(payload) => {
                assert_eq!(payload, vec![7; 125]);
                pongs += 1;
            }
            Message::Text(text) if text == "4still there" => break,
            Message::Text(text) if text == "2" => {}
            other => panic!("{other:?} after {pongs} pongs"),
        }
    }
    assert!((1..400_000).contains(&pongs), "{pongs}");
}

/// A handler that panics ends that session and no other, and what it had to say to others is said.
#[tokio::test]
async fn a_panic_ends_one_session() {
    let server = Server::start().await;
    let (mut other, mut wire) = (RawWebsocket::open(&server).await, RawWebsocket::open(&server).await);
    other.send("4name other").await;
    assert_eq!(other.text().await, "4named");
    wire.send_together(["4to other before".into(), "4panic".into()]).await;
    assert_eq!(other.text().await, "4from unnamed before");
    assert_eq!(wire.try_text().await, None);
    assert_eq!(server.closed(1).await, [CloseReason::Broken]);
    // Also what is sent outside of reading, on the same thread, is written.
    other.send("4stream 20").await;
    for n in 0..20 {
        assert_eq!(other.text().await, format!("4push {n}"));
    }
}
