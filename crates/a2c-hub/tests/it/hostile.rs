//! Hostile packets end at most the connection of their sender. All other members go on working.

use std::time::Duration;

use a2c_hub::Hub;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::{Member, RawClient, assert_error, http, hub, hub_with, until_empty};

/// Two members at work, while something hostile happens next to them.
struct Office {
    hub: Hub,
    agent: Member,
    computer: Member,
}

impl Office {
    async fn open() -> Self {
        Self::open_in(hub().await).await
    }

    async fn open_in(hub: Hub) -> Self {
        let agent = Member::agent(&hub, "a", "work").await;
        let computer = Member::computer(&hub, "c", "work").await;
        Self { hub, agent, computer }
    }

    /// A call goes through.
    async fn works(&mut self) {
        let asked = self.agent.asking("client:get_tools", json!({"computer": "c", "req_id": "r"}));
        self.computer.answer("client:get_tools", json!({"tools": []})).await;
        assert_eq!(asked.await.unwrap(), json!({"tools": []}));
    }

    /// The members leave, and the hub holds nothing of any client.
    async fn close(mut self) {
        self.works().await;
        self.agent.close().await;
        self.computer.close().await;
        until_empty(&self.hub).await;
    }
}

#[tokio::test]
async fn frames_that_are_no_packets_end_the_connection() {
    let mut office = Office::open().await;
    for text in [
        "",
        "x",
        "9",
        "0",
        "4",
        "47",
        "4x",
        "4é",
        "44/smcp,{\"message\":\"no\"}",
        "45/smcp,[]",
        "45-/smcp,[]",
        "45x-/smcp,[]",
        "4599999999999999999999-/smcp,[]",
        "46-1-/smcp,[]",
        "42/smcp,99999999999999999999999[]",
        "5",
        "6",
        "7",
        "0{}",
        "b!",
    ] {
        for connected in [false, true] {
            let mut client =
                if connected { RawClient::connect(&office.hub).await } else { RawClient::open(&office.hub).await };
            client.send(text).await;
            client.hung_up().await;
        }
        office.works().await;
    }
    office.close().await;
}

#[tokio::test]
async fn packets_before_connect_end_the_connection() {
    let office = Office::open().await;
    for text in ["42/smcp,[\"x\"]", "42/smcp,1[\"client:get_tools\",{\"computer\":\"c\"}]", "43/smcp,1[{}]", "41/smcp,"]
    {
        let mut client = RawClient::open(&office.hub).await;
        client.send(text).await;
        client.hung_up().await;
    }
    office.close().await;
}

#[tokio::test]
async fn attachments_that_do_not_fit_end_the_connection() {
    let mut office = Office::open().await;
    let event = "[\"client:x\",{\"computer\":\"c\"}]";

    let mut huge_count = RawClient::connect(&office.hub).await;
    huge_count.send(format!("4518446744073709551615-/smcp,1{event}")).await;
    huge_count.hung_up().await;

    let mut far_too_many = RawClient::connect(&office.hub).await;
    far_too_many.send(format!("451025-/smcp,1{event}")).await;
    far_too_many.hung_up().await;

    let mut without_header = RawClient::connect(&office.hub).await;
    without_header.send_binary(vec![1, 2, 3]).await;
    without_header.hung_up().await;

    let mut text_instead = RawClient::connect(&office.hub).await;
    text_instead.send(format!("452-/smcp,1{event}")).await;
    text_instead.send_binary(vec![1]).await;
    text_instead.send("42/smcp,2[\"x\"]").await;
    text_instead.hung_up().await;

    let mut never_come = RawClient::connect(&office.hub).await;
    never_come.send(format!("4564-/smcp,1{event}")).await;
    never_come.send_binary(vec![1]).await;
    office.works().await;
    never_come.vanish();
    office.close().await;
}

#[tokio::test]
async fn too_many_attachments_are_429_and_skipped() {
    let hub = hub().await;
    let mut agent = RawClient::joined(&hub, "agent", "a", "o").await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    assert!(agent.text().await.contains("notify:enter_office"));
    let refused = |packet: &str| {
        let answer: Value = serde_json::from_str(packet.strip_prefix("43/smcp,1").unwrap()).unwrap();
        assert_eq!(assert_error(&answer[0], 429).fields["limit"], 10);
    };

    agent.send("4511-/smcp,1[\"client:x\",{\"computer\":\"c\"}]").await;
    refused(&agent.text().await);
    for _ in 0..11 {
        agent.send_binary(vec![1]).await;
    }
    // The same for an answer: the Agent that waits gets the error.
    agent.send("42/smcp,1[\"client:x\",{\"computer\":\"c\"}]").await;
    let id = computer.request_id().await;
    computer.send(format!("4611-/smcp,{id}[{{}}]")).await;
    refused(&agent.text().await);
    for _ in 0..11 {
        computer.send_binary(vec![1]).await;
    }
    // And both go on.
    agent.send("42/smcp,2[\"client:x\",{\"computer\":\"c\"}]").await;
    let id = computer.request_id().await;
    computer.send(format!("43/smcp,{id}[{{}}]")).await;
    assert_eq!(agent.text().await, "43/smcp,2[{}]");
}

#[tokio::test]
async fn a_binary_packet_without_attachments_is_an_event() {
    let hub = hub().await;
    let mut client = RawClient::connect(&hub).await;
    client.send("450-/smcp,1[\"x\",{}]").await;
    assert!(client.text().await.starts_with("43/smcp,1[{\"code\":400,"));
}

