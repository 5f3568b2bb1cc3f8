//! The time of day, which tests can move.

use jiff::Timestamp;

/// Tells the time. Addresses expire by the time of day, because `expires_at` is one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    #[cfg(test)]
    ahead: std::sync::Arc<std::sync::atomic::AtomicU64>,
}

impl Clock {
    pub(crate) fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        #[cfg(test)]
        let now = now + std::time::Duration::from_secs(self.ahead.load(std::sync::atomic::Ordering::SeqCst));
        now
    }

    #[cfg(test)]
    pub(crate) fn advance(&self, by: std::time::Duration) {
        self.ahead.fetch_add(by.as_secs(), std::sync::atomic::Ordering::SeqCst);
    }
}
