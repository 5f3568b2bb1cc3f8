//! A token bucket. Pure: the caller passes the time.

use std::time::{Duration, Instant};

use super::Rate;

/// The used part of a [`Rate`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TokenBucket {
    /// Tokens that were taken and have not been refilled, as of `at`.
    used: f64,
    at: Option<Instant>,
}

impl TokenBucket {
    /// Takes a token, or returns how long to wait for one.
    pub(crate) fn take(&mut self, rate: Rate, now: Instant) -> Result<(), Duration> {
        self.forget(rate, now);
        let over = self.used + 1.0 - f64::from(rate.count);
        if over > 0.0 {
            return Err(Duration::from_secs_f64(over / per_second(rate)));
        }
        self.used += 1.0;
        Ok(())
    }

    /// Takes many tokens, as soon as one is left; the rest is owed.
    pub(crate) fn spend(&mut self, rate: Rate, amount: f64, now: Instant) -> Result<(), Duration> {
        self.wait(rate, now).map_or(Ok(()), Err)?;
        self.forget(rate, now);
        self.used += amount;
        Ok(())
    }

    /// How long to wait for a token, where none is left.
    pub(crate) fn wait(&mut self, rate: Rate, now: Instant) -> Option<Duration> {
        let mut copy = *self;
        copy.take(rate, now).err()
    }

    /// Whether all tokens are back.
    pub(crate) fn is_full(&mut self, rate: Rate, now: Instant) -> bool {
        self.forget(rate, now);
        self.used <= 0.0
    }

    fn forget(&mut self, rate: Rate, now: Instant) {
        let passed = self.at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        self.used = (self.used - passed.as_secs_f64() * per_second(rate)).max(0.0);
        self.at = self.at.max(Some(now));
    }
}

fn per_second(rate: Rate) -> f64 {
    (f64::from(rate.count) / rate.period.as_secs_f64()).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_the_rate() {
        let rate = Rate { count: 10, period: Duration::from_secs(5) };
        let start = Instant::now();
        let mut bucket = TokenBucket::default();
        for _ in 0..10 {
            assert_eq!(bucket.take(rate, start), Ok(()));
        }
        let wait = bucket.take(rate, start).unwrap_err();
        assert_eq!(wait, Duration::from_millis(500));
        assert_eq!(bucket.wait(rate, start), Some(wait));
        assert_eq!(bucket.take(rate, start + wait), Ok(()));
        assert!(bucket.take(rate, start + wait).is_err());
        assert!(!bucket.is_full(rate, start + wait));
        assert!(bucket.is_full(rate, start + Duration::from_secs(60)));
    }

    #[test]
    fn a_clock_that_stands_still_or_jumps_back_gives_nothing_away() {
        let rate = Rate::per_second(1);
        let start = Instant::now() + Duration::from_secs(100);
        let mut bucket = TokenBucket::default();
        assert_eq!(bucket.take(rate, start), Ok(()));
        assert!(bucket.take(rate, start - Duration::from_secs(50)).is_err());
        assert!(bucket.take(rate, start).is_err());
    }
}
