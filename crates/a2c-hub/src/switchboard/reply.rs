//! The way back to whoever asked, and how packets are written.

use a2c_protocol::NAMESPACE;
use bytes::Bytes;
use engineioxide_core::Str;
use serde::Serialize;

use crate::wire::outbox::Outbox;
use a2c_socketio_frame::{Frame, Kind};

/// The way back to whoever asked, where an acknowledgement was asked for.
pub(crate) struct Reply {
    pub(crate) outbox: Outbox,
    pub(crate) id: Option<u64>,
}

impl Reply {
    pub(crate) fn raw(&self, body: &str, attachments: Vec<Bytes>) {
        if self.id.is_some() {
            let n = attachments.len();
            let packet = Frame { kind: Kind::Ack, attachments: n, namespace: NAMESPACE, id: self.id, body };
            self.outbox.send_all(packet.encode().into(), attachments);
        }
    }

    pub(crate) fn json(&self, payload: &impl Serialize) {
        self.raw(&format!("[{}]", to_json(payload)), Vec::new());
    }

    pub(crate) fn office(&self, outcome: Result<(), String>) {
        self.raw(&to_json(&(outcome.is_ok(), outcome.err())), Vec::new());
    }

    pub(crate) fn empty(&self) {
        self.raw("[]", Vec::new());
    }
}

/// An event as it goes out; `payload` is the text of its one argument.
pub(crate) fn event_packet(event: &str, id: Option<u64>, payload: &str, attachments: usize) -> Str {
    let body = format!("[{},{payload}]", serde_json::Value::from(event));
    Frame { kind: Kind::Event, attachments, namespace: NAMESPACE, id, body: &body }.encode().into()
}

pub(crate) fn to_json(payload: &impl Serialize) -> String {
    serde_json::to_string(payload).expect("wire types have string keys and serialise without fail")
}
