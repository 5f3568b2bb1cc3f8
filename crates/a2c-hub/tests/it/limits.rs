//! Every limit has its own answer, leaves the connection open, and affects no other client. The limits of sizes are in `payload_size`,
//! of attachments in `hostile`, of calls and queues in `backpressure`.

use std::sync::Arc;
use std::time::Duration;

use a2c_hub::auth::{ApiKey, ApiKeyAuth};
use a2c_hub::{ForwardedHeader, Hub, HubLimits, Rate, TrustedProxies};
use a2c_socketio::SocketConnectError;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Member, RawClient, assert_error, http, hub, hub_with, until_empty, within};

const POLLING: &str = "/smcp/?EIO=4&transport=polling&a2c_version=0.2.0";

/// An hour: nothing is forgotten while a test runs.
fn per_hour(count: u32) -> Option<Rate> {
    Some(Rate { count, period: Duration::from_secs(3600) })
}

async fn crowded_hub() -> Hub {
    hub_with(|config| config.limits.connections_per_address = Some(3)).await
}

/// A connection that has been served once and stays; nothing where it is turned away.
async fn connection(hub: &Hub) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(hub.address()).await.unwrap();
    // Turned away, a connection may be closed before all of this is sent.
    let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let mut answer = Vec::new();
    while !answer.ends_with(b"ok\n") {
        let n = within("an answer", stream.read_buf(&mut answer)).await.unwrap_or_default();
        if n == 0 {
            let text = String::from_utf8_lossy(&answer);
            assert!(text.starts_with("HTTP/1.1 429 "), "{text}");
            assert!(
                text.ends_with(
                    "\"limit\":3,\"message\":\"3 connections from this address are open: close some of them\"}"
                ),
                "{text}"
            );
            return None;
        }
    }
    Some(stream)
}

#[tokio::test]
async fn connections_per_address() {
    let hub = crowded_hub().await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(connection(&hub).await.expect("there is room"));
    }
    assert!(connection(&hub).await.is_none());
    open.pop();
    // The hub notices the end of a connection some time after the client has ended it.
    within("room", async { while connection(&hub).await.is_none() {} }).await;
}

/// Behind a proxy that the operator trusts, each client has the address that the proxy names; without trust, none has.
#[tokio::test]
async fn clients_of_a_trusted_proxy_count_by_their_own_address() {
    let trusted = TrustedProxies::new(vec!["127.0.0.0/8".parse().unwrap()], ForwardedHeader::XForwardedFor);
    let open = "/smcp/?EIO=4&transport=polling&a2c_version=0.2.0";
    for (proxies, are_told_apart) in [(Some(trusted), true), (None, false)] {
        let hub = hub_with(|config| {
            config.limits.connections_per_address = Some(2);
            config.proxies = proxies;
        })
        .await;
        let status =
            async |client: &str| http(&hub, "GET", open, &format!("x-forwarded-for: {client}\r\n"), "").await.0;
        assert!(status("203.0.113.1").await.contains("200"));
        assert!(status("203.0.113.1").await.contains("200"));
        assert!(status("203.0.113.1").await.contains("429"));
        assert_eq!(status("203.0.113.2").await.contains("200"), are_told_apart);
        // What a client adds itself, in front of what the proxy adds, makes it no other client.
        assert!(status("198.51.100.7, 203.0.113.1").await.contains("429"));
    }
}

#[tokio::test]
async fn sessions_per_address() {
    let hub = crowded_hub().await;
    let mut members = Vec::new();
    for n in 0..2 {
        members.push(Member::computer(&hub, &n.to_string(), "o").await);
    }
    // A session that is polled counts although it has no connection of its own.
    assert_eq!(http(&hub, "GET", POLLING, "", "").await.0, "HTTP/1.1 200 OK");
    let (status, headers, body) = http(&hub, "GET", POLLING, "", "").await;
    assert_eq!(status, "HTTP/1.1 429 Too Many Requests");
    assert!(headers.contains("content-type: application/json"), "{headers}");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(assert_error(&body, 429).fields["limit"], 3);
    let refused = Member::connect_with(Member::options(&hub)).await.err().expect("there is no room");
    assert!(refused.to_string().contains("429"), "{refused}");
    // Those who are there are not disturbed, and room is given back.
    assert_eq!(members[0].roll("o").await, ["computer 0", "computer 1"]);
    members.pop().unwrap().close().await;
    let joined = async {
        loop {
            if let Ok(member) = Member::connect_with(Member::options(&hub)).await {
                return member;
            }
        }
    };
    assert_eq!(within("room", joined).await.join("agent", "a", "o").await, (true, None));
}

