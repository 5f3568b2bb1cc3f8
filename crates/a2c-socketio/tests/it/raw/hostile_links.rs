//! A link that was good until the server sent something it must not. The link ends with a reason
//! that names it; nothing panics and nothing grows.

use std::time::Duration;

use a2c_socketio::{CallError, Client, Closed, DisconnectReason, Incoming, Payload};
use futures_util::SinkExt;
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::script::{OPEN, PATIENCE, Socket, answer, http, listen, next, websocket};

/// What a server sends.
#[derive(Clone)]
enum Send {
    Text(String),
    Binary(Vec<u8>),
    /// Bytes that bypass the websocket framing.
    Wire(Vec<u8>),
    Close(u16, &'static str),
    HangUp,
}

fn text(text: &str) -> Send {
    Send::Text(text.into())
}

#[tokio::test]
async fn a_broken_rule_ends_the_link_with_its_name() {
    let table: Vec<(Vec<Send>, &str)> = vec![
        (vec![text("")], "an empty frame"),
        (vec![text("9")], "unknown frame type '9'"),
        (vec![text("é")], "unknown frame type 'é'"),
        (vec![text("4")], "an empty packet"),
        (vec![text("49")], "unknown packet type '9'"),
        (vec![text("42{}")], "not a JSON array starting with a name"),
        (vec![text("42[]")], "not a JSON array starting with a name"),
        (vec![text(r#"42["e","#)], "not a JSON array starting with a name"),
        (vec![text("43[]")], "an acknowledgement without a number"),
        (vec![text("430x")], "an acknowledgement that is not a JSON array"),
        (vec![text("4399999999999999999999999[]")], "an acknowledgement number that is too large"),
        (vec![text("45-[]")], "without a readable number of attachments"),
        (vec![text(OPEN)], "a handshake packet on a link that is already open"),
        (vec![text("5")], "a handshake packet on a link that is already open"),
        (vec![text(r#"40{"sid":"t"}"#)], "connected a second time"),
        (vec![Send::Binary(vec![1])], "a binary frame that no packet announced"),
        (vec![text(r#"451-["e"]"#), text(r#"42["e"]"#)], "before the attachments"),
        (vec![text(r#"4565-["e"]"#)], "a number of attachments above the limit of 64"),
        (vec![text(&format!("4{}", "2".repeat(2000)))], "a message with a size above the limit of 1000"),
        (
            vec![text(r#"452-["e"]"#), Send::Binary(vec![0; 600]), Send::Binary(vec![0; 600])],
            "attachments with a total size above the limit of 1000",
        ),
        (vec![Send::Wire(vec![0x81, 0x02, 0xff, 0xfe])], "not UTF-8"),
        (vec![Send::Wire(vec![0xff; 64])], "the server broke the protocol"),
        // A frame that claims 2^62 bytes.
        (vec![Send::Wire(vec![0x82, 0x7f, 0x40, 0, 0, 0, 0, 0, 0, 0])], "above the limit of 1000"),
        (vec![Send::Close(1013, "later")], "the server closed the link (1013 later)"),
        (vec![text("1")], "the server closed the link"),
        (vec![Send::HangUp], "the network failed"),
    ];
    for (index, (sends, expected)) in table.into_iter().enumerate() {
        let options = websocket(|mut socket| async move {
            for send in sends {
                match send {
                    Send::Text(text) => socket.send(text).await,
                    Send::Binary(bytes) => socket.0.send(Message::binary(bytes)).await.unwrap(),
                    Send::Wire(bytes) => socket.0.get_mut().write_all(&bytes).await.unwrap(),
                    Send::Close(code, reason) => {
                        let frame = CloseFrame { code: CloseCode::from(code), reason: reason.into() };
                        socket.0.close(Some(frame)).await.unwrap();
                    }
                    Send::HangUp => return,
                }
            }
            socket.drain().await;
        })
        .await
        .max_message(1000);
        let (client, mut inbox) = Client::connect(options).await.unwrap();
        assert!(matches!(next(&mut inbox).await, Incoming::Connected { .. }));
        match next(&mut inbox).await {
            Incoming::Disconnected(reason) => {
                let reason = reason.to_string();
                assert!(reason.contains(expected), "case {index}: {reason}, not {expected}");
            }
            other => panic!("case {index}, {expected}: {other:?}"),
        }
        assert!(matches!(next(&mut inbox).await, Incoming::Closed(Closed::NoReconnect)));
        let called = client.call("e", Payload::empty(), PATIENCE).await;
        assert_eq!(called.unwrap_err(), CallError::NotConnected);
    }
}

#[tokio::test]
async fn a_flood_of_events_ends_the_link_instead_of_filling_memory() {
    let options = websocket(|mut socket| async move {
        for _ in 0..11 {
            socket.send(r#"42["e"]"#).await;
        }
        socket.drain().await;
    })
    .await
    .inbox_capacity(10);
    let (client, mut inbox) = Client::connect(options).await.unwrap();
    client.closed().await;
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { .. }));
    for _ in 0..10 {
        assert!(matches!(next(&mut inbox).await, Incoming::Event(_)));
    }
    assert!(matches!(next(&mut inbox).await, Incoming::Disconnected(DisconnectReason::InboxOverflow { limit: 10 })));
}

#[tokio::test]
async fn an_answer_does_not_wait_behind_events() {
    let options = websocket(|mut socket| async move {
        assert_eq!(socket.text().await, r#"420["ask"]"#);
        for _ in 0..10 {
            socket.send(r#"42["e"]"#).await;
        }
        socket.send(r#"430["answer"]"#).await;
        socket.drain().await;
    })
    .await
    .inbox_capacity(10);
    // The inbox is full and not read.
    let (client, _inbox) = Client::connect(options).await.unwrap();
    let answer = client.call("ask", Payload::empty(), PATIENCE).await;
    assert_eq!(answer.unwrap().get::<String>(0).unwrap(), "answer");
}

#[tokio::test]
async fn silence_ends_the_link() {
    let (listener, options) = listen().await;
    let server = tokio::spawn(async move {
        let mut socket = Socket::accept(&listener).await;
        socket.greet(r#"0{"sid":"e","pingInterval":1000,"pingTimeout":1000}"#).await;
        // Heard for longer than the limit while the server pings...
        for _ in 0..9 {
            socket.send("2").await;
            assert_eq!(socket.text().await, "3");
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        // ...and given up when it no longer does.
        socket.drain().await;
    });
    let (_client, mut inbox) = Client::connect(options).await.unwrap();
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { .. }));
    let limit = Duration::from_secs(2);
    match next(&mut inbox).await {
        Incoming::Disconnected(DisconnectReason::Silence(silence)) => assert_eq!(silence, limit),
        other => panic!("{other:?}"),
    }
    server.await.unwrap();
}

#[tokio::test]
async fn a_polling_link_has_the_same_limits() {
    let connected = answer("200 OK", r#"40{"sid":"s"}"#);
    let table = [
        (answer("200 OK", "\u{1e}"), "an empty frame"),
        (answer("200 OK", "6\u{1e}6\u{1e}x"), "unknown frame type 'x'"),
        (answer("200 OK", "b!"), "a binary frame that is not base64"),
        (answer("200 OK", [0xff]), "a polling body that is not UTF-8"),
        (answer("200 OK", "6".repeat(3000)), "a polling body with a size above the limit of 2000"),
        (answer("400 Bad Request", r#"{"code":1}"#), r#"HTTP 400 Bad Request: {"code":1}"#),
        (answer("302 Found", ""), "HTTP 302 Found"),
        (b"nonsense".to_vec(), "the network failed"),
        (Vec::new(), "the network failed"),
    ];
    for (last, expected) in table {
        let answers = vec![answer("200 OK", OPEN), answer("200 OK", "ok"), connected.clone(), last];
        let options = http(answers).await.max_message(1000);
        let (_client, mut inbox) = Client::connect(options).await.unwrap();
        assert!(matches!(next(&mut inbox).await, Incoming::Connected { .. }));
        match next(&mut inbox).await {
            Incoming::Disconnected(reason) => {
                let reason = reason.to_string();
                assert!(reason.contains(expected), "{reason}, not {expected}");
            }
            other => panic!("{expected}: {other:?}"),
        }
    }
}
