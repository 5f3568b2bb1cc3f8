//! Versions that do not fit, in both directions.

use a2c_agent::protocol::{PROTOCOL_VERSION, Role, Version};
use a2c_agent::{Agent, ConnectError, LinkOptions, Transport};
use a2c_link::Link;
use serde_json::{Value, json};

use super::peers::{Hub, Sdk};

#[test]
fn an_sdk_client_learns_both_versions_from_our_hub() {
    let hub = Hub::start();
    let roles = [
        ("sdk_agent.py", json!({"url": hub.url(), "office": "o", "name": "caller"})),
        ("sdk_computer.py", json!({"url": hub.url(), "name": "desk"})),
    ];
    for (script, options) in roles {
        let mut client = Sdk::start(script, &options);
        for version in ["0.1.0", "0.3.0", "9.9.9"] {
            for path in ["socket.io", "smcp"] {
                let connection = json!({"transports": ["polling", "websocket"], "path": path, "version": version});
                let refused = client.fail("connect", connection);
                assert_eq!(refused["raised"], "ProtocolVersionError", "{script}: {refused}");
                let expected = json!({
                    "message": "Protocol version mismatch", "client_version": version, "server_version": "0.2.0",
                    "min_supported": "0.2.0", "max_supported": "0.2.999"
                });
                assert_eq!(refused["fields"], expected);
                assert_eq!(client.ask("connected", json!({}))["connected"], false);
            }
        }
        // Another patch is no other version, and a refusal does no lasting harm.
        let fitting = json!({"transports": ["polling", "websocket"], "version": "0.2.77"});
        assert_eq!(client.ask("connect", fitting)["transport"], "websocket");
    }
}

#[test]
fn a_refusal_reads_the_same_on_both_transports() {
    let hub = Hub::start();
    let mut client = Sdk::start("sdk_refused.py", &json!({"url": hub.url()}));
    for (query, code, message) in [
        ("a2c_version=0.3.0", json!("4008"), "Protocol version mismatch"),
        ("", Value::Null, "Missing a2c_version query parameter"),
        ("a2c_version=two", Value::Null, "Invalid a2c_version"),
    ] {
        for path in ["socket.io", "smcp"] {
            for transport in ["polling", "websocket"] {
                let refusal = client.ask("handshake", json!({"path": path, "transport": transport, "query": query}));
                assert_eq!((&refusal["status"], &refusal["code"]), (&json!(400), &code), "{refusal}");
                assert!(refusal["body"]["message"].as_str().unwrap().starts_with(message), "{refusal}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_clients_learn_both_versions_from_the_sdk_server_and_do_not_retry() {
    let mut server = Sdk::start("sdk_server.py", &json!({"token": "unused"}));
    let url = server.greeting()["url"].as_str().unwrap().to_owned();
    // Each case has a version of its own, by which the server tells them apart.
    let cases = [
        (Transport::PollingThenWebsocket, "polling", [Version::new(0, 1, 0), Version::new(9, 9, 9)]),
        (Transport::Websocket, "websocket", [Version::new(0, 1, 1), Version::new(9, 9, 8)]),
        (Transport::Polling, "polling", [Version::new(0, 3, 0), Version::new(1, 0, 0)]),
    ];
    for (transport, first, [version, other]) in cases {
        let mut options = LinkOptions::new(&url);
        options.path = "/socket.io".into();
        options.transport = transport;
        assert!(options.reconnect.is_some(), "a client that never retries proves nothing");

        options.version = version;
        let refused = Agent::connect(&options, "caller").await.err().unwrap();
        assert_mismatch(&refused, version);
        options.version = other;
        let refused = Link::connect(&options, Role::Computer).await.err().unwrap();
        assert_mismatch(&refused, other);

        for version in [version, other] {
            let seen = server.ask("handshakes", json!({"version": version}));
            assert_eq!(seen["transports"], json!([first]), "{transport:?} {version}");
        }
    }
}

fn assert_mismatch(refused: &ConnectError, ours: Version) {
    let &ConnectError::VersionMismatch { client, server, min, max } = refused else { panic!("{refused:?}") };
    assert_eq!((client, server), (ours, Some(PROTOCOL_VERSION)));
    assert_eq!((min, max), (Some(Version::new(0, 2, 0)), Some(Version::new(0, 2, 999))));
    let message = refused.to_string();
    assert!(message.contains(&ours.to_string()) && message.contains("0.2.0"), "{message}");
}
