//! The cases of the public Engine.IO test suite that apply to a hub, under their names there. The others are about messages
//! that the server sends back, which a hub does not.

use std::time::Duration;

use a2c_hub::Hub;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{RawClient, http, hub, hub_with, until_empty, within};

const POLLING: &str = "/smcp/?EIO=4&transport=polling&a2c_version=0.2.0";

/// A hub with the heartbeat that the suite asks for.
async fn hasty() -> Hub {
    hub_with(|config| {
        config.ping_interval = Duration::from_millis(300);
        config.ping_timeout = Duration::from_millis(200);
    })
    .await
}

/// The status and the body of an answer.
async fn exchange(hub: &Hub, method: &str, target: &str, body: &str) -> (u16, String) {
    let (status, _, body) = http(hub, method, target, "", body).await;
    (status.split(' ').nth(1).unwrap().parse().unwrap(), body)
}

/// A session that polls.
struct Session<'a> {
    hub: &'a Hub,
    sid: String,
}

impl<'a> Session<'a> {
    async fn open(hub: &'a Hub) -> Self {
        let (status, open) = exchange(hub, "GET", POLLING, "").await;
        assert_eq!(status, 200);
        let open: Value = serde_json::from_str(open.strip_prefix('0').unwrap()).unwrap();
        assert_eq!(open["upgrades"], serde_json::json!(["websocket"]));
        Self { hub, sid: open["sid"].as_str().unwrap().to_owned() }
    }

    async fn request(&self, method: &str, body: &str) -> (u16, String) {
        exchange(self.hub, method, &format!("{POLLING}&sid={}", self.sid), body).await
    }

    async fn poll(&self) -> (u16, String) {
        self.request("GET", "").await
    }
}

/// Whether a websocket with this query is refused.
async fn is_refused(hub: &Hub, query: &str) -> bool {
    let url = format!("ws://{}/smcp/?{query}&a2c_version=0.2.0", hub.address());
    let stream = TcpStream::connect(hub.address()).await.unwrap();
    within("an answer", client_async(url, stream)).await.is_err()
}

mod handshake {
    use super::*;

    #[tokio::test]
    async fn polling_successfully_opens_a_session() {
        Session::open(&hub().await).await;
    }

    #[tokio::test]
    async fn polling_fails_with_invalid_parameters() {
        let hub = hub().await;
        for query in ["transport=polling", "EIO=abc&transport=polling", "EIO=4", "EIO=4&transport=abc"] {
            let target = format!("/smcp/?{query}&a2c_version=0.2.0");
            assert_eq!(exchange(&hub, "GET", &target, "").await.0, 400, "{query}");
        }
        for method in ["POST", "PUT"] {
            assert_eq!(exchange(&hub, method, POLLING, "").await.0, 400, "{method}");
        }
    }

    #[tokio::test]
    async fn websocket_opens_a_session_and_fails_with_invalid_parameters() {
        let hub = hub().await;
        RawClient::open(&hub).await;
        for query in ["transport=websocket", "EIO=abc&transport=websocket", "EIO=4", "EIO=4&transport=abc"] {
            assert!(is_refused(&hub, query).await, "{query}");
        }
    }
}

mod message {
    use super::*;

    #[tokio::test]
    async fn polling_closes_the_session_upon_invalid_packet_format() {
        let hub = hub().await;
        let session = Session::open(&hub).await;
        assert_eq!(session.request("POST", "abc").await.0, 400);
        assert_eq!(session.poll().await.0, 400);
    }

    #[tokio::test]
    async fn polling_closes_the_session_upon_duplicate_poll_requests() {
        let hub = hub().await;
        let session = Session::open(&hub).await;
        // Whichever comes second is refused, and ends the first.
        let (first, second) = tokio::join!(session.poll(), session.poll());
        let mut statuses = [first.0, second.0];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400]);
        assert_eq!(session.poll().await.0, 400);
    }

    #[tokio::test]
    async fn websocket_closes_the_session_upon_invalid_packet_format() {
        let mut client = RawClient::open(&hub().await).await;
        client.send("abc").await;
        client.hung_up().await;
    }
}

