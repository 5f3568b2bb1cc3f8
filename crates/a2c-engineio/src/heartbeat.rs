//! When a client is asked whether it is there, and when it is taken for gone. Pure: time comes from outside.

use std::time::Duration;

use tokio::time::Instant;

/// How much a client has to move between a ping and its deadline, where it moves bytes instead of answering: it cannot
/// answer in the middle of a large message, nor read a ping behind one. A pong or a complete message counts as much.
pub(crate) const SIGN_OF_LIFE: u64 = 16 << 10;

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beat {
    /// Ask.
    Ping,
    /// It answered; nothing to do until the next beat.
    Alive,
    /// It did not.
    Dead,
}

/// The heartbeat of one client.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    interval: Duration,
    timeout: Duration,
    next: Instant,
    /// How much life there was when the question was put, while it is open.
    asked: Option<u64>,
}

impl Heartbeat {
    pub(crate) fn new(now: Instant, interval: Duration, timeout: Duration) -> Self {
        Self { interval, timeout, next: now + interval, asked: None }
    }

    /// Asks for the first time then.
    pub(crate) fn ask_at(&mut self, when: Instant) {
        self.next = when;
    }

    /// When [`Self::beat`] wants to be called.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Decides; `life` grows with every sign of life.
    pub(crate) fn beat(&mut self, now: Instant, life: u64) -> Beat {
        match self.asked.take() {
            None => {
                self.asked = Some(life);
                self.next = now + self.timeout;
                Beat::Ping
            }
            Some(before) if life.saturating_sub(before) >= SIGN_OF_LIFE => {
                // Measured from the question, so that a client is never unasked for longer than the interval.
                self.next = now + self.interval.saturating_sub(self.timeout);
                Beat::Alive
            }
            Some(_) => Beat::Dead,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn asks_waits_and_gives_up() {
        let start = Instant::now();
        let mut heart = Heartbeat::new(start, 5 * SECOND, 5 * SECOND);
        assert_eq!(heart.next(), start + 5 * SECOND);
        assert_eq!(heart.beat(heart.next(), 0), Beat::Ping);
        assert_eq!(heart.next(), start + 10 * SECOND);
        assert_eq!(heart.beat(heart.next(), SIGN_OF_LIFE), Beat::Alive);
        assert_eq!(heart.next(), start + 10 * SECOND, "asked again five seconds after it was asked");
        assert_eq!(heart.beat(heart.next(), SIGN_OF_LIFE), Beat::Ping);
        assert_eq!(heart.beat(heart.next(), SIGN_OF_LIFE), Beat::Dead);
    }

    #[test]
    fn a_large_transfer_is_a_sign_of_life_and_a_trickle_is_none() {
        let start = Instant::now();
        let mut heart = Heartbeat::new(start, 25 * SECOND, 20 * SECOND);
        assert_eq!(heart.beat(heart.next(), 100), Beat::Ping);
        assert_eq!(heart.beat(heart.next(), 100 + SIGN_OF_LIFE), Beat::Alive);
        assert_eq!(heart.next(), start + 50 * SECOND);
        assert_eq!(heart.beat(heart.next(), 200 + SIGN_OF_LIFE), Beat::Ping);
        assert_eq!(heart.beat(heart.next(), 300 + SIGN_OF_LIFE), Beat::Dead);
    }
}
