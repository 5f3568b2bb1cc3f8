//! Messages to many clients.

use std::sync::Arc;

use crate::backlog::Backlog;
use crate::packet::{OutgoingMessage, SharedMessage};

impl SharedMessage {
    /// Encodes a message for all its receivers. The guard is dropped when no queue holds the message any more.
    pub fn new(mut message: OutgoingMessage, guard: impl Send + Sync + 'static) -> Self {
        message.detach();
        let frames = Backlog::encode(message.clone());
        Self::with_frames(message, frames, Arc::new(guard))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::QueuedPacket;

    fn written(backlog: &mut Backlog) -> Vec<u8> {
        let mut all = Vec::new();
        while !backlog.is_empty() {
            backlog.write_with(|slices| {
                let before = all.len();
                slices.iter().for_each(|slice| all.extend_from_slice(slice));
                ((), all.len() - before)
            });
        }
        all
    }

    #[test]
    fn all_receivers_get_the_same_bytes_and_the_last_one_releases_them() {
        for size in [10, 100_000] {
            let attachments = vec![vec![7; size].into()];
            let message = OutgoingMessage { head: "2[".to_owned(), body: vec![b'x'; size].into(), attachments };
            let mut plain = Backlog::default();
            plain.push(QueuedPacket::Message(message.clone()));
            let expected = written(&mut plain);

            let guard = Arc::new(());
            let shared = SharedMessage::new(message, guard.clone());
            let mut backlogs: Vec<_> = (0..3).map(|_| Backlog::default()).collect();
            for backlog in &mut backlogs {
                backlog.push(QueuedPacket::Ping);
                let own = backlog.len();
                backlog.push(QueuedPacket::Shared(shared.clone()));
                assert_eq!((backlog.len(), backlog.own_len()), (own + expected.len(), own), "counted once");
            }
            drop(shared);
            for mut backlog in backlogs {
                assert_eq!(Arc::strong_count(&guard), 2, "some receiver has yet to take it");
                let got = written(&mut backlog);
                assert_eq!(got[got.len() - expected.len()..], expected[..]);
            }
            assert_eq!(Arc::strong_count(&guard), 1);
        }
    }
}