mod heartbeat {
    use super::*;

    #[tokio::test]
    async fn polling_sends_ping_pong_packets() {
        let hub = hasty().await;
        let session = Session::open(&hub).await;
        // A client that does not say what it wants is not kept.
        assert_eq!(session.request("POST", "40/smcp,").await.0, 200);
        assert!(session.poll().await.1.starts_with("40/smcp,"));
        for _ in 0..3 {
            assert_eq!(session.poll().await, (200, "2".to_owned()));
            assert_eq!(session.request("POST", "3").await.0, 200);
        }
    }

    #[tokio::test]
    async fn polling_closes_the_session_upon_ping_timeout() {
        let hub = hasty().await;
        let session = Session::open(&hub).await;
        assert_eq!(session.poll().await, (200, "2".to_owned()));
        let closed = async { while session.poll().await.0 == 200 {} };
        within("the end of a session without pongs", closed).await;
    }

    #[tokio::test]
    async fn websocket_sends_ping_pong_packets() {
        let hub = hasty().await;
        let url = format!("ws://{}/smcp/?EIO=4&transport=websocket&a2c_version=0.2.0", hub.address());
        let stream = TcpStream::connect(hub.address()).await.unwrap();
        let (mut wire, _) = client_async(url, stream).await.unwrap();
        wire.send(Message::text("40/smcp,")).await.unwrap();
        let mut pings = 0;
        while pings < 3 {
            let packet = within("a packet", wire.next()).await.unwrap().unwrap();
            if packet == Message::text("2") {
                pings += 1;
                wire.send(Message::text("3")).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn websocket_closes_the_session_upon_ping_timeout() {
        let hub = hasty().await;
        let _silent = RawClient::connect(&hub).await;
        until_empty(&hub).await;
    }
}

mod close {
    use super::*;

    #[tokio::test]
    async fn polling_forcefully_closes_the_session() {
        let hub = hub().await;
        let session = Session::open(&hub).await;
        assert_eq!(session.request("POST", "1").await.0, 200);
        assert_eq!(session.poll().await.0, 400);
    }

    #[tokio::test]
    async fn websocket_forcefully_closes_the_session() {
        let mut client = RawClient::open(&hub().await).await;
        client.send("1").await;
        client.hung_up().await;
    }
}

mod upgrade {
    use super::*;

    async fn upgraded<'a>(hub: &'a Hub) -> (Session<'a>, RawClient) {
        let session = Session::open(hub).await;
        let mut wire = RawClient::upgrade(hub, &format!("a2c_version=0.2.0&sid={}", session.sid)).await;
        wire.send("2probe").await;
        assert_eq!(wire.text().await, "3probe");
        wire.send("5").await;
        wire.send("40/smcp,").await;
        wire.welcomed().await;
        (session, wire)
    }

    #[tokio::test]
    async fn successfully_upgrades_from_http_long_polling_to_websocket() {
        upgraded(&hub().await).await;
    }

    #[tokio::test]
    async fn ignores_http_requests_with_same_sid_after_upgrade() {
        let hub = hub().await;
        let (session, mut wire) = upgraded(&hub).await;
        assert_eq!(session.poll().await.0, 400);
        assert_eq!(session.request("POST", "4lost").await.0, 400);
        assert!(wire.ask("server:list_room", &serde_json::json!({})).await.starts_with('['), "it goes on");
    }

    #[tokio::test]
    async fn ignores_websocket_connection_with_same_sid_after_upgrade() {
        let hub = hub().await;
        let (session, mut wire) = upgraded(&hub).await;
        let mut second = RawClient::upgrade(&hub, &format!("a2c_version=0.2.0&sid={}", session.sid)).await;
        second.hung_up().await;
        assert!(wire.ask("server:list_room", &serde_json::json!({})).await.starts_with('['), "it goes on");
    }
}
