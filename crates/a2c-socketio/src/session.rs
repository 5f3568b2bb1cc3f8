//! The life of one link: a reader and a writer side by side until one of them ends.
//!
//! They are two futures of one task. Each may wait for the network without holding up the other
//! (two peers that both write before they read would otherwise block each other for ever), and
//! dropping the task drops both.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};
use tracing::trace;

use crate::close::CloseRequest;
use crate::conn::{AckReply, Conn};
use crate::dial::{Established, unexpected};
use crate::engine::{CloseProgress, EngineFrame, EngineLink, EnginePacket, LinkReader, LinkWriter};
use crate::error::DisconnectReason;
use crate::inbox::{Event, InboxSender};
use crate::options::Options;
use crate::packet::OutgoingPacket;
use crate::packet_assembler::{CompletePacket, PacketAssembler};

/// Packets that are written with one flush at most.
const BATCH: usize = 64;

/// A connected link that has not begun to run.
pub(crate) struct LinkSession {
    pub(crate) conn: Arc<Conn>,
    queue: mpsc::Receiver<OutgoingPacket>,
    link: EngineLink,
    assembler: PacketAssembler,
    early: Vec<CompletePacket>,
}

impl LinkSession {
    pub(crate) fn new(established: Established, options: &Options) -> Self {
        let Established { link, assembler, sid, early } = established;
        let (conn, queue) = Conn::new(
            sid,
            options.namespace.clone(),
            link.max_payload.min(options.limits.message),
            link.base64,
            options.outgoing_capacity,
        );
        LinkSession { conn, queue, link, assembler, early }
    }

    /// Runs the link to its end; its waiting calls are left to [`Conn::end`].
    pub(crate) async fn run(
        self,
        delivery: &InboxSender,
        close: &CloseRequest,
        close_timeout: Duration,
    ) -> (DisconnectReason, mpsc::Receiver<OutgoingPacket>) {
        let LinkSession { conn, mut queue, link, assembler, early } = self;
        let (pongs, pong_queue) = mpsc::channel(4);
        let mut receiving = LinkReceiver { conn: &conn, delivery, assembler, pongs };
        let read = receiving.run(early, link.reader, link.patience);
        let disconnect = OutgoingPacket::disconnect(&conn.namespace);
        let write = write(link.writer, &mut queue, pong_queue, close.clone(), disconnect);
        let overdue = async {
            close.clone().made().await;
            sleep(close_timeout).await;
        };
        let reason = tokio::select! {
            reason = end_of(read, write) => reason,
            () = overdue => DisconnectReason::ClosedByUs,
        };
        (if close.is_made() { DisconnectReason::ClosedByUs } else { reason }, queue)
    }
}

/// The reader ends with the link; the writer ends when it fails or has closed the link.
async fn end_of(
    read: impl Future<Output = DisconnectReason>,
    write: impl Future<Output = Result<CloseProgress, DisconnectReason>>,
) -> DisconnectReason {
    tokio::pin!(read);
    tokio::select! {
        reason = &mut read => reason,
        written = write => match written {
            Ok(CloseProgress::Sent) => read.await,
            Ok(CloseProgress::Confirmed) => DisconnectReason::ClosedByUs,
            // The last packet of the server explains more than a broken pipe.
            Err(reason) => read.now_or_never().unwrap_or(reason),
        },
    }
}

/// Decodes the frames of a link and delivers their packets.
struct LinkReceiver<'a> {
    conn: &'a Arc<Conn>,
    delivery: &'a InboxSender,
    assembler: PacketAssembler,
    pongs: mpsc::Sender<EngineFrame>,
}

impl LinkReceiver<'_> {
    async fn run(
        &mut self,
        early: Vec<CompletePacket>,
        mut reader: LinkReader,
        patience: Duration,
    ) -> DisconnectReason {
        for inbound in early {
            if let Err(reason) = self.inbound(inbound) {
                return reason;
            }
        }
        let silence = sleep(patience);
        tokio::pin!(silence);
        loop {
            let asked = Instant::now();
            let next = reader.next();
            tokio::pin!(next);
            let frame = loop {
                tokio::select! {
                    frame = &mut next => break frame,
                    // Moved only when it fires: moving it for every frame would cost more.
                    () = &mut silence => {
                        let deadline = asked + patience;
                        if Instant::now() >= deadline {
                            return DisconnectReason::Silence(patience);
                        }
                        silence.set(sleep_until(deadline));
                    }
                }
            };
            if let Err(reason) = frame.and_then(|frame| self.frame(&frame)) {
                return reason;
            }
        }
    }

    fn frame(&mut self, frame: &EngineFrame) -> Result<(), DisconnectReason> {
        let inbound = match EnginePacket::decode(frame)? {
            EnginePacket::Ping(data) => {
                trace!("ping");
                // A full queue means that the writer is stuck; more pongs would not help it.
                let _ = self.pongs.try_send(EngineFrame::Text(format!("3{data}").into()));
                return Ok(());
            }
            EnginePacket::Message(text) => self.assembler.text(text)?,
            EnginePacket::Binary(bytes) => self.assembler.binary(bytes.clone())?,
            EnginePacket::Close => return Err(DisconnectReason::ServerClosed(None)),
            EnginePacket::Noop | EnginePacket::Pong(_) => return Ok(()),
            EnginePacket::Open(_) | EnginePacket::Upgrade => return Err(unexpected()),
        };
        match inbound {
            Some(inbound) => self.inbound(inbound),
            None => Ok(()),
        }
    }

    /// Delivers a packet to the inbox or to the call that waits for it.
    fn inbound(&self, inbound: CompletePacket) -> Result<(), DisconnectReason> {
        match inbound {
            CompletePacket::Event { name, id, payload } => {
                self.delivery.event(Event { name, payload, ack: id.map(|id| AckReply::new(self.conn.clone(), id)) })
            }
            CompletePacket::Ack { id, payload } => {
                self.conn.answer(id, payload);
                Ok(())
            }
            CompletePacket::Disconnect => Err(DisconnectReason::ServerDisconnect),
            CompletePacket::Connect(_) | CompletePacket::ConnectError(_) => {
                Err(DisconnectReason::Protocol("the namespace was connected a second time".into()))
            }
        }
    }
}

/// Ends with `Ok` after the close that this side asked for.
async fn write(
    mut writer: LinkWriter,
    queue: &mut mpsc::Receiver<OutgoingPacket>,
    mut pongs: mpsc::Receiver<EngineFrame>,
    mut close: CloseRequest,
    disconnect: OutgoingPacket,
) -> Result<CloseProgress, DisconnectReason> {
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        tokio::select! {
            biased;
            Some(pong) = pongs.recv() => {
                writer.feed(pong).await?;
                writer.flush().await?;
            }
            () = close.made() => break,
            taken = queue.recv_many(&mut batch, BATCH) => {
                if taken == 0 {
                    break;
                }
                send(&mut writer, &mut batch).await?;
            }
        }
    }
    queue.close();
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        send(&mut writer, &mut batch).await?;
    }
    writer.feed(EngineFrame::Text(disconnect.text.into())).await?;
    writer.close().await
}

async fn send(writer: &mut LinkWriter, batch: &mut Vec<OutgoingPacket>) -> Result<(), DisconnectReason> {
    for packet in batch.drain(..) {
        writer.feed(EngineFrame::Text(packet.text.into())).await?;
        for bytes in packet.attachments {
            writer.feed(EngineFrame::Binary(bytes)).await?;
        }
    }
    writer.flush().await
}
