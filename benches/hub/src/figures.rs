//! Numbers out of samples.

use std::time::Duration;

/// Durations in order.
pub struct Spread(Vec<Duration>);

impl Spread {
    pub fn of(mut samples: Vec<Duration>) -> Self {
        samples.sort_unstable();
        Self(samples)
    }

    /// The duration that `share` of the samples do not exceed, in milliseconds.
    pub fn ms(&self, share: f64) -> f64 {
        let rank = (self.0.len() as f64 * share).ceil() as usize;
        self.0.get(rank.saturating_sub(1)).map_or(f64::NAN, |found| found.as_secs_f64() * 1e3)
    }
}

/// The one in the middle, the lower of two; the machine is noisy, and a mean would follow its worst moment.
pub fn median_by<T>(mut rounds: Vec<T>, key: impl Fn(&T) -> f64) -> Option<T> {
    rounds.sort_by(|a, b| key(a).total_cmp(&key(b)));
    let middle = rounds.len().checked_sub(1)? / 2;
    Some(rounds.swap_remove(middle))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_samples_is_not_above_its_percentile() {
        let spread = Spread::of((1..=1000).rev().map(Duration::from_millis).collect());
        assert_eq!((spread.ms(0.5), spread.ms(0.99), spread.ms(0.999), spread.ms(1.0)), (500.0, 990.0, 999.0, 1000.0));
        assert_eq!(Spread::of(vec![Duration::from_millis(7)]).ms(0.5), 7.0);
        assert!(Spread::of(Vec::new()).ms(0.5).is_nan());
    }

    #[test]
    fn the_middle_round_counts() {
        let check = |rounds: &[f64], expected| assert_eq!(median_by(rounds.to_vec(), |x| *x), expected);
        check(&[3.0, 1.0, 2.0], Some(2.0));
        check(&[3.0, 1.0], Some(1.0));
        check(&[], None);
    }
}
