//! Events and acknowledgements, one at a time and in bulk.

use a2c_socketio::{CallError, Payload, Transport};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::time::Duration;

use super::peers::{Case, PATIENCE, Server, connect, event, everywhere};

everywhere!(
    an_event_comes_back,
    a_call_is_answered,
    an_ack_may_have_two_arguments,
    the_server_is_answered,
    a_mebibyte_of_text,
    ten_thousand_calls_at_once,
    ten_thousand_events_in_order,
    ten_thousand_emits_in_order,
    a_call_without_answer_times_out,
    another_namespace,
    heartbeats_keep_an_idle_link,
    without_an_inbox_events_are_let_go,
);

async fn an_event_comes_back(case: Case) {
    let (client, mut inbox) = case.connect().await;
    let sent = Payload::json("ünï\u{1e}\n").unwrap().arg(&json!({"a": [1, null]})).unwrap();
    client.emit("echo", sent).await.unwrap();
    let echo = event(&mut inbox, "echo").await;
    assert!(echo.ack.is_none());
    assert_eq!(echo.payload.len(), 2);
    assert_eq!(echo.payload.get::<String>(0).unwrap(), "ünï\u{1e}\n");
    assert_eq!(echo.payload.get::<Value>(1).unwrap(), json!({"a": [1, null]}));
}

async fn a_call_is_answered(case: Case) {
    let (client, _inbox) = case.connect().await;
    let question = json!({"deep": {"list": [1, "two", 3.5]}});
    let answer = client.call("echo_ack", Payload::json(&question).unwrap(), PATIENCE).await.unwrap();
    assert_eq!(answer.len(), 1);
    assert_eq!(answer.get::<Value>(0).unwrap(), question);
}

async fn an_ack_may_have_two_arguments(case: Case) {
    let (client, _inbox) = case.connect().await;
    let answer = client.call("two", Payload::empty(), PATIENCE).await.unwrap();
    assert_eq!(answer.len(), 2);
    assert_eq!(answer.get::<String>(0).unwrap(), "first");
    assert_eq!(answer.get::<Value>(1).unwrap(), json!({"second": 2}));
}

async fn the_server_is_answered(case: Case) {
    let (client, mut inbox) = case.connect().await;
    let answering = async {
        let question = event(&mut inbox, "question").await;
        assert_eq!(question.payload.get::<String>(0).unwrap(), "what?");
        let answer = Payload::json(&json!({"the": "answer"})).unwrap();
        question.ack.unwrap().send(answer).await.unwrap();
    };
    let asking = client.call("ask", Payload::json("what?").unwrap(), PATIENCE);
    let (answer, ()) = tokio::join!(asking, answering);
    let answer: Value = answer.unwrap().get(0).unwrap();
    assert_eq!(answer, json!({"the": "answer"}));
}

async fn a_mebibyte_of_text(case: Case) {
    let (client, mut inbox) = case.connect().await;
    let text = "0123456789abcdeü".repeat((1 << 20) / 16);
    let payload = Payload::json(&text).unwrap();
    client.emit("echo", payload.clone()).await.unwrap();
    let echo = event(&mut inbox, "echo").await;
    assert_eq!(echo.payload.get::<String>(0).unwrap(), text);
    let answer = client.call("echo_ack", payload, PATIENCE).await.unwrap();
    assert_eq!(answer.get::<String>(0).unwrap(), text);
}

async fn ten_thousand_calls_at_once(case: Case) {
    let (client, _inbox) = case.connect().await;
    let calls = (0..10_000).map(|i| client.call("echo_ack", Payload::json(&i).unwrap(), PATIENCE));
    for (i, answer) in join_all(calls).await.into_iter().enumerate() {
        assert_eq!(answer.unwrap().get::<usize>(0).unwrap(), i);
    }
}

async fn ten_thousand_events_in_order(case: Case) {
    let (client, mut inbox) = case.connect().await;
    let count = Payload::json(&10_000).unwrap();
    client.emit("burst", count).await.unwrap();
    for i in 0..10_000 {
        let tick = event(&mut inbox, "tick").await;
        assert_eq!(tick.payload.get::<usize>(0).unwrap(), i);
    }
}

async fn ten_thousand_emits_in_order(case: Case) {
    let (client, _inbox) = case.connect().await;
    for i in 0..10_000 {
        let payload = Payload::json(&i).unwrap();
        client.emit("count", payload).await.unwrap();
    }
    let counted = client.call("counted", Payload::empty(), PATIENCE).await;
    let counted: Value = counted.unwrap().get(0).unwrap();
    assert_eq!(counted, json!({"counted": 10_000, "inOrder": true}));
}

async fn a_call_without_answer_times_out(case: Case) {
    let (client, _inbox) = case.connect().await;
    let timeout = Duration::from_millis(50);
    let error = client.call("never", Payload::empty(), timeout).await;
    assert_eq!(error.unwrap_err(), CallError::Timeout(timeout));
    let next = client.call("two", Payload::empty(), PATIENCE).await;
    assert!(next.is_ok());
}

/// Idle for longer than the server would wait for a pong that does not come.
async fn heartbeats_keep_an_idle_link(case: Case) {
    let peer = case.server.start(&json!({"ping": [200, 1800]}));
    let ((client, mut inbox), _) = connect(case.options_at(peer.address())).await;
    let sid = client.sid();
    tokio::time::sleep(Duration::from_millis(3000)).await;
    let answer = client.call("two", Payload::empty(), PATIENCE).await;
    assert_eq!(answer.unwrap().len(), 2);
    assert_eq!(client.sid(), sid);
    assert!(inbox.try_recv().is_none());
}

async fn another_namespace(case: Case) {
    let options = case.options().namespace("/other");
    let ((client, mut inbox), _) = connect(options).await;
    client.emit("echo", Payload::json("here").unwrap()).await.unwrap();
    let echo = event(&mut inbox, "echo").await;
    assert_eq!(echo.payload.get::<String>(0).unwrap(), "here");
    assert!(client.call("two", Payload::empty(), PATIENCE).await.is_ok());
}

async fn without_an_inbox_events_are_let_go(case: Case) {
    let ((client, inbox), _) = connect(case.options().inbox_capacity(10)).await;
    drop(inbox);
    client.emit("burst", Payload::json(&100).unwrap()).await.unwrap();
    let answer = client.call("two", Payload::empty(), PATIENCE).await;
    assert_eq!(answer.unwrap().len(), 2);
    assert!(client.is_connected());
}

/// Many threads number, queue and await calls at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_from_many_tasks() {
    let case = Case { server: Server::Node, transport: Transport::Websocket };
    let (client, _inbox) = case.connect().await;
    let tasks = (0..100).map(|task| {
        let client = client.clone();
        tokio::spawn(async move {
            for i in task * 100..(task + 1) * 100 {
                let answer = client.call("echo_ack", Payload::json(&i).unwrap(), PATIENCE).await;
                assert_eq!(answer.unwrap().get::<usize>(0).unwrap(), i);
            }
        })
    });
    for task in join_all(tasks).await {
        task.unwrap();
    }
}
