//! Tokens on the wire: a real client at a real hub.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2c_hub::{Hub, HubConfig};
use a2c_socketio::{Client, Options, SocketConnectError};
use serde_json::json;

use super::tokens::{hs256, jwt};

/// Connects and says what became of it: nothing, or the words of the refusal.
async fn connect(options: Options) -> Result<(), String> {
    let patience = Duration::from_secs(60);
    let connecting = Client::connect(options.namespace("/smcp").query("a2c_version", "0.2.0").reconnect(None));
    match tokio::time::timeout(patience, connecting).await.expect("the hub answers") {
        Ok((client, _inbox)) => {
            client.close().await;
            Ok(())
        }
        Err(SocketConnectError::Refused(refusal)) => Err(serde_json::to_string(&refusal.payload).unwrap()),
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_token_is_accepted_from_each_place_and_a_refusal_gives_no_reason() {
    let mut config = HubConfig::on("127.0.0.1:0".parse().unwrap());
    config.auth = Arc::new(jwt());
    let hub = Hub::start(config).await.unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (good, old) = (hs256(&json!({"exp": now + 3600})), hs256(&json!({"exp": now - 3600})));
    let with = || Options::new(hub.url()).path("/smcp");
    let bearer = |token: &str| with().header("authorization", format!("Bearer {token}"));

    assert_eq!(connect(with().header("x-api-key", good.as_str())).await, Ok(()));
    assert_eq!(connect(with().header("access_token", good.as_str())).await, Ok(()));
    assert_eq!(connect(bearer(&good)).await, Ok(()));
    assert_eq!(connect(with().auth(json!({"token": good}))).await, Ok(()));

    let no = Err(r#"{"message":"401"}"#.to_owned());
    assert_eq!(connect(with()).await, no);
    assert_eq!(connect(bearer(&old)).await, no);
    assert_eq!(connect(with().auth(json!({"token": old}))).await, no);
    assert_eq!(connect(with().query("token", good.as_str())).await, no);
}
