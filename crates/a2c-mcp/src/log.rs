//! The log of one MCP server: what it said and what was done about it, kept across its restarts, bounded, without secrets.
//!
//! It holds the lines of standard error, the lines of standard output that are not MCP, and our own remarks. The newest
//! can be read ([`ServerLog::tail`]) or followed ([`ServerLog::follow`]).

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use a2c_process::{LINE_LIMIT, cut};
use a2c_secrets::Redactor;
use tokio::sync::broadcast;

/// How many lines are kept, and how many bytes of them.
const KEPT_LINES: usize = 500;
const KEPT_BYTES: usize = 256 << 10;

/// How many lines a slow follower may be behind before it misses some.
const FOLLOWED: usize = 256;

/// Who wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogSource {
    /// The server, on standard error.
    Stderr,
    /// The server, on standard output, where only MCP belongs.
    Stdout,
    /// This program, about the server.
    A2c,
}

impl fmt::Display for LogSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stderr => "stderr",
            Self::Stdout => "stdout",
            Self::A2c => "a2c",
        })
    }
}

/// One line of a server's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// When it was read.
    pub at: SystemTime,
    /// Who wrote it.
    pub source: LogSource,
    /// The line, without secrets, at most 4 KiB of it.
    pub text: Arc<str>,
}

/// The log of one server.
pub struct ServerLog {
    lines: Mutex<RecentLines>,
    added: broadcast::Sender<LogLine>,
}

#[derive(Default)]
struct RecentLines {
    lines: VecDeque<LogLine>,
    bytes: usize,
}

impl Default for ServerLog {
    fn default() -> Self {
        Self::new()
    }
}

impl ServerLog {
    /// An empty log.
    pub fn new() -> Self {
        Self { lines: Mutex::default(), added: broadcast::Sender::new(FOLLOWED) }
    }

    /// Adds a line and returns it as it went in: without the secrets and not too long.
    pub fn push(&self, source: LogSource, text: &str, secrets: &Redactor) -> Arc<str> {
        let text: Arc<str> = cut(&secrets.redact(text), LINE_LIMIT).into();
        let line = LogLine { at: SystemTime::now(), source, text: text.clone() };
        let mut kept = self.kept();
        // Under the lock, so that a follower sees each line exactly once.
        if self.added.receiver_count() > 0 {
            let _ = self.added.send(line.clone());
        }
        kept.push(line);
        text
    }

    /// A remark of ours, which holds no secret.
    pub fn remark(&self, text: &str) {
        self.push(LogSource::A2c, text, &Redactor::default());
    }

    /// The newest lines, the oldest of them first.
    pub fn tail(&self, lines: usize) -> Vec<LogLine> {
        self.kept().tail(lines)
    }

    /// The newest lines, and all that come after them. A slow reader misses lines, and learns how many.
    pub fn follow(&self, lines: usize) -> (Vec<LogLine>, broadcast::Receiver<LogLine>) {
        let kept = self.kept();
        (kept.tail(lines), self.added.subscribe())
    }

    fn kept(&self) -> MutexGuard<'_, RecentLines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecentLines {
    fn push(&mut self, line: LogLine) {
        self.bytes += line.text.len();
        self.lines.push_back(line);
        while self.lines.len() > KEPT_LINES || self.bytes > KEPT_BYTES {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.bytes -= oldest.text.len();
        }
    }

    fn tail(&self, lines: usize) -> Vec<LogLine> {
        self.lines.iter().skip(self.lines.len().saturating_sub(lines)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[LogLine]) -> Vec<&str> {
        lines.iter().map(|line| &*line.text).collect()
    }

    #[test]
    fn the_newest_lines_are_kept_and_no_more_than_fit() {
        let log = ServerLog::new();
        let none = Redactor::default();
        for i in 0..KEPT_LINES + 7 {
            log.push(LogSource::Stderr, &i.to_string(), &none);
        }
        let all = log.tail(usize::MAX);
        assert_eq!((all.len(), &*all[0].text), (KEPT_LINES, "7"));
        assert_eq!(texts(&log.tail(2)), ["505", "506"]);
        for _ in 0..KEPT_LINES {
            log.push(LogSource::Stderr, &"ö".repeat(LINE_LIMIT), &none);
        }
        let all = log.tail(usize::MAX);
        assert!(all.iter().all(|line| line.text.len() <= LINE_LIMIT && line.text.ends_with('…')));
        assert!(all.iter().map(|line| line.text.len()).sum::<usize>() <= KEPT_BYTES);
        assert_eq!(all.len(), KEPT_BYTES / all[0].text.len());
    }

    #[tokio::test]
    async fn a_follower_misses_nothing_between_the_tail_and_the_news() {
        let log = ServerLog::new();
        let none = Redactor::default();
        log.push(LogSource::Stderr, "old", &none);
        let (tail, mut news) = log.follow(10);
        log.push(LogSource::A2c, "new", &none);
        assert_eq!(texts(&tail), ["old"]);
        assert_eq!(&*news.recv().await.unwrap().text, "new");
        for _ in 0..FOLLOWED * 2 {
            log.push(LogSource::A2c, "flood", &none);
        }
        assert!(matches!(news.recv().await, Err(broadcast::error::RecvError::Lagged(_))));
        assert_eq!(&*news.recv().await.unwrap().text, "flood");
    }
}
