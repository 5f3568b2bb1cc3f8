//! What a process says on standard error goes, line by line, into the log of its server.
//!
//! Only so much of it in a second ([`Pace`]): secrets are looked for in every line, and a process that writes without end
//! must not have us do nothing else. Of what is too much, the last lines are kept, because they explain how it ended.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use a2c_secrets::Redactor;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::servers::log::{LINE_LIMIT, LogSource, ServerLog};

/// How long the last words of a process are waited for.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(500);

/// How much of a line is read. More than is kept of it: a secret at the place of the cut must be seen whole to be hidden.
const READ_LIMIT: usize = 2 * LINE_LIMIT;

/// How many lines, or bytes, are read before others get their turn.
const TURN_LINES: usize = 64;
const TURN_BYTES: usize = 64 << 10;

/// How many lines, and bytes, of a second are written down, and how many of the last lines beyond.
const SECOND: Duration = Duration::from_secs(1);
const LINES_A_SECOND: usize = 2000;
const BYTES_A_SECOND: usize = 1 << 20;
const LAST_LINES: usize = 20;

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
        secrets: &Redactor,
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

async fn read(name: String, mut stderr: impl AsyncBufRead + Unpin, log: Arc<ServerLog>, secrets: Redactor) {
    let tell = |line: &[u8]| {
        let text = log.push(LogSource::Stderr, String::from_utf8_lossy(line).trim_end(), &secrets);
        tracing::debug!(server = name, "{text}");
    };
    let tell_rest = |rest: Rest| {
        if rest.left_out > 0 {
            log.remark(&format!("{} lines on standard error were left out: too many in a second", rest.left_out));
        }
        rest.last.iter().for_each(|line| tell(line));
    };
    let mut line = Vec::new();
    let mut pace = Pace::new(Instant::now());
    let (mut lines, mut bytes) = (0, 0);
    loop {
        let more = match pace.rest_is_due() {
            Some(due) => timeout_at(due, next_line(&mut stderr, &mut line)).await,
            None => Ok(next_line(&mut stderr, &mut line).await),
        };
        let now = Instant::now();
        if let Some(rest) = pace.rest(now) {
            tell_rest(rest);
        }
        match more {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => continue,
        }
        lines += 1;
        bytes += line.len();
        if pace.admits(now, line.len()) {
            tell(&line);
            line.clear();
        } else {
            pace.hold(&mut line);
        }
        if lines >= TURN_LINES || bytes >= TURN_BYTES {
            (lines, bytes) = (0, 0);
            tokio::task::yield_now().await;
        }
    }
    tell_rest(pace.rest);
}

/// How much was said within a second.
struct Pace {
    since: Instant,
    lines: usize,
    bytes: usize,
    rest: Rest,
}

/// What was too much.
#[derive(Default)]
struct Rest {
    left_out: u64,
    last: VecDeque<Vec<u8>>,
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self { since: now, lines: 0, bytes: 0, rest: Rest::default() }
    }

    /// Whether a line may be written down now.
    fn admits(&mut self, now: Instant, length: usize) -> bool {
        if now >= self.since + SECOND {
            (self.since, self.lines, self.bytes) = (now, 0, 0);
        }
        self.lines += 1;
        self.bytes += length;
        self.lines <= LINES_A_SECOND && self.bytes <= BYTES_A_SECOND
    }

    /// Keeps a line for the end of the second instead of an older one, and leaves an empty one in its place.
    fn hold(&mut self, line: &mut Vec<u8>) {
        let mut spare = Vec::new();
        if self.rest.last.len() == LAST_LINES {
            self.rest.left_out += 1;
            spare = self.rest.last.pop_front().unwrap_or_default();
            spare.clear();
        }
        self.rest.last.push_back(std::mem::replace(line, spare));
    }

    /// When what is kept should be told.
    fn rest_is_due(&self) -> Option<Instant> {
        (!self.rest.last.is_empty()).then(|| self.since + SECOND)
    }

    /// What is kept, once it is due.
    fn rest(&mut self, now: Instant) -> Option<Rest> {
        self.rest_is_due().filter(|due| now >= *due).map(|_| std::mem::take(&mut self.rest))
    }
}

/// Reads on to the end of a line, of which no more than fits is kept: a process that never ends its line must not fill our
/// memory. `false` at the end of the stream. Nothing is lost when this is given up while it waits.
async fn next_line(stderr: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> bool {
    loop {
        let available = match stderr.fill_buf().await {
            Ok(available) if !available.is_empty() => available,
            _ => return !line.is_empty(),
        };
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
    use tokio::io::AsyncWriteExt as _;

    async fn logged(stderr: Vec<u8>, secrets: &Redactor) -> Vec<Arc<str>> {
        let log = Arc::new(ServerLog::new());
        let tail = StderrTail::new("s", std::io::Cursor::new(stderr), &log, secrets);
        tail.reader.await.unwrap();
        log.tail(usize::MAX).into_iter().map(|line| line.text).collect()
    }

    #[tokio::test]
    async fn lines_are_kept_apart_and_cut() {
        let none = Redactor::default();
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

    /// The clock stands still while there is something to read.
    #[tokio::test(start_paused = true)]
    async fn of_too_many_lines_in_a_second_the_last_are_kept_and_the_others_counted() {
        let (mut process, stderr) = tokio::io::duplex(1 << 16);
        let log = Arc::new(ServerLog::new());
        let tail = StderrTail::new("s", stderr, &log, &Redactor::default());
        let flood = (0..LINES_A_SECOND + 100).fold(String::new(), |text, n| text + &format!("line {n}\n"));
        process.write_all(flood.as_bytes()).await.unwrap();
        // Told without another line.
        let (_, mut news) = log.follow(0);
        let last = format!("line {}", LINES_A_SECOND + 99);
        while news.recv().await.map_or(true, |line| *line.text != *last) {}
        let texts: Vec<_> = log.tail(22).into_iter().map(|line| line.text.to_string()).collect();
        assert_eq!(texts[0], format!("line {}", LINES_A_SECOND - 1));
        assert_eq!(texts[1], "80 lines on standard error were left out: too many in a second");
        assert_eq!(texts[2], format!("line {}", LINES_A_SECOND + 80));
        // A new second; and the end, which is told at once.
        for _ in 0..BYTES_A_SECOND / 999 + 50 {
            process.write_all(&[b'y'; 999]).await.unwrap();
            process.write_all(b"\n").await.unwrap();
        }
        process.write_all(b"last words").await.unwrap();
        drop(process);
        assert!(tail.last_words().await.ends_with("yyy\nlast words"));
        let remark = "31 lines on standard error were left out: too many in a second";
        assert!(log.tail(usize::MAX).iter().any(|line| &*line.text == remark));
    }
}
