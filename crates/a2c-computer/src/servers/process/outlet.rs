//! The standard input of a server: whole lines, one after the other, however many want to write at once.
//!
//! One task owns the pipe. Who writes hands over a line and waits until it is written; who stops waiting does not leave
//! half a line behind. What waits to be written is bounded in bytes: a server that does not read holds up those who talk
//! to it, and nobody's memory. Those who talk to it wait for it themselves; the answers to what it asks do not, so it is
//! counted how many of them are under way ([`Owed`]).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::AbortHandle;

/// How many bytes may wait for a server to read them. A longer line waits alone.
const WAITING: u32 = 4 << 20;

/// How many answers, and bytes of them, may wait for a server to read them before it is not listened to any more.
const OWED_ANSWERS: usize = 256;
const OWED_BYTES: usize = 1 << 20;

/// The way to the standard input of a server.
#[derive(Clone)]
pub(crate) struct Outlet {
    lines: mpsc::UnboundedSender<Line>,
    room: Arc<Semaphore>,
    writer: AbortHandle,
}

struct Line {
    text: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
    _room: OwnedSemaphorePermit,
}

impl Outlet {
    pub(crate) fn new(stdin: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (lines, given) = mpsc::unbounded_channel();
        let writer = tokio::spawn(write(stdin, given)).abort_handle();
        Self { lines, room: Arc::new(Semaphore::new(WAITING as usize)), writer }
    }

    /// Writes a line, which includes its end.
    pub(crate) async fn write(self, text: Vec<u8>) -> io::Result<()> {
        let closed = || io::Error::new(io::ErrorKind::BrokenPipe, "its standard input is closed");
        let size = u32::try_from(text.len()).unwrap_or(WAITING).min(WAITING);
        let room = self.room.acquire_many_owned(size).await.map_err(|_| closed())?;
        let (written, told) = oneshot::channel();
        self.lines.send(Line { text, written, _room: room }).map_err(|_| closed())?;
        // Not kept while we wait: the pipe is closed when nobody can write any more.
        drop(self.lines);
        told.await.map_err(|_| closed())?
    }

    /// Closes the standard input at once, whatever waits.
    pub(crate) fn shut(&self) {
        self.writer.abort();
        self.room.close();
    }
}

/// The answers that a server has asked for and has not read.
#[derive(Clone, Default)]
pub(crate) struct Owed(Arc<Sum>);

#[derive(Default)]
struct Sum {
    answers: AtomicUsize,
    bytes: AtomicUsize,
    less: Notify,
}

/// One of them, until it is written or given up.
pub(crate) struct Debt {
    sum: Arc<Sum>,
    bytes: usize,
}

impl Owed {
    pub(crate) fn add(&self, bytes: usize) -> Debt {
        self.0.answers.fetch_add(1, Ordering::Relaxed);
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        Debt { sum: self.0.clone(), bytes }
    }

    pub(crate) fn too_much(&self) -> bool {
        self.0.answers.load(Ordering::Relaxed) > OWED_ANSWERS || self.0.bytes.load(Ordering::Relaxed) > OWED_BYTES
    }

    /// Waits until it is not too much any more. Only one may wait.
    pub(crate) async fn bearable(&self) {
        while self.too_much() {
            self.0.less.notified().await;
        }
    }
}

impl Drop for Debt {
    fn drop(&mut self) {
        self.sum.answers.fetch_sub(1, Ordering::Relaxed);
        self.sum.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.sum.less.notify_one();
    }
}

async fn write(mut stdin: impl AsyncWrite + Unpin, mut lines: mpsc::UnboundedReceiver<Line>) {
    while let Some(line) = lines.recv().await {
        let outcome = match stdin.write_all(&line.text).await {
            Ok(()) => stdin.flush().await,
            failed => failed,
        };
        let broken = outcome.is_err();
        let _ = line.written.send(outcome);
        if broken {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

    #[tokio::test]
    async fn who_stops_waiting_leaves_no_half_line() {
        let (stdin, mut server) = tokio::io::duplex(16);
        let outlet = Outlet::new(stdin);
        let long = [vec![b'a'; 1000], b"\n".to_vec()].concat();
        let mut first = tokio::spawn(outlet.clone().write(long.clone()));
        let mut begun = [0; 8];
        server.read_exact(&mut begun).await.unwrap();
        // Half of it is written.
        assert!(futures_poll(&mut first).await.is_none());
        first.abort();
        let second = tokio::spawn(outlet.clone().write(b"second\n".to_vec()));
        let mut lines = BufReader::new(server).lines();
        assert_eq!(lines.next_line().await.unwrap().unwrap().len(), 1000 - begun.len());
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "second");
        second.await.unwrap().unwrap();
        drop(outlet);
        assert_eq!(lines.next_line().await.unwrap(), None, "the input is closed when nobody can write");
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
    async fn a_server_that_does_not_read_holds_a_bounded_amount() {
        let (stdin, server) = tokio::io::duplex(16);
        let outlet = Outlet::new(stdin);
        let quarter = vec![b'x'; WAITING as usize / 4];
        let writes: Vec<_> = (0..8).map(|_| tokio::spawn(outlet.clone().write(quarter.clone()))).collect();
        let queue = outlet.lines.clone();
        while outlet.room.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(writes.iter().all(|write| !write.is_finished()));
        assert!(!queue.is_closed());
        outlet.shut();
        for write in writes {
            assert_eq!(write.await.unwrap().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        }
        drop(server);
    }

    #[tokio::test]
    async fn a_closed_pipe_is_told() {
        let (stdin, server) = tokio::io::duplex(16);
        drop(server);
        let outlet = Outlet::new(stdin);
        assert!(outlet.clone().write(b"x\n".to_vec()).await.is_err());
        assert_eq!(outlet.write(b"y\n".to_vec()).await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
