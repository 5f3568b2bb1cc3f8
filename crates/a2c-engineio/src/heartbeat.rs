//! When a client is asked whether it is there, and when it is taken for gone. Pure: time comes from outside.

use std::time::Duration;

use tokio::time::Instant;

/// How much a client has to move between a ping and its deadline, where it moves bytes instead of answering: it cannot
/// answer in the middle of a large message, nor read a ping behind one. A pong or a complete message counts as much.
pub(crate) const SIGN_OF_LIFE: u64 = 16 << 10;

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeartbeatAction {
    /// Send a ping.
    Ping,
    /// It answered, or may still do so; nothing to do until the next beat.
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
    asked: Option<PendingPing>,
}

/// A question that was put.
#[derive(Debug, Clone, Copy)]
struct PendingPing {
    at: Instant,
    /// How much life there was at that time.
    life: u64,
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
    ///
    /// Who answers is asked again an interval after the last question, so that one that is gone is noticed within interval
    /// and timeout, whichever of them is longer.
    pub(crate) fn beat(&mut self, now: Instant, life: u64) -> HeartbeatAction {
        let Some(question) = self.asked else { return self.ask(now, life) };
        let again = question.at + self.interval;
        if life.saturating_sub(question.life) >= SIGN_OF_LIFE {
            if now >= again {
                return self.ask(now, life);
            }
            self.asked = None;
            self.next = again;
            return HeartbeatAction::Alive;
        }
        let deadline = question.at + self.timeout;
        self.next = deadline;
        if now >= deadline { HeartbeatAction::Dead } else { HeartbeatAction::Alive }
    }

    fn ask(&mut self, now: Instant, life: u64) -> HeartbeatAction {
        self.asked = Some(PendingPing { at: now, life });
        self.next = now + self.interval.min(self.timeout);
        HeartbeatAction::Ping
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
        assert_eq!(heart.beat(heart.next(), 0), HeartbeatAction::Ping);
        assert_eq!(heart.next(), start + 10 * SECOND);
        assert_eq!(
            heart.beat(heart.next(), SIGN_OF_LIFE),
            HeartbeatAction::Ping,
            "five seconds after it was asked last"
        );
        assert_eq!(heart.beat(heart.next(), SIGN_OF_LIFE), HeartbeatAction::Dead);
        assert_eq!(heart.next(), start + 15 * SECOND);
    }

    #[test]
    fn whoever_is_gone_is_noticed_within_interval_and_timeout() {
        for (interval, timeout) in [(5, 5), (5, 20), (25, 20), (1, 60), (60, 1)] {
            let start = Instant::now();
            let mut heart = Heartbeat::new(start, interval * SECOND, timeout * SECOND);
            // It answers for a while, each time at once, and then no more.
            let (mut life, mut last_sign) = (0, start);
            let dead = loop {
                let now = heart.next();
                match heart.beat(now, life) {
                    HeartbeatAction::Ping if now < start + 300 * SECOND => {
                        (life, last_sign) = (life + SIGN_OF_LIFE, now)
                    }
                    HeartbeatAction::Ping | HeartbeatAction::Alive => {}
                    HeartbeatAction::Dead => break now,
                }
            };
            assert_eq!(dead - last_sign, (interval + timeout) * SECOND, "{interval} {timeout}");
        }
    }

    #[test]
    fn a_large_transfer_is_a_sign_of_life_and_a_trickle_is_none() {
        let start = Instant::now();
        let mut heart = Heartbeat::new(start, 25 * SECOND, 20 * SECOND);
        assert_eq!(heart.beat(heart.next(), 100), HeartbeatAction::Ping);
        assert_eq!(heart.beat(heart.next(), 100 + SIGN_OF_LIFE), HeartbeatAction::Alive);
        assert_eq!(heart.next(), start + 50 * SECOND);
        assert_eq!(heart.beat(heart.next(), 200 + SIGN_OF_LIFE), HeartbeatAction::Ping);
        assert_eq!(heart.beat(heart.next(), 300 + SIGN_OF_LIFE), HeartbeatAction::Dead);
    }
}
