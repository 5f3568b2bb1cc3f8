//! Memory that all sessions share: when much of it is in use, each of them gets less.
//!
//! Sizes are bounded per session; this bounds what many of them can hold together. A session may always hold a little, so
//! that small messages pass while large ones wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

/// What a session may hold without being counted.
const FREE: usize = 256 << 10;

/// By how much limits shrink while memory is short.
const SHRINK: usize = 16;

/// What is in use altogether.
#[derive(Debug)]
pub(crate) struct MemoryPool {
    limit: usize,
    used: AtomicUsize,
    waiting: Mutex<Vec<Waker>>,
}

impl MemoryPool {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, used: AtomicUsize::new(0), waiting: Mutex::default() })
    }

    fn is_short(&self) -> bool {
        self.used.load(Ordering::Relaxed) > self.limit
    }

    /// A limit of a session, as it is at the moment.
    pub(crate) fn shrunk(&self, limit: usize) -> usize {
        if self.is_short() { limit / SHRINK } else { limit }
    }

    /// Takes `more` for somebody who holds `mine`, where it fits or nobody else holds anything.
    fn take(&self, mine: usize, more: usize) -> bool {
        let fits = |used: usize| {
            let after = used.saturating_add(more);
            (after <= self.limit || used == mine).then_some(after)
        };
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    fn wait(&self, waker: &Waker) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.iter().any(|w| w.will_wake(waker)) {
            waiting.push(waker.clone());
        }
    }

    fn changed(&self, before: usize, after: usize) {
        if after > before {
            self.used.fetch_add(after - before, Ordering::Relaxed);
            return;
        }
        self.used.fetch_sub(before - after, Ordering::Relaxed);
        if before != after {
            let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            waiting.into_iter().for_each(Waker::wake);
        }
    }
}

/// What one session holds of it. Changed by one task at a time.
#[derive(Debug)]
pub(crate) struct PoolShare {
    pool: Arc<MemoryPool>,
    counted: AtomicUsize,
}

impl PoolShare {
    pub(crate) fn of(pool: &Arc<MemoryPool>) -> Self {
        Self { pool: pool.clone(), counted: AtomicUsize::new(0) }
    }

    pub(crate) fn pool(&self) -> &MemoryPool {
        &self.pool
    }

    /// Says how much is held now.
    pub(crate) fn set(&self, bytes: usize) {
        let after = bytes.saturating_sub(FREE);
        let before = self.counted.swap(after, Ordering::Relaxed);
        if before != after {
            self.pool.changed(before, after);
        }
    }

    /// Takes what a message will need as a whole before it is read, so that whoever has begun can always finish. Says no
    /// while others hold too much, and has `waker` woken when that changes. Somebody who is alone gets everything.
    pub(crate) fn reserve(&self, bytes: usize, waker: &Waker) -> bool {
        let mine = self.counted.load(Ordering::Relaxed);
        let more = bytes.saturating_sub(FREE).saturating_sub(mine);
        if more == 0 || self.pool.take(mine, more) {
            self.counted.fetch_add(more, Ordering::Relaxed);
            return true;
        }
        self.pool.wait(waker);
        // Tried again, because it may have changed before the waker was there to be woken.
        let is_taken = self.pool.take(mine, more);
        if is_taken {
            self.counted.fetch_add(more, Ordering::Relaxed);
        }
        is_taken
    }

    /// Whether nothing is held that others could wait for.
    pub(crate) fn is_empty(&self) -> bool {
        self.counted.load(Ordering::Relaxed) == 0
    }
}

impl Drop for PoolShare {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    #[derive(Default)]
    struct WakeCount(AtomicUsize);

    impl Wake for WakeCount {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn large_ones_wait_until_there_is_room_for_all_of_them_and_small_ones_for_nobody() {
        let pool = MemoryPool::new(10 << 20);
        let woken = Arc::new(WakeCount::default());
        let waker = Waker::from(woken.clone());
        let [a, b, small] = [(); 3].map(|()| PoolShare::of(&pool));
        assert!(a.reserve(8 << 20, &waker));
        assert!(!b.reserve(4 << 20, &waker), "it could not finish");
        assert!(b.is_empty(), "and holds nothing while it waits");
        assert!(small.reserve(FREE, &waker));
        assert!(a.reserve(8 << 20, &waker), "whoever has begun goes on");
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        a.set(0);
        assert_eq!(woken.0.load(Ordering::Relaxed), 1, "the same waker is kept once");
        assert!(b.reserve(4 << 20, &waker));
        drop((a, b));
        assert_eq!(pool.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn one_that_is_too_large_for_the_pool_passes_alone() {
        let pool = MemoryPool::new(1 << 20);
        let [a, b] = [(); 2].map(|()| PoolShare::of(&pool));
        assert!(a.reserve(64 << 20, Waker::noop()));
        assert!(!b.reserve(2 << 20, Waker::noop()));
        assert_eq!(pool.shrunk(1600), 100);
        drop(a);
        assert!(b.reserve(2 << 20, Waker::noop()));
    }
}
