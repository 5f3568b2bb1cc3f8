//! Many changes, few actions: the last state is always acted on.
//!
//! [`ChangeSignal`] is marked from anywhere, however often. One task waits with [`Coalescer::next`], and then looks at the
//! state of the moment. A change that comes while the task acts causes one more action.

use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// Something changed. A mark is kept until one task has seen it; further marks add nothing to it.
#[derive(Debug, Default)]
pub struct ChangeSignal(Notify);

impl ChangeSignal {
    /// A signal that is not marked.
    pub const fn new() -> Self {
        Self(Notify::const_new())
    }

    /// Says that something changed. Never waits.
    pub fn mark(&self) {
        self.0.notify_one();
    }

    /// Takes a mark, if there is one.
    pub fn take(&self) -> bool {
        std::pin::pin!(self.0.notified()).enable()
    }

    /// Waits for a mark and takes it. Only one task may wait for a signal.
    pub async fn changed(&self) {
        self.0.notified().await;
    }
}

/// How fast changes may cause actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    /// An action waits until there was no change for so long…
    pub debounce: Duration,
    /// … but not longer than this since the first change.
    pub max_wait: Duration,
    /// The least time from the end of an action to the beginning of the next.
    pub interval: Duration,
}

impl Pace {
    /// Acts on the first change at once, and on what follows after a pause.
    pub const fn at_most_every(interval: Duration) -> Self {
        Self { debounce: Duration::ZERO, max_wait: Duration::ZERO, interval }
    }

    /// Acts when there was no change for `quiet`, or `max_wait` after the first one.
    pub const fn debounced(quiet: Duration, max_wait: Duration) -> Self {
        Self { debounce: quiet, max_wait, interval: Duration::ZERO }
    }
}

/// Paces the actions of one task.
#[derive(Debug)]
pub struct Coalescer {
    pace: Pace,
    schedule: Schedule,
    /// An action may be under way: it ends when the task asks for the next one.
    acting: bool,
}

impl Coalescer {
    /// A coalescer before its first action.
    pub fn new(pace: Pace) -> Self {
        Self { pace, schedule: Schedule::default(), acting: false }
    }

    /// Waits until there is a change to act on and the pace allows it.
    ///
    /// Cancel-safe: a change that was seen before this future was dropped is acted on next time.
    pub async fn next(&mut self, signal: &ChangeSignal) {
        self.next_of(|| signal.changed()).await;
    }

    /// [`Coalescer::next`] for changes that are not told by one [`ChangeSignal`]: `changed` waits for a change. Its future is
    /// dropped when an action is due, so it must not lose what it has not told.
    pub async fn next_of<W: Future<Output = ()>>(&mut self, mut changed: impl FnMut() -> W) {
        if std::mem::take(&mut self.acting) {
            self.schedule.acted(Instant::now());
        }
        loop {
            let due = self.schedule.due(&self.pace);
            let wait = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = changed() => self.schedule.changed(Instant::now()),
                () = wait => break,
            }
            // Without this, changes without end would keep the action from being due at once.
            if self.schedule.due(&self.pace).is_some_and(|due| due <= Instant::now()) {
                break;
            }
        }
        self.schedule.take();
        self.acting = true;
    }

    /// Waits until the pace allows another action, whether there is a change or not: for an action that has to be repeated.
    pub async fn pause(&mut self) {
        if std::mem::take(&mut self.acting) {
            self.schedule.acted(Instant::now());
        }
        if let Some(earliest) = self.schedule.earliest(&self.pace) {
            tokio::time::sleep_until(earliest).await;
        }
        self.acting = true;
    }
}

/// When the next action is due. Pure.
#[derive(Debug, Clone, Copy, Default)]
struct Schedule {
    /// The first and the latest change that were not acted on.
    changes: Option<(Instant, Instant)>,
    /// The end of the last action.
    last: Option<Instant>,
}

impl Schedule {
    fn changed(&mut self, now: Instant) {
        let first = self.changes.map_or(now, |(first, _)| first);
        self.changes = Some((first, now));
    }

    fn due(&self, pace: &Pace) -> Option<Instant> {
        let (first, latest) = self.changes?;
        let quiet = (latest + pace.debounce).min(first + pace.max_wait.max(pace.debounce));
        Some(self.earliest(pace).map_or(quiet, |earliest| quiet.max(earliest)))
    }

    fn earliest(&self, pace: &Pace) -> Option<Instant> {
        self.last.map(|last| last + pace.interval)
    }

    fn take(&mut self) {
        self.changes = None;
    }

