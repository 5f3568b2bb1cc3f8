//! A complete Socket.IO packet from a client.

use a2c_engineio::Text;
use a2c_socketio_frame::PacketFrame;
use bytes::Bytes;

use crate::route::placeholders::{self, StrayPlaceholder};

/// A packet and its attachments. The hub passes parts of it on as slices of the received text.
pub(crate) struct ReceivedPacket<'a> {
    pub(crate) text: &'a Text,
    pub(crate) frame: PacketFrame<'a>,
    pub(crate) attachments: Vec<Bytes>,
}

impl ReceivedPacket<'_> {
    /// Its size in bytes, attachments included.
    pub(crate) fn size(&self) -> usize {
        self.frame.body.len() + self.attachments.iter().map(Bytes::len).sum::<usize>()
    }

    /// Checks that its placeholders lead to its attachments.
    pub(crate) fn check_placeholders(&self) -> Result<(), StrayPlaceholder> {
        let attachments = self.attachments.len();
        if attachments == 0 { Ok(()) } else { placeholders::check(self.frame.body, attachments) }
    }

    /// The part of the text that begins with `part`, which is a slice of it, up to the end.
    pub(crate) fn from(&self, part: &str) -> Bytes {
        let whole: &Bytes = self.text.as_ref();
        let begin = part.as_ptr() as usize - whole.as_ptr() as usize;
        whole.slice(begin..)
    }
}
