//! From nothing to a connected namespace, once.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;
use tracing::{debug, warn};

use crate::engine::{self, EngineFrame, EngineLink, EnginePacket, Http};
use crate::error::{ConnectRefusal, DisconnectReason, SocketConnectError};
use crate::options::Options;
use crate::packet::OutgoingPacket;
use crate::packet_assembler::{CompletePacket, PacketAssembler};

/// All that is needed to make a link, again and again.
pub(crate) struct Dialer {
    pub(crate) options: Options,
    http: Arc<Http>,
}

/// A link whose namespace is connected.
pub(crate) struct Established {
    pub(crate) link: EngineLink,
    pub(crate) assembler: PacketAssembler,
    pub(crate) sid: String,
    /// Packets that arrived before the server confirmed the namespace. Some servers run their
    /// connection handler first, and what it sends must not be lost.
    pub(crate) early: Vec<CompletePacket>,
}

impl Dialer {
    pub(crate) fn new(options: Options) -> Result<Self, SocketConnectError> {
        options.check()?;
        let http = Arc::new(Http::new(&options)?);
        Ok(Dialer { options, http })
    }

    /// Dials for a link that was lost. Files may have been renewed since; while they cannot be used, the settings made
    /// of the old ones are as good as any.
    pub(crate) async fn redial(&mut self) -> Result<Established, SocketConnectError> {
        if self.options.tls.may_change() {
            match Http::new(&self.options) {
                Ok(http) => self.http = Arc::new(http),
                Err(error) => warn!("using the last TLS files again: {error}"),
            }
        }
        self.dial().await
    }

    pub(crate) async fn dial(&self) -> Result<Established, SocketConnectError> {
        let limit = self.options.connect_timeout;
        match timeout(limit, self.establish()).await {
            Ok(outcome) => outcome,
            Err(_) => Err(SocketConnectError::Timeout(limit)),
        }
    }

    async fn establish(&self) -> Result<Established, SocketConnectError> {
        let options = &self.options;
        let mut link = engine::open(&self.http, options).await?;
        let namespace = &options.namespace;
        let connect = OutgoingPacket::connect(namespace, options.auth.payload().as_deref());
        link.writer.feed(EngineFrame::Text(connect.text.into())).await?;
        link.writer.flush().await?;

        let mut assembler = PacketAssembler::new(namespace.clone(), options.limits);
        let mut early = Vec::new();
        loop {
            let frame = link.reader.next().await?;
            let inbound = match EnginePacket::decode(&frame).map_err(DisconnectReason::from)? {
                EnginePacket::Ping(data) => {
                    let pong = EngineFrame::Text(format!("3{data}").into());
                    link.writer.feed(pong).await?;
                    link.writer.flush().await?;
                    continue;
                }
                EnginePacket::Message(text) => assembler.text(text)?,
                EnginePacket::Binary(bytes) => assembler.binary(bytes.clone())?,
                EnginePacket::Close => return Err(DisconnectReason::ServerClosed(None).into()),
                EnginePacket::Noop | EnginePacket::Pong(_) => continue,
                EnginePacket::Open(_) | EnginePacket::Upgrade => return Err(unexpected().into()),
            };
            match inbound {
                None => {}
                Some(CompletePacket::Connect(data)) => {
                    let sid = session_id(data.as_deref())?;
                    debug!(%namespace, %sid, "connected");
                    return Ok(Established { link, assembler, sid, early });
                }
                Some(CompletePacket::ConnectError(data)) => {
                    let payload = data.unwrap_or_else(|| RawValue::NULL.to_owned());
                    return Err(SocketConnectError::Refused(ConnectRefusal { payload }));
                }
                Some(CompletePacket::Disconnect) => {
                    return Err(DisconnectReason::ServerDisconnect.into());
                }
                Some(event) if early.len() < options.inbox_capacity => early.push(event),
                Some(_) => {
                    return Err(DisconnectReason::InboxOverflow { limit: options.inbox_capacity }.into());
                }
            }
        }
    }
}

/// A handshake or an upgrade in the middle of a link.
pub(crate) fn unexpected() -> DisconnectReason {
    DisconnectReason::Protocol("a handshake packet on a link that is already open".into())
}

fn session_id(data: Option<&RawValue>) -> Result<String, DisconnectReason> {
    #[derive(Deserialize)]
    struct Connected {
        sid: String,
    }
    let text = data.map_or("null", RawValue::get);
    serde_json::from_str::<Connected>(text).map(|connected| connected.sid).map_err(|_| {
        DisconnectReason::Protocol(
            "the namespace was connected without a session id (an older Socket.IO server?)".into(),
        )
    })
}
