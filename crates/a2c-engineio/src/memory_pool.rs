//! A bound on the memory of many sessions together: when much of it is in use, each session gets less.
//!
//! Memory is taken as bytes arrive. A pool may be part of another one, so that a group of sessions has a share of the
//! whole. A session may always hold a little, so that small messages pass while large ones wait. Where several large
//! messages have begun and the pool is full, one of them at a time may go beyond the limit: it can be completed, which
//! makes room for the next.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The bytes that a session may hold in each direction without being counted.
const FREE: usize = 64 << 10;

/// The factor by which limits shrink while memory is short.
const SHRINK: usize = 16;

/// The memory in use by a group of sessions.
#[derive(Debug)]
pub struct MemoryPool {
    limit: usize,
    whole: Option<Arc<MemoryPool>>,
    used: AtomicUsize,
    /// The holder that may go beyond the limit; zero for none.
    overdraft: AtomicU64,
    waiting: Mutex<Vec<Waker>>,
}

impl MemoryPool {
    /// A pool of so many bytes.
    pub fn new(limit: usize) -> Arc<Self> {
        Self::with(limit, None)
    }

    /// A part of this pool for a group of sessions: it holds no more than `limit`, and only what the whole has.
    pub fn part(self: &Arc<Self>, limit: usize) -> Arc<Self> {
        Self::with(limit, Some(self.clone()))
    }

    fn with(limit: usize, whole: Option<Arc<Self>>) -> Arc<Self> {
        let (used, overdraft, waiting) = (AtomicUsize::new(0), AtomicU64::new(0), Mutex::default());
        Arc::new(Self { limit, whole, used, overdraft, waiting })
    }

    /// Takes memory for as long as the charge is kept; nothing where it does not fit. An empty pool has room for anything.
    pub fn charge(self: &Arc<Self>, bytes: usize) -> Option<MemoryCharge> {
        let fits =
            |used: usize| (used == 0 || used.saturating_add(bytes) <= self.limit).then(|| used.saturating_add(bytes));
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        let of_whole = match &self.whole {
            Some(whole) => match whole.charge(bytes) {
                Some(charge) => Some(Box::new(charge)),
                None => {
                    self.released(bytes);
                    return None;
                }
            },
            None => None,
        };
        Some(MemoryCharge { pool: self.clone(), bytes, _of_whole: of_whole })
    }

