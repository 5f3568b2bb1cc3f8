//! A bound on the memory of all sessions together: when much of it is in use, each session gets less.
//!
//! Other limits bound the size per session. A session may always hold a little, so that small messages pass while large
//! ones wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

/// The bytes that a session may hold without being counted.
const FREE: usize = 256 << 10;

/// The factor by which limits shrink while memory is short.
const SHRINK: usize = 16;

/// The memory in use by all sessions.
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

    /// A limit of a session, reduced while memory is short.
    pub(crate) fn shrunk(&self, limit: usize) -> usize {
        if self.is_short() { limit / SHRINK } else { limit }
    }

    /// Takes `more` for a session that holds `mine`, where it fits or where no other session holds anything.
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

/// The part of the pool that one session holds. One task at a time changes it.
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

    /// Sets how much the session holds.
    pub(crate) fn set(&self, bytes: usize) {
        let after = bytes.saturating_sub(FREE);
        let before = self.counted.swap(after, Ordering::Relaxed);
        if before != after {
            self.pool.changed(before, after);
        }
    }

    /// Takes the memory of a whole message before the message is read, so that a session that has begun can finish.
    /// Returns false while other sessions hold too much, and has `waker` woken when that changes. A session that is alone
    /// gets everything.
    pub(crate) fn reserve(&self, bytes: usize, waker: &Waker) -> bool {
        let mine = self.counted.load(Ordering::Relaxed);
        let more = bytes.saturating_sub(FREE).saturating_sub(mine);
        if more == 0 || self.pool.take(mine, more) {
            self.counted.fetch_add(more, Ordering::Relaxed);
            return true;
        }
        self.pool.wait(waker);
        // Tried again, because memory may have been released before the waker was registered.
        let is_taken = self.pool.take(mine, more);
        if is_taken {
            self.counted.fetch_add(more, Ordering::Relaxed);
        }
        is_taken
    }

    /// Whether the session holds nothing that others could wait for.
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
    fn large_messages_wait_for_room_and_small_ones_never_wait() {
        let pool = MemoryPool::new(10 << 20);
        let woken = Arc::new(WakeCount::default());
        let waker = Waker::from(woken.clone());
        let [a, b, small] = [(); 3].map(|()| PoolShare::of(&pool));
        assert!(a.reserve(8 << 20, &waker));
        assert!(!b.reserve(4 << 20, &waker), "the whole message must fit");
        assert!(b.is_empty(), "a session holds nothing while it waits");
        assert!(small.reserve(FREE, &waker));
        assert!(a.reserve(8 << 20, &waker), "a session that has begun goes on");
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        a.set(0);
        assert_eq!(woken.0.load(Ordering::Relaxed), 1, "the same waker is kept once");
        assert!(b.reserve(4 << 20, &waker));
        drop((a, b));
        assert_eq!(pool.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_message_larger_than_the_pool_passes_alone() {
        let pool = MemoryPool::new(1 << 20);
        let [a, b] = [(); 2].map(|()| PoolShare::of(&pool));
        assert!(a.reserve(64 << 20, Waker::noop()));
        assert!(!b.reserve(2 << 20, Waker::noop()));
        assert_eq!(pool.shrunk(1600), 100);
        drop(a);
        assert!(b.reserve(2 << 20, Waker::noop()));
    }
}
