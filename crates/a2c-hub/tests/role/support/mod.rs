//! A hub of one's own, and two kinds of clients: a [`Member`] that behaves, and a [`Stranger`] that need not.

mod member;
mod stranger;

use std::time::Duration;

use a2c_hub::{Hub, HubConfig};
use a2c_protocol::ErrorBody;
use serde_json::{Value, json};

pub(crate) use member::{Member, json_text};
pub(crate) use stranger::{Stranger, http, http_at};

/// Longer than anything here takes; only a failing test ever waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A hub with the defaults on a free port.
pub(crate) async fn hub() -> Hub {
    hub_with(|_| {}).await
}

/// A hub with something changed.
pub(crate) async fn hub_with(change: impl FnOnce(&mut HubConfig)) -> Hub {
    let mut config = HubConfig::on("127.0.0.1:0".parse().unwrap());
    change(&mut config);
    Hub::start(config).await.unwrap()
}

/// Waits for something, but not forever.
pub(crate) async fn within<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(output) => output,
        Err(_) => panic!("waited in vain for {what}"),
    }
}

/// Waits until the hub has forgotten everybody and every call.
pub(crate) async fn deserted(hub: &Hub) {
    let empty = async {
        // The hub tells nobody about its last guest: its counters have to be looked at.
        while (hub.connections(), hub.calls_in_flight()) != (0, 0) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    if tokio::time::timeout(PATIENCE, empty).await.is_err() {
        panic!("{} connections and {} calls are left", hub.connections(), hub.calls_in_flight());
    }
}

/// Asserts the code of an error and its shape: flat, with a mirror for older clients.
#[track_caller]
pub(crate) fn assert_error(answer: &Value, code: i64) -> ErrorBody {
    assert_eq!(answer["code"], code, "{answer}");
    assert!(!answer["message"].as_str().unwrap().is_empty(), "{answer}");
    let mut mirror = json!({"code": answer["code"], "message": answer["message"]});
    if let Some(details) = answer.get("details") {
        mirror["details"] = details.clone();
    }
    assert_eq!(answer["error"], mirror, "{answer}");
    ErrorBody::decode(answer).unwrap()
}