#[tokio::test]
async fn requests() {
    let hub = hub_with(|config| config.limits.requests = per_hour(20)).await;
    let other = Member::agent(&hub, "other", "elsewhere").await;
    let mut agent = RawClient::joined(&hub, "agent", "a", "o").await;
    // The join was one of them.
    for _ in 1..20 {
        assert_error(&ask(&mut agent).await, 400);
    }
    for _ in 0..3 {
        let refused = assert_error(&ask(&mut agent).await, 429);
        let seconds = refused.fields["retry_after"].as_u64().unwrap();
        assert!((1..=180).contains(&seconds), "{refused}: one comes back every three minutes");
        assert!(refused.message.contains("too many requests"), "{refused}");
    }
    assert_eq!(other.roll("elsewhere").await, ["agent other"], "another connection has its own");
    assert_eq!(hub.connections(), 2);
    // Who does not stop is stopped; ten times as many were refused by then.
    for _ in 3..200 {
        assert_error(&ask(&mut agent).await, 429);
    }
    agent.send("42/smcp,[\"x\"]").await;
    agent.hung_up().await;
    assert_eq!(other.roll("elsewhere").await, ["agent other"]);
    other.close().await;
    until_empty(&hub).await;
}

async fn ask(agent: &mut RawClient) -> Value {
    let answer: Value = serde_json::from_str(&agent.ask("x", &json!({})).await).unwrap();
    answer[0].clone()
}

/// Answers are no requests, unless there is no call for them.
#[tokio::test]
async fn answers_without_a_call_count_as_requests() {
    let hub = hub_with(|config| config.limits.requests = per_hour(5)).await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    for round in 0..2 {
        let agent = Member::agent(&hub, "a", "o").await;
        assert!(computer.text().await.contains("notify:enter_office"));
        for n in 0..4 {
            let asked = agent.asking("client:x", json!({"computer": "c", "req_id": format!("{round} {n}")}));
            let id = computer.request_id().await;
            computer.send(format!("43/smcp,{id}[{{}}]")).await;
            assert_eq!(asked.await.unwrap(), json!({}), "answers are not counted");
        }
        agent.close().await;
        assert!(computer.text().await.contains("notify:leave_office"));
    }
    computer.send_together((0..100).map(|n| format!("43/smcp,{n}[{{}}]"))).await;
    computer.hung_up().await;
}

#[tokio::test]
async fn joins() {
    let hub = hub_with(|config| config.limits.joins = per_hour(3)).await;
    let member = Member::connect(&hub).await;
    for office in ["1", "2", "3"] {
        assert_eq!(member.join("computer", "c", office).await, (true, None));
    }
    let refused = member.refused_join("computer", "c", "4").await;
    assert!(refused.contains("too many attempts to join: wait"), "{refused}");
    assert_eq!(member.roll("3").await, ["computer c"], "it stays where it is");
    let other = Member::connect(&hub).await;
    assert_eq!(other.join("computer", "d", "3").await, (true, None));
    // What is no join is not counted as one.
    assert_eq!(member.leave("3").await, (true, None));
}

#[tokio::test]
async fn failed_credentials() {
    let hub = hub_with(|config| {
        config.auth = Arc::new(ApiKeyAuth::new(ApiKey::new("a key that is right").unwrap()));
        config.limits.failed_connects = per_hour(3);
    })
    .await;
    let with_key = |key: &str| Member::connect_with(Member::options(&hub).auth(json!({"role": "agent", "token": key})));
    let inside = with_key("a key that is right").await.unwrap();
    for n in 0..3 {
        assert!(matches!(with_key(&format!("a key that is wrong {n}")).await, Err(SocketConnectError::Refused(_))));
        if n < 2 {
            with_key("a key that is right").await.unwrap().close().await;
        }
    }
    let Err(SocketConnectError::Refused(refusal)) = with_key("a key that is right").await else {
        panic!("not locked out");
    };
    let told = "429 too many wrong credentials from this address: wait 1200 s";
    assert_eq!(refusal.message().as_deref(), Some(told), "not that the credential is wrong: it was not looked at");
    // On one connection there is one attempt.
    let mut client = RawClient::open(&hub).await;
    client.send("40/smcp,{\"token\":\"x\"}").await;
    assert_eq!(client.text().await, format!("44/smcp,{{\"message\":\"{told}\"}}"));
    client.send("40/smcp,{\"token\":\"y\"}").await;
    client.hung_up().await;
    assert_eq!(inside.join("agent", "a", "o").await, (true, None), "who is in stays in");
}

/// On a loopback address, programs of the same user are not counted.
#[tokio::test]
async fn a_local_hub_has_no_rates() {
    let hub = hub().await;
    let mut client = RawClient::joined(&hub, "agent", "a", "o").await;
    for _ in 0..2000 {
        assert_error(&ask(&mut client).await, 400);
    }
    let mut crowd = Vec::new();
    for n in 0..100 {
        let member = Member::connect(&hub).await;
        for office in 0..3 {
            assert_eq!(member.join("computer", &n.to_string(), &office.to_string()).await, (true, None));
        }
        crowd.push(member);
    }
    let local = HubLimits::local();
    assert_eq!(
        (local.connections_per_address, local.requests, local.joins, local.failed_connects),
        (None, None, None, None)
    );
}
