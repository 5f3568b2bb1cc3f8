//! Writes answers to one connection of the control socket.

use std::io;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::OwnedWriteHalf;

use super::wire::{MAX_LINE, Refusal, RefusalKind, Reply};

/// How long a client may take to send a request, or to read an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// The answers to one client.
pub(super) struct Answers {
    writer: OwnedWriteHalf,
}

impl Answers {
    pub(super) fn new(writer: OwnedWriteHalf) -> Self {
        Self { writer }
    }

    /// Sends a part of an answer; more follows.
    pub(super) async fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let value: Value = serde_json::to_value(value)?;
        self.send(&Reply::Line(value)).await
    }

    pub(super) async fn send(&mut self, reply: &Reply) -> io::Result<()> {
        let mut text = serde_json::to_vec(reply)?;
        if text.len() > MAX_LINE {
            let message = format!("the answer of {} bytes is too long to be sent", text.len());
            text = serde_json::to_vec(&Reply::Error(Refusal { kind: RefusalKind::Failed, message }))?;
        }
        text.push(b'\n');
        let writing = tokio::time::timeout(PATIENCE, self.writer.write_all(&text)).await;
        writing.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}
