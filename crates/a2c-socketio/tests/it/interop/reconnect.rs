//! A server that goes away and comes back.

use std::time::Duration;

use a2c_socketio::{CallError, Closed, DisconnectReason, EmitError, Incoming, Payload, Reconnect, SocketConnectError};
use serde_json::json;

use super::peers::{Case, PATIENCE, connect, event, everywhere, next};

everywhere!(
    a_restarted_server_is_found_again,
    without_a_policy_the_end_is_the_end,
    attempts_come_to_an_end,
    a_refusal_while_reconnecting_is_final,
);

const EAGER: Reconnect =
    Reconnect { min: Duration::from_millis(20), max: Duration::from_millis(200), factor: 2.0, max_attempts: None };

async fn a_restarted_server_is_found_again(case: Case) {
    let mut peer = case.server.start(&json!({}));
    let port: u16 = peer.address().parse().unwrap();
    let options = case.options_at(peer.address()).reconnect(EAGER);
    let ((client, mut inbox), _) = connect(options).await;
    let first_sid = client.sid();

    // A question that is still open when its link dies, and a call that waits for an answer.
    let asked = client.call("ask", Payload::json("?").unwrap(), PATIENCE);
    let stopping = async {
        let ack = event(&mut inbox, "question").await.ack.unwrap();
        peer.kill();
        ack
    };
    let (lost, ack) = tokio::join!(asked, stopping);
    assert_eq!(lost.unwrap_err(), CallError::Disconnected);
    match next(&mut inbox).await {
        Incoming::Disconnected(reason) => {
            assert!(!matches!(reason, DisconnectReason::ClosedByUs), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    let emitted = client.emit("echo", Payload::empty()).await;
    assert_eq!(emitted, Err(EmitError::NotConnected));

    let _peer = case.server.start(&json!({ "port": port }));
    match next(&mut inbox).await {
        Incoming::Connected { sid, reconnected } => {
            assert!(reconnected);
            assert_ne!(Some(&sid), first_sid.as_ref());
            assert_eq!(client.sid(), Some(sid));
        }
        other => panic!("{other:?}"),
    }
    event(&mut inbox, "hello").await;
    let stale = ack.send(Payload::json("too late").unwrap()).await;
    assert_eq!(stale, Err(EmitError::NotConnected));
    let answer = client.call("two", Payload::empty(), PATIENCE).await;
    assert_eq!(answer.unwrap().len(), 2);
}

async fn without_a_policy_the_end_is_the_end(case: Case) {
    let mut peer = case.server.start(&json!({}));
    let options = case.options_at(peer.address()).reconnect(None);
    let ((client, mut inbox), _) = connect(options).await;
    peer.kill();
    assert!(matches!(next(&mut inbox).await, Incoming::Disconnected(_)));
    assert!(matches!(next(&mut inbox).await, Incoming::Closed(Closed::NoReconnect)));
    client.closed().await;
}

async fn attempts_come_to_an_end(case: Case) {
    let mut peer = case.server.start(&json!({}));
    let policy = Reconnect { max_attempts: Some(3), ..EAGER };
    let options = case.options_at(peer.address()).reconnect(policy);
    let ((_client, mut inbox), _) = connect(options).await;
    peer.kill();
    assert!(matches!(next(&mut inbox).await, Incoming::Disconnected(_)));
    match next(&mut inbox).await {
        Incoming::Closed(Closed::GaveUp { attempts, last }) => {
            assert_eq!(attempts, 3);
            assert!(matches!(last, SocketConnectError::Transport(_)), "{last:?}");
        }
        other => panic!("{other:?}"),
    }
    assert!(inbox.recv().await.is_none());
}

async fn a_refusal_while_reconnecting_is_final(case: Case) {
    let mut peer = case.server.start(&json!({}));
    let port: u16 = peer.address().parse().unwrap();
    let options = case.options_at(peer.address()).reconnect(EAGER);
    let ((_client, mut inbox), _) = connect(options).await;
    peer.kill();
    assert!(matches!(next(&mut inbox).await, Incoming::Disconnected(_)));
    // The same port, where the path is no longer served: HTTP 404, or 403 from a websocket.
    let _peer = case.server.start(&json!({"port": port, "path": "/moved"}));
    match next(&mut inbox).await {
        Incoming::Closed(Closed::Refused(SocketConnectError::Http(refusal))) => {
            assert!(refusal.status.is_client_error(), "{refusal}");
        }
        other => panic!("{other:?}"),
    }
}
