//! Whether a worker still answers.

use std::time::Duration;

use crate::ChangeSignal;

/// How a worker is asked whether it is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatPolicy {
    /// The pause between two pings.
    pub every: Duration,
    /// How long an answer may take.
    pub limit: Duration,
    /// How many unanswered pings in a row mean that the worker is lost.
    pub misses: u32,
}

/// What the pings show of a worker that is not lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PulseEvent {
    /// So many pings in a row were not answered.
    Missed(u32),
    /// It answers again after it had missed pings.
    Recovered,
}

/// Why a worker counts as lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost<E> {
    /// So many pings in a row were not answered.
    Unanswered(u32),
    /// A ping could not be sent.
    Unreachable(E),
}

/// Pings a worker until it is lost: from time to time, and at once when `doubt` is marked.
///
/// Silence of a worker that `is_busy` is no proof: many workers do one thing at a time.
pub async fn heartbeat<E, P>(
    policy: &HeartbeatPolicy,
    doubt: &ChangeSignal,
    is_busy: impl Fn() -> bool,
    mut ping: impl FnMut() -> P,
    mut report: impl FnMut(PulseEvent),
) -> Lost<E>
where
    P: Future<Output = Result<(), E>>,
{
    let mut missed = 0;
    loop {
        tokio::select! {
            () = tokio::time::sleep(policy.every) => {}
            () = doubt.changed() => {}
        }
        match tokio::time::timeout(policy.limit, ping()).await {
            Ok(Ok(())) if std::mem::take(&mut missed) > 0 => report(PulseEvent::Recovered),
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Lost::Unreachable(error),
            Err(_) if is_busy() => {}
            Err(_) => {
                missed += 1;
                report(PulseEvent::Missed(missed));
                if missed >= policy.misses {
                    return Lost::Unanswered(missed);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use tokio::time::Instant;

    const POLICY: HeartbeatPolicy =
        HeartbeatPolicy { every: Duration::from_secs(30), limit: Duration::from_secs(10), misses: 3 };

    /// How a worker takes one ping.
    #[derive(Clone, Copy)]
    enum Answer {
        AtOnce,
        Never,
        NeverButBusy,
        Unreachable,
    }

    /// Runs the heartbeat over a script of answers; the last one is repeated.
    async fn run(script: &[Answer]) -> (Lost<&'static str>, Vec<PulseEvent>, u64) {
        let (turn, busy, events) = (Cell::new(0), Cell::new(false), RefCell::new(Vec::new()));
        let start = Instant::now();
        let ping = || {
            let answer = script[turn.get().min(script.len() - 1)];
            turn.set(turn.get() + 1);
            busy.set(matches!(answer, Answer::NeverButBusy));
            async move {
                match answer {
                    Answer::AtOnce => Ok(()),
                    Answer::Never | Answer::NeverButBusy => std::future::pending().await,
                    Answer::Unreachable => Err("broken pipe"),
                }
            }
        };
        let report = |event| events.borrow_mut().push(event);
        let lost = heartbeat(&POLICY, &ChangeSignal::new(), || busy.get(), ping, report).await;
        (lost, events.take(), start.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_worker_is_lost_after_unanswered_pings_in_a_row() {
        use Answer::{AtOnce, Never, NeverButBusy, Unreachable};
        use PulseEvent::{Missed, Recovered};
        let (lost, events, seconds) = run(&[Never, Never, AtOnce, NeverButBusy, Never]).await;
        assert_eq!(lost, Lost::Unanswered(3));
        assert_eq!(events, [Missed(1), Missed(2), Recovered, Missed(1), Missed(2), Missed(3)]);
        assert_eq!(seconds, 40 + 40 + 30 + 40 + 40 + 40 + 40);
        assert_eq!(run(&[AtOnce, Unreachable]).await, (Lost::Unreachable("broken pipe"), vec![], 60));
    }

    #[tokio::test(start_paused = true)]
    async fn doubt_causes_a_ping_at_once() {
        let (doubt, start) = (ChangeSignal::new(), Instant::now());
        doubt.mark();
        let lost = heartbeat(&POLICY, &doubt, || false, || async { Err::<(), _>("gone") }, |_| {}).await;
        assert_eq!((lost, start.elapsed()), (Lost::Unreachable("gone"), Duration::ZERO));
    }
}
