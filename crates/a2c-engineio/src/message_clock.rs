//! How long a message may take to arrive. Pure: the caller passes the time.

use std::time::Duration;

use tokio::time::Instant;

/// The least rate of a message, in bytes a second: 16 MiB take a quarter of an hour at most.
const LEAST_RATE: u64 = 16 << 10;

/// The least rate while other sessions wait for memory.
const LEAST_RATE_PRESSED: u64 = 256 << 10;

/// The time that a message has had to arrive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageClock {
    begun: Instant,
    /// What any message may take, however small.
    fair_time: Duration,
    /// When the engine stopped reading from the client, which is not its fault.
    paused_at: Option<Instant>,
}

impl MessageClock {
    pub(crate) fn new(now: Instant, fair_time: Duration) -> Self {
        Self { begun: now, fair_time, paused_at: None }
    }

    /// The engine does not read, or reads again.
    pub(crate) fn pause(&mut self, is_paused: bool, now: Instant) {
        match (is_paused, self.paused_at) {
            (true, None) => self.paused_at = Some(now),
            (false, Some(at)) => {
                self.begun += now.saturating_duration_since(at);
                self.paused_at = None;
            }
            _ => {}
        }
    }

    /// Whether a message of which so many bytes are there has taken too long; less time is given while memory is short.
    pub(crate) fn is_over(&self, now: Instant, received: usize, is_pressed: bool) -> bool {
        let rate = if is_pressed { LEAST_RATE_PRESSED } else { LEAST_RATE };
        let allowed = self.fair_time + Duration::from_millis(received as u64 * 1000 / rate);
        self.paused_at.unwrap_or(now).saturating_duration_since(self.begun) > allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_message_arrives_at_the_least_rate_or_is_over() {
        let begun = Instant::now();
        let clock = MessageClock::new(begun, 20 * SECOND);
        assert!(!clock.is_over(begun + 20 * SECOND, 7, false));
        assert!(clock.is_over(begun + 21 * SECOND, 7, false));
        assert!(!clock.is_over(begun + 100 * SECOND, 100 * LEAST_RATE as usize, false), "slow, but it arrives");
        assert!(clock.is_over(begun + 121 * SECOND, 100 * LEAST_RATE as usize, false));
    }

    #[test]
    fn less_time_is_given_while_others_wait() {
        let begun = Instant::now();
        let clock = MessageClock::new(begun, 20 * SECOND);
        let almost_all = (16 << 20) - 1;
        assert!(!clock.is_over(begun + 80 * SECOND, almost_all, true));
        assert!(clock.is_over(begun + 90 * SECOND, almost_all, true));
        assert!(!clock.is_over(begun + 90 * SECOND, almost_all, false));
    }

    #[test]
    fn time_in_which_the_engine_does_not_read_does_not_count() {
        let begun = Instant::now();
        let mut clock = MessageClock::new(begun, 20 * SECOND);
        clock.pause(true, begun + 10 * SECOND);
        clock.pause(true, begun + 50 * SECOND);
        assert!(!clock.is_over(begun + 1000 * SECOND, 0, false));
        clock.pause(false, begun + 1000 * SECOND);
        assert!(!clock.is_over(begun + 1010 * SECOND, 0, false));
        assert!(clock.is_over(begun + 1011 * SECOND, 0, false));
    }
}
