//! Writes frames to a stream: whole ones, one after the other, however many callers write at once.
//!
//! One task owns the stream. What waits is bounded in bytes, and each frame has its time, in which its wait behind others
//! counts. A frame whose time is over before its first byte is written is left out and does no harm. A frame that is cut in the middle, by its time or by the stream, ruins
//! the stream: the process would take the next line for the rest of the payload. Then the stream is closed and every later
//! write fails.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::codec::Frame;
use crate::write_queue::{QueueClosed, Queued, WriteQueue};

/// Why a frame was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameWriteError {
    /// Its time was over before its first byte was written. The stream can be used further.
    #[error("the process does not read: nothing was written in time")]
    Expired,
    /// It was written in part. The stream is closed.
    #[error("the write was cut after {written} of {size} bytes: {source}")]
    Cut {
        /// How many bytes were written.
        written: usize,
        /// How many bytes the frame has.
        size: usize,
        /// Why; [`io::ErrorKind::TimedOut`] if its time was over.
        source: io::Error,
    },
    /// An earlier frame was cut, and the stream is closed.
    #[error("an earlier write was cut")]
    Broken,
    /// The stream was closed.
    #[error("the stream is closed")]
    Closed,
}

impl FrameWriteError {
    /// Whether nothing can be written to this stream any more.
    pub fn is_fatal(&self) -> bool {
        !matches!(self, Self::Expired)
    }
}

/// Writes frames to the standard input of a process. Clones write to the same; the input is closed with the last one.
#[derive(Debug, Clone)]
pub struct FrameWriter {
    queue: WriteQueue<QueuedFrame>,
    /// A frame was cut.
    broken: Arc<AtomicBool>,
}

#[derive(Debug)]
struct QueuedFrame {
    frame: Frame,
    deadline: Instant,
    /// Set by the task that begins to write the frame or by the caller whose time is over, whichever comes first: a caller
    /// never calls a frame expired that is being written.
    claimed: Arc<AtomicBool>,
    written: oneshot::Sender<Result<(), FrameWriteError>>,
}

impl FrameWriter {
    /// Writes to this stream.
    pub fn new(stream: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self::with_close(stream, CancellationToken::new())
    }

    /// Writes to this stream until it is closed through the token.
    pub(crate) fn with_close(stream: impl AsyncWrite + Send + Unpin + 'static, closed: CancellationToken) -> Self {
        let broken = Arc::new(AtomicBool::new(false));
        let queue = WriteQueue::start(closed, |queue| write_all(stream, queue, broken.clone()));
        Self { queue, broken }
    }

    /// Writes a frame, and waits for that at most this long, whatever is written before it. A caller that stops waiting
    /// does not cut the frame.
    pub async fn write(self, frame: Frame, limit: Duration) -> Result<(), FrameWriteError> {
        let Self { queue, broken } = self;
        let deadline = Instant::now() + limit;
        let (written, mut outcome) = oneshot::channel();
        let size = frame.size();
        let ended = || match broken.load(Ordering::Acquire) {
            true => FrameWriteError::Broken,
            false => FrameWriteError::Closed,
        };
        let claimed = Arc::new(AtomicBool::new(false));
        let queued = QueuedFrame { frame, deadline, claimed: claimed.clone(), written };
        match timeout_at(deadline, queue.put(queued, size)).await {
            Ok(Ok(())) => {}
            Ok(Err(QueueClosed)) => return Err(ended()),
            Err(_) => return Err(FrameWriteError::Expired),
        }
        let outcome = match timeout_at(deadline, &mut outcome).await {
            Ok(outcome) => outcome,
            Err(_) if !claimed.swap(true, Ordering::AcqRel) => return Err(FrameWriteError::Expired),
            // It was begun, and the task keeps the same deadline.
            Err(_) => outcome.await,
        };
        outcome.unwrap_or_else(|_| Err(ended()))
    }

    /// Closes the stream at once, whatever waits.
    pub fn close(&self) {
        self.queue.close();
    }
}

