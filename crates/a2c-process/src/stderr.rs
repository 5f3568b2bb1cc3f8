//! What a process writes to standard error goes, line by line, to a sink; the last lines are kept.
//!
//! Only so much of it in a second ([`Pace`]): every line is searched for secrets, and a process that writes without end
//! must not take all our time. Of what is too much, the last lines are kept, because they explain how it ended.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::redact::Redact;

/// How long the last lines of a process that has ended are waited for.
pub const LAST_LINES_WAIT: Duration = Duration::from_millis(500);

/// The longest line, in bytes; of a longer one the beginning is kept.
pub const LINE_LIMIT: usize = 4 << 10;

/// How many of the last lines are kept.
const KEPT_LINES: usize = 50;

/// How much of a line is read. More than is kept of it: a secret at the place of the cut must be seen whole to be hidden.
const READ_LIMIT: usize = 2 * LINE_LIMIT;

/// How many lines, or bytes, are read before other tasks get their turn.
const TURN_LINES: usize = 64;
const TURN_BYTES: usize = 64 << 10;

/// How many lines, and bytes, of a second are passed on, and how many of the last lines beyond.
const SECOND: Duration = Duration::from_secs(1);
const LINES_A_SECOND: usize = 2000;
const BYTES_A_SECOND: usize = 1 << 20;
const LINES_BEYOND: usize = 20;

/// Where the lines of a process's standard error go.
pub trait StderrSink: Send + Sync + 'static {
    /// A line, without secrets and without its end, at most [`LINE_LIMIT`] bytes.
    fn line(&self, line: &str);

    /// So many lines were left out here: too many in a second.
    fn left_out(&self, lines: u64);
}

/// Keeps nothing but the tail.
impl StderrSink for () {
    fn line(&self, _: &str) {}
    fn left_out(&self, _: u64) {}
}

/// The last lines of a process's standard error.
#[derive(Debug)]
pub struct StderrTail {
    lines: Arc<Mutex<VecDeque<String>>>,
    reader: JoinHandle<()>,
}

impl StderrTail {
    /// Reads until the stream ends.
    pub fn new(
        stderr: impl AsyncRead + Send + Unpin + 'static,
        redact: impl Redact + 'static,
        sink: impl StderrSink,
    ) -> Self {
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let writer = TailWriter { lines: lines.clone(), redact, sink };
        Self { lines, reader: tokio::spawn(read(BufReader::new(stderr), writer)) }
    }

    /// The last lines, at most `count` of them, which explain a failure. A process that has just ended may have written
    /// more than was read so far.
    pub async fn last_lines(&mut self, count: usize) -> String {
        if !self.reader.is_finished() {
            let _ = tokio::time::timeout(LAST_LINES_WAIT, &mut self.reader).await;
        }
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let last = lines.iter().skip(lines.len().saturating_sub(count)).map(String::as_str);
        last.collect::<Vec<_>>().join("\n")
    }
}

/// Where the reader puts what it reads.
struct TailWriter<R, S> {
    lines: Arc<Mutex<VecDeque<String>>>,
    redact: R,
    sink: S,
}

impl<R: Redact, S: StderrSink> TailWriter<R, S> {
    fn put(&self, line: &[u8]) {
        let text = cut(&self.redact.redact(String::from_utf8_lossy(line).trim_end()), LINE_LIMIT);
        self.sink.line(&text);
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(text);
    }

    fn put_excess(&self, excess: &Excess) {
        if excess.left_out > 0 {
            self.sink.left_out(excess.left_out);
        }
        excess.last.iter().for_each(|line| self.put(line));
    }
}

/// The text, or as much of its beginning as fits, with a sign that there was more.
pub fn cut(text: &str, limit: usize) -> String {
    const MORE: &str = "…";
    if text.len() <= limit {
        return text.to_owned();
    }
    format!("{}{MORE}", &text[..text.floor_char_boundary(limit.saturating_sub(MORE.len()))])
}

async fn read(mut stderr: impl AsyncBufRead + Unpin, writer: TailWriter<impl Redact, impl StderrSink>) {
    let mut line = Vec::new();
    let mut pace = Pace::new(Instant::now());
    let (mut lines, mut bytes) = (0, 0);
    loop {
        let more = match pace.excess_is_due() {
            Some(due) => timeout_at(due, next_line(&mut stderr, &mut line)).await,
            None => Ok(next_line(&mut stderr, &mut line).await),
        };
        let now = Instant::now();
        if let Some(excess) = pace.excess(now) {
            writer.put_excess(&excess);
        }
        match more {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => continue,
        }
        lines += 1;
        bytes += line.len();
        if pace.admits(now, line.len()) {
            writer.put(&line);
            line.clear();
        } else {
            pace.hold(&mut line);
        }
        if lines >= TURN_LINES || bytes >= TURN_BYTES {
            (lines, bytes) = (0, 0);
            tokio::task::yield_now().await;
        }
    }
    writer.put_excess(&pace.excess);
}

/// How much was written within a second.
struct Pace {
    since: Instant,
    lines: usize,
    bytes: usize,
    excess: Excess,
}

