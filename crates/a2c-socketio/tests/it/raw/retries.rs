//! Which failures of a reconnect are tried again.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2c_socketio::{Client, Closed, FailedAttempt, Incoming, Payload, Reconnect, SocketConnectError};
use serde_json::value::to_raw_value;
use tokio::io::AsyncWriteExt;

use super::script::{OPEN, PATIENCE, Socket, answer, listen, next, read_head};

const EAGER: Reconnect =
    Reconnect { min: Duration::from_millis(5), max: Duration::from_millis(20), factor: 2.0, max_attempts: None };

#[tokio::test]
async fn passing_troubles_are_tried_again() {
    let (listener, options) = listen().await;
    tokio::spawn(async move {
        let mut first = Socket::accept(&listener).await;
        first.greet(OPEN).await;
        drop(first);
        for status in ["500 x", "503 x", "408 x", "429 x", "302 x", "200 OK"] {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_head(&mut stream).await;
            stream.write_all(&answer(status, "")).await.unwrap();
        }
        // Hangs up before, and after, the websocket.
        drop(listener.accept().await.unwrap());
        drop(Socket::accept(&listener).await);
        let mut last = Socket::accept(&listener).await;
        last.greet(OPEN).await;
        // Numbers of a new link start again.
        assert_eq!(last.text().await, r#"420["e"]"#);
        last.send("430[]").await;
        last.drain().await;
    });
    let (client, mut inbox) = Client::connect(options.reconnect(EAGER)).await.unwrap();
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { reconnected: false, .. }));
    assert!(matches!(next(&mut inbox).await, Incoming::Disconnected(_)));
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { reconnected: true, .. }));
    let called = client.call("e", Payload::empty(), PATIENCE).await;
    assert!(called.unwrap().is_empty());
}

#[tokio::test]
async fn a_refused_namespace_is_final() {
    let (listener, options) = listen().await;
    tokio::spawn(async move {
        let mut first = Socket::accept(&listener).await;
        first.greet(OPEN).await;
        drop(first);
        let mut second = Socket::accept(&listener).await;
        second.send(OPEN).await;
        assert_eq!(second.text().await, "40");
        second.send(r#"44{"message":"go away"}"#).await;
        second.drain().await;
    });
    let (client, mut inbox) = Client::connect(options.reconnect(EAGER)).await.unwrap();
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { .. }));
    assert!(matches!(next(&mut inbox).await, Incoming::Disconnected(_)));
    match next(&mut inbox).await {
        Incoming::Closed(Closed::Refused(SocketConnectError::Refused(refusal))) => {
            assert_eq!(refusal.message().as_deref(), Some("go away"));
        }
        other => panic!("{other:?}"),
    }
    client.closed().await;
}

#[tokio::test]
async fn the_owner_decides_about_refusals_and_what_is_shown_next() {
    let (listener, options) = listen().await;
    let served = tokio::spawn(async move {
        let (mut shown, mut first) = (Vec::new(), Socket::accept(&listener).await);
        first.send(OPEN).await;
        shown.push(first.text().await);
        first.send(r#"40{"sid":"s"}"#).await;
        drop(first);
        for refusal in [r#"44{"message":"later"}"#, r#"44{"message":"later"}"#, r#"44{"message":"never"}"#] {
            let mut next = Socket::accept(&listener).await;
            next.send(OPEN).await;
            shown.push(next.text().await);
            next.send(refusal).await;
            next.drain().await;
        }
        shown
    });
    let asked = AtomicU32::new(0);
    let ask = move || to_raw_value(&asked.fetch_add(1, Ordering::Relaxed)).unwrap();
    let judged = Arc::new(Mutex::new(Vec::new()));
    let log = judged.clone();
    let judge = move |failed: &FailedAttempt<'_>| {
        log.lock().unwrap().push((failed.number, failed.error.to_string()));
        failed.error.to_string().ends_with("later")
    };
    let options = options.reconnect(EAGER).auth_from(ask).retry_when(judge);
    let (client, mut inbox) = Client::connect(options).await.unwrap();
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { .. }));
    assert!(matches!(next(&mut inbox).await, Incoming::Disconnected(_)));
    assert!(matches!(next(&mut inbox).await, Incoming::Closed(Closed::Refused(SocketConnectError::Refused(_)))));
    client.closed().await;
    assert_eq!(served.await.unwrap(), ["400", "401", "402", "403"]);
    let said = |number, word| (number, format!("the server refused the namespace: {word}"));
    assert_eq!(*judged.lock().unwrap(), [said(1, "later"), said(2, "later"), said(3, "never")]);
}

#[tokio::test]
async fn a_close_ends_the_wait_for_the_next_attempt() {
    let (listener, options) = listen().await;
    let patient = Reconnect { min: Duration::from_secs(3600), max: Duration::from_secs(3600), ..EAGER };
    tokio::spawn(async move {
        Socket::accept(&listener).await.greet(OPEN).await;
    });
    let (client, mut inbox) = Client::connect(options.reconnect(patient)).await.unwrap();
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { .. }));
    assert!(matches!(next(&mut inbox).await, Incoming::Disconnected(_)));
    client.close().await;
    assert!(matches!(next(&mut inbox).await, Incoming::Closed(Closed::Requested)));
}

#[tokio::test]
async fn the_first_link_is_tried_again_where_the_options_say_so() {
    let (listener, options) = listen().await;
    tokio::spawn(async move {
        drop(listener.accept().await.unwrap());
        let (mut stream, _) = listener.accept().await.unwrap();
        read_head(&mut stream).await;
        stream.write_all(&answer("503 x", "")).await.unwrap();
        let mut last = Socket::accept(&listener).await;
        last.greet(OPEN).await;
        last.drain().await;
    });
    let failed = Arc::new(Mutex::new(Vec::new()));
    let told = failed.clone();
    let options = options.reconnect(EAGER).retry_first(true).retry_when(move |failed| {
        assert!(failed.next_in.is_some_and(|pause| pause <= EAGER.max), "{failed:?}");
        told.lock().unwrap().push((failed.number, failed.is_first_link));
        true
    });
    let (_client, mut inbox) = Client::connect(options).await.unwrap();
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { reconnected: false, .. }));
    assert_eq!(*failed.lock().unwrap(), [(1, true), (2, true)]);
}

#[tokio::test]
async fn attempts_for_the_first_link_end_as_the_owner_and_the_policy_say() {
    let (listener, options) = listen().await;
    drop(listener);
    let once = options.clone().reconnect(EAGER).retry_first(true).retry_when(|_| false);
    assert!(matches!(Client::connect(once).await, Err(SocketConnectError::Transport(_))));
    let seen = Arc::new(AtomicU32::new(0));
    let count = seen.clone();
    let policy = Reconnect { max_attempts: Some(3), ..EAGER };
    let thrice = options.reconnect(policy).retry_first(true).retry_when(move |failed| {
        assert_eq!(failed.next_in.is_none(), failed.number == 3);
        count.fetch_add(1, Ordering::Relaxed);
        true
    });
    assert!(matches!(Client::connect(thrice).await, Err(SocketConnectError::Transport(_))));
    assert_eq!(seen.load(Ordering::Relaxed), 3);
}
