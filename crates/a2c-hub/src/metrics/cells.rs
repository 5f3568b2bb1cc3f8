//! Counters and histograms; each change is one or two relaxed atomic additions.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::labels::Label;

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn inc(&self) {
        self.add(1);
    }

    /// Adds an amount.
    pub fn add(&self, amount: u64) {
        // No reader depends on the order of two counters.
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// The present value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A counter for every value of a label.
#[derive(Debug)]
pub struct Counters<L> {
    cells: Box<[Counter]>,
    label: PhantomData<L>,
}

impl<L: Label> Counters<L> {
    /// The counter of a value.
    pub fn of(&self, label: L) -> &Counter {
        &self.cells[label.index()]
    }
}

impl<L: Label> Default for Counters<L> {
    fn default() -> Self {
        Self { cells: L::ALL.iter().map(|_| Counter::default()).collect(), label: PhantomData }
    }
}

/// A counter for every pair of values of two labels.
#[derive(Debug)]
pub struct CounterTable<A, B> {
    rows: Box<[Counters<B>]>,
    label: PhantomData<A>,
}

impl<A: Label, B: Label> CounterTable<A, B> {
    /// The counter of a pair.
    pub fn of(&self, row: A, column: B) -> &Counter {
        self.rows[row.index()].of(column)
    }
}

impl<A: Label, B: Label> Default for CounterTable<A, B> {
    fn default() -> Self {
        Self { rows: A::ALL.iter().map(|_| Counters::default()).collect(), label: PhantomData }
    }
}

/// The upper bounds of the buckets, in milliseconds; longer durations have another bucket.
pub(super) const BOUNDS: [u64; 16] =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000];

/// A histogram of durations.
#[derive(Debug, Default)]
pub struct Histogram {
    /// The number of durations between a bound and the one before it. The total is their sum and has no cell of its own,
    /// so that a reader always sees numbers that agree.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanos: AtomicU64,
}

impl Histogram {
    /// Counts one duration.
    pub fn observe(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.partition_point(|bound| bound * 1_000_000 < nanos);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// The number of durations up to each bound, and the total.
    pub(super) fn cumulative(&self) -> [u64; BOUNDS.len() + 1] {
        let mut total = 0;
        std::array::from_fn(|bucket| {
            total += self.buckets[bucket].load(Ordering::Relaxed);
            total
        })
    }

    /// The sum of all durations.
    pub(super) fn sum(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_in_every_bucket_that_holds_it() {
        let histogram = Histogram::default();
        for millis in [0, 1, 2, 3, 60_000, 60_001] {
            histogram.observe(Duration::from_millis(millis));
        }
        let cumulative = histogram.cumulative();
        assert_eq!(cumulative[..4], [2, 3, 4, 4]);
        assert_eq!(cumulative[BOUNDS.len() - 1..], [5, 6]);
        assert_eq!(histogram.sum(), Duration::from_millis(120_007));
    }

    #[test]
    fn no_addition_is_lost_between_threads() {
        let (counter, histogram) = (Counter::default(), Histogram::default());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        counter.inc();
                        histogram.observe(Duration::from_millis(3));
                    }
                });
            }
        });
        assert_eq!((counter.get(), histogram.cumulative()[2]), (40_000, 40_000));
    }
}