    fn acted(&mut self, now: Instant) {
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn an_action_is_due_by_every_rule_of_the_pace() {
        let pace = |debounce, max_wait, interval| Pace {
            debounce: millis(debounce),
            max_wait: millis(max_wait),
            interval: millis(interval),
        };
        /// Pace, end of the last action, changes, when the next action is due.
        type Row = (Pace, Option<u64>, &'static [u64], Option<u64>);
        let table: &[Row] = &[
            (pace(0, 0, 50), None, &[], None),
            (pace(0, 0, 50), Some(10), &[], None),
            (pace(0, 0, 50), None, &[7], Some(7)),
            (pace(0, 0, 50), Some(10), &[20, 30], Some(60)),
            (pace(0, 0, 50), Some(10), &[90], Some(90)),
            (pace(100, 500, 0), None, &[0], Some(100)),
            (pace(100, 500, 0), None, &[0, 90, 180], Some(280)),
            (pace(100, 500, 0), None, &[0, 99, 198, 297, 396, 495], Some(500)),
            (pace(100, 500, 300), Some(0), &[10], Some(300)),
            (pace(100, 500, 300), Some(0), &[10, 290], Some(390)),
            // A longest wait below the debounce would make it useless.
            (pace(100, 0, 0), None, &[0, 50], Some(100)),
        ];
        let zero = Instant::now();
        for (pace, last, changes, expected) in table {
            let mut schedule = Schedule::default();
            if let Some(last) = last {
                schedule.acted(zero + millis(*last));
            }
            changes.iter().for_each(|at| schedule.changed(zero + millis(*at)));
            assert_eq!(schedule.due(pace), expected.map(|at| zero + millis(at)), "{pace:?} {last:?} {changes:?}");
        }
    }

    /// Counts what a task does with `pace` while `changes` happen at these times, each action taking `busy`.
    async fn actions(pace: Pace, changes: &[u64], busy: Duration) -> u32 {
        let (signal, count) = (Arc::new(ChangeSignal::new()), Arc::new(AtomicU32::new(0)));
        let (state, seen) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let task = tokio::spawn({
            let (signal, count, state, seen) = (signal.clone(), count.clone(), state.clone(), seen.clone());
            async move {
                let mut coalescer = Coalescer::new(pace);
                loop {
                    coalescer.next(&signal).await;
                    seen.store(state.load(Ordering::SeqCst), Ordering::SeqCst);
                    count.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(busy).await;
                }
            }
        });
        let start = Instant::now();
        for at in changes {
            tokio::time::sleep_until(start + millis(*at)).await;
            state.fetch_add(1, Ordering::SeqCst);
            signal.mark();
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
        task.abort();
        assert_eq!(seen.load(Ordering::SeqCst) as usize, changes.len(), "the last state is seen");
        count.load(Ordering::SeqCst)
    }

    #[tokio::test(start_paused = true)]
    async fn bursts_cause_few_actions_and_the_last_state_is_seen() {
        let burst: Vec<u64> = (0..1000).collect();
        let every = Pace::at_most_every(millis(50));
        assert_eq!(actions(every, &burst, Duration::ZERO).await, 21);
        assert_eq!(actions(every, &[0], Duration::ZERO).await, 1);
        assert_eq!(actions(every, &[0, 100], Duration::ZERO).await, 2);
        assert_eq!(actions(Pace::default(), &[0, 1, 2], millis(10)).await, 2, "changes during an action count once");
        let debounced = Pace::debounced(millis(100), millis(500));
        assert_eq!(actions(debounced, &[0, 50, 100, 150], Duration::ZERO).await, 1);
        assert_eq!(actions(debounced, &burst, Duration::ZERO).await, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_that_was_seen_survives_a_dropped_wait() {
        let signal = ChangeSignal::new();
        let mut coalescer = Coalescer::new(Pace::debounced(millis(100), millis(100)));
        signal.mark();
        assert!(tokio::time::timeout(millis(10), coalescer.next(&signal)).await.is_err());
        assert!(tokio::time::timeout(millis(200), coalescer.next(&signal)).await.is_ok());
        assert!(tokio::time::timeout(millis(200), coalescer.next(&signal)).await.is_err());
    }

    #[test]
    fn a_mark_is_taken_once() {
        let signal = ChangeSignal::new();
        assert!(!signal.take());
        signal.mark();
        signal.mark();
        assert!(signal.take());
        assert!(!signal.take());
    }

    #[tokio::test(start_paused = true)]
    async fn a_repeated_action_keeps_the_pace() {
        let mut coalescer = Coalescer::new(Pace::at_most_every(millis(50)));
        let start = Instant::now();
        for _ in 0..3 {
            coalescer.pause().await;
        }
        assert_eq!(start.elapsed(), millis(100));
    }
}
