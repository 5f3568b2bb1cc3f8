//! When to try again: exponential back-off with full jitter.
//!
//! The delay is drawn between zero and a ceiling that grows with every failure, so that the
//! clients of a restarted server do not all come back at once.

use std::time::Duration;

/// How a lost link is replaced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reconnect {
    /// The ceiling of the first delay.
    pub min: Duration,
    /// The ceiling no delay goes beyond.
    pub max: Duration,
    /// What the ceiling is multiplied with after each failure.
    pub factor: f64,
    /// How many attempts may fail in a row; `None` for no end.
    pub max_attempts: Option<u32>,
}

impl Default for Reconnect {
    /// From 500 ms, doubling up to 30 s, without end.
    fn default() -> Self {
        Reconnect { min: Duration::from_millis(500), max: Duration::from_secs(30), factor: 2.0, max_attempts: None }
    }
}

/// Counts failures under a policy.
#[derive(Debug)]
pub(crate) struct ReconnectBackoff {
    policy: Reconnect,
    /// Attempts that failed since the last link.
    pub(crate) failures: u32,
    /// How often the ceiling has grown.
    step: u32,
}

impl ReconnectBackoff {
    pub(crate) fn new(policy: Reconnect) -> Self {
        ReconnectBackoff { policy, failures: 0, step: 0 }
    }

    /// A link was lost after `lived`. One that did not outlive the largest delay leaves the
    /// ceiling where it is: a server that accepts and drops at once is not hammered.
    pub(crate) fn lost(&mut self, lived: Duration) {
        self.failures = 0;
        if lived >= self.policy.max {
            self.step = 0;
        }
    }

    /// An attempt failed; whether another is allowed.
    pub(crate) fn failed(&mut self) -> bool {
        self.failures += 1;
        self.policy.max_attempts.is_none_or(|max| self.failures < max)
    }

    /// The next delay; `luck` is between 0 and 1.
    pub(crate) fn delay(&mut self, luck: f64) -> Duration {
        let ceiling = self.ceiling();
        self.step = self.step.saturating_add(1);
        // Rounding may carry the largest durations over the edge.
        Duration::try_from_secs_f64(ceiling.as_secs_f64() * luck.clamp(0.0, 1.0)).unwrap_or(ceiling)
    }

    fn ceiling(&self) -> Duration {
        let Reconnect { min, max, factor, .. } = self.policy;
        let grown = min.as_secs_f64() * factor.max(1.0).powf(f64::from(self.step));
        // Not a number and infinity end here too.
        if grown < max.as_secs_f64() { Duration::from_secs_f64(grown) } else { max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(max_attempts: Option<u32>) -> Reconnect {
        Reconnect { min: Duration::from_millis(100), max: Duration::from_secs(1), factor: 2.0, max_attempts }
    }

    #[test]
    fn the_ceiling_doubles_up_to_its_maximum() {
        let mut backoff = ReconnectBackoff::new(policy(None));
        let millis: Vec<_> = (0..6).map(|_| backoff.delay(1.0).as_millis()).collect();
        assert_eq!(millis, [100, 200, 400, 800, 1000, 1000]);
        assert_eq!(backoff.delay(0.0), Duration::ZERO);
        assert_eq!(backoff.delay(0.5), Duration::from_millis(500));
    }

    #[test]
    fn only_a_link_that_lived_resets_the_ceiling() {
        let mut backoff = ReconnectBackoff::new(policy(None));
        backoff.delay(1.0);
        backoff.lost(Duration::from_millis(999));
        assert_eq!(backoff.delay(1.0), Duration::from_millis(200));
        backoff.lost(Duration::from_secs(1));
        assert_eq!(backoff.delay(1.0), Duration::from_millis(100));
    }

    #[test]
    fn attempts_end_where_the_policy_says() {
        let mut backoff = ReconnectBackoff::new(policy(Some(2)));
        assert!(backoff.failed());
        assert!(!backoff.failed());
        backoff.lost(Duration::ZERO);
        assert!(backoff.failed());
        let mut endless = ReconnectBackoff::new(policy(None));
        assert!((0..1000).all(|_| endless.failed()));
    }

    #[test]
    fn odd_policies_do_not_overflow() {
        for factor in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
            let mut backoff =
                ReconnectBackoff::new(Reconnect { min: Duration::MAX, max: Duration::MAX, factor, max_attempts: None });
            for _ in 0..5 {
                backoff.delay(1.0);
            }
        }
    }
}
