//! Server-sent events, with a limit on the size of one and on the silence between the bytes.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{BoxStream, Stream, StreamExt, unfold};
use reqwest::Response;
use sse_stream::{Error as SseError, Sse, SseStream};

use super::error::{HttpError, NotMcp};
use crate::detail::Detail;
use crate::large::MESSAGE_LIMIT;

/// A stream of events; the error of one that ends early holds an [`HttpError`].
pub(crate) type Events = BoxStream<'static, Result<Sse, SseError>>;

/// The least time between two requests for an event stream, in milliseconds. A server may ask for more, not for less.
const LEAST_RETRY: u64 = 250;

/// The events of an answer.
pub(crate) fn events(response: Response, idle: Duration) -> Events {
    let bytes = limited(response.bytes_stream(), idle, MESSAGE_LIMIT);
    let with_least_retry = |mut event: Sse| {
        event.retry = event.retry.map(|asked| asked.max(LEAST_RETRY));
        event
    };
    SseStream::from_bytes_stream(bytes).map(move |event| event.map(with_least_retry)).boxed()
}

/// Why a stream ended.
pub(crate) fn stream_error(error: &SseError) -> HttpError {
    match error {
        SseError::Body(inner) => match inner.downcast_ref::<HttpError>() {
            Some(error) => error.clone(),
            None => HttpError::Unreachable(Detail::text("its event stream broke")),
        },
        other => NotMcp::Events(Detail::text(&other.to_string())).into(),
    }
}

/// Passes bytes on until they fail, fall silent or are too many for one event.
fn limited<S>(bytes: S, idle: Duration, limit: usize) -> BoxStream<'static, Result<Bytes, HttpError>>
where
    S: Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static,
{
    let start = (bytes.boxed(), EventSize::default(), false);
    unfold(start, move |(mut bytes, mut size, over)| async move {
        if over {
            return None;
        }
        let item = match tokio::time::timeout(idle, bytes.next()).await {
            Err(_) => Err(HttpError::Idle(idle)),
            Ok(None) => return None,
            Ok(Some(Err(error))) => Err(error.into()),
            Ok(Some(Ok(chunk))) if size.after(&chunk) > limit => Err(HttpError::TooLarge(limit)),
            Ok(Some(Ok(chunk))) => Ok(chunk),
        };
        let over = item.is_err();
        Some((item, (bytes, size, over)))
    })
    .boxed()
}

/// How large the event is of which the end has not come yet.
#[derive(Default)]
struct EventSize {
    event: usize,
    line: usize,
    after_cr: bool,
}

impl EventSize {
    /// The largest size that an event had while `chunk` came in.
    fn after(&mut self, chunk: &[u8]) -> usize {
        let mut largest = self.event;
        for &byte in chunk {
            let second_half = std::mem::take(&mut self.after_cr) && byte == b'\n';
            match byte {
                b'\r' | b'\n' if second_half => {}
                b'\r' | b'\n' => {
                    self.after_cr = byte == b'\r';
                    if self.line == 0 {
                        self.event = 0;
                    }
                    self.line = 0;
                }
                _ => {
                    self.line += 1;
                    self.event += 1;
                    largest = largest.max(self.event);
                }
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_event_counts_to_its_blank_line() {
        for (chunks, largest) in [
            (&["data: 12\n\n", "data: 1\n\n"][..], 8),
            (&["data: 12\r\n\r\ndata: 123\r\n\r\n"], 9),
            (&["data: 1\r\rdata: 12\r", "\r"], 8),
            (&["data: 1\n", "data: 2\n", "\n"], 14),
            (&["data: 1\r", "\n", "data: 2\r\n\r\n"], 14),
            (&[": ping\n\n: ping\n\n: ping\n\n"], 6),
            (&["endless", "endless", "endless"], 21),
        ] {
            let mut size = EventSize::default();
            let seen = chunks.iter().map(|chunk| size.after(chunk.as_bytes())).max();
            assert_eq!(seen, Some(largest), "{chunks:?}");
        }
    }

    #[tokio::test]
    async fn an_event_that_does_not_end_ends_the_stream() {
        let endless = futures_util::stream::repeat_with(|| Ok(Bytes::from_static(b"data: for ever")));
        let seen: Vec<_> = limited(endless, Duration::from_secs(60), 50).collect().await;
        assert_eq!(seen.len(), 4, "{seen:?}");
        assert!(matches!(seen[3], Err(HttpError::TooLarge(50))));
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_the_stream() {
        let idle = Duration::from_secs(300);
        let seen: Vec<_> = limited(futures_util::stream::pending(), idle, 50).collect().await;
        assert!(matches!(seen[..], [Err(HttpError::Idle(limit))] if limit == idle), "{seen:?}");
    }
}
