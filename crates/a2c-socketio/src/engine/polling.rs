//! The polling transport: one request waits for frames, another brings ours.

use std::sync::Arc;

use super::body::{BodyError, ReceivedBody, SendingBody};
use super::http::Http;
use super::packet::EngineFrame;
use crate::error::DisconnectReason;

pub(crate) struct PollingReader {
    http: Arc<Http>,
    sid: String,
    /// What is left of the last answer.
    body: ReceivedBody,
}

pub(crate) struct PollingWriter {
    http: Arc<Http>,
    sid: String,
    max_payload: usize,
    body: SendingBody,
}

/// `rest` is what followed the handshake in the first answer.
pub(crate) fn open(
    http: Arc<Http>,
    sid: String,
    rest: ReceivedBody,
    max_payload: usize,
) -> (PollingReader, PollingWriter) {
    let reader = PollingReader { http: http.clone(), sid: sid.clone(), body: rest };
    let writer = PollingWriter { http, sid, max_payload, body: SendingBody::default() };
    (reader, writer)
}

impl PollingReader {
    pub(crate) async fn next(&mut self) -> Result<EngineFrame, DisconnectReason> {
        loop {
            if let Some(frame) = self.body.next() {
                return Ok(frame?);
            }
            self.body = ReceivedBody::new(self.http.get(Some(&self.sid)).await?)?;
        }
    }
}

impl PollingWriter {
    /// Adds a frame to the next request, sending the one that has no room left for it.
    pub(crate) async fn feed(&mut self, frame: &EngineFrame) -> Result<(), DisconnectReason> {
        if !self.body.has_room(frame, self.max_payload) {
            self.flush().await?;
        }
        self.body.push(frame);
        Ok(())
    }

    pub(crate) async fn flush(&mut self) -> Result<(), DisconnectReason> {
        let body = std::mem::take(&mut self.body);
        if body.is_empty() {
            return Ok(());
        }
        self.http.post(&self.sid, body.into_body()).await
    }

    pub(crate) async fn close(&mut self) -> Result<(), DisconnectReason> {
        // In a request of its own: a server may look at the end of a body before it has acted on
        // the beginning, and lose what was sent last.
        self.flush().await?;
        self.feed(&EngineFrame::Text("1".into())).await?;
        self.flush().await
    }
}

impl From<BodyError> for DisconnectReason {
    fn from(error: BodyError) -> Self {
        DisconnectReason::Protocol(error.to_string())
    }
}
