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
pub(crate) struct Pool {
    limit: usize,
    used: AtomicUsize,
    waiting: Mutex<Vec<Waker>>,
}

impl Pool {
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
        let used = self.used.fetch_sub(before - after, Ordering::Relaxed);
        if used > self.limit && !self.is_short() {
            let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            waiting.into_iter().for_each(Waker::wake);
        }
    }
}

/// What one session holds of it. Changed by one task at a time.
#[derive(Debug)]
pub(crate) struct Share {
    pool: Arc<Pool>,
    counted: AtomicUsize,
}

impl Share {
    pub(crate) fn of(pool: &Arc<Pool>) -> Self {
        Self { pool: pool.clone(), counted: AtomicUsize::new(0) }
    }

    pub(crate) fn pool(&self) -> &Pool {
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

    /// Whether more may be taken; otherwise `waker` is woken when it may.
    pub(crate) fn may_grow(&self, waker: &Waker) -> bool {
        let is_free = || self.counted.load(Ordering::Relaxed) == 0 || !self.pool.is_short();
        if is_free() {
            return true;
        }
        self.pool.wait(waker);
        // Looked at again, because it may have changed before the waker was there to be woken.
        is_free()
    }
}

impl Drop for Share {
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
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn large_ones_wait_for_each_other_and_small_ones_for_nobody() {
        let pool = Pool::new(10 << 20);
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        let [a, b, small] = [(); 3].map(|()| Share::of(&pool));
        a.set(8 << 20);
        b.set(1 << 20);
        assert!(a.may_grow(&waker) && b.may_grow(&waker));
        assert_eq!(pool.shrunk(1600), 1600);
        b.set(4 << 20);
        small.set(FREE);
        assert!(small.may_grow(&waker));
        assert!(!a.may_grow(&waker) && !b.may_grow(&waker));
        assert_eq!(pool.shrunk(1600), 100);
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        drop(a);
        assert_eq!(woken.0.load(Ordering::Relaxed), 1, "the same waker is kept once");
        assert!(b.may_grow(&waker));
        drop(b);
        assert_eq!(pool.used.load(Ordering::Relaxed), 0);
    }
}
