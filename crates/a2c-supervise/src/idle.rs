//! Whether a worker is still used.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// Remembers when a worker was last used. Cheap to clone.
#[derive(Debug, Clone)]
pub struct IdleTimer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    usage: Mutex<Usage>,
    /// The last use under way has ended.
    unused: Notify,
}

#[derive(Debug)]
struct Usage {
    under_way: usize,
    last: Instant,
}

/// One use of a worker, until it is dropped.
#[derive(Debug)]
pub struct InUse(IdleTimer);

impl Default for IdleTimer {
    fn default() -> Self {
        Self::new()
    }
}

impl IdleTimer {
    /// A worker that is used just now.
    pub fn new() -> Self {
        let usage = Mutex::new(Usage { under_way: 0, last: Instant::now() });
        Self(Arc::new(Inner { usage, unused: Notify::new() }))
    }

    /// The worker is used at this moment.
    pub fn touch(&self) {
        self.usage().last = Instant::now();
    }

    /// The worker is used until the value is dropped.
    pub fn begin(&self) -> InUse {
        self.usage().under_way += 1;
        InUse(self.clone())
    }

    /// Waits until the worker was not used for `limit`. Only one task may wait.
    pub async fn idle_for(&self, limit: Duration) {
        loop {
            let (under_way, due) = {
                let usage = self.usage();
                (usage.under_way, usage.last + limit)
            };
            match under_way {
                0 if due <= Instant::now() => return,
                0 => tokio::time::sleep_until(due).await,
                _ => self.0.unused.notified().await,
            }
        }
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.0.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut usage = self.0.usage();
        usage.under_way -= 1;
        usage.last = Instant::now();
        if usage.under_way == 0 {
            self.0.0.unused.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn idleness_counts_from_the_end_of_the_last_use() {
        let (timer, start, minute) = (IdleTimer::new(), Instant::now(), Duration::from_secs(60));
        let waiting = tokio::spawn({
            let timer = timer.clone();
            async move { timer.idle_for(minute).await }
        });
        tokio::time::sleep(minute / 2).await;
        timer.touch();
        tokio::time::sleep(minute / 2).await;
        let (first, second) = (timer.begin(), timer.begin());
        tokio::time::sleep(minute * 10).await;
        drop(first);
        tokio::time::sleep(minute * 10).await;
        assert!(!waiting.is_finished());
        drop(second);
        waiting.await.unwrap();
        assert_eq!(start.elapsed(), minute * 22);
    }
}
