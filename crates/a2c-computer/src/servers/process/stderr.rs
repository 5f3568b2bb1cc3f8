//! What a process says on standard error goes, line by line, into the log of its server.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::task::JoinHandle;

use crate::inputs::Secrets;
use crate::servers::log::{LINE_LIMIT, LogSource, ServerLog};

/// How long the last words of a process are waited for.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(500);

/// How much of a line is read. More than is kept of it: a secret at the place of the cut must be seen whole to be hidden.
const READ_LIMIT: usize = 2 * LINE_LIMIT;

/// How many lines are read before others get their turn.
const TURN: usize = 64;

/// The last lines of a process's standard error.
pub(crate) struct StderrTail {
    log: Arc<ServerLog>,
    reader: JoinHandle<()>,
}

impl StderrTail {
    /// Reads until the stream ends.
    pub(super) fn new(
        name: &str,
        stderr: impl AsyncRead + Send + Unpin + 'static,
        log: &Arc<ServerLog>,
        secrets: &Secrets,
    ) -> Self {
        let reader = tokio::spawn(read(name.to_owned(), BufReader::new(stderr), log.clone(), secrets.clone()));
        Self { log: log.clone(), reader }
    }

    /// The lines, for a reason that explains a failure. A process that has just ended may have more to say than was
    /// read so far.
    pub(crate) async fn last_words(mut self) -> String {
        let _ = tokio::time::timeout(LAST_WORDS, &mut self.reader).await;
        self.log.last_words()
    }
}

async fn read(name: String, mut stderr: impl AsyncBufRead + Unpin, log: Arc<ServerLog>, secrets: Secrets) {
    let mut line = Vec::new();
    let mut turn = 0;
    while next_line(&mut stderr, &mut line).await {
        let text = log.push(LogSource::Stderr, String::from_utf8_lossy(&line).trim_end(), &secrets);
        tracing::debug!(server = name, "{text}");
        turn += 1;
        if turn % TURN == 0 {
            tokio::task::yield_now().await;
        }
    }
}

/// Reads the next line, of which no more than fits is kept: a process that never ends its line must not fill our memory.
/// `false` at the end of the stream.
async fn next_line(stderr: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> bool {
    line.clear();
    let mut any = false;
    loop {
        let Ok(available) = stderr.fill_buf().await else { return any };
        if available.is_empty() {
            return any;
        }
        any = true;
        let newline = memchr::memchr(b'\n', available);
        let length = newline.unwrap_or(available.len());
        line.extend_from_slice(&available[..length.min(READ_LIMIT - line.len())]);
        stderr.consume(newline.map_or(length, |newline| newline + 1));
        if newline.is_some() {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn logged(stderr: Vec<u8>, secrets: &Secrets) -> Vec<Arc<str>> {
        let log = Arc::new(ServerLog::new());
        let tail = StderrTail::new("s", std::io::Cursor::new(stderr), &log, secrets);
        tail.reader.await.unwrap();
        log.tail(usize::MAX).into_iter().map(|line| line.text).collect()
    }

    #[tokio::test]
    async fn lines_are_kept_apart_and_cut() {
        let none = Secrets::default();
        assert_eq!(
            logged(b"one\r\n\ntw\xffo\nlast".to_vec(), &none).await,
            ["one", "", "tw\u{fffd}o", "last"].map(Arc::from)
        );
        let mut endless = vec![b'x'; 1 << 20];
        endless.extend(b"\nafter\n");
        let lines = logged(endless, &none).await;
        assert_eq!((lines.len(), &*lines[1]), (2, "after"));
        assert!(lines[0].len() <= LINE_LIMIT && lines[0].ends_with('…'));
    }

    #[tokio::test]
    async fn a_secret_at_the_cut_is_not_seen_in_part() {
        let secrets = crate::servers::log::secret_of_test("TopS3cret");
        let mut line = vec![b'x'; LINE_LIMIT - 8];
        line.extend(b"TopS3cret and more\n");
        let lines = logged(line, &secrets).await;
        assert!(!lines[0].contains("Top"), "{}", &lines[0][LINE_LIMIT - 20..]);
    }
}
