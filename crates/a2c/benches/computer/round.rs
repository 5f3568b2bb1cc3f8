//! A round of work, and what it came to.
#![allow(dead_code, reason = "each bench uses its own part")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What a round of work came to.
#[derive(Default)]
pub(crate) struct Round {
    wanted: usize,
    done: usize,
    took: Duration,
    /// From the shortest to the longest.
    times: Vec<Duration>,
}

/// Does something so often, with so much of it at the same time. `work` tells whether it came out right.
pub(crate) async fn many<F>(count: usize, in_flight: usize, work: impl Fn(usize) -> F + Send + Sync + 'static) -> Round
where
    F: Future<Output = bool> + Send,
{
    let (next, work) = (Arc::new(AtomicUsize::new(0)), Arc::new(work));
    let begin = Instant::now();
    let tasks: Vec<_> = (0..in_flight)
        .map(|_| {
            let (next, work) = (next.clone(), work.clone());
            tokio::spawn(async move {
                let mut times = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return times;
                    }
                    let begin = Instant::now();
                    if work(number).await {
                        times.push(begin.elapsed());
                    }
                }
            })
        })
        .collect();
    let mut times = Vec::with_capacity(count);
    for task in tasks {
        times.extend(task.await.expect("the work does not panic"));
    }
    times.sort_unstable();
    Round { wanted: count, done: times.len(), took: begin.elapsed(), times }
}

impl Round {
    /// What was done one after the other.
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self { wanted: times.len(), done: times.len(), took: times.iter().sum(), times }
    }

    /// Takes another round of the same work in.
    pub(crate) fn add(&mut self, other: Self) {
        self.wanted += other.wanted;
        self.done += other.done;
        self.took += other.took;
        self.times.extend(other.times);
        self.times.sort_unstable();
    }

    /// Milliseconds within which this part of the work was done.
    pub(crate) fn ms(&self, part: f64) -> f64 {
        let index = ((self.times.len() as f64 * part) as usize).min(self.times.len().saturating_sub(1));
        self.times.get(index).copied().unwrap_or(Duration::MAX).as_secs_f64() * 1e3
    }

    /// How much was done in a second.
    pub(crate) fn rate(&self) -> f64 {
        self.done as f64 / self.took.as_secs_f64()
    }

    pub(crate) fn print(&self, what: &str, in_flight: usize) {
        let (rate, lost) = (self.rate(), self.wanted - self.done);
        let (p50, p99, max) = (self.ms(0.5), self.ms(0.99), self.ms(1.0));
        let count = self.wanted;
        println!("{what:<34} {in_flight:>9} {count:>8} {lost:>5} {rate:>10.0} {p50:>8.3} {p99:>8.3} {max:>8.3}");
    }
}

pub(crate) fn header() {
    let [flight, count, lost, rate] = ["in flight", "count", "lost", "per second"];
    println!("{:<34} {flight:>9} {count:>8} {lost:>5} {rate:>10} {:>8} {:>8} {:>8}", "", "p50 ms", "p99 ms", "max ms");
}
