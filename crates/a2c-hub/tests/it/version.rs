//! The version is judged over HTTP, before Socket.IO sees a handshake.

use a2c_socketio::{Options, SocketConnectError, Transport};
use serde_json::{Value, json};

use crate::support::{Member, RawClient, http, hub};

const UPGRADE: &str = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                       sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// Every way to begin a session: both paths, with and without the last slash, both transports.
fn beginnings() -> impl Iterator<Item = (String, &'static str)> {
    ["/smcp/", "/smcp", "/socket.io/", "/socket.io"].into_iter().flat_map(|path| {
        [("polling", ""), ("websocket", UPGRADE)]
            .map(|(transport, headers)| (format!("{path}?EIO=4&transport={transport}"), headers))
    })
}

#[tokio::test]
async fn a_missing_version_is_400() {
    let hub = hub().await;
    for (target, headers) in beginnings() {
        for suffix in ["", "&a2c_version=", "&A2C_VERSION=0.2.0"] {
            let (status, answered, body) = http(&hub, "GET", &format!("{target}{suffix}"), headers, "").await;
            assert_eq!(status, "HTTP/1.1 400 Bad Request", "{target}{suffix}");
            assert_eq!(body, r#"{"code":400,"message":"Missing a2c_version query parameter"}"#);
            assert!(answered.contains("content-type: application/json"), "{answered}");
            assert!(!answered.contains("x-a2c-error-code"), "{answered}");
        }
    }
}

#[tokio::test]
async fn a_malformed_version_is_400() {
    let hub = hub().await;
    for (target, headers) in beginnings() {
        for version in ["0.2", "0.2.0.0", "v0.2.0", "0.2.-1", "0.2.0-rc1", "%30.2", "0.2.x", "+0.2.0", "a%22b"] {
            let (status, answered, body) =
                http(&hub, "GET", &format!("{target}&a2c_version={version}"), headers, "").await;
            assert_eq!(status, "HTTP/1.1 400 Bad Request", "{version}");
            let body: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(body["code"], 400);
            assert!(body["message"].as_str().unwrap().starts_with("Invalid a2c_version: "), "{body}");
            assert_eq!(body.as_object().unwrap().len(), 2, "{body}");
            assert!(!answered.contains("x-a2c-error-code"), "{answered}");
        }
    }
}

#[tokio::test]
async fn an_incompatible_version_is_4008_in_body_and_header() {
    let hub = hub().await;
    for (target, headers) in beginnings() {
        for version in ["0.1.9", "0.3.0", "1.2.0", "1.0.0"] {
            let (status, answered, body) =
                http(&hub, "GET", &format!("{target}&a2c_version={version}"), headers, "").await;
            assert_eq!(status, "HTTP/1.1 400 Bad Request", "{version}");
            assert!(answered.lines().any(|line| line == "x-a2c-error-code: 4008"), "{answered}");
            let expected = json!({
                "code": 4008, "message": "Protocol version mismatch", "server_version": "0.2.0",
                "client_version": version, "min_supported": "0.2.0", "max_supported": "0.2.999"
            });
            assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
        }
    }
    assert_eq!(hub.connections(), 0);
}

#[tokio::test]
async fn any_patch_is_served_and_shown() {
    let hub = hub().await;
    for version in ["0.2.0", "0.2.7", "0.2.999"] {
        let mut client = RawClient::upgrade(&hub, &format!("a2c_version={version}")).await;
        client.text().await;
        client.send("40/smcp,{\"role\":\"agent\"}").await;
        client.welcomed().await;
        let join = json!({"role": "agent", "name": "a", "office_id": version});
        assert_eq!(client.ask("server:join_office", &join).await, "[true,null]");
        let request = json!({"agent": "a", "req_id": "r", "office_id": version});
        let listed: Value = serde_json::from_str(&client.ask("server:list_room", &request).await).unwrap();
        let session = &listed[0]["sessions"][0];
        assert_eq!(session["a2c_version"], version);
        assert_eq!(
            (&session["name"], &session["role"], &session["office_id"]),
            (&json!("a"), &json!("agent"), &json!(version))
        );
        assert!(!session["sid"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn later_requests_of_a_session_need_no_version() {
    let hub = hub().await;
    for path in ["/smcp/", "/socket.io/"] {
        let (_, _, open) =
            http(&hub, "GET", &format!("{path}?EIO=4&transport=polling&a2c_version=0.2.0"), "", "").await;
        let open: Value = serde_json::from_str(open.strip_prefix('0').unwrap()).unwrap();
        let sid = open["sid"].as_str().unwrap();
        let target = format!("{path}?EIO=4&transport=polling&sid={sid}");
        let (status, _, body) = http(&hub, "POST", &target, "content-type: text/plain\r\n", "40/smcp,").await;
        assert_eq!((status.as_str(), body.as_str()), ("HTTP/1.1 200 OK", "ok"));
        // The first poll may carry only the ping.
        let mut heard = String::new();
        while !heard.contains("40/smcp,{\"sid\":") {
            let (status, _, body) = http(&hub, "GET", &target, "", "").await;
            assert_eq!(status, "HTTP/1.1 200 OK", "{heard}");
            heard += &body;
        }
    }
}

#[tokio::test]
async fn a_session_that_is_not_open_is_no_way_around_the_version() {
    let hub = hub().await;
    for sid in ["", "made-up", "AAAAAAAAAAAAAAAA"] {
        for (target, headers) in beginnings() {
            let (status, ..) = http(&hub, "GET", &format!("{target}&sid={sid}"), headers, "").await;
            let refused_later = headers == UPGRADE && status == "HTTP/1.1 101 Switching Protocols";
            assert!(refused_later || status == "HTTP/1.1 400 Bad Request", "{target} {sid:?}: {status}");
        }
    }
    assert_eq!(hub.connections(), 0);
}

#[tokio::test]
async fn other_paths_are_not_served() {
    let hub = hub().await;
    for path in ["/", "/smcp2/", "/engine.io/", "/smcp/x", "/socket.io/x/"] {
        let target = format!("{path}?EIO=4&transport=polling&a2c_version=0.2.0");
        assert_eq!(http(&hub, "GET", &target, "", "").await.0, "HTTP/1.1 404 Not Found", "{path}");
    }
}

#[tokio::test]
async fn a_client_reads_the_refusal_on_either_transport() {
    let hub = hub().await;
    for transport in [Transport::PollingThenWebsocket, Transport::Polling, Transport::Websocket] {
        let options = Options::new(hub.url()).path("/smcp").namespace("/smcp").query("a2c_version", "0.9.1");
        match Member::connect_with(options.transport(transport)).await.err() {
            Some(SocketConnectError::Http(refusal)) => {
                assert_eq!(refusal.status, 400);
                assert_eq!(refusal.headers["x-a2c-error-code"], "4008");
                let body: Value = serde_json::from_slice(&refusal.body).unwrap();
                assert_eq!((&body["server_version"], &body["client_version"]), (&json!("0.2.0"), &json!("0.9.1")));
            }
            other => panic!("{transport:?}: {other:?}"),
        }
    }
}
