//! How slowly a client may read. Pure: the caller passes the time.

use std::time::Duration;

use tokio::time::Instant;

use crate::send_queue::QueueProgress;

/// The least rate of a client for which something waits, in bytes a second.
const LEAST_RATE: u64 = 16 << 10;

/// The least rate while sessions wait for memory.
const LEAST_RATE_PRESSED: u64 = 256 << 10;

/// Watches how fast a client takes what waits for it.
#[derive(Debug)]
pub(crate) struct SlowReader {
    since: Instant,
    fair_time: Duration,
    progress: QueueProgress,
}

impl SlowReader {
    pub(crate) fn new(now: Instant, fair_time: Duration) -> Self {
        Self { since: now, fair_time, progress: QueueProgress::default() }
    }

    /// Whether the client has read too slowly for a fair time. A client that took everything in between, or for which
    /// nothing waits, did not.
    pub(crate) fn is_too_slow(
        &mut self,
        now: Instant,
        waiting: usize,
        progress: QueueProgress,
        is_pressed: bool,
    ) -> bool {
        let passed = now.saturating_duration_since(self.since);
        if waiting > 0 && progress.emptied == self.progress.emptied && passed < self.fair_time {
            return false;
        }
        let taken = progress.taken - self.progress.taken;
        let rate = if is_pressed { LEAST_RATE_PRESSED } else { LEAST_RATE };
        let too_slow = waiting > 0
            && progress.emptied == self.progress.emptied
            && taken < (passed.as_secs_f64() * rate as f64) as u64;
        *self = Self { since: now, progress, ..*self };
        too_slow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_client_has_a_fair_time_and_then_a_least_rate() {
        let start = Instant::now();
        for (taken, is_pressed, too_slow) in
            [(0, false, true), (1 << 20, false, false), (1 << 20, true, true), (100 << 20, true, false)]
        {
            let mut reader = SlowReader::new(start, 30 * SECOND);
            let progress = QueueProgress { taken, emptied: 0 };
            assert!(!reader.is_too_slow(start + 29 * SECOND, 1, QueueProgress::default(), is_pressed));
            assert_eq!(reader.is_too_slow(start + 30 * SECOND, 1, progress, is_pressed), too_slow, "{taken}");
        }
    }

    #[test]
    fn a_client_that_catches_up_is_never_too_slow() {
        let start = Instant::now();
        let mut reader = SlowReader::new(start, 30 * SECOND);
        for round in 1..10 {
            let progress = QueueProgress { taken: u64::from(round), emptied: u64::from(round) };
            assert!(!reader.is_too_slow(start + round * 25 * SECOND, 1, progress, true));
        }
        let progress = QueueProgress { taken: 9, emptied: 9 };
        assert!(!reader.is_too_slow(start + 1000 * SECOND, 0, progress, true), "nothing waits");
    }
}
