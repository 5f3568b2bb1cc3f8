//! A hub for a test, and two kinds of clients: a [`Member`] that follows the rules, and a [`RawClient`] that need not.

mod member;
pub(crate) mod process;
mod raw_client;

use std::time::Duration;

use a2c_hub::{Hub, HubConfig};
use a2c_protocol::ErrorBody;
use serde_json::{Value, json};

pub(crate) use a2c_testbed::{PATIENCE, within};
pub(crate) use member::{Member, json_text};
pub(crate) use raw_client::{RawClient, http, http_at};

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

/// Waits until the hub has no connection and no call.
pub(crate) async fn until_empty(hub: &Hub) {
    let empty = async {
        // The hub does not announce the end of its last connection, so this polls its counters.
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
