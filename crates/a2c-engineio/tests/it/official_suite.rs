//! The cases of the public Engine.IO test suite, under their names there, against an engine that echoes.

use std::time::Duration;

use a2c_engineio::Config;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Polling, RawWebsocket, Server, config, exchange, within};

const PING_INTERVAL: Duration = Duration::from_millis(300);
const PING_TIMEOUT: Duration = Duration::from_millis(200);

/// The engine that the suite asks for.
async fn server() -> Server {
    Server::echoing(Config {
        ping_interval: PING_INTERVAL,
        ping_timeout: PING_TIMEOUT,
        max_payload: 1_000_000,
        ..config()
    })
    .await
}

/// The same, patient enough for what is not about the heartbeat.
async fn patient() -> Server {
    Server::echoing(config()).await
}

async fn get(server: &Server, query: &str) -> (u16, String) {
    exchange(&mut server.connect().await, "GET", &format!("/engine.io/?{query}"), "").await
}

fn assert_handshake(packet: &str, upgrades: &Value) {
    let open: Value = serde_json::from_str(packet.strip_prefix('0').unwrap()).unwrap();
    let mut keys: Vec<_> = open.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["maxPayload", "pingInterval", "pingTimeout", "sid", "upgrades"]);
    assert!(open["sid"].is_string());
    assert_eq!(&open["upgrades"], upgrades);
    assert_eq!((&open["pingInterval"], &open["pingTimeout"]), (&json!(300), &json!(200)));
    assert_eq!(open["maxPayload"], 1_000_000);
}

mod handshake {
    use super::*;

    mod polling {
        use super::*;

        #[tokio::test]
        async fn successfully_opens_a_session() {
            let (status, open) = get(&server().await, "EIO=4&transport=polling").await;
            assert_eq!(status, 200);
            assert_handshake(&open, &json!(["websocket"]));
        }

        #[tokio::test]
        async fn fails_with_an_invalid_eio_query_parameter() {
            let server = server().await;
            for query in ["transport=polling", "EIO=abc&transport=polling"] {
                assert_eq!(get(&server, query).await.0, 400, "{query}");
            }
        }

        #[tokio::test]
        async fn fails_with_an_invalid_transport_query_parameter() {
            let server = server().await;
            for query in ["EIO=4", "EIO=4&transport=abc"] {
                assert_eq!(get(&server, query).await.0, 400, "{query}");
            }
        }

        #[tokio::test]
        async fn fails_with_an_invalid_request_method() {
            let server = server().await;
            for method in ["POST", "PUT"] {
                let target = "/engine.io/?EIO=4&transport=polling";
                assert_eq!(exchange(&mut server.connect().await, method, target, "").await.0, 400, "{method}");
            }
        }
    }

    mod websocket {
        use super::*;

        #[tokio::test]
        async fn successfully_opens_a_session() {
            let server = server().await;
            let open = RawWebsocket::upgrade(&server, "").await.text().await;
            assert_handshake(&open, &json!([]));
        }

        async fn is_refused(query: &str) -> bool {
            let stream = server().await.connect().await;
            let url = format!("ws://localhost/engine.io/?{query}");
            within("a refusal", tokio_tungstenite::client_async(url, stream)).await.is_err()
        }

        #[tokio::test]
        async fn fails_with_an_invalid_eio_query_parameter() {
            assert!(is_refused("transport=websocket").await);
            assert!(is_refused("EIO=abc&transport=websocket").await);
        }

        #[tokio::test]
        async fn fails_with_an_invalid_transport_query_parameter() {
            assert!(is_refused("EIO=4").await);
            assert!(is_refused("EIO=4&transport=abc").await);
        }
    }
}

mod message {
    use super::*;

    mod polling {
        use super::*;

        async fn comes_back(payload: &str) {
            let server = patient().await;
            let mut session = Polling::open(&server).await;
            let target = session.target.clone();
            let posted = exchange(&mut server.connect().await, "POST", &target, payload).await;
            assert_eq!(posted, (200, "ok".to_owned()));
            assert_eq!(session.poll().await, (200, payload.to_owned()));
        }

        #[tokio::test]
        async fn sends_and_receives_a_payload_containing_one_plain_text_packet() {
            comes_back("4hello").await;
        }

        #[tokio::test]
        async fn sends_and_receives_a_payload_containing_several_plain_text_packets() {
            comes_back("4test1\x1e4test2\x1e4test3").await;
        }

        #[tokio::test]
        async fn sends_and_receives_a_payload_containing_plain_text_and_binary_packets() {
            comes_back("4hello\x1ebAQIDBA==").await;
        }

        #[tokio::test]
        async fn closes_the_session_upon_invalid_packet_format() {
            let mut session = Polling::open(&patient().await).await;
            assert_eq!(session.post("abc").await, 400);
            assert_eq!(session.poll().await.0, 400);
        }

