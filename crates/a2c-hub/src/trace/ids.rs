//! Ids of traces and spans: unique, evenly distributed and cheap. They are no secrets.

use std::sync::atomic::{AtomicU64, Ordering};

use a2c_protocol::trace::{SpanId, TraceId};

/// Two streams of pseudo-random numbers (SplitMix64), seeded by the system.
#[derive(Debug)]
pub(super) struct Ids {
    high: AtomicU64,
    low: AtomicU64,
}

impl Ids {
    pub(super) fn new() -> Self {
        let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
        Self { high: AtomicU64::new(high), low: AtomicU64::new(low) }
    }

    pub(super) fn span(&self) -> SpanId {
        loop {
            if let Some(id) = SpanId::new(next(&self.low).to_be_bytes()) {
                return id;
            }
        }
    }

    /// A trace id, and a number from 0 to 2^56 that decides whether the trace is recorded: the part of the id that other
    /// participants of the trace would use for the same decision.
    pub(super) fn trace(&self) -> (TraceId, u64) {
        loop {
            let (high, low) = (next(&self.high), next(&self.low));
            if let Some(id) = TraceId::new((u128::from(high) << 64 | u128::from(low)).to_be_bytes()) {
                return (id, low & (DRAWS - 1));
            }
        }
    }
}

/// The number of values of the sampling decision.
pub(super) const DRAWS: u64 = 1 << 56;

fn next(state: &AtomicU64) -> u64 {
    let mut z = state.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_differ_between_calls_threads_and_hubs() {
        let (first, second) = (Ids::new(), Ids::new());
        let take = |ids: &Ids| (0..10_000).map(|_| (ids.trace().0, ids.span())).collect::<Vec<_>>();
        let all = std::thread::scope(|scope| {
            let threads = [&first, &first, &second].map(|ids| scope.spawn(move || take(ids)));
            threads.map(|thread| thread.join().unwrap()).concat()
        });
        let traces: HashSet<_> = all.iter().map(|(trace, _)| *trace).collect();
        let spans: HashSet<_> = all.iter().map(|(_, span)| *span).collect();
        assert_eq!((traces.len(), spans.len()), (30_000, 30_000));
    }

    #[test]
    fn draws_are_spread_evenly() {
        let ids = Ids::new();
        let below = (0..10_000).filter(|_| ids.trace().1 < DRAWS / 4).count();
        // Expected: 2500 with a standard deviation of 43.
        assert!((2_000..3_000).contains(&below), "{below}");
    }
}
