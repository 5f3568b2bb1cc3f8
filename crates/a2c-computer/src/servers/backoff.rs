//! How long to wait before a failed server is started again. Pure.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);

/// A server that ran so long has recovered from whatever it had.
const STEADY: Duration = Duration::from_secs(60);

/// Counts the failures in a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The pause after a run that failed after so long; `chance` in 0…1 spreads servers that failed together.
    pub(crate) fn pause(&mut self, ran: Duration, chance: f64) -> Duration {
        if ran >= STEADY {
            self.failures = 0;
        }
        let doubled = FIRST.saturating_mul(1 << self.failures.min(16));
        self.failures = self.failures.saturating_add(1);
        doubled.min(LONGEST).mul_f64(0.8 + 0.4 * chance.clamp(0.0, 1.0))
    }

    /// Somebody wants it to start now.
    pub(crate) fn forget(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute_and_begin_anew_after_a_steady_run() {
        let mut backoff = Backoff::default();
        let pauses: Vec<f64> = (0..10).map(|_| backoff.pause(Duration::ZERO, 0.5).as_secs_f64()).collect();
        assert_eq!(pauses, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]);
        assert_eq!(backoff.pause(STEADY, 0.5), FIRST);
        assert_eq!(backoff.pause(Duration::ZERO, 0.0), Duration::from_millis(800));
        assert_eq!(backoff.pause(Duration::ZERO, 1.0), Duration::from_millis(2400));
        backoff.forget();
        assert_eq!(backoff.pause(Duration::ZERO, 0.5), FIRST);
    }
}