async fn write_all(
    mut stream: impl AsyncWrite + Unpin,
    mut queue: mpsc::UnboundedReceiver<Queued<QueuedFrame>>,
    broken: Arc<AtomicBool>,
) {
    while let Some(queued) = queue.recv().await {
        let QueuedFrame { frame, deadline, claimed, written } = queued.item;
        if claimed.swap(true, Ordering::AcqRel) {
            continue;
        }
        let outcome = write_one(&mut stream, &frame, deadline).await;
        let is_fatal = outcome.as_ref().is_err_and(FrameWriteError::is_fatal);
        if is_fatal {
            broken.store(true, Ordering::Release);
        }
        let _ = written.send(outcome);
        if is_fatal {
            return;
        }
    }
}

async fn write_one(
    stream: &mut (impl AsyncWrite + Unpin),
    frame: &Frame,
    deadline: Instant,
) -> Result<(), FrameWriteError> {
    // The caller may be gone, and a stream that takes bytes again would take these before the clock is asked.
    if Instant::now() >= deadline {
        return Err(FrameWriteError::Expired);
    }
    let mut written = 0;
    let write = async {
        for part in [&frame.head()[..], frame.payload().map_or(&[][..], |payload| payload)] {
            let mut part = part;
            while !part.is_empty() {
                let taken = stream.write(part).await?;
                if taken == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                written += taken;
                part = &part[taken..];
            }
        }
        stream.flush().await
    };
    let outcome = timeout_at(deadline, write).await;
    let source = match outcome {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error,
        Err(_) if written == 0 => return Err(FrameWriteError::Expired),
        Err(_) => io::Error::new(io::ErrorKind::TimedOut, "its time was over"),
    };
    Err(FrameWriteError::Cut { written, size: frame.size(), source })
}

#[cfg(test)]
mod tests {
    use super::super::{FrameLimits, FrameReader};
    use super::*;
    use tokio::io::AsyncReadExt as _;

    const LIMITS: FrameLimits = FrameLimits { line: 100, payload: 16 << 20 };
    const LONG: Duration = Duration::from_secs(3600);
    const SHORT: Duration = Duration::from_secs(5);

    fn data(size: usize) -> Frame {
        Frame::with_payload("+data", vec![b'\n'; size]).unwrap()
    }

    fn has_payload(line: &[u8]) -> bool {
        line.starts_with(b"+")
    }

