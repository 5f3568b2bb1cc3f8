//! Attachments pass through, in requests and in answers, over every transport.

use a2c_socketio::{Payload, Transport};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::support::{Member, hub};

fn blob(seed: u8, length: usize) -> Bytes {
    (0..length).map(|i| seed.wrapping_add((i % 251) as u8)).collect::<Vec<_>>().into()
}

async fn there_and_back(agents: Transport, computers: Transport) {
    let hub = hub().await;
    let agent = Member::joined(Member::options(&hub).transport(agents), "agent", "a", "o").await;
    let mut computer = Member::joined(Member::options(&hub).transport(computers), "computer", "c", "o").await;

    let mut request = Payload::empty();
    let (small, none) = (request.attach(blob(1, 3)), request.attach(Bytes::new()));
    let request = request.arg(&json!({"computer": "c", "agent": "x", "in": [small, {"deep": none}]})).unwrap();
    let asked = agent.call("client:get_blob", request);
    let answering = async {
        let event = computer.event("client:get_blob").await;
        assert_eq!(event.payload.attachments(), [blob(1, 3), Bytes::new()]);
        let seen: Value = event.payload.get(0).unwrap();
        assert_eq!(seen["agent"], "a");
        assert_eq!(seen["in"][1]["deep"], json!({"_placeholder": true, "num": 1}));
        let mut answer = Payload::empty();
        let big = answer.attach(blob(2, 1 << 20));
        let answer = answer.arg(&json!({"blob": big, "more": 1.5})).unwrap();
        event.ack.unwrap().send(answer).await.unwrap();
    };
    let (answer, ()) = tokio::join!(asked, answering);
    assert_eq!(answer.attachments(), [blob(2, 1 << 20)]);
    let placeholder = json!({"_placeholder": true, "num": 0});
    assert_eq!(answer.get::<Value>(0).unwrap(), json!({"blob": placeholder, "more": 1.5}));
}

#[tokio::test]
async fn over_websocket() {
    there_and_back(Transport::Websocket, Transport::Websocket).await;
}

#[tokio::test]
async fn over_polling() {
    there_and_back(Transport::Polling, Transport::Polling).await;
}

#[tokio::test]
async fn over_an_upgrade_and_mixed() {
    there_and_back(Transport::PollingThenWebsocket, Transport::PollingThenWebsocket).await;
    there_and_back(Transport::Polling, Transport::Websocket).await;
    there_and_back(Transport::Websocket, Transport::Polling).await;
}

#[tokio::test]
async fn attachments_of_calls_at_once_do_not_mix() {
    let hub = hub().await;
    let agent = Member::agent(&hub, "a", "o").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let calls = (0..100u8).map(|i| {
        let mut payload = Payload::empty();
        let there = payload.attach(blob(i, 1000));
        agent.call("client:echo", payload.arg(&json!({"computer": "c", "there": there})).unwrap())
    });
    let answering = async {
        for _ in 0..100 {
            let event = computer.event("client:echo").await;
            let (_, attachments) = event.payload.into_parts();
            let mut answer = Payload::empty();
            let back = answer.attach(attachments.into_iter().next().unwrap());
            event.ack.unwrap().send(answer.arg(&json!({"back": back})).unwrap()).await.unwrap();
        }
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all(calls), answering);
    for (i, answer) in (0..100u8).zip(answers) {
        assert_eq!(answer.attachments(), [blob(i, 1000)]);
    }
}