        #[tokio::test]
        async fn closes_the_session_upon_duplicate_poll_requests() {
            let server = patient().await;
            let mut session = Polling::open(&server).await;
            let (mut stream, target) = (server.connect().await, session.target.clone());
            let second = async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                exchange(&mut stream, "GET", &target, "").await
            };
            let (first, second) = tokio::join!(session.poll(), second);
            assert_eq!(first, (200, "1".to_owned()));
            assert_eq!(second.0, 400);
            assert_eq!(session.poll().await.0, 400);
        }
    }

    mod websocket {
        use super::*;

        #[tokio::test]
        async fn sends_and_receives_a_plain_text_packet() {
            let mut wire = RawWebsocket::open(&patient().await).await;
            wire.send("4hello").await;
            assert_eq!(wire.next().await, Some(Message::text("4hello")));
        }

        #[tokio::test]
        async fn sends_and_receives_a_binary_packet() {
            let mut wire = RawWebsocket::open(&patient().await).await;
            wire.send_message(Message::binary(vec![1, 2, 3, 4])).await;
            assert_eq!(wire.next().await, Some(Message::binary(vec![1, 2, 3, 4])));
        }

        #[tokio::test]
        async fn closes_the_session_upon_invalid_packet_format() {
            let mut wire = RawWebsocket::open(&patient().await).await;
            wire.send("abc").await;
            assert!(wire.close_code().await.is_some());
        }
    }
}

mod heartbeat {
    use super::*;

    mod polling {
        use super::*;

        #[tokio::test]
        async fn sends_ping_pong_packets() {
            let mut session = Polling::open(&server().await).await;
            for _ in 0..3 {
                assert_eq!(session.poll().await, (200, "2".to_owned()));
                assert_eq!(session.post("3").await, 200);
            }
        }

        #[tokio::test]
        async fn closes_the_session_upon_ping_timeout() {
            let server = server().await;
            let mut session = Polling::open(&server).await;
            server.closed(1).await;
            assert_eq!(session.poll().await.0, 400);
        }
    }

    mod websocket {
        use super::*;

        #[tokio::test]
        async fn sends_ping_pong_packets() {
            let mut wire = RawWebsocket::open(&server().await).await;
            for _ in 0..3 {
                assert_eq!(wire.next().await, Some(Message::text("2")));
                wire.send("3").await;
            }
        }

        #[tokio::test]
        async fn closes_the_session_upon_ping_timeout() {
            let mut wire = RawWebsocket::open(&server().await).await;
            assert!(wire.close_code().await.is_some());
        }
    }
}

mod close {
    use super::*;

    #[tokio::test]
    async fn forcefully_closes_the_session_over_polling() {
        let server = patient().await;
        let mut session = Polling::open(&server).await;
        let (mut stream, target) = (server.connect().await, session.target.clone());
        let post = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            exchange(&mut stream, "POST", &target, "1").await
        };
        let (poll, post) = tokio::join!(session.poll(), post);
        assert_eq!(post.0, 200);
        assert_eq!(poll, (200, "6".to_owned()));
        assert_eq!(session.poll().await.0, 400);
    }

    #[tokio::test]
    async fn forcefully_closes_the_session_over_websocket() {
        let mut wire = RawWebsocket::open(&patient().await).await;
        wire.send("1").await;
        assert!(wire.close_code().await.is_some());
    }
}

mod upgrade {
    use super::*;

    #[tokio::test]
    async fn successfully_upgrades_from_http_long_polling_to_websocket() {
        let server = server().await;
        let mut session = Polling::open(&server).await;
        let mut wire = RawWebsocket::upgrade(&server, &format!("&sid={}", session.sid)).await;
        wire.send("2probe").await;
        assert_eq!(wire.next().await, Some(Message::text("3probe")));
        assert_eq!(session.poll().await, (200, "6".to_owned()));
        wire.send("5").await;
        wire.send("4hello").await;
        assert_eq!(wire.next().await, Some(Message::text("4hello")), "no ping before its time");
    }

    /// A session that has moved to a websocket, as far as the client knows.
    async fn upgraded(server: &Server) -> (Polling, RawWebsocket) {
        let session = Polling::open(server).await;
        let mut wire = RawWebsocket::upgrade(server, &format!("&sid={}", session.sid)).await;
        wire.send("2probe").await;
        wire.send("5").await;
        assert_eq!(wire.next().await, Some(Message::text("3probe")));
        // What it has read after that, it has read on the websocket.
        wire.send("4there").await;
        assert_eq!(wire.next().await, Some(Message::text("4there")));
        (session, wire)
    }

    #[tokio::test]
    async fn ignores_http_requests_with_same_sid_after_upgrade() {
        let server = patient().await;
        let (mut session, mut wire) = upgraded(&server).await;
        assert_eq!(session.poll().await.0, 400);
        assert_eq!(session.post("4lost").await, 400);
        wire.send("4hello").await;
        assert_eq!(wire.next().await, Some(Message::text("4hello")));
    }

    #[tokio::test]
    async fn ignores_websocket_connection_with_same_sid_after_upgrade() {
        let server = patient().await;
        let (session, mut wire) = upgraded(&server).await;
        let mut second = RawWebsocket::upgrade(&server, &format!("&sid={}", session.sid)).await;
        assert_eq!(second.close_code().await, None, "it ends without a word");
        wire.send("4hello").await;
        assert_eq!(wire.next().await, Some(Message::text("4hello")));
    }
}
