//! Plain HTTP/1.1, one request at a time, and a session that is polled with it.

use std::collections::VecDeque;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Server, within};

/// One request on a connection that stays: status code and body.
pub(crate) async fn exchange(stream: &mut TcpStream, method: &str, target: &str, body: &str) -> (u16, String) {
    let head = format!("{method} {target} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all((head + body).as_bytes()).await.unwrap();
    answer(stream).await.expect("the engine hung up")
}

/// Reads one answer; nothing where the connection ends first.
pub(crate) async fn answer(stream: &mut TcpStream) -> Option<(u16, String)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within("an answer", stream.read_u8()).await.ok()?);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |n| n.parse().unwrap())];
    within("a body", stream.read_exact(&mut body)).await.ok()?;
    Some((status, String::from_utf8(body).unwrap()))
}

/// A session that is polled, with one connection for either direction.
pub(crate) struct Polling {
    pub(crate) target: String,
    pub(crate) sid: String,
    pub(crate) down: TcpStream,
    up: TcpStream,
    packets: VecDeque<String>,
}

impl Polling {
    pub(crate) async fn open(server: &Server) -> Self {
        let (mut down, up) = (server.connect().await, server.connect().await);
        let target = "/engine.io/?EIO=4&transport=polling";
        let (status, open) = exchange(&mut down, "GET", target, "").await;
        assert_eq!(status, 200);
        let sid = open.split("\"sid\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        Self { target: format!("{target}&sid={sid}"), sid, down, up, packets: VecDeque::new() }
    }

    /// Sends packets, separated as a payload wants it.
    pub(crate) async fn post(&mut self, payload: &str) -> u16 {
        exchange(&mut self.up, "POST", &self.target, payload).await.0
    }

    /// One poll, as it is.
    pub(crate) async fn poll(&mut self) -> (u16, String) {
        exchange(&mut self.down, "GET", &self.target, "").await
    }

    /// The next packet that is neither ping nor noop.
    pub(crate) async fn packet(&mut self) -> String {
        within("a packet", self.next_packet()).await
    }

    async fn next_packet(&mut self) -> String {
        loop {
            while let Some(packet) = self.packets.pop_front() {
                match &*packet {
                    "2" => assert_eq!(self.post("3").await, 200),
                    "6" => {}
                    _ => return packet,
                }
            }
            let (status, payload) = self.poll().await;
            assert_eq!(status, 200, "{payload}");
            self.packets.extend(payload.split('\x1e').map(str::to_owned));
        }
    }

    /// Asks for something to be said, which has to come next.
    pub(crate) async fn echoes(&mut self, text: &str) {
        assert_eq!(self.post(&format!("4echo {text}")).await, 200);
        assert_eq!(self.packet().await, format!("4{text}"));
    }
}
