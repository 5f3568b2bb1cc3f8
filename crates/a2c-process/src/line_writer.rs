//! The standard input of a process: whole lines, one after the other, however many callers write at once.
//!
//! One task owns the pipe. A caller hands over a line and waits until it is written; a caller that stops waiting does not
//! leave half a line behind. What waits to be written is bounded in bytes ([`WriteQueue`]).

use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::write_queue::{QueueClosed, Queued, WriteQueue};

/// Writes lines to the standard input of a process. Clones write to the same; the input is closed with the last one.
#[derive(Debug, Clone)]
pub struct LineWriter(WriteQueue<QueuedLine>);

#[derive(Debug)]
struct QueuedLine {
    text: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

impl LineWriter {
    /// Writes to this stream.
    pub fn new(stream: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self::with_close(stream, CancellationToken::new())
    }

    /// Writes to this stream until it is closed through the token.
    pub(crate) fn with_close(stream: impl AsyncWrite + Send + Unpin + 'static, closed: CancellationToken) -> Self {
        Self(WriteQueue::start(closed, |queue| write_all(stream, queue)))
    }

    /// Writes a line, which includes its end.
    pub async fn write(self, text: Vec<u8>) -> io::Result<()> {
        let closed = || io::Error::new(io::ErrorKind::BrokenPipe, "its standard input is closed");
        let size = text.len();
        let (written, outcome) = oneshot::channel();
        self.0.put(QueuedLine { text, written }, size).await.map_err(|QueueClosed| closed())?;
        outcome.await.map_err(|_| closed())?
    }

    /// Closes the standard input at once, whatever waits.
    pub fn close(&self) {
        self.0.close();
    }
}

async fn write_all(mut stream: impl AsyncWrite + Unpin, mut queue: mpsc::UnboundedReceiver<Queued<QueuedLine>>) {
    while let Some(queued) = queue.recv().await {
        let outcome = match stream.write_all(&queued.item.text).await {
            Ok(()) => stream.flush().await,
            failed => failed,
        };
        let broken = outcome.is_err();
        let _ = queued.item.written.send(outcome);
        if broken {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_queue::WAITING;
    use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

    #[tokio::test]
    async fn a_caller_that_stops_waiting_leaves_no_half_line() {
        let (input, mut process) = tokio::io::duplex(16);
        let writer = LineWriter::new(input);
        let long = [vec![b'a'; 1000], b"\n".to_vec()].concat();
        let mut first = tokio::spawn(writer.clone().write(long.clone()));
        let mut begun = [0; 8];
        process.read_exact(&mut begun).await.unwrap();
        // Half of it is written.
        assert!(futures_poll(&mut first).await.is_none());
        first.abort();
        let second = tokio::spawn(writer.clone().write(b"second\n".to_vec()));
        let mut lines = BufReader::new(process).lines();
        assert_eq!(lines.next_line().await.unwrap().unwrap().len(), 1000 - begun.len());
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "second");
        second.await.unwrap().unwrap();
        drop(writer);
        assert_eq!(lines.next_line().await.unwrap(), None, "the input is closed once no caller can write");
    }

    /// The outcome if it is there already.
    async fn futures_poll<T>(task: &mut tokio::task::JoinHandle<T>) -> Option<T> {
        tokio::select! {
            biased;
            outcome = task => outcome.ok(),
            () = std::future::ready(()) => None,
        }
    }

    #[tokio::test]
    async fn a_process_that_does_not_read_holds_a_bounded_amount() {
        let (input, process) = tokio::io::duplex(16);
        let writer = LineWriter::new(input);
        let quarter = vec![b'x'; WAITING as usize / 4];
        let writes: Vec<_> = (0..8).map(|_| tokio::spawn(writer.clone().write(quarter.clone()))).collect();
        while !writer.0.is_full() {
            tokio::task::yield_now().await;
        }
        assert!(writes.iter().all(|write| !write.is_finished()));
        writer.close();
        for write in writes {
            assert_eq!(write.await.unwrap().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        }
        drop(process);
    }

    #[tokio::test]
    async fn a_closed_pipe_is_an_error() {
        let (input, process) = tokio::io::duplex(16);
        drop(process);
        let writer = LineWriter::new(input);
        assert!(writer.clone().write(b"x\n".to_vec()).await.is_err());
        assert_eq!(writer.write(b"y\n".to_vec()).await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