/// What was too much.
#[derive(Default)]
struct Excess {
    left_out: u64,
    last: VecDeque<Vec<u8>>,
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self { since: now, lines: 0, bytes: 0, excess: Excess::default() }
    }

    /// Whether a line may be passed on now.
    fn admits(&mut self, now: Instant, length: usize) -> bool {
        if now >= self.since + SECOND {
            (self.since, self.lines, self.bytes) = (now, 0, 0);
        }
        self.lines += 1;
        self.bytes += length;
        self.lines <= LINES_A_SECOND && self.bytes <= BYTES_A_SECOND
    }

    /// Holds a line until the end of the second instead of an older one, and leaves an empty one in its place.
    fn hold(&mut self, line: &mut Vec<u8>) {
        let mut spare = Vec::new();
        if self.excess.last.len() == LINES_BEYOND {
            self.excess.left_out += 1;
            spare = self.excess.last.pop_front().unwrap_or_default();
            spare.clear();
        }
        self.excess.last.push_back(std::mem::replace(line, spare));
    }

    /// When what is held should be passed on.
    fn excess_is_due(&self) -> Option<Instant> {
        (!self.excess.last.is_empty()).then(|| self.since + SECOND)
    }

    /// What is held, once it is due.
    fn excess(&mut self, now: Instant) -> Option<Excess> {
        self.excess_is_due().filter(|due| now >= *due).map(|_| std::mem::take(&mut self.excess))
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
    use crate::redact::NoSecrets;
    use tokio::io::AsyncWriteExt as _;
    use tokio::sync::mpsc;

    /// Lines go out as they are, remarks with a sign before them.
    impl StderrSink for mpsc::UnboundedSender<String> {
        fn line(&self, line: &str) {
            self.send(line.to_owned()).unwrap();
        }

        fn left_out(&self, lines: u64) {
            self.send(format!("# {lines} left out")).unwrap();
        }
    }

    struct Hide(&'static str);

    impl Redact for Hide {
        fn redact(&self, text: &str) -> String {
            text.replace(self.0, "***")
        }
    }

    fn received(lines: &mut mpsc::UnboundedReceiver<String>) -> Vec<String> {
        std::iter::from_fn(|| lines.try_recv().ok()).collect()
    }

    async fn passed_on(stderr: Vec<u8>, redact: impl Redact + 'static) -> Vec<String> {
        let (sink, mut lines) = mpsc::unbounded_channel();
        let tail = StderrTail::new(std::io::Cursor::new(stderr), redact, sink);
        tail.reader.await.unwrap();
        received(&mut lines)
    }

    #[tokio::test]
    async fn lines_are_kept_apart_and_cut() {
        assert_eq!(passed_on(b"one\r\n\ntw\xffo\nlast".to_vec(), NoSecrets).await, ["one", "", "tw\u{fffd}o", "last"]);
        let mut endless = vec![b'x'; 1 << 20];
        endless.extend(b"\nafter\n");
        let lines = passed_on(endless, NoSecrets).await;
        assert_eq!((lines.len(), &*lines[1]), (2, "after"));
        assert!(lines[0].len() <= LINE_LIMIT && lines[0].ends_with('…'));
    }

    #[tokio::test]
    async fn a_secret_at_the_cut_is_not_seen_in_part() {
        let mut line = vec![b'x'; LINE_LIMIT - 8];
        line.extend(b"TopS3cret and more\n");
        let lines = passed_on(line, Hide("TopS3cret")).await;
        assert!(!lines[0].contains("Top"), "{}", &lines[0][LINE_LIMIT - 20..]);
    }

    #[tokio::test]
    async fn the_last_lines_are_kept_without_secrets() {
        let tail = |text: String| StderrTail::new(std::io::Cursor::new(text.into_bytes()), Hide("TopS3cret"), ());
        let check = async |text: &str, count, expected: &str| {
            assert_eq!(tail(text.to_owned()).last_lines(count).await, expected, "{text:?}");
        };
        check("", 20, "").await;
        check("one\ntwo TopS3cret\n", 20, "one\ntwo ***").await;
        check("one\ntwo\nthree", 2, "two\nthree").await;
        let many = (0..KEPT_LINES * 2).fold(String::new(), |text, n| text + &format!("{n}\n"));
        assert_eq!(tail(many).last_lines(usize::MAX).await.lines().count(), KEPT_LINES);
    }

    /// The clock stands still while there is something to read.
    #[tokio::test(start_paused = true)]
    async fn of_too_many_lines_in_a_second_the_last_are_kept_and_the_others_counted() {
        let (mut process, stderr) = tokio::io::duplex(1 << 16);
        let (sink, mut lines) = mpsc::unbounded_channel();
        let mut tail = StderrTail::new(stderr, NoSecrets, sink);
        let flood = (0..LINES_A_SECOND + 100).fold(String::new(), |text, n| text + &format!("line {n}\n"));
        process.write_all(flood.as_bytes()).await.unwrap();
        // Passed on without another line.
        let mut texts = Vec::new();
        let last = format!("line {}", LINES_A_SECOND + 99);
        while texts.last() != Some(&last) {
            texts.push(lines.recv().await.unwrap());
        }
        let texts = &texts[texts.len() - 22..];
        assert_eq!(texts[0], format!("line {}", LINES_A_SECOND - 1));
        assert_eq!(texts[1], "# 80 left out");
        assert_eq!(texts[2], format!("line {}", LINES_A_SECOND + 80));
        // A new second; and the end, which is passed on at once.
        for _ in 0..BYTES_A_SECOND / 999 + 50 {
            process.write_all(&[b'y'; 999]).await.unwrap();
            process.write_all(b"\n").await.unwrap();
        }
        process.write_all(b"last words").await.unwrap();
        drop(process);
        assert!(tail.last_lines(20).await.ends_with("yyy\nlast words"));
        assert!(received(&mut lines).contains(&"# 31 left out".to_owned()));
    }
}
