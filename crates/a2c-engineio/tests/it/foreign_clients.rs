//! Clients of others: the Engine.IO client of Node and the one of Python.

use std::process::Command;

use a2c_testbed::{Peer, node, python_script};

use crate::support::{PATIENCE, Server};

/// Runs a script against the engine; it ends with `done` when all is as it should be.
async fn run(server: &Server, mut command: Command, way: &str, clients: usize) {
    command.arg(format!("http://{}", server.address)).arg(way).arg(clients.to_string());
    let peer = tokio::task::spawn_blocking(move || {
        let peer = Peer::ready(command);
        peer.line_where(PATIENCE, |line| line == "done");
        peer
    });
    let peer = peer.await.unwrap();
    // Its sessions may still be closing.
    server.until_empty().await;
    drop(peer);
}

async fn with_node(way: &str, clients: usize) {
    run(&Server::start().await, node().script("engine_client.mjs"), way, clients).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn node_over_polling() {
    with_node("polling", 8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn node_over_websocket() {
    with_node("websocket", 8).await;
}

/// Both sides talk all the time while the session moves; many sessions, so that it moves at every possible moment.
#[tokio::test(flavor = "multi_thread")]
async fn node_from_polling_to_websocket() {
    with_node("upgrade", 60).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn python_over_polling_and_websocket() {
    for way in ["polling", "websocket", "upgrade"] {
        run(&Server::start().await, python_script("engine_client.py"), way, 4).await;
    }
}
