//! Hostile packets at volume, next to an office that keeps working, against a hub in a process of its own: its memory
//! afterwards is near what it was before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::SinkExt;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Control, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};

use crate::support::process::{HubProcess, joined};
use crate::support::{Member, within};

const MIB: usize = 1 << 20;

/// How much more memory a hub may have after a flood than before it, in KiB: what the allocator keeps for the next one,
/// a small part of what was sent.
const KEPT: usize = 96 << 10;

/// An office at work: calls go through without a pause until it is closed.
struct Office {
    closing: Arc<AtomicBool>,
    working: tokio::task::JoinHandle<()>,
    calls: Arc<AtomicUsize>,
}

impl Office {
    async fn open(hub: &HubProcess) -> Self {
        let agent = hub.member("agent", "worker", "work").await;
        let mut computer = hub.member("computer", "c", "work").await;
        let closing = Arc::new(AtomicBool::new(false));
        let calls = Arc::new(AtomicUsize::new(0));
        let (until, count) = (closing.clone(), calls.clone());
        let working = tokio::spawn(async move {
            while !until.load(Ordering::Relaxed) {
                let asked = agent.asking("client:get_tools", json!({"computer": "c", "req_id": "r"}));
                computer.answer("client:get_tools", json!({"tools": []})).await;
                assert_eq!(within("an answer", asked).await.unwrap(), json!({"tools": []}));
                count.fetch_add(1, Ordering::Relaxed);
                // Within the rate that is allowed.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            agent.close().await;
            Member::close(computer).await;
        });
        Self { closing, working, calls }
    }

    async fn close(self) {
        self.closing.store(true, Ordering::Relaxed);
        within("the office to close", self.working).await.unwrap();
        assert!(self.calls.load(Ordering::Relaxed) > 0);
    }
}

/// Runs a flood three times next to an office.
async fn flood(wave: impl AsyncFn(&HubProcess, usize)) {
    let hub = HubProcess::start(4 * MIB).await;
    let office = Office::open(&hub).await;
    let before = hub.memory();
    for n in 0..3 {
        within("the flood to end", wave(&hub, n)).await;
    }
    office.close().await;
    // The hub lets go of connections some time after their clients did.
    let settled = async {
        while hub.memory() > before + KEPT {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let outcome = tokio::time::timeout(Duration::from_secs(40), settled).await;
    assert!(outcome.is_ok(), "{} KiB after {before} KiB", hub.memory());
    assert!(hub.peak_memory() < before + 2 * KEPT, "{} KiB at most", hub.peak_memory());
    // And it is as good as new.
    let again = hub.member("agent", "again", "again").await;
    assert_eq!(again.roll("again").await, ["agent again"]);
}

fn frame(opcode: OpCode, payload: Vec<u8>) -> Vec<u8> {
    let header = FrameHeader { opcode, mask: Some([9, 8, 7, 6]), ..FrameHeader::default() };
    let mut bytes = Vec::new();
    Frame::from_payload(header, payload.into()).format(&mut bytes).unwrap();
    bytes
}

/// Texts that are wrong in every way that is known, for a member and for a client.
fn corpus() -> Vec<String> {
    let deep = "[".repeat(30_000);
    let mut corpus: Vec<String> = [
        "",
        "9",
        "4",
        "42",
        "42/smcp,",
        "42/smcp,1",
        "42/smcp,1[]",
        "42/smcp,1[7]",
        "42/smcp,1{}",
        "40",
        "40/",
        "40/other,",
        "41/other,",
        "42/other,1[\"x\"]",
        "43/smcp,1[]",
        "43/smcp,99999999999999999999[]",
        "44/smcp,{}",
        "45-[]",
        "4599999999-/smcp,[\"x\"]",
        "451-/smcp,1[\"client:x\",{\"computer\":\"c\"}]",
        "46",
        "47",
        "5",
        "6",
        "2probe",
        "3",
    ]
    .map(str::to_owned)
    .into();
    for event in [
        "client:get_tools",
        "client:tool_call",
        "server:join_office",
        "server:leave_office",
        "server:list_room",
        "server:update_x",
        "server:tool_call_cancel",
        "notify:x",
    ] {
        for payload in [
            "",
            ",null",
            ",7",
            ",[]",
            ",{}",
            ",{\"computer\":7}",
            ",{\"computer\":\"c\",\"computer\":\"c\"}",
            ",{\"role\":{},\"name\":[],\"office_id\":1}",
            ",{\"req_id\":{},\"timeout\":-1}",
        ] {
            corpus.push(format!("42/smcp,3[\"{event}\"{payload}]"));
        }
        corpus.push(format!("42/smcp,4[\"{event}\",{deep}"));
        corpus.push(format!("42/smcp,5[\"{event}\",{{\"office_id\":\"{}\"}}]", "x".repeat(50_000)));
    }
    corpus
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_packets_from_strangers_and_members() {
    flood(async |hub: &HubProcess, wave| {
        for (n, text) in corpus().into_iter().enumerate() {
            let mut socket = hub.websocket().await;
            if wave > 0 {
                socket.send(Message::text("40/smcp,")).await.unwrap();
            }
            // Until the hub hangs up, which is its right.
            for _ in 0..20 {
                if socket.send(Message::text(text.clone())).await.is_err() {
                    break;
                }
            }
            if n % 2 == 0 {
                let _ = socket.close(None).await;
            } else {
                socket.get_mut().set_zero_linger().unwrap();
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_messages_that_are_cut_off() {
    flood(async |hub: &HubProcess, wave| {
        let mut crowd = Vec::new();
        // Announced as large as a member may send, and larger than any client may; only a part of it arrives.
        for n in 0..60 {
            let mut member = joined(hub.websocket().await, "computer", &format!("{wave} {n}")).await;
            let length: u64 = if n % 2 == 0 { 60 << 20 } else { u64::MAX >> 1 };
            let head = [&[0x81, 0xff][..], &length.to_be_bytes(), &[0; 4]].concat();
            let _ = member.get_mut().write_all(&head).await;
            let _ = member.get_mut().write_all(&vec![b'4'; MIB]).await;
            crowd.push(member);
        }
        for member in &mut crowd {
            member.get_mut().set_zero_linger().unwrap();
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attachments_without_end() {
    flood(async |hub: &HubProcess, wave| {
        for announced in [1, 64, 65, 1024, 1025] {
            let mut member = joined(hub.websocket().await, "computer", &format!("{wave} {announced}")).await;
            let head = format!("45{announced}-/smcp,1[\"client:x\",{{\"computer\":\"c\"}}]");
            let _ = member.send(Message::text(head)).await;
            for _ in 0..300 {
                if member.send(Message::binary(vec![0; 100_000])).await.is_err() {
                    break;
                }
            }
            member.get_mut().set_zero_linger().unwrap();
        }
    })
    .await;
}

/// A client that does not read gets no more than the limit of what it asked for.
#[tokio::test(flavor = "multi_thread")]
async fn questions_whose_answers_are_not_read() {
    flood(async |hub: &HubProcess, wave| {
        let mut crowd = Vec::new();
        for n in 0..8 {
            let socket = hub.websocket().await;
            let mut socket = if wave > 0 { joined(socket, "computer", &format!("{wave} {n}")).await } else { socket };
            let text = if wave == 2 { "42/smcp,1[\"server:list_room\",{\"office_id\":\"o\"}]" } else { "40/other," };
            let flood = match wave {
                0 => frame(OpCode::Control(Control::Ping), vec![7; 125]).repeat(1000),
                _ => frame(OpCode::Data(Data::Text), text.into()).repeat(1000),
            };
            // As much as it takes within a moment.
            let _ = tokio::time::timeout(Duration::from_millis(200), async {
                while socket.get_mut().write_all(&flood).await.is_ok() {}
            })
            .await;
            crowd.push(socket);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_say_nothing_or_little() {
    flood(async |hub: &HubProcess, wave| {
        let mut crowd = Vec::new();
        let head = b"GET /smcp/?EIO=4&transport=websocket&a2c_version=0.2.0 HTTP/1.1\r\nhost: localhost\r\n";
        for n in 0..300 {
            let mut stream = TcpStream::connect(hub.address).await.unwrap();
            stream.write_all(&head[..n % head.len()]).await.unwrap();
            crowd.push(stream);
        }
        if wave == 0 {
            // Byte by byte, all of them at once.
            for byte in b"x-header: slowly\r\nx-another: slowly\r\n" {
                for stream in &mut crowd {
                    let _ = stream.write_all(&[*byte]).await;
                }
            }
        }
        // A client that sends something is served among them.
        let member = hub.member("computer", "heard", "o").await;
        assert_eq!(member.roll("o").await, ["computer heard"]);
        member.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_one_after_the_other_on_a_connection() {
    flood(async |hub: &HubProcess, _| {
        let good = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
        let polling = "GET /smcp/?EIO=4&transport=polling&a2c_version=0.2.0 HTTP/1.1\r\nhost: localhost\r\n\r\n";
        let refused =
            "POST /smcp/?EIO=4&transport=polling&sid=x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n40/sm";
        let long = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "x".repeat(200_000));
        let headers = format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(5_000));
        let noise: String = (0..50_000u32).map(|n| char::from((n * 7919 % 94 + 33) as u8)).collect();
        for text in [
            good.repeat(2000),
            polling.repeat(200),
            refused.repeat(500),
            long,
            headers,
            noise,
            good.repeat(10) + "\0\0\0",
        ] {
            let stream = TcpStream::connect(hub.address).await.unwrap();
            let (mut from, mut to) = stream.into_split();
            let writing = tokio::spawn(async move {
                let _ = to.write_all(text.as_bytes()).await;
                let _ = to.shutdown().await;
            });
            let mut answers = Vec::new();
            let _ = from.read_to_end(&mut answers).await;
            writing.await.unwrap();
        }
    })
    .await;
}
