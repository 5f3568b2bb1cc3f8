//! What is larger than the limit is answered with 429, and the connection stays.

use a2c_hub::Hub;
use a2c_socketio::{Payload, Transport};
use serde_json::{Value, json};

use crate::support::{Member, RawClient, assert_error, http, hub, hub_with};

const LIMIT: usize = 10_000;

async fn small_hub() -> Hub {
    hub_with(|config| config.limits.max_payload = LIMIT).await
}

/// `before`, as many `x` as it takes, and `after`: this many bytes.
fn filled(bytes: usize, before: &str, after: &str) -> String {
    before.to_owned() + &"x".repeat(bytes - before.len() - after.len()) + after
}

fn request_of(bytes: usize) -> String {
    filled(bytes, r#"["client:x",{"computer":"c","req_id":"r","fill":""#, r#""}]"#)
}

#[track_caller]
fn assert_over_limit(answer: &Value) {
    let error = assert_error(answer, 429);
    assert!(error.message.contains("10000"), "{error}");
    assert_eq!(error.fields["limit"], LIMIT);
}

#[tokio::test]
async fn a_request_above_the_limit() {
    let hub = small_hub().await;
    // Our own client keeps to the limit that the hub announces; others need not.
    let mut agent = RawClient::joined(&hub, "agent", "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    for bytes in [LIMIT + 1, 2 * LIMIT, 3 * LIMIT] {
        let answer: Value = serde_json::from_str(&agent.ask_text(&request_of(bytes)).await).unwrap();
        assert_over_limit(&answer[0]);
    }
    computer.heard_nothing().await;
    let request = request_of(LIMIT);
    let (answer, _) = tokio::join!(agent.ask_text(&request), computer.answer("client:x", json!({"ok": true})));
    assert_eq!(answer, r#"[{"ok":true}]"#);
}

#[tokio::test]
async fn an_answer_above_the_limit() {
    let hub = small_hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    for (bytes, passes) in [(LIMIT, true), (LIMIT + 1, false), (3 * LIMIT, false), (LIMIT, true)] {
        let asked = agent.asking("client:x", json!({"computer": "c", "req_id": "r"}));
        let id = computer.request_id().await;
        let answer = filled(bytes, "[{\"fill\":\"", "\"}]");
        computer.send(format!("43/smcp,{id}{answer}")).await;
        let got = asked.await.unwrap();
        if passes {
            assert_eq!(json!([got]).to_string(), answer);
        } else {
            assert_over_limit(&got);
        }
    }
    assert_eq!(agent.roll("o").await, ["agent a", "computer c"]);
}

#[tokio::test]
async fn attachments_count() {
    let hub = small_hub().await;
    let mut agent = RawClient::joined(&hub, "agent", "a", "o").await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    assert!(agent.text().await.contains("notify:enter_office"));
    let blob = json!({"_placeholder": true, "num": 0});
    let request = json!(["client:x", {"computer": "c", "blob": blob}]);

    agent.send(format!("451-/smcp,1{request}")).await;
    agent.send_binary(vec![0; LIMIT]).await;
    let refused = agent.text().await;
    let refused: Value = serde_json::from_str(refused.strip_prefix("43/smcp,1").unwrap()).unwrap();
    assert_over_limit(&refused[0]);

    agent.send(format!("451-/smcp,2{request}")).await;
    agent.send_binary(vec![1; LIMIT - request.to_string().len()]).await;
    let id = computer.request_id().await;
    assert_eq!(computer.binary().await.len(), LIMIT - request.to_string().len());
    computer.send(format!("461-/smcp,{id}[{{\"blob\":{blob}}}]")).await;
    computer.send_binary(vec![2; LIMIT]).await;
    let refused = agent.text().await;
    let refused: Value = serde_json::from_str(refused.strip_prefix("43/smcp,2").unwrap()).unwrap();
    assert_over_limit(&refused[0]);
}

#[tokio::test]
async fn far_above_the_limit_only_the_sender_is_disconnected() {
    let hub = small_hub().await;
    let mut agent = Member::agent(&hub, "a", "o").await;
    let mut flood = RawClient::joined(&hub, "computer", "flood", "o").await;
    agent.told("notify:enter_office").await;
    flood.send(format!("42/smcp,1{}", request_of(20 * LIMIT))).await;
    flood.hung_up().await;
    assert_eq!(agent.told("notify:leave_office").await, json!({"office_id": "o", "computer": "flood"}));
    assert_eq!(agent.roll("o").await, ["agent a"]);
}

#[tokio::test]
async fn attachments_far_above_the_limit_cut_the_connection() {
    let hub = small_hub().await;
    let mut flood = RawClient::joined(&hub, "agent", "a", "o").await;
    flood.send(r#"452-/smcp,1["client:x",{}]"#).await;
    flood.send_binary(vec![0; 20 * LIMIT]).await;
    flood.hung_up().await;
}

/// The head of the packet is enough to say 429, and the connection goes on.
#[tokio::test]
async fn many_times_the_limit_is_429() {
    let hub = small_hub().await;
    let mut agent = RawClient::joined(&hub, "agent", "a", "o").await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    assert!(agent.text().await.contains("notify:enter_office"));
    let refused = |packet: &str, id: usize| {
        let answer: Value = serde_json::from_str(packet.strip_prefix(&format!("43/smcp,{id}")).unwrap()).unwrap();
        assert_eq!(assert_error(&answer[0], 429).fields["limit"], LIMIT);
    };
    // A request, and one with attachments, which are skipped.
    agent.send(format!("42/smcp,1{}", request_of(10 * LIMIT))).await;
    refused(&agent.text().await, 1);
    agent.send(format!("451-/smcp,2{}", request_of(10 * LIMIT))).await;
    refused(&agent.text().await, 2);
    agent.send_binary(vec![0; 10]).await;
    // Attachments.
    agent.send(r#"453-/smcp,3["client:x",{"computer":"c"}]"#).await;
    agent.send_binary(vec![0; 10]).await;
    agent.send_binary(vec![0; 10 * LIMIT]).await;
    refused(&agent.text().await, 3);
    agent.send_binary(vec![0; 10 * LIMIT]).await;
    // An answer: the Agent that waits gets the error.
    agent.send(r#"42/smcp,4["client:x",{"computer":"c"}]"#).await;
    let id = computer.request_id().await;
    computer.send(format!("43/smcp,{id}[{{\"x\":\"{}\"}}]", "x".repeat(10 * LIMIT))).await;
    refused(&agent.text().await, 4);
    // And both go on.
    agent.send(r#"42/smcp,5["client:x",{"computer":"c"}]"#).await;
    let id = computer.request_id().await;
    computer.send(format!("43/smcp,{id}[{{}}]")).await;
    assert_eq!(agent.text().await, "43/smcp,5[{}]");
}

#[tokio::test]
async fn the_limit_is_announced() {
    let hub = small_hub().await;
    let (_, _, open) = http(&hub, "GET", "/smcp/?EIO=4&transport=polling&a2c_version=0.2.0", "", "").await;
    let open: Value = serde_json::from_str(&open[1..]).unwrap();
    assert_eq!(open["maxPayload"], LIMIT);
    let mut websocket = RawClient::upgrade(&hub, "a2c_version=0.2.0").await;
    let open: Value = serde_json::from_str(&websocket.text().await[1..]).unwrap();
    assert_eq!(open["maxPayload"], LIMIT);
}

#[tokio::test]
async fn a_request_above_the_limit_over_polling() {
    let hub = small_hub().await;
    let query = "/smcp/?EIO=4&transport=polling";
    let (_, _, open) = http(&hub, "GET", &format!("{query}&a2c_version=0.2.0"), "", "").await;
    let open: Value = serde_json::from_str(&open[1..]).unwrap();
    let session = format!("{query}&sid={}", open["sid"].as_str().unwrap());
    let post = async |text: &str| assert_eq!(http(&hub, "POST", &session, "", text).await.2, "ok");
    // A poll may bring a ping before what was asked for.
    let poll_for = async |start: &str| loop {
        let (_, _, polled) = http(&hub, "GET", &session, "", "").await;
        if let Some(packet) = polled.split('\x1e').find_map(|packet| packet.strip_prefix(start)) {
            return packet.to_owned();
        }
        if polled.contains('2') {
            post("3").await;
        }
    };
    post("40/smcp,").await;
    poll_for("40/smcp,").await;
    post(&format!("42/smcp,1{}", request_of(2 * LIMIT))).await;
    let refused: Value = serde_json::from_str(&poll_for("43/smcp,1").await).unwrap();
    assert_over_limit(&refused[0]);
    post(r#"42/smcp,2["server:join_office",{"role":"agent","name":"a","office_id":"o"}]"#).await;
    assert_eq!(poll_for("43/smcp,2").await, "[true,null]", "the session goes on");
}

async fn sixteen_mebibytes_of_text(transport: Transport) {
    let hub = hub().await;
    let options = || Member::options(&hub).transport(transport);
    let agent = Member::joined(options(), "agent", "a", "o").await;
    let mut computer = Member::joined(options(), "computer", "c", "o").await;
    let text = "x".repeat(16 << 20);
    let asked = agent.asking("client:x", json!({"computer": "c", "text": text}));
    let request = computer.answer("client:x", json!({"text": text})).await;
    assert!(request["text"] == text.as_str());
    assert!(asked.await.unwrap()["text"] == text.as_str());
}

#[tokio::test]
async fn sixteen_mebibytes_of_text_pass_over_websocket() {
    sixteen_mebibytes_of_text(Transport::Websocket).await;
}

#[tokio::test]
async fn sixteen_mebibytes_of_text_pass_over_polling() {
    sixteen_mebibytes_of_text(Transport::Polling).await;
}

#[tokio::test]
async fn sixteen_mebibytes_of_bytes_pass_over_websocket() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let answering = async {
        let ack = computer.event("client:x").await.ack.unwrap();
        let mut answer = Payload::empty();
        let blob = answer.attach(vec![7; 16 << 20]);
        ack.send(answer.arg(&json!({"blob": blob})).unwrap()).await.unwrap();
    };
    let asked = agent.call("client:x", Payload::json(&json!({"computer": "c"})).unwrap());
    let (answer, ()) = tokio::join!(asked, answering);
    assert_eq!(answer.attachments()[0].len(), 16 << 20);
}
