//! Starts a hub on a free port, joins an office as a Computer, and stops the hub.
//!
//! `cargo run -p a2c-hub --example start_and_stop`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Duration;

use a2c_hub::{Hub, HubConfig};
use a2c_protocol::version::VERSION_QUERY;
use a2c_protocol::{NAMESPACE, PROTOCOL_VERSION, event};
use a2c_socketio::{Client, Incoming, Options, Payload};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hub = Hub::start(HubConfig::on("127.0.0.1:0".parse()?)).await?;
    println!("the hub listens at {}", hub.url());

    let options = Options::new(hub.url())
        .path("/smcp")
        .namespace(NAMESPACE)
        .query(VERSION_QUERY, PROTOCOL_VERSION.to_string())
        .auth(json!({"role": "computer"}));
    let (client, mut inbox) = Client::connect(options).await?;
    let seat = json!({"role": "computer", "name": "desk", "office_id": "demo"});
    let answer = client.call(event::JOIN_OFFICE, Payload::json(&seat)?, Duration::from_secs(5)).await?;
    println!("joined: {}", answer.get::<bool>(0)?);

    hub.shutdown().await;
    while let Some(incoming) = inbox.recv().await {
        if let Incoming::Disconnected(reason) = incoming {
            println!("the hub is gone: {reason}");
            break;
        }
    }
    client.close().await;
    Ok(())
}