#[tokio::test]
async fn packets_without_a_meaning_are_ignored() {
    let office = Office::open().await;
    let mut client = RawClient::connect(&office.hub).await;
    for text in [
        "43/smcp,0[{}]",
        "43/smcp,18446744073709551615[{}]",
        "43/smcp,[{}]",
        "43/smcp,",
        "42/other,1[\"x\"]",
        "42[\"x\"]",
        "41/other,",
        "40/smcp,{}",
        "40/smcp,{\"role\":\"boss\"}",
        "40/smcp,{]",
        "3",
        "2",
    ] {
        client.send(text).await;
    }
    client.send("461-/smcp,7[{}]").await;
    client.send_binary(vec![1]).await;
    let answer: Value = serde_json::from_str(&client.ask("x", &json!({})).await).unwrap();
    assert_error(&answer[0], 400);
    drop(client);
    office.close().await;
}

#[tokio::test]
async fn deep_nesting_does_no_harm() {
    let office = Office::open().await;
    let deep = "[".repeat(100_000);
    let closed = deep.clone() + &"]".repeat(100_000);
    let objects = "{\"a\":".repeat(100_000) + "1" + &"}".repeat(100_000);
    let mut client = RawClient::connect(&office.hub).await;
    for body in [&deep, &closed, &objects] {
        let answer: Value = serde_json::from_str(&client.ask_text(body).await).unwrap();
        assert_error(&answer[0], 400);
        for event in
            ["client:x", "server:update_x", "server:list_room", "server:tool_call_cancel", "server:join_office", "x"]
        {
            for payload in
                [(*body).clone(), format!("{{\"computer\":{body}}}"), format!("{{\"computer\":\"c\",\"deep\":{body}}}")]
            {
                let answer: Value =
                    serde_json::from_str(&client.ask_text(&format!("[\"{event}\",{payload}]")).await).unwrap();
                assert!(answer[0]["code"].is_i64() || answer[0] == false, "{event}: {answer}");
            }
        }
    }
    // A CONNECT has to be short; this is as deep as it gets.
    let deep = "[".repeat(15_000) + &"]".repeat(15_000);
    for auth in [deep.clone(), format!("{{\"role\":{deep}}}"), format!("{{\"token\":{deep}}}")] {
        let mut other = RawClient::open(&office.hub).await;
        other.send(format!("40/smcp,{auth}")).await;
        let answer = other.text().await;
        assert!(answer.starts_with("44/smcp,") || answer.starts_with("40/smcp,"), "{answer}");
    }
    drop(client);
    office.close().await;
}

#[tokio::test]
async fn a_deep_request_and_a_deep_answer_pass() {
    let hub = hub().await;
    let mut agent = RawClient::joined(&hub, "agent", "a", "o").await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    assert!(agent.text().await.contains("notify:enter_office"));
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    agent.send(format!("42/smcp,1[\"client:x\",{{\"computer\":\"c\",\"deep\":{deep}}}]")).await;
    let id = computer.request_id().await;
    computer.send(format!("43/smcp,{id}[{{\"deep\":{deep}}}]")).await;
    assert!(agent.text().await == format!("43/smcp,1[{{\"deep\":{deep}}}]"));
}

#[tokio::test]
async fn connections_that_stop_half_way_go_away() {
    let short = hub_with(|config| {
        config.ping_interval = Duration::from_millis(400);
        config.ping_timeout = Duration::from_secs(2);
    })
    .await;
    let mut office = Office::open_in(short).await;
    let address = office.hub.address();

    // Never CONNECT, although every ping is answered.
    let mut undecided = RawClient::open(&office.hub).await;
    // A request without an end, and an upgrade without a key.
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(
        b"GET /smcp/?EIO=4&transport=websocket&a2c_version=0.2.0 HTTP/1.1\r\nhost: localhost\r\nupgrade: websoc",
    )
    .await
    .unwrap();
    let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n";
    let target = "/smcp/?EIO=4&transport=websocket&a2c_version=0.2.0";
    let (status, ..) = http(&office.hub, "GET", target, upgrade, "").await;
    assert_eq!(status, "HTTP/1.1 400 Bad Request");

    // A member on polling that begins an upgrade and vanishes in the middle of it.
    let (_, _, open) = http(&office.hub, "GET", "/smcp/?EIO=4&transport=polling&a2c_version=0.2.0", "", "").await;
    let open: Value = serde_json::from_str(&open[1..]).unwrap();
    let sid = open["sid"].as_str().unwrap();
    http(&office.hub, "POST", &format!("/smcp/?EIO=4&transport=polling&sid={sid}"), "", "40/smcp,").await;
    assert_eq!(office.hub.connections(), 3);
    let mut upgrading = RawClient::upgrade(&office.hub, &format!("sid={sid}")).await;
    upgrading.send("2probe").await;
    assert_eq!(upgrading.text().await, "3probe");
    upgrading.vanish();

    office.works().await;
    undecided.hung_up().await;
    drop(half);
    office.close().await;
}

#[tokio::test]
async fn many_unadmitted_clients_leave_nothing_behind() {
    let mut office = Office::open().await;
    let rude = ["x", "42/smcp,", "451-/smcp,[]", "43/smcp,1", "40/smcp,{]", "40/smcp,", "44", "41/smcp,"];
    for round in 0..20 {
        let mut crowd = Vec::new();
        for text in rude {
            let mut client = match round % 3 {
                0 => RawClient::open(&office.hub).await,
                1 => RawClient::connect(&office.hub).await,
                _ => RawClient::joined(&office.hub, "computer", text, &format!("crowd {round}")).await,
            };
            client.send(text).await;
            crowd.push(client);
        }
        office.works().await;
        crowd.into_iter().for_each(RawClient::vanish);
    }
    office.close().await;
}