    #[tokio::test]
    async fn frames_of_many_callers_arrive_whole() {
        let (stream, process) = tokio::io::duplex(1000);
        let writer = FrameWriter::new(stream);
        let sizes = [0, 1, 70_000, 5 << 20, 10];
        let writes: Vec<_> =
            sizes.into_iter().map(|size| tokio::spawn(writer.clone().write(data(size), LONG))).collect();
        drop(writer);
        let mut reader = FrameReader::new(process, LIMITS);
        let mut seen = Vec::new();
        while let Some(frame) = reader.next(has_payload).await.unwrap() {
            seen.push(frame.payload().unwrap().len());
        }
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 10, 70_000, 5 << 20], "the stream ends once no caller can write");
        for write in writes {
            write.await.unwrap().unwrap();
        }
    }

    #[tokio::test]
    async fn a_caller_that_stops_waiting_does_not_cut_a_frame() {
        let (stream, mut process) = tokio::io::duplex(16);
        let writer = FrameWriter::new(stream);
        let first = tokio::spawn(writer.clone().write(data(1000), LONG));
        let mut begun = [0; 6];
        process.read_exact(&mut begun).await.unwrap();
        first.abort();
        let second = tokio::spawn(writer.write(Frame::line("second").unwrap(), LONG));
        let mut reader = FrameReader::new((&begun[..]).chain(process), LIMITS);
        assert_eq!(reader.next(has_payload).await.unwrap(), Some(data(1000)));
        assert_eq!(reader.next(has_payload).await.unwrap(), Some(Frame::line("second").unwrap()));
        second.await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_frame_that_is_cut_by_its_time_ruins_the_stream() {
        let (stream, mut process) = tokio::io::duplex(16);
        let writer = FrameWriter::new(stream);
        let cut = tokio::spawn(writer.clone().write(data(1000), SHORT));
        tokio::task::yield_now().await;
        let waiting = tokio::spawn(writer.clone().write(Frame::line("waiting").unwrap(), LONG));
        match cut.await.unwrap().unwrap_err() {
            FrameWriteError::Cut { written: 16, size: 1014, source } => {
                assert_eq!(source.kind(), io::ErrorKind::TimedOut);
            }
            other => panic!("{other}"),
        }
        assert!(matches!(waiting.await.unwrap(), Err(FrameWriteError::Broken)));
        let later = writer.write(Frame::line("later").unwrap(), LONG).await.unwrap_err();
        assert!(matches!(later, FrameWriteError::Broken) && later.is_fatal(), "{later}");
        let mut rest = Vec::new();
        process.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest.len(), 16, "the process sees the end of the stream");
    }

    #[tokio::test]
    async fn a_frame_that_is_cut_by_the_stream_ruins_it() {
        let (stream, mut process) = tokio::io::duplex(16);
        let writer = FrameWriter::new(stream);
        let cut = tokio::spawn(writer.clone().write(data(1000), LONG));
        process.read_exact(&mut [0; 8]).await.unwrap();
        drop(process);
        match cut.await.unwrap().unwrap_err() {
            FrameWriteError::Cut { source, .. } => assert_eq!(source.kind(), io::ErrorKind::BrokenPipe),
            other => panic!("{other}"),
        }
        assert!(matches!(writer.write(data(0), LONG).await, Err(FrameWriteError::Broken)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_frame_that_never_began_leaves_the_stream_intact() {
        let (stream, process) = tokio::io::duplex(10);
        let writer = FrameWriter::new(stream);
        // Fills the stream: nothing of the next frame fits.
        writer.clone().write(Frame::line("123456789").unwrap(), SHORT).await.unwrap();
        let expired = writer.clone().write(data(1000), SHORT).await.unwrap_err();
        assert!(matches!(expired, FrameWriteError::Expired) && !expired.is_fatal(), "{expired}");
        let last = tokio::spawn(writer.write(Frame::line("last").unwrap(), SHORT));
        let mut reader = FrameReader::new(process, LIMITS);
        assert_eq!(reader.next(has_payload).await.unwrap(), Some(Frame::line("123456789").unwrap()));
        assert_eq!(reader.next(has_payload).await.unwrap(), Some(Frame::line("last").unwrap()));
        last.await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_frame_keeps_its_limit_behind_a_frame_with_a_longer_one() {
        let (stream, process) = tokio::io::duplex(16);
        let writer = FrameWriter::new(stream);
        let first = tokio::spawn(writer.clone().write(data(1000), LONG));
        tokio::task::yield_now().await;
        let begin = Instant::now();
        let abandoned = tokio::spawn(writer.clone().write(Frame::line("abandoned").unwrap(), SHORT));
        tokio::task::yield_now().await;
        abandoned.abort();
        let expired = writer.clone().write(Frame::line("expired").unwrap(), SHORT).await.unwrap_err();
        assert!(matches!(expired, FrameWriteError::Expired), "{expired}");
        assert_eq!(begin.elapsed().as_secs(), SHORT.as_secs());
        let last = tokio::spawn(writer.write(Frame::line("last").unwrap(), SHORT));
        let mut reader = FrameReader::new(process, LIMITS);
        assert_eq!(reader.next(has_payload).await.unwrap(), Some(data(1000)));
        assert_eq!(reader.next(has_payload).await.unwrap(), Some(Frame::line("last").unwrap()), "the others expired");
        first.await.unwrap().unwrap();
        last.await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_does_not_read_holds_a_bounded_amount() {
        let (stream, _process) = tokio::io::duplex(16);
        let writer = FrameWriter::new(stream);
        let writes: Vec<_> = (0..8).map(|_| tokio::spawn(writer.clone().write(data(1 << 20), LONG))).collect();
        while !writer.queue.is_full() {
            tokio::task::yield_now().await;
        }
        let expired = writer.clone().write(data(1 << 20), SHORT).await;
        assert!(matches!(expired, Err(FrameWriteError::Expired)), "{expired:?}");
        writer.close();
        for write in writes {
            assert!(matches!(write.await.unwrap(), Err(FrameWriteError::Closed)));
        }
    }
}
