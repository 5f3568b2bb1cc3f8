//! How a connection ends, seen from both sides.

use a2c_socketio::{CallError, Client, Closed, DisconnectReason, EmitError, Incoming, Payload};
use a2c_testbed::Peer;
use serde_json::json;

use super::peers::{Case, PATIENCE, Server, connect, everywhere, next};

everywhere!(a_close_is_seen_as_one, dropping_every_handle_closes, a_kicked_client_stays_away,);

/// A server of its own, whose output tells what it saw.
async fn alone(case: Case) -> (Peer, Client, a2c_socketio::Inbox) {
    let peer = case.server.start(&json!({}));
    let ((client, inbox), _) = connect(case.options_at(peer.address())).await;
    (peer, client, inbox)
}

fn assert_server_saw_a_disconnect(case: Case, peer: &Peer, sid: &str) {
    let start = format!("disconnect {sid} ");
    let line = peer.line_where(PATIENCE, |line| line.starts_with(&start));
    let reason = match case.server {
        Server::Node => "client namespace disconnect",
        Server::Python => "client disconnect",
    };
    assert_eq!(line, format!("{start}{reason}"));
}

async fn a_close_is_seen_as_one(case: Case) {
    let (peer, client, mut inbox) = alone(case).await;
    let sid = client.sid().unwrap();
    client.close().await;
    assert!(!client.is_connected());
    assert!(matches!(next(&mut inbox).await, Incoming::Disconnected(DisconnectReason::ClosedByUs)));
    assert!(matches!(next(&mut inbox).await, Incoming::Closed(Closed::Requested)));
    assert!(inbox.recv().await.is_none());
    assert_server_saw_a_disconnect(case, &peer, &sid);

    let emitted = client.emit("echo", Payload::empty()).await;
    assert_eq!(emitted, Err(EmitError::NotConnected));
    let called = client.call("two", Payload::empty(), PATIENCE).await;
    assert_eq!(called.unwrap_err(), CallError::NotConnected);
    client.close().await;
}

async fn dropping_every_handle_closes(case: Case) {
    let (peer, client, inbox) = alone(case).await;
    let sid = client.sid().unwrap();
    drop(inbox);
    let called = client.call("two", Payload::empty(), PATIENCE).await;
    assert!(called.is_ok(), "one handle is enough");
    drop(client);
    let watched = tokio::task::spawn_blocking(move || {
        assert_server_saw_a_disconnect(case, &peer, &sid);
    });
    watched.await.unwrap();
    // The runtime of this test has no other task than those of the connection.
    let metrics = tokio::runtime::Handle::current().metrics();
    let ended = async {
        while metrics.num_alive_tasks() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.expect("tasks are left");
}

async fn a_kicked_client_stays_away(case: Case) {
    let (_peer, client, mut inbox) = alone(case).await;
    client.emit("kick", Payload::empty()).await.unwrap();
    assert!(matches!(next(&mut inbox).await, Incoming::Disconnected(DisconnectReason::ServerDisconnect)));
    assert!(matches!(next(&mut inbox).await, Incoming::Closed(Closed::ByServer)));
    assert!(inbox.recv().await.is_none());
}
