//! When a failed worker is started again, and when no more. Pure.

use std::time::Duration;

/// When a failed worker is started again.
#[derive(Debug, Clone, PartialEq)]
pub struct RestartPolicy {
    /// How long to wait before the next start.
    pub delay: RestartDelay,
    /// A worker that ran so long is healthy: its earlier failures do not count any more.
    pub healthy_after: Duration,
    /// After how many restarts in a row the supervisor gives up; `None` for never.
    pub max_restarts: Option<u32>,
    /// When the supervisor gives up on a worker that fails right after its start; `None` for never.
    pub rapid_crashes: Option<RapidCrashes>,
}

/// How long to wait before a failed worker is started again. It doubles from failure to failure.
#[derive(Debug, Clone, PartialEq)]
pub struct RestartDelay {
    /// The first delay.
    pub first: Duration,
    /// The longest one. The same as `first` for a fixed cooldown.
    pub longest: Duration,
    /// By which part of itself a delay varies at random, so that workers that failed together do not start together.
    pub spread: f64,
}

/// A worker that fails so often right after its start does not get better by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RapidCrashes {
    /// How often in a row.
    pub times: u32,
    /// How soon after its start.
    pub within: Duration,
}

/// What follows on a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStart {
    /// The worker is started again after this delay.
    After(Duration),
    /// The worker is not started again by itself.
    Never(GaveUp),
}

/// Why a worker is not started again by itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GaveUp {
    /// The failure does not go away by itself.
    #[error("starting it again does not help until its settings change")]
    Blocked,
    /// It was restarted too often.
    #[error("it failed after {restarts} restarts in a row")]
    TooManyRestarts {
        /// How often it was restarted.
        restarts: u32,
    },
    /// It failed right after its start, too often.
    #[error("it failed {times} times in a row within {} s of its start", within.as_secs_f64())]
    RapidCrashes {
        /// How often.
        times: u32,
        /// How soon after its start.
        within: Duration,
    },
}

impl RestartDelay {
    /// Doubling delays, varied by 20 %.
    pub const fn backoff(first: Duration, longest: Duration) -> Self {
        Self { first, longest, spread: 0.2 }
    }

    /// Always the same delay.
    pub const fn fixed(delay: Duration) -> Self {
        Self { first: delay, longest: delay, spread: 0.0 }
    }

    /// The delay after so many earlier failures in a row; `chance` is in 0…1.
    fn after(&self, failures: u32, chance: f64) -> Duration {
        let doubled = self.first.saturating_mul(1 << failures.min(16)).min(self.longest);
        doubled.mul_f64((1.0 + self.spread * (2.0 * chance.clamp(0.0, 1.0) - 1.0)).max(0.0))
    }
}

impl RestartPolicy {
    /// Starts a failed worker again and again, with doubling delays.
    pub const fn always(delay: RestartDelay, healthy_after: Duration) -> Self {
        Self { delay, healthy_after, max_restarts: None, rapid_crashes: None }
    }
}

/// Counts the failures of one worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestartCounter {
    failures: u32,
    rapid: u32,
}

impl RestartCounter {
    /// What follows on a run that failed after `ran`; `chance` in 0…1 varies the delay.
    pub fn failed(&mut self, policy: &RestartPolicy, ran: Duration, chance: f64) -> NextStart {
        if ran >= policy.healthy_after {
            self.reset();
        }
        if let Some(RapidCrashes { times, within }) = policy.rapid_crashes {
            self.rapid = if ran < within { self.rapid.saturating_add(1) } else { 0 };
            if self.rapid >= times {
                return NextStart::Never(GaveUp::RapidCrashes { times: self.rapid, within });
            }
        }
        if let Some(most) = policy.max_restarts
            && self.failures >= most
        {
            return NextStart::Never(GaveUp::TooManyRestarts { restarts: self.failures });
        }
        let delay = policy.delay.after(self.failures, chance);
        self.failures = self.failures.saturating_add(1);
        NextStart::After(delay)
    }

    /// Earlier failures do not count any more.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn delays(policy: &RestartPolicy, ran: &[Duration]) -> Vec<Result<f64, GaveUp>> {
        let mut counter = RestartCounter::default();
        let next = |ran: &Duration| match counter.failed(policy, *ran, 0.5) {
            NextStart::After(delay) => Ok(delay.as_secs_f64()),
            NextStart::Never(reason) => Err(reason),
        };
        ran.iter().map(next).collect()
    }

    #[test]
    fn delays_double_up_to_the_longest_and_start_over_after_a_healthy_run() {
        let policy = RestartPolicy::always(RestartDelay::backoff(SECOND / 2, 60 * SECOND), 60 * SECOND);
        let mut ran = [Duration::ZERO; 11];
        ran[10] = 60 * SECOND;
        let expected = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0, 0.5];
        assert_eq!(delays(&policy, &ran), expected.map(Ok));
        let mut counter = RestartCounter::default();
        assert_eq!(counter.failed(&policy, Duration::ZERO, 0.0), NextStart::After(Duration::from_millis(400)));
        assert_eq!(counter.failed(&policy, Duration::ZERO, 1.0), NextStart::After(Duration::from_millis(1200)));
        counter.reset();
        assert_eq!(counter.failed(&policy, Duration::ZERO, 0.5), NextStart::After(SECOND / 2));
    }

    #[test]
    fn a_fixed_cooldown_ends_after_the_greatest_number_of_restarts() {
        let policy = RestartPolicy {
            max_restarts: Some(3),
            ..RestartPolicy::always(RestartDelay::fixed(5 * SECOND), 600 * SECOND)
        };
        let gave_up = Err(GaveUp::TooManyRestarts { restarts: 3 });
        let told = delays(&policy, &[20 * SECOND; 5]);
        assert_eq!(told, [Ok(5.0), Ok(5.0), Ok(5.0), gave_up.clone(), gave_up]);
        let ran = [20, 20, 20, 600, 20].map(|seconds| seconds * SECOND);
        assert!(delays(&policy, &ran).iter().all(Result::is_ok), "a healthy run forgives");
    }

    #[test]
    fn rapid_crashes_in_a_row_end_it() {
        let rapid = RapidCrashes { times: 3, within: 10 * SECOND };
        let policy = RestartPolicy {
            rapid_crashes: Some(rapid),
            ..RestartPolicy::always(RestartDelay::fixed(SECOND), 600 * SECOND)
        };
        let ran = [1, 9, 10, 0, 0, 0].map(|seconds| seconds * SECOND);
        let gave_up = Err(GaveUp::RapidCrashes { times: 3, within: rapid.within });
        assert_eq!(delays(&policy, &ran), [Ok(1.0), Ok(1.0), Ok(1.0), Ok(1.0), Ok(1.0), gave_up]);
    }
}
