//! A relay without rules on `socketioxide`: what the same Rust stack costs when it does nothing but pass on.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use socketioxide::SocketIo;
use socketioxide::extract::{AckSender, Data, SocketRef};
use socketioxide::handler::ConnectHandler;

type Members = Arc<Mutex<HashMap<String, SocketRef>>>;

#[tokio::main]
async fn main() {
    let (layer, io) = SocketIo::builder()
        .req_path("/smcp")
        .max_payload(64 << 20)
        .max_buffer_size(16_384)
        .ping_interval(Duration::from_secs(5))
        .ping_timeout(Duration::from_secs(20))
        .build_layer();
    let members = Members::default();
    // A middleware runs before CONNECT goes out: handlers that come later can miss a client's first event.
    let ready = async move |socket: SocketRef| {
        register(&socket, members);
        Ok::<(), Infallible>(())
    };
    io.ns("/smcp", (async || {}).with(ready));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!("ready http://{}", listener.local_addr().expect("bound"));
    axum::serve(listener, axum::Router::new().layer(layer)).await.expect("served");
}

fn register(socket: &SocketRef, members: Members) {
    let seats = members.clone();
    socket.on("server:join_office", async move |socket: SocketRef, Data(seat): Data<Value>, ack: AckSender| {
        let office = seat["office_id"].as_str().unwrap_or_default().to_owned();
        socket.join(office);
        seats.lock().expect("not poisoned").insert(key(&seat["office_id"], &seat["name"]), socket);
        let _ = ack.send(&(true, Value::Null));
    });
    socket.on("server:update_desktop", async move |socket: SocketRef, Data(update): Data<Value>| {
        let _ = socket.broadcast().to(socket.rooms()).emit("notify:update_desktop", &update).await;
    });
    socket.on("client:tool_call", async move |Data(call): Data<Value>, ack: AckSender| {
        let computer = members.lock().expect("not poisoned").get(&key(&call["office_id"], &call["computer"])).cloned();
        let Some(computer) = computer else { return };
        let answer = computer.timeout(Duration::from_secs(60)).emit_with_ack::<_, Value>("client:tool_call", &call);
        if let Ok(answer) = answer
            && let Ok(answer) = answer.await
        {
            let _ = ack.send(&answer);
        }
    });
}

fn key(office: &Value, name: &Value) -> String {
    format!("{}/{}", office.as_str().unwrap_or_default(), name.as_str().unwrap_or_default())
}
