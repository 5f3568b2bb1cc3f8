//! The heartbeat: when a client gets a ping, and when it counts as dead. Pure: the caller passes the time.

use std::time::Duration;

use tokio::time::Instant;

/// The bytes that a client has to send or take between a ping and its deadline where it does not answer: it cannot answer
/// in the middle of a large message, nor read a ping behind one. A pong or a complete message counts as much.
pub(crate) const SIGN_OF_LIFE: u64 = 16 << 10;

/// What the caller has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeartbeatAction {
    /// Send a ping.
    Ping,
    /// The client answered, or may still answer: nothing until the next beat.
    Alive,
    /// The client did not answer: end the session.
    Dead,
}

/// The heartbeat of one client, which goes on when the client moves to another transport.
#[derive(Debug, Clone)]
pub(crate) struct Heartbeat {
    interval: Duration,
    timeout: Duration,
    next: Instant,
    asked: Option<PendingPing>,
}

/// A ping without an answer.
#[derive(Debug, Clone, Copy)]
struct PendingPing {
    at: Instant,
    /// The count of signs of life at that time.
    life: u64,
}

impl Heartbeat {
    pub(crate) fn new(now: Instant, interval: Duration, timeout: Duration) -> Self {
        Self { interval, timeout, next: now + interval, asked: None }
    }

    /// When to call [`Self::beat`].
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Decides what to do; `life` grows with every sign of life.
    ///
    /// A client that answers gets the next ping one interval after the last, so that a dead client is detected within
    /// interval and timeout, whichever of them is longer.
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
    fn a_dead_client_is_detected_within_interval_and_timeout() {
        for (interval, timeout) in [(5, 5), (5, 20), (25, 20), (1, 60), (60, 1)] {
            let start = Instant::now();
            let mut heart = Heartbeat::new(start, interval * SECOND, timeout * SECOND);
            // The client answers for a while, each time at once, and then no more.
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