    /// The bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    fn is_short(&self) -> bool {
        self.used() > self.limit || self.whole.as_ref().is_some_and(|whole| whole.is_short())
    }

    /// Whether a session waits for memory.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.waiting().is_empty() || self.whole.as_ref().is_some_and(|whole| whole.is_awaited())
    }

    /// A limit of a session, reduced while memory is short.
    pub(crate) fn shrunk(&self, limit: usize) -> usize {
        if self.is_short() { limit / SHRINK } else { limit }
    }

    /// Takes memory where it fits, or where the holder may go beyond the limit; the part first, then the whole.
    fn take(&self, holder: u64, more: usize, waker: &Waker) -> bool {
        if !self.take_here(holder, more) {
            self.wait(waker);
            // Tried again, because memory may have been released before the waker was registered.
            if !self.take_here(holder, more) {
                return false;
            }
        }
        let has_whole = self.whole.as_ref().is_none_or(|whole| whole.take(holder, more, waker));
        if !has_whole {
            self.used.fetch_sub(more, Ordering::Relaxed);
        }
        has_whole
    }

    fn take_here(&self, holder: u64, more: usize) -> bool {
        let fits = |used: usize| {
            let after = used.saturating_add(more);
            (after <= self.limit).then_some(after)
        };
        if self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok() {
            return true;
        }
        let first = self.overdraft.compare_exchange(0, holder, Ordering::Relaxed, Ordering::Relaxed);
        let may_go_on = first.unwrap_or_else(|present| present) == holder || first.is_ok();
        if may_go_on {
            self.used.fetch_add(more, Ordering::Relaxed);
        }
        may_go_on
    }

    /// Counts what a session holds already.
    fn add(&self, more: usize) {
        self.used.fetch_add(more, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.add(more);
        }
    }

    /// Gives memory of a session back; one that holds nothing more may not go beyond the limit any longer.
    fn give_back(&self, holder: u64, bytes: usize, holds_nothing: bool) {
        if holds_nothing {
            let _ = self.overdraft.compare_exchange(holder, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
        self.released(bytes);
        if let Some(whole) = &self.whole {
            whole.give_back(holder, bytes, holds_nothing);
        }
    }

    /// Memory is free again, here.
    fn released(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        let waiting = std::mem::take(&mut *self.waiting());
        waiting.into_iter().for_each(Waker::wake);
    }

    fn wait(&self, waker: &Waker) {
        let mut waiting = self.waiting();
        if !waiting.iter().any(|w| w.will_wake(waker)) {
            waiting.push(waker.clone());
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Memory of a pool that is in use until this is dropped.
#[derive(Debug)]
pub struct MemoryCharge {
    pool: Arc<MemoryPool>,
    bytes: usize,
    _of_whole: Option<Box<MemoryCharge>>,
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.pool.released(self.bytes);
    }
}

/// What one session holds of a pool in one direction. One task at a time changes it.
#[derive(Debug)]
pub(crate) struct PoolShare {
    id: u64,
    pool: Mutex<Arc<MemoryPool>>,
    counted: AtomicUsize,
}

impl PoolShare {
    pub(crate) fn of(pool: &Arc<MemoryPool>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id, pool: Mutex::new(pool.clone()), counted: AtomicUsize::new(0) }
    }

    pub(crate) fn pool(&self) -> Arc<MemoryPool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts what the session holds in another pool from now on.
    pub(crate) fn move_to(&self, pool: &Arc<MemoryPool>) {
        let mut present = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = self.counted.load(Ordering::Relaxed);
        pool.add(counted);
        present.give_back(self.id, counted, true);
        *present = pool.clone();
    }

    /// Sets how much the session holds.
    pub(crate) fn set(&self, bytes: usize) {
        let after = bytes.saturating_sub(FREE);
        if self.counted.load(Ordering::Relaxed) == after {
            return;
        }
        // Held while the amount changes, so that it is counted in one pool.
        let pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.counted.swap(after, Ordering::Relaxed);
        if after > before {
            pool.add(after - before);
        } else if before > after {
            pool.give_back(self.id, before - after, after == 0);
        }
    }

    /// Takes the memory for bytes that are about to be read. Returns false while other sessions hold too much, and has
    /// `waker` woken when that may have changed.
    pub(crate) fn reserve(&self, bytes: usize, waker: &Waker) -> bool {
        let wanted = bytes.saturating_sub(FREE);
        if wanted <= self.counted.load(Ordering::Relaxed) {
            return true;
        }
        let pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let more = wanted.saturating_sub(self.counted.load(Ordering::Relaxed));
        let is_taken = more == 0 || pool.take(self.id, more, waker);
        if is_taken {
            self.counted.fetch_add(more, Ordering::Relaxed);
        }
        is_taken
    }
}

impl Drop for PoolShare {
    fn drop(&mut self) {
        self.set(0);
        // It may go beyond the limit and hold nothing yet.
        self.pool().give_back(self.id, 0, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Wake;

    const MIB: usize = 1 << 20;

    #[derive(Default)]
    struct WakeCount(AtomicUsize);

    impl Wake for WakeCount {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn large_messages_wait_for_room_and_small_ones_never_wait() {
        let pool = MemoryPool::new(10 * MIB);
        let woken = Arc::new(WakeCount::default());
        let waker = Waker::from(woken.clone());
        let [first, beyond, waiting, small] = [(); 4].map(|()| PoolShare::of(&pool));
        assert!(first.reserve(8 * MIB, &waker));
        assert!(beyond.reserve(4 * MIB, &waker), "one session may go beyond the limit");
        assert!(!waiting.reserve(4 * MIB, &waker), "and only one");
        assert!(pool.is_awaited());
        assert!(small.reserve(FREE, &waker));
        assert!(beyond.reserve(5 * MIB, &waker), "it goes on until it is done");
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        beyond.set(0);
        assert_eq!(woken.0.load(Ordering::Relaxed), 1, "the same waker is kept once");
        assert!(waiting.reserve(4 * MIB, &waker), "now this one may");
        drop((first, beyond, waiting));
        assert_eq!(pool.used(), 0);
        assert_eq!(pool.overdraft.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_group_has_a_share_and_leaves_the_rest_to_the_others() {
        let pool = MemoryPool::new(100 * MIB);
        let [loud, other] = [(); 2].map(|()| pool.part(10 * MIB));
        let shares: Vec<_> = (0..8).map(|_| PoolShare::of(&loud)).collect();
        let granted = shares.iter().filter(|share| share.reserve(8 * MIB, Waker::noop())).count();
        assert_eq!(granted, 2, "one within the share and one beyond it");
        assert!(PoolShare::of(&other).reserve(8 * MIB, Waker::noop()));
        let in_use = pool.used();
        shares[0].move_to(&other);
        assert_eq!(pool.used(), in_use, "the whole holds what it held");
        assert!(shares[2].reserve(MIB, Waker::noop()));
        drop(shares);
        assert_eq!((pool.used(), loud.used(), other.used()), (0, 0, 0));
    }

    #[test]
    fn what_does_not_fit_the_whole_is_not_taken_from_the_part() {
        let pool = MemoryPool::new(10 * MIB);
        let part = pool.part(8 * MIB);
        let held = pool.charge(9 * MIB).unwrap();
        assert!(part.charge(2 * MIB).is_none());
        let beyond = PoolShare::of(&pool);
        assert!(beyond.reserve(9 * MIB, Waker::noop()));
        assert!(!PoolShare::of(&part).reserve(4 * MIB, Waker::noop()));
        assert_eq!(part.used(), 0);
        drop((held, beyond));
        assert!(part.charge(2 * MIB).is_some());
        assert_eq!((pool.used(), part.used()), (0, 0));
    }

    #[test]
    fn an_empty_pool_has_room_for_anything() {
        let pool = MemoryPool::new(MIB);
        let charge = pool.charge(64 * MIB).unwrap();
        assert!(pool.charge(1).is_none());
        assert_eq!(pool.shrunk(1600), 100);
        drop(charge);
        assert_eq!(pool.shrunk(1600), 1600);
    }
}
