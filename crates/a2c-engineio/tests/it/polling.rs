//! A session over long-polling, request by request.

use std::time::Duration;

use a2c_engineio::{CloseReason, Config};
use tokio::io::AsyncWriteExt;

use crate::support::{Polling, RawWebsocket, Server, answer, config, exchange, within};

#[tokio::test]
async fn requests_are_answered_one_after_the_other_on_one_connection() {
    let server = Server::start().await;
    let mut polling = Polling::open(&server).await;
    let target = polling.target.clone();
    // Two requests in one segment: the second is the poll that gets what the first asks for.
    let post = format!("POST {target} HTTP/1.1\r\nhost: x\r\ncontent-length: 8\r\n\r\n4echo hi");
    let poll = format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n");
    polling.down.write_all((post + &poll).as_bytes()).await.unwrap();
    assert_eq!(answer(&mut polling.down).await.unwrap(), (200, "ok".into()));
    assert_eq!(answer(&mut polling.down).await.unwrap(), (200, "4hi".into()));
    polling.echoes("again").await;
}

#[tokio::test]
async fn methods_that_mean_nothing_harm_nothing() {
    let server = Server::start().await;
    let mut polling = Polling::open(&server).await;
    let mut stream = server.connect().await;
    for method in ["PUT", "DELETE", "OPTIONS", "PATCH"] {
        assert_eq!(exchange(&mut stream, method, &polling.target, "").await.0, 400, "{method}");
    }
    let (status, body) =
        exchange(&mut stream, "GET", "/?EIO=4&transport=polling&sid=00000000000000000000000000000000", "").await;
    assert_eq!((status, &*body), (400, r#"{"code":1,"message":"Session ID unknown"}"#));
    polling.echoes("still here").await;
}

#[tokio::test]
async fn binary_and_many_packets() {
    let server = Server::start().await;
    let mut polling = Polling::open(&server).await;
    assert_eq!(polling.post("bAP8=\x1e4count 100").await, 200);
    assert_eq!(polling.packet().await, "4blob");
    assert_eq!(polling.packet().await, "bAP8=");
    for n in 0..100 {
        assert_eq!(polling.packet().await, format!("4{n}"));
    }
    // More attachments than the Python client takes packets at once.
    assert_eq!(polling.post("4blobs 40").await, 200);
    let mut packets = Vec::new();
    while packets.len() < 41 {
        let (_, payload) = polling.poll().await;
        let part: Vec<_> = payload.split('\x1e').map(str::to_owned).collect();
        assert!(part.len() <= 16, "{}", part.len());
        packets.extend(part);
    }
    assert_eq!(packets[..3], ["4blobs", "b", "bAQ=="]);
}

#[tokio::test]
async fn two_polls_at_once_end_the_session() {
    let server = Server::start().await;
    let mut polling = Polling::open(&server).await;
    let mut second = server.connect().await;
    let target = polling.target.clone();
    let poll = format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n");
    polling.down.write_all(poll.as_bytes()).await.unwrap();
    // Only one of them is the second: whichever it is, the other one is told that it is over.
    let (status, _) = exchange(&mut second, "GET", &target, "").await;
    let (other, _) = answer(&mut polling.down).await.unwrap();
    assert_eq!([status, other].into_iter().max(), Some(400));
    assert_eq!(server.closed(1).await, [CloseReason::Protocol]);
    server.until_empty().await;
}

/// What a client says is handled in its order, so it may say one thing at a time.
#[tokio::test]
async fn two_posts_at_once_end_the_session() {
    let server = Server::start().await;
    let mut polling = Polling::open(&server).await;
    let mut first = server.connect().await;
    let head = format!("POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: 20\r\n\r\n4echo", polling.target);
    first.write_all(head.as_bytes()).await.unwrap();
    // Until the engine has seen the first one, the second one is the first.
    let status = within("a refusal", async {
        loop {
            let status = polling.post("3").await;
            if status != 200 {
                return status;
            }
        }
    });
    assert_eq!(status.await, 400);
    assert_eq!(server.closed(1).await, [CloseReason::Protocol]);
}

#[tokio::test]
async fn a_poll_that_was_given_up_is_followed_by_another() {
    let server = Server::start().await;
    let mut polling = Polling::open(&server).await;
    polling.echoes("admitted").await;
    for n in 0..50 {
        let mut given_up = server.connect().await;
        let poll = format!("GET {} HTTP/1.1\r\nhost: x\r\n\r\n", polling.target);
        given_up.write_all(poll.as_bytes()).await.unwrap();
        given_up.set_zero_linger().unwrap();
        drop(given_up);
        // Nothing tells a client when the engine has noticed; what it posts is handled whenever that is.
        assert_eq!(polling.post(&format!("4seq {n}")).await, 200);
    }
    server.engine.close_all();
    assert_eq!(server.closed(1).await.len(), 1);
}

#[tokio::test]
async fn either_side_may_close() {
    let server = Server::start().await;
    let mut leaving = Polling::open(&server).await;
    assert_eq!(leaving.post("4echo x\x1e1").await, 200);
    assert_eq!(server.closed(1).await, [CloseReason::Left]);
    let mut dismissed = Polling::open(&server).await;
    assert_eq!(dismissed.post("4bye").await, 200);
    assert_eq!(server.closed(2).await[1], CloseReason::Dismissed);
    assert_eq!(dismissed.poll().await.0, 400);
    server.until_empty().await;
}

#[tokio::test]
async fn too_much_at_once() {
    let server = Server::start().await;
    let mut client = Polling::open(&server).await;
    assert_eq!(client.post(&"4".repeat(1001)).await, 413);
    assert_eq!(server.closed(1).await, [CloseReason::TooLarge]);
    let mut known = Polling::open(&server).await;
    known.echoes("admitted").await;
    let long = "x".repeat(100_000);
    known.echoes(&long).await;
}

/// A sender to a polling session waits for it to be polled; when it never is again, the wait ends.
#[tokio::test]
async fn a_sender_does_not_wait_for_a_closed_session() {
    let impatient = Config {
        ping_interval: Duration::from_millis(300),
        ping_timeout: Duration::from_secs(1),
        max_backlog: 10_000,
        ..config()
    };
    let server = Server::with(impatient).await;
    let mut polling = Polling::open(&server).await;
    assert_eq!(polling.post("4name gone").await, 200);
    let mut sender = RawWebsocket::open(&server).await;
    sender.echoes("admitted").await;
    sender.send_together((0..3).map(|_| format!("4to gone {}", "x".repeat(9_000)))).await;
    // Meanwhile it answers pings, which the engine does not read.
    tokio::select! {
        reasons = server.closed(1) => assert_eq!(reasons, [CloseReason::Silent]),
        text = sender.text() => panic!("{text}"),
    }
    sender.echoes("read on").await;
    drop(polling);
}

/// A client whose post is held back because another one is slow cannot answer pings meanwhile.
#[tokio::test]
async fn a_post_that_is_held_back_is_not_taken_for_silence() {
    let impatient = Config {
        ping_interval: Duration::from_millis(200),
        ping_timeout: Duration::from_secs(1),
        max_backlog: 10_000,
        ..config()
    };
    let server = Server::with(impatient).await;
    let mut slow = Polling::open(&server).await;
    assert_eq!(slow.post("4name slow").await, 200);
    let mut sender = Polling::open(&server).await;
    sender.echoes("admitted").await;
    let payload = (0..3).map(|_| format!("4to slow {}", "x".repeat(9_000))).collect::<Vec<_>>().join("\x1e");
    let held = async { (sender.post(&payload).await, sender) };
    // It says that it is there, without taking anything: several beats long.
    let alive = async {
        for _ in 0..25 {
            assert_eq!(slow.post("3").await, 200);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(slow.packet().await, "4named");
        for _ in 0..3 {
            assert!(slow.packet().await.starts_with("4from unnamed xxx"));
        }
        slow
    };
    let ((status, mut sender), _slow) = tokio::join!(held, alive);
    assert_eq!(status, 200);
    sender.echoes("still there").await;
}
