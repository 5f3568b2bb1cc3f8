//! The body of an HTTP response, which reports whether its client reads it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// The size of one piece, in bytes.
const PIECE: usize = 64 << 10;

/// Receives the progress of a client that reads a response.
pub(crate) trait ReadProgress: Send + Sync {
    /// The client took this many bytes.
    fn took(&self, bytes: u64);
}

/// The body of an HTTP response, sent in pieces. Each piece counts as a sign of life of its session, because a client that
/// reads the answer to a poll receives no ping that it could answer.
pub struct ResponseBody {
    rest: Bytes,
    reader: Option<Arc<dyn ReadProgress>>,
}

impl ResponseBody {
    pub(crate) fn new(body: Bytes) -> Self {
        Self { rest: body, reader: None }
    }

    /// Reports the progress of the client to `reader`.
    pub(crate) fn read_by(mut self, reader: Arc<dyn ReadProgress>) -> Self {
        self.reader = Some(reader);
        self
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if this.rest.is_empty() {
            return Poll::Ready(None);
        }
        let piece = this.rest.split_to(PIECE.min(this.rest.len()));
        if let Some(reader) = &this.reader {
            reader.took(piece.len() as u64);
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}
