//! Binary attachments in events and acknowledgements, in both directions.

use a2c_socketio::{Payload, Placeholder};
use bytes::Bytes;
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;

use super::peers::{Case, PATIENCE, event, everywhere};

everywhere!(
    a_mebibyte_of_bytes,
    nested_bytes,
    the_server_is_answered_with_bytes,
    more_attachments_than_a_polling_body_takes,
);

/// One MiB in which every byte value occurs and neighbours differ.
fn mebibyte() -> Bytes {
    (0..1usize << 20).map(|i| (i * 7 + (i >> 8)) as u8).collect()
}

fn only_bytes(payload: &Payload) -> &Bytes {
    let placeholder: Placeholder = payload.get(0).unwrap();
    payload.attachment(&placeholder).unwrap()
}

async fn a_mebibyte_of_bytes(case: Case) {
    let (client, mut inbox) = case.connect().await;
    let sent = mebibyte();
    client.emit("echo", Payload::binary(sent.clone())).await.unwrap();
    let echo = event(&mut inbox, "echo").await;
    assert!(only_bytes(&echo.payload) == &sent);
    let answer = client.call("echo_ack", Payload::binary(sent.clone()), PATIENCE).await.unwrap();
    assert!(only_bytes(&answer) == &sent);
}

async fn nested_bytes(case: Case) {
    #[derive(Deserialize)]
    struct Files {
        files: Vec<File>,
    }
    #[derive(Deserialize)]
    struct File {
        name: String,
        data: Placeholder,
    }

    let (client, _inbox) = case.connect().await;
    let mut payload = Payload::empty();
    let (first, second) = (payload.attach(vec![0, 255]), payload.attach(Bytes::new()));
    let payload = payload
        .arg(&json!({"files": [{"name": "a", "data": first}, {"name": "b", "data": second}]}))
        .unwrap()
        .arg("after")
        .unwrap();
    let answer = client.call("echo_ack", payload, PATIENCE).await.unwrap();
    assert_eq!(answer.get::<String>(1).unwrap(), "after");
    let files: Files = answer.get(0).unwrap();
    let read: Vec<_> =
        files.files.iter().map(|file| (file.name.as_str(), answer.attachment(&file.data).unwrap())).collect();
    let expected = [("a", &Bytes::from_static(&[0, 255])), ("b", &Bytes::from_static(&[]))];
    assert_eq!(read, expected);
}

async fn the_server_is_answered_with_bytes(case: Case) {
    let (client, mut inbox) = case.connect().await;
    let sent = mebibyte();
    let answering = async {
        let question = event(&mut inbox, "question").await;
        assert!(only_bytes(&question.payload) == &sent);
        let ack = question.ack.unwrap();
        ack.send(question.payload).await.unwrap();
    };
    let asking = client.call("ask", Payload::binary(sent.clone()), PATIENCE);
    let (answer, ()) = tokio::join!(asking, answering);
    assert!(only_bytes(&answer.unwrap()) == &sent);
}

/// Ten attachments are what the Node server takes in one packet.
async fn more_attachments_than_a_polling_body_takes(case: Case) {
    let (client, _inbox) = case.connect().await;
    let calls = (0..4u8).map(|call| {
        let mut payload = Payload::empty();
        let parts: Vec<_> = (0..10u8).map(|part| payload.attach(vec![call, part])).collect();
        client.call("echo_ack", payload.arg(&parts).unwrap(), PATIENCE)
    });
    for (call, answer) in join_all(calls).await.into_iter().enumerate() {
        let answer = answer.unwrap();
        let parts: Vec<Placeholder> = answer.get(0).unwrap();
        assert_eq!(parts.len(), 10);
        for (part, placeholder) in parts.iter().enumerate() {
            let bytes = answer.attachment(placeholder).unwrap();
            assert_eq!(bytes.as_ref(), [call as u8, part as u8]);
        }
    }
}
