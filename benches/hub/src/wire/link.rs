//! One websocket that speaks Socket.IO: opened, read, written, and ended in every way a process can end.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::{FutureExt, SinkExt, StreamExt};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::packet::{Kind, Packet};

/// How long opening a link may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Connections that share a source address: one address has about 28,000 ports, some of them still in TIME_WAIT.
const PER_SOURCE: u32 = 8192;

/// How much a link reads at once.
#[derive(Debug, Clone, Copy)]
pub enum Buffer {
    /// For members of which there are thousands.
    Small,
    /// For members that move megabytes.
    Large,
}

/// A link that does not work, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("cannot connect to {address}: {source}")]
    Connect { address: SocketAddr, source: std::io::Error },
    #[error("the websocket failed: {0}")]
    Websocket(#[from] Box<tungstenite::Error>),
    #[error("the namespace was refused: {0}")]
    Refused(String),
    #[error("the server closed the connection")]
    Closed,
    #[error("the server sent something else than was due: {0}")]
    Unexpected(String),
    #[error("the server did not finish the handshake within {PATIENCE:?}")]
    Slow,
}

impl From<tungstenite::Error> for Broken {
    fn from(error: tungstenite::Error) -> Self {
        match error {
            tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed => Broken::Closed,
            other => Broken::Websocket(Box::new(other)),
        }
    }
}

/// An open link in the namespace `/smcp`.
pub struct Link {
    socket: WebSocketStream<TcpStream>,
    /// How often the server asked whether we are there; others watch it.
    pub pings: Arc<AtomicU32>,
    /// An answer to a ping that has not left yet: reading can be interrupted in between.
    owes_flush: bool,
}

impl Link {
    /// Connects and asks for the namespace.
    pub async fn open(address: SocketAddr, role: &str, buffer: Buffer) -> Result<Self, Broken> {
        tokio::time::timeout(PATIENCE, Self::handshake(address, role, buffer)).await.map_err(|_| Broken::Slow)?
    }

    async fn handshake(address: SocketAddr, role: &str, buffer: Buffer) -> Result<Self, Broken> {
        let stream = dial(address).await.map_err(|source| Broken::Connect { address, source })?;
        let size = match buffer {
            Buffer::Small => 2 << 10,
            Buffer::Large => 128 << 10,
        };
        let config = WebSocketConfig::default().read_buffer_size(size).max_message_size(None).max_frame_size(None);
        let uri = format!("ws://{address}/smcp/?a2c_version=0.2.0&EIO=4&transport=websocket");
        let (socket, _) = client_async_with_config(uri, stream, Some(config)).await?;
        let mut link = Self { socket, pings: Arc::default(), owes_flush: false };
        link.expect(Kind::Open).await?;
        link.feed(format!("40/smcp,{{\"role\":\"{role}\"}}")).await?;
        link.flush().await?;
        link.expect(Kind::Connect).await?;
        Ok(link)
    }

    async fn expect(&mut self, kind: Kind) -> Result<(), Broken> {
        let packet = self.next().await?;
        match packet.kind {
            found if found == kind => Ok(()),
            Kind::Refused => Err(Broken::Refused(packet.body().to_owned())),
            _ => Err(Broken::Unexpected(packet.body().to_owned())),
        }
    }

    /// The next packet that is not about keeping the link alive. Can be dropped at any time without losing one.
    pub async fn next(&mut self) -> Result<Packet, Broken> {
        loop {
            if self.owes_flush {
                self.flush().await?;
            }
            let text = match self.socket.next().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Close(_))) | None => return Err(Broken::Closed),
                Some(Ok(other)) => return Err(Broken::Unexpected(format!("{other:?}"))),
                Some(Err(error)) => return Err(error.into()),
            };
            let packet = Packet::parse(text.clone()).ok_or_else(|| Broken::Unexpected(text.as_str().to_owned()))?;
            match packet.kind {
                Kind::Ping => {
                    self.pings.fetch_add(1, Ordering::Relaxed);
                    self.owes_flush = true;
                    self.feed("3".to_owned()).await?;
                }
                Kind::Close | Kind::Disconnect => return Err(Broken::Closed),
                _ => return Ok(packet),
            }
        }
    }

    /// The next packet if it is here already: answers to a batch leave together.
    pub fn ready(&mut self) -> Option<Result<Packet, Broken>> {
        self.next().now_or_never()
    }

    /// Queues an event.
    pub async fn event(&mut self, id: Option<u64>, name: &str, payload: &str) -> Result<(), Broken> {
        let mut text = String::with_capacity(payload.len() + name.len() + 32);
        text.push_str("42/smcp,");
        if let Some(id) = id {
            let _ = write!(text, "{id}");
        }
        let _ = write!(text, "[\"{name}\",{payload}]");
        self.feed(text).await
    }

    /// Queues an acknowledgement with one argument.
    pub async fn ack(&mut self, id: u64, payload: &str) -> Result<(), Broken> {
        self.feed(format!("43/smcp,{id}[{payload}]")).await
    }

    async fn feed(&mut self, text: String) -> Result<(), Broken> {
        Ok(self.socket.feed(Message::text(text)).await?)
    }

    /// Sends what is queued.
    pub async fn flush(&mut self) -> Result<(), Broken> {
        self.socket.flush().await?;
        self.owes_flush = false;
        Ok(())
    }

    /// Leaves as a client does that is asked to end.
    pub async fn goodbye(mut self) {
        let _ = self.feed("41/smcp,".to_owned()).await;
        let _ = self.socket.close(None).await;
    }

    /// Ends as a process does that is killed: the system closes the connection, nothing is said.
    pub fn drop_dead(self) {}

    /// Sends the first frame of a message, which has one byte, and only pongs from then on. Returns when the server ends
    /// it.
    pub async fn never_end(mut self) {
        let stream = self.socket.get_mut();
        let mut sent = stream.write_all(&[0x01, 0x81, 0, 0, 0, 0, b'4']).await;
        while sent.is_ok() {
            tokio::time::sleep(Duration::from_millis(500)).await;
            sent = stream.write_all(&[0x8a, 0x80, 0, 0, 0, 0]).await;
        }
    }

    /// Ends with a reset: also what is still under way in either direction is lost.
    pub fn reset(self) {
        let _ = self.socket.get_ref().set_zero_linger();
    }
}

/// All of 127/8 is this machine, so many addresses make room for many connections.
async fn dial(address: SocketAddr) -> std::io::Result<TcpStream> {
    static DIALLED: AtomicU32 = AtomicU32::new(0);
    let network = DIALLED.fetch_add(1, Ordering::Relaxed) / PER_SOURCE % 250 + 1;
    let source = Ipv4Addr::new(127, 1, network as u8, 1);
    let socket = TcpSocket::new_v4()?;
    socket.bind((source, 0).into())?;
    let stream = socket.connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
