//! A hub in its own process, so that its memory can be measured apart from that of the test.
//!
//! The process is this very test program, started again with one test to run: [`serve`].

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use a2c_hub::{Hub, HubConfig, HubLimits};
use a2c_socketio::{Options, Transport};
use a2c_testbed::Peer;
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Member, within};

/// Says to the program that it is a hub, and with how many bytes of backlog.
const BACKLOG: &str = "A2C_TEST_HUB_BACKLOG";

/// A hub with the limits of a public one, as another process.
pub(crate) struct HubProcess {
    peer: Peer,
    pub(crate) address: SocketAddr,
}

impl HubProcess {
    pub(crate) async fn start(max_backlog: usize) -> Self {
        let peer = tokio::task::spawn_blocking(move || {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command
                .args(["support::process::serve", "--exact", "--ignored", "--nocapture"])
                .env(BACKLOG, max_backlog.to_string());
            Peer::ready(command)
        });
        let peer = within("a hub process", peer).await.unwrap();
        let address = peer.address().parse().unwrap();
        Self { peer, address }
    }

    /// How to connect to it.
    pub(crate) fn options(&self) -> Options {
        Options::new(format!("http://{}", self.address))
            .path("/smcp")
            .namespace("/smcp")
            .query("a2c_version", "0.2.0")
            .transport(Transport::Websocket)
            .reconnect(None)
    }

    pub(crate) async fn member(&self, role: &str, name: &str, office: &str) -> Member {
        Member::joined(self.options(), role, name, office).await
    }

    /// How much memory it has now, in KiB.
    pub(crate) fn memory(&self) -> usize {
        self.status("VmRSS:")
    }

    /// How much memory it ever had, in KiB.
    pub(crate) fn peak_memory(&self) -> usize {
        self.status("VmHWM:")
    }

    fn status(&self, field: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.peer.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// A websocket after the Engine.IO handshake; the stream below it can be written to directly.
    pub(crate) async fn websocket(&self) -> WebSocketStream<TcpStream> {
        websocket(self.address).await
    }
}

/// A websocket to a hub, after the Engine.IO handshake.
pub(crate) async fn websocket(address: SocketAddr) -> WebSocketStream<TcpStream> {
    let url = format!("ws://{address}/smcp/?EIO=4&transport=websocket&a2c_version=0.2.0");
    let handshake = async {
        let stream = TcpStream::connect(address).await.unwrap();
        let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        let open = socket.next().await.unwrap().unwrap();
        assert!(open.to_text().unwrap().starts_with("0{"), "{open}");
        socket
    };
    within("a websocket", handshake).await
}

/// A member that speaks in frames.
pub(crate) async fn joined(
    mut socket: WebSocketStream<TcpStream>,
    role: &str,
    name: &str,
) -> WebSocketStream<TcpStream> {
    socket.send(Message::text("40/smcp,")).await.unwrap();
    let join = serde_json::json!(["server:join_office", {"role": role, "name": name, "office_id": "o"}]);
    socket.send(Message::text(format!("42/smcp,1{join}"))).await.unwrap();
    let answered = async { while socket.next().await.unwrap().unwrap() != Message::text("43/smcp,1[true,null]") {} };
    within("the join", answered).await;
    socket
}

/// Not a test: the hub of [`HubProcess`].
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by other tests"]
async fn serve() {
    let Ok(max_backlog) = std::env::var(BACKLOG) else { return };
    let mut config = HubConfig::on("127.0.0.1:0".parse().unwrap());
    config.limits = HubLimits::public();
    config.limits.max_backlog = max_backlog.parse().unwrap();
    config.ping_interval = Duration::from_secs(2);
    // The members of these tests encode and mask megabytes in a debug build: on a busy machine they answer late.
    config.ping_timeout = Duration::from_secs(15);
    let hub = Hub::start(config).await.unwrap();
    // On a line of its own, whatever the test harness has begun to write.
    let ready = format!("\nready {}\n", hub.address());
    std::io::Write::write_all(&mut std::io::stdout(), ready.as_bytes()).unwrap();
    // The input ends with the process that started this one.
    tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await.unwrap().unwrap();
}
