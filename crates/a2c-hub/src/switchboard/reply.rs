//! Acknowledgements to the sender of an event, and the encoding of packets.

use a2c_engineio::OutgoingMessage;
use a2c_protocol::{ErrorBody, NAMESPACE};
use a2c_socketio_frame::{PacketFrame, PacketKind};
use bytes::Bytes;
use serde::Serialize;

use super::mailbox::Mailbox;

/// Sends the acknowledgement of an event, where its sender asked for one.
pub(crate) struct AckSender<M> {
    pub(crate) mailbox: M,
    pub(crate) id: Option<u64>,
}

impl<M: Mailbox> AckSender<M> {
    /// Passes the answer of a Computer on. The hub reads on from the Computer when the Agent has taken the answer.
    pub(crate) fn pass(&self, body: Bytes, attachments: Vec<Bytes>) {
        if let Some(packet) = self.packet(body, attachments) {
            self.mailbox.answer(packet);
        }
    }

    pub(crate) fn json(&self, payload: &impl Serialize) {
        if self.id.is_none() {
            return;
        }
        self.text(format!("[{}]", to_json(payload)));
    }

    /// Answers a join or a leave: `[true, null]`, or `[false, "<reason>"]`.
    pub(crate) fn office(&self, outcome: Result<(), &ErrorBody>) {
        self.text(to_json(&(outcome.is_ok(), outcome.err().map(|error| &error.message))));
    }

    pub(crate) fn empty(&self) {
        self.text("[]".to_owned());
    }

    fn text(&self, body: String) {
        if let Some(packet) = self.packet(body.into(), Vec::new()) {
            self.mailbox.send(packet);
        }
    }

    fn packet(&self, body: Bytes, attachments: Vec<Bytes>) -> Option<OutgoingMessage> {
        self.id?;
        let head = head(PacketKind::Ack, self.id, attachments.len(), "");
        Some(OutgoingMessage { head, body, attachments })
    }
}

/// The packet of an event; `rest` is the text of its one argument and the bracket that closes the arguments.
pub(crate) fn event_packet(event: &str, id: Option<u64>, rest: Bytes, attachments: Vec<Bytes>) -> OutgoingMessage {
    let begin = format!("[{},", serde_json::Value::from(event));
    OutgoingMessage { head: head(PacketKind::Event, id, attachments.len(), &begin), body: rest, attachments }
}

/// The packet of an event that the hub itself sends.
pub(crate) fn event_of(event: &str, payload: &impl Serialize) -> OutgoingMessage {
    event_packet(event, None, (to_json(payload) + "]").into(), Vec::new())
}

fn head(kind: PacketKind, id: Option<u64>, attachments: usize, body: &str) -> String {
    PacketFrame { kind, attachments, namespace: NAMESPACE, id, body }.encode()
}

pub(crate) fn to_json(payload: &impl Serialize) -> String {
    serde_json::to_string(payload).expect("wire types have string keys and serialise without fail")
}
