//! Admission at CONNECT: the namespace, the role, the credential. A refusal is a CONNECT_ERROR.

use std::sync::Arc;

use a2c_hub::auth::{ApiKey, ApiKeyAuth, Authenticate};
use a2c_socketio::{Options, SocketConnectError};
use serde_json::{Value, json};

use crate::support::{Member, RawClient, assert_error, http, hub, hub_with, until_empty};

async fn refusal(options: Options) -> String {
    match Member::connect_with(options).await.err() {
        Some(SocketConnectError::Refused(refusal)) => refusal.message().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn token(key: &str) -> Arc<dyn Authenticate> {
    Arc::new(ApiKeyAuth::new(ApiKey::new(key).unwrap()))
}

#[tokio::test]
async fn another_namespace_is_refused() {
    let hub = hub().await;
    for namespace in ["/", "/other", "/smcp2", "/SMCP"] {
        assert_eq!(refusal(Member::options(&hub).namespace(namespace)).await, "Invalid namespace");
    }
    assert_eq!(hub.connections(), 0);
}

#[tokio::test]
async fn a_refused_client_may_try_again_on_its_connection() {
    let hub = hub().await;
    let mut client = RawClient::open(&hub).await;
    client.send("40/other,").await;
    assert_eq!(client.text().await, "44/other,{\"message\":\"Invalid namespace\"}");
    client.send("40/smcp,{\"role\":\"boss\"}").await;
    assert!(client.text().await.starts_with("44/smcp,{\"message\":\"unknown role"));
    client.send("40/smcp,{\"role\":\"agent\"}").await;
    client.welcomed().await;
    assert_eq!(hub.connections(), 1);
}

#[tokio::test]
async fn an_unknown_role_is_refused() {
    let hub = hub().await;
    for role in [json!("boss"), json!("Agent"), json!(""), json!(7), json!(["agent"]), json!({"agent": 1})] {
        let reason = refusal(Member::options(&hub).auth(json!({"role": role}))).await;
        assert!(reason.contains("role"), "{role}: {reason}");
    }
    assert_eq!(hub.connections(), 0);
}

#[tokio::test]
async fn an_auth_that_is_no_object_is_refused() {
    let hub = hub().await;
    for auth in ["[]", "-7", "\"agent\"", "{", "{]", "\u{0}"] {
        let mut client = RawClient::open(&hub).await;
        client.send(format!("40/smcp,{auth}")).await;
        let answer = client.text().await;
        assert!(answer.starts_with("44/smcp,{\"message\":"), "{auth:?}: {answer}");
    }
    assert_eq!(hub.connections(), 0);
}

#[tokio::test]
async fn no_role_a_null_role_and_each_role_are_admitted() {
    let hub = hub().await;
    for auth in [json!({}), json!({"role": null}), json!({"role": "agent"}), json!({"role": "computer", "more": [1]})] {
        let member = Member::connect_with(Member::options(&hub).auth(&auth)).await;
        member.unwrap_or_else(|e| panic!("{auth}: {e}")).close().await;
    }
    until_empty(&hub).await;
}

#[tokio::test]
async fn a_token_is_accepted_in_each_of_its_places() {
    let hub = hub_with(|config| config.auth = token("s3cret")).await;
    let with = || Member::options(&hub);
    for options in [
        with().header("x-api-key", "s3cret"),
        with().header("access_token", "s3cret"),
        with().header("authorization", "Bearer s3cret"),
        with().auth(json!({"token": "s3cret", "role": "agent"})),
    ] {
        Member::connect_with(options).await.unwrap().close().await;
    }
}

#[tokio::test]
async fn without_the_token_the_answer_is_401_and_no_more() {
    let hub = hub_with(|config| config.auth = token("s3cret")).await;
    let with = || Member::options(&hub);
    for options in [
        with(),
        with().auth(json!({"token": "S3cret"})),
        with().auth(json!({"token": ""})),
        with().auth(json!({"token": null})),
        with().auth(json!({"token": ["s3cret"]})),
        with().header("x-api-key", "s3cre"),
        with().header("access_token", "s3cret2"),
        with().header("authorization", "s3cret"),
        with().query("token", "s3cret"),
        // The credential is judged before the role: a client learns nothing about roles.
        with().auth(json!({"role": "boss"})),
    ] {
        match Member::connect_with(options).await.err() {
            Some(SocketConnectError::Refused(refusal)) => {
                let said: Value = serde_json::to_value(&refusal.payload).unwrap();
                assert_eq!(said, json!({"message": "401"}));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(hub.connections(), 0);
}

#[tokio::test]
async fn a_web_page_is_not_a_client() {
    let hub = hub().await;
    let target = "/smcp/?EIO=4&transport=polling&a2c_version=0.2.0";
    let ask = async |headers: &str| http(&hub, "GET", target, headers, "").await;
    let (status, _, body) = ask("origin: https://evil.example\r\n").await;
    assert!(status.contains("403"), "{status}");
    assert_error(&serde_json::from_str(&body).unwrap(), 403);
    let (status, _, _) = ask("origin: http://localhost\r\n").await;
    assert!(status.contains("200"), "{status}");
    let upgrade = "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n\
                   sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\norigin: https://evil.example\r\n";
    let target = "/socket.io/?EIO=4&transport=websocket&a2c_version=0.2.0";
    let (status, _, _) = http(&hub, "GET", target, upgrade, "").await;
    assert!(status.contains("403"), "{status}");
}

#[tokio::test]
async fn without_authentication_the_hub_stays_on_loopback() {
    let refused = a2c_hub::Hub::start(a2c_hub::HubConfig::on("0.0.0.0:0".parse().unwrap())).await;
    assert!(matches!(refused, Err(a2c_hub::HubStartError::Open { .. })));
}

#[tokio::test]
async fn one_guess_at_a_token_per_connection() {
    let hub = hub_with(|config| config.auth = token("s3cret")).await;
    let mut guesser = RawClient::open(&hub).await;
    guesser.send(r#"40/smcp,{"token":"guess"}"#).await;
    assert!(guesser.text().await.starts_with("44/smcp,"));
    guesser.send(r#"40/smcp,{"token":"s3cret"}"#).await;
    guesser.hung_up_without_welcome().await;
}

#[tokio::test]
async fn an_unadmitted_client_may_send_little() {
    let hub = hub().await;
    for flood in [format!("40/smcp,{{\"fill\":\"{}\"}}", "x".repeat(65 << 10)), "451-/smcp,[\"e\"]".to_owned()] {
        let mut client = RawClient::open(&hub).await;
        client.send(flood).await;
        client.hung_up_without_welcome().await;
    }
    until_empty(&hub).await;
}

#[tokio::test]
async fn a_page_that_may_use_the_hub_can_poll() {
    let hub = hub_with(|config| config.allowed_hosts = vec!["app.example".into()]).await;
    let target = "/smcp/?EIO=4&transport=polling&a2c_version=0.2.0";
    let (status, headers, _) = http(&hub, "OPTIONS", target, "origin: https://app.example\r\n", "").await;
    assert!(status.contains("204") && headers.contains("access-control-allow-headers: authorization"), "{headers}");
    let (status, headers, _) = http(&hub, "GET", target, "origin: https://app.example\r\n", "").await;
    assert!(status.contains("200"), "{status}");
    assert!(headers.contains("access-control-allow-origin: https://app.example"), "{headers}");
    let (status, headers, _) = http(&hub, "GET", target, "origin: https://evil.example\r\n", "").await;
    assert!(status.contains("403") && !headers.contains("access-control"), "{headers}");
}
