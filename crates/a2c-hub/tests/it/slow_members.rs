//! Members that are slow, and members that only pretend to be.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};

use crate::support::process::{HubProcess, joined, websocket};
use crate::support::{Member, RawClient, hub_with, until_empty, within};

const MIB: usize = 1 << 20;

/// How often a hub here asks; it waits three times as long for an answer.
const BEAT: Duration = Duration::from_millis(500);

/// Passes on what it gets, a piece at a time, with a pause after each: both ways, or as slowly as it is told.
async fn throttle(mut from: impl AsyncReadExt + Unpin, mut to: impl AsyncWriteExt + Unpin, pause: Duration) {
    let mut piece = vec![0; 64 << 10];
    while let Ok(n @ 1..) = from.read(&mut piece).await {
        if to.write_all(&piece[..n]).await.is_err() {
            return;
        }
        tokio::time::sleep(pause).await;
    }
    let _ = to.shutdown().await;
}

/// An address behind which the hub is far away.
async fn proxy(hub: std::net::SocketAddr, up: Duration, down: Duration) -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let far = TcpSocket::new_v4().unwrap();
            // A long way holds little; a buffer on the way would make it short.
            far.set_recv_buffer_size(128 << 10).unwrap();
            let far = far.connect(hub).await.unwrap();
            let ((from_near, to_near), (from_far, to_far)) = (near.into_split(), far.into_split());
            tokio::spawn(throttle(from_near, to_far, up));
            tokio::spawn(throttle(from_far, to_near, down));
        }
    });
    address
}

/// 64 MiB for an Agent that reads slowly: all of it arrives, and the hub never holds more than a few times its limit,
/// because the Computer is made to wait.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_reads_slowly_gets_everything() {
    const CALLS: usize = 64;
    let hub = HubProcess::start(4 * MIB).await;
    let mut agent =
        joined(websocket(proxy(hub.address, Duration::ZERO, Duration::from_millis(2)).await).await, "agent", "a").await;
    let mut computer = hub.member("computer", "c", "o").await;
    let before = hub.memory();
    let answering = tokio::spawn(async move {
        for n in 0..CALLS {
            computer.answer("client:x", json!({"n": n, "fill": "x".repeat(MIB)})).await;
        }
        computer
    });
    for n in 0..CALLS {
        agent.send(Message::text(format!("42/smcp,{n}[\"client:x\",{{\"computer\":\"c\"}}]"))).await.unwrap();
    }
    let mut next = 0;
    while next < CALLS {
        let Message::Text(text) = within("an answer", agent.next()).await.unwrap().unwrap() else { continue };
        if text == "2" {
            agent.send(Message::text("3")).await.unwrap();
        } else if let Some(answer) = text.strip_prefix(&format!("43/smcp,{next}")) {
            assert_eq!(answer.len(), json!([{"n": next, "fill": ""}]).to_string().len() + MIB);
            next += 1;
        } else {
            assert!(text.contains("notify:"), "{}", &text[..text.len().min(100)]);
        }
    }
    let grown = hub.peak_memory().saturating_sub(before);
    assert!(grown < 40 * 1024, "{grown} KiB for a limit of 4 MiB");
    let computer = answering.await.unwrap();
    assert_eq!(computer.roll("o").await, ["agent a", "computer c"]);
}

/// Longer than the hub waits for any answer, but steadily.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_upload_and_a_slow_download_are_no_silence() {
    let hub = hub_with(|config| (config.ping_interval, config.ping_timeout) = (BEAT, 5 * BEAT)).await;
    let far = proxy(hub.address(), Duration::from_millis(20), Duration::from_millis(80)).await;
    let mut agent = joined(websocket(far).await, "agent", "a").await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let fill = "x".repeat(12 * MIB);
    let request = format!("42/smcp,2[\"client:x\",{{\"computer\":\"c\",\"fill\":\"{fill}\"}}]");
    let started = tokio::time::Instant::now();
    agent.send(Message::text(request)).await.unwrap();
    let request = computer.answer("client:x", json!({"fill": fill[..4 * MIB]})).await;
    assert!(request["fill"] == *fill);
    assert!(started.elapsed() > 6 * BEAT, "not slow enough to show anything");
    loop {
        match within("the answer", agent.next()).await.unwrap().unwrap() {
            Message::Text(text) if text == "2" => agent.send(Message::text("3")).await.unwrap(),
            Message::Text(text) if text.starts_with("43/smcp,2") => {
                assert_eq!(text.len(), "43/smcp,2[{\"fill\":\"\"}]".len() + 4 * MIB);
                break;
            }
            Message::Text(text) => assert!(text.contains("notify:enter_office"), "{}", &text[..text.len().min(100)]),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(computer.roll("o").await, ["agent a", "computer c"]);
}

/// A frame that comes byte by byte, and never all of it.
#[tokio::test]
async fn a_trickle_is_cut() {
    let hub = hub_with(|config| (config.ping_interval, config.ping_timeout) = (BEAT, 3 * BEAT)).await;
    let mut computer = Member::computer(&hub, "c", "o").await;
    let mut trickling = joined(websocket(hub.address()).await, "agent", "a").await;
    assert_eq!(computer.told("notify:enter_office").await["agent"], "a");
    let header = FrameHeader { opcode: OpCode::Data(Data::Text), mask: Some([1, 2, 3, 4]), ..FrameHeader::default() };
    let mut frame = Vec::new();
    Frame::from_payload(header, vec![b'4'; 100_000].into()).format(&mut frame).unwrap();
    let trickle = async {
        for byte in frame {
            if trickling.get_mut().write_all(&[byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(BEAT / 20).await;
        }
        panic!("all of it was taken");
    };
    tokio::join!(within("the cut", trickle), async {
        assert_eq!(computer.told("notify:leave_office").await, json!({"office_id": "o", "agent": "a"}));
    });
    computer.close().await;
    until_empty(&hub).await;
}

/// A member that waits for a slow one is not disconnected, however long it takes.
#[tokio::test]
async fn a_computer_that_is_made_to_wait_is_not_cut() {
    let hub = hub_with(|config| {
        (config.ping_interval, config.ping_timeout) = (BEAT, 3 * BEAT);
        config.limits.max_backlog = MIB;
    })
    .await;
    let far = proxy(hub.address(), Duration::ZERO, Duration::from_millis(20)).await;
    let mut agent = joined(websocket(far).await, "agent", "a").await;
    let mut computer = RawClient::joined(&hub, "computer", "c", "o").await;
    for n in 0..16 {
        agent.send(Message::text(format!("42/smcp,{n}[\"client:x\",{{\"computer\":\"c\"}}]"))).await.unwrap();
    }
    let fill = "x".repeat(MIB);
    let answering = tokio::spawn(async move {
        for _ in 0..16 {
            let id = computer.request_id().await;
            computer.send(format!("43/smcp,{id}[{{\"fill\":\"{fill}\"}}]")).await;
        }
        // From here on it reads, and answers pings.
        computer.hung_up().await;
    });
    let mut answered = 0;
    while answered < 16 {
        match within("an answer", agent.next()).await.unwrap().unwrap() {
            Message::Text(text) if text == "2" => agent.send(Message::text("3")).await.unwrap(),
            Message::Text(text) if text.starts_with("43/smcp,") => answered += 1,
            other => assert!(other.to_text().unwrap().contains("notify:enter_office"), "{}", other.len()),
        }
    }
    assert_eq!(hub.connections(), 2);
    assert!(!answering.is_finished());
    hub.shutdown().await;
    within("the computer", answering).await.unwrap();
}
