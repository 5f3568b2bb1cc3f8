//! What the server learns about the client, and what the client learns when it is refused.

use a2c_socketio::{Client, Payload, SocketConnectError, Transport};
use serde_json::{Value, json};

use super::peers::{Case, PATIENCE, Server, connect, everywhere};

everywhere!(
    auth_query_and_headers_reach_the_server,
    a_refused_namespace_says_why,
    a_refused_handshake_keeps_status_headers_and_body,
    a_path_of_its_own,
    a_server_that_is_not_there,
);

async fn auth_query_and_headers_reach_the_server(case: Case) {
    let mark = format!("{:?} {:?} &?=", case.server, case.transport);
    let options =
        case.options().auth(json!({"token": "s3cret"})).query("k", &mark).header("x-test", "on every request");
    let ((client, _inbox), hello) = connect(options).await;
    assert_eq!(hello, json!({"auth": {"token": "s3cret"}, "query": mark}));

    let requests = client.call("requests", Payload::empty(), PATIENCE).await;
    let requests: Vec<Value> = requests.unwrap().get(0).unwrap();
    let transports: Vec<_> = requests
        .iter()
        .map(|request| {
            assert_eq!(request["header"], "on every request");
            assert_eq!(request["query"]["EIO"], "4");
            request["query"]["transport"].as_str().unwrap()
        })
        .collect();
    match case.transport {
        Transport::Websocket => assert_eq!(transports, ["websocket"]),
        Transport::PollingThenWebsocket => assert_eq!(transports, ["polling", "websocket"]),
        Transport::Polling => {
            assert!(transports.len() >= 3);
            assert!(transports.iter().all(|name| *name == "polling"));
            assert!(requests.iter().any(|request| request["method"] == "POST"));
        }
    }
}

async fn a_refused_namespace_says_why(case: Case) {
    let refused = Client::connect(case.options().auth(json!({"reject": true}))).await;
    let error = refused.unwrap_err();
    assert!(error.is_final());
    let SocketConnectError::Refused(refusal) = error else {
        panic!("{error:?}");
    };
    assert_eq!(refusal.message().as_deref(), Some("no entry"));
    let payload: Value = serde_json::from_str(refusal.payload.get()).unwrap();
    assert_eq!(payload["data"], json!({"code": 7}));
}

async fn a_refused_handshake_keeps_status_headers_and_body(case: Case) {
    let refused = Client::connect(case.options().query("refuse", "1234")).await;
    let error = refused.unwrap_err();
    assert!(error.is_final());
    let SocketConnectError::Http(refusal) = error else {
        panic!("{error:?}");
    };
    assert_eq!(refusal.status.as_u16(), 400);
    assert_eq!(refusal.headers["x-reason"], "test");
    let body: Value = serde_json::from_slice(&refusal.body).unwrap();
    let expected = json!({"code": 1234, "message": "refused by the test"});
    assert_eq!(body, expected);
}

async fn a_failed_probe_stays_on_polling(case: Case) {
    let mark = format!("probe {:?}", case.server);
    let options =
        case.options().transport(Transport::PollingThenWebsocket).query("refuse_upgrade", "1").query("k", mark);
    let ((client, _inbox), _) = connect(options).await;
    let requests = client.call("requests", Payload::empty(), PATIENCE).await;
    let requests: Vec<Value> = requests.unwrap().get(0).unwrap();
    let transports: Vec<_> = requests.iter().map(|request| request["query"]["transport"].as_str().unwrap()).collect();
    assert_eq!(transports[..3], ["polling", "websocket", "polling"]);
    assert_eq!(transports[3..].iter().find(|name| **name != "polling"), None);
}

#[tokio::test]
async fn a_probe_that_fails_on_node() {
    a_failed_probe_stays_on_polling(Case { server: Server::Node, transport: Transport::PollingThenWebsocket }).await;
}

#[tokio::test]
async fn a_probe_that_fails_on_python() {
    a_failed_probe_stays_on_polling(Case { server: Server::Python, transport: Transport::PollingThenWebsocket }).await;
}

async fn a_path_of_its_own(case: Case) {
    let peer = case.server.start(&json!({"path": "/a/path"}));
    let options = case.options_at(peer.address()).path("/a/path");
    let ((client, _inbox), _) = connect(options).await;
    assert!(client.call("two", Payload::empty(), PATIENCE).await.is_ok());
    let elsewhere = Client::connect(case.options_at(peer.address())).await;
    assert!(matches!(elsewhere, Err(SocketConnectError::Http(_))));
}

async fn a_server_that_is_not_there(case: Case) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    drop(listener);
    let secret = case.options_at(&port).query("token", "s3cret");
    let error = Client::connect(secret).await.unwrap_err();
    assert!(matches!(error, SocketConnectError::Transport(_)));
    assert!(!error.is_final());
    assert!(!format!("{error:?} {error}").contains("s3cret"));
}
