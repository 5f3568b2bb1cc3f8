//! What happens to packets on their way out.

use std::time::Duration;

use a2c_socketio::{CallError, Client, DisconnectReason, EmitError, Incoming, Payload};
use tokio::sync::oneshot;
use tokio_tungstenite::tungstenite::Message;

use super::script::{PATIENCE, next, websocket};

#[tokio::test]
async fn what_was_queued_is_sent_before_the_goodbye() {
    let (done, seen) = oneshot::channel();
    let options = websocket(|mut socket| async move {
        for i in 0..1000 {
            assert_eq!(socket.text().await, format!(r#"42["count",{i}]"#));
        }
        assert_eq!(socket.text().await, "41");
        assert!(matches!(socket.next().await, Some(Message::Close(None))));
        done.send(()).unwrap();
    })
    .await
    .outgoing_capacity(1000);
    let (client, _inbox) = Client::connect(options).await.unwrap();
    for i in 0..1000 {
        client.emit("count", Payload::json(&i).unwrap()).await.unwrap();
    }
    client.close().await;
    seen.await.expect("the server saw something else");
}

#[tokio::test]
async fn a_server_that_does_not_read_is_felt_but_still_heard() {
    let (full, filled) = oneshot::channel::<()>();
    let options = websocket(|mut socket| async move {
        let _ = filled.await;
        socket.send(r#"42["still","here"]"#).await;
        // Holds the link open without reading from it.
        std::future::pending::<()>().await;
    })
    .await
    .outgoing_capacity(1)
    .close_timeout(Duration::from_millis(100));
    let (client, mut inbox) = Client::connect(options).await.unwrap();
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { .. }));
    let payload = Payload::json(&"x".repeat(1 << 20)).unwrap();
    let timeout = Duration::from_millis(50);
    loop {
        match client.call("e", payload.clone(), timeout).await.unwrap_err() {
            CallError::Timeout(_) => {}
            CallError::Congested(_) => break,
            other => panic!("{other:?}"),
        }
    }
    full.send(()).unwrap();
    assert!(matches!(next(&mut inbox).await, Incoming::Event(event) if event.name == "still"));
    // The close cannot be said, and happens all the same.
    client.close().await;
    assert!(matches!(next(&mut inbox).await, Incoming::Disconnected(DisconnectReason::ClosedByUs)));
}

#[tokio::test]
async fn what_the_server_would_refuse_is_not_sent() {
    let options = websocket(|mut socket| async move {
        assert_eq!(socket.text().await, r#"421["small"]"#);
        socket.send("431[]").await;
        socket.drain().await;
    })
    .await
    .max_message(100);
    let (client, _inbox) = Client::connect(options).await.unwrap();
    let large = Payload::json(&"x".repeat(100)).unwrap();
    let emitted = client.emit("e", large.clone()).await;
    assert!(matches!(emitted, Err(EmitError::TooLarge { limit: 100, .. })));
    let called = client.call("e", large, PATIENCE).await;
    assert!(matches!(called, Err(CallError::TooLarge { limit: 100, .. })));
    // The link is as good as before.
    let small = client.call("small", Payload::empty(), PATIENCE).await;
    assert!(small.unwrap().is_empty());
}

#[tokio::test]
async fn a_forgotten_call_does_not_disturb_the_next() {
    let options = websocket(|mut socket| async move {
        assert_eq!(socket.text().await, r#"420["slow"]"#);
        assert_eq!(socket.text().await, r#"421["fast"]"#);
        socket.send(r#"430["late"]"#).await;
        socket.send(r#"431["fast"]"#).await;
        // A second answer to the same call.
        socket.send(r#"431["again"]"#).await;
        assert_eq!(socket.text().await, r#"422["last"]"#);
        socket.send(r#"432["last"]"#).await;
        socket.drain().await;
    })
    .await;
    let (client, _inbox) = Client::connect(options).await.unwrap();
    let slow = client.call("slow", Payload::empty(), PATIENCE);
    let dropped = tokio::time::timeout(Duration::from_millis(20), slow).await;
    assert!(dropped.is_err());
    for name in ["fast", "last"] {
        let answer = client.call(name, Payload::empty(), PATIENCE).await.unwrap();
        assert_eq!(answer.get::<String>(0).unwrap(), name);
    }
}
