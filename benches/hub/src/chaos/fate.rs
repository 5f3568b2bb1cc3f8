//! What chance does with a member. All of it comes from the seed of the run and the number of the seat.

use std::fmt;
use std::time::Duration;

use fastrand::Rng;

/// How a member ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// Leaves the office and keeps the connection.
    Leave,
    /// Says goodbye and closes.
    Goodbye,
    /// Its process is killed: the system closes the connection.
    Killed,
    /// Its connection is reset.
    Reset,
    /// Nothing is ever heard of it again.
    Silent,
}

/// How a Computer deals with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    AtOnce,
    /// The same answer two times.
    Twice,
    /// After later calls.
    Late,
    Never,
    /// Right, and also answers a call that went to another Computer.
    Meddling,
}

/// The chances of one seat.
pub struct Life(Rng);

impl Life {
    pub fn new(seed: u64, seat: usize) -> Self {
        Self(Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seat as u64)))
    }

    /// How long the member stays this time.
    pub fn stay(&mut self) -> Duration {
        Duration::from_millis(self.0.u64(1_000..20_000))
    }

    /// Silence is rare: until it is noticed, it stops the load on its office.
    pub fn end(&mut self) -> End {
        match self.0.u32(0..100) {
            0..20 => End::Leave,
            20..40 => End::Goodbye,
            40..70 => End::Killed,
            70..95 => End::Reset,
            _ => End::Silent,
        }
    }

    /// Calls that are never answered hold up their Agent for seconds: just enough of them.
    pub fn manner(&mut self) -> Manner {
        match self.0.u32(0..20_000) {
            0 => Manner::Never,
            1..200 => Manner::Twice,
            200..400 => Manner::Late,
            400..600 => Manner::Meddling,
            _ => Manner::AtOnce,
        }
    }

    /// Bytes of a result, from nothing to 20 KB.
    pub fn size(&mut self) -> usize {
        if self.0.u32(0..100) == 0 { self.0.usize(0..20_000) } else { self.0.usize(0..400) }
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0.usize(0..end)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            End::Leave => "left",
            End::Goodbye => "said goodbye",
            End::Killed => "killed",
            End::Reset => "reset",
            End::Silent => "fell silent",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_seat_meet_the_same_fate() {
        let fates = |seed, seat| {
            let mut life = Life::new(seed, seat);
            (0..20).map(|_| (life.stay(), life.end(), life.manner(), life.size())).collect::<Vec<_>>()
        };
        assert_eq!(fates(7, 3), fates(7, 3));
        assert_ne!(fates(7, 3), fates(7, 4));
        assert_ne!(fates(7, 3), fates(8, 3));
    }

    #[test]
    fn everything_that_can_happen_does() {
        let mut life = Life::new(1, 1);
        let ends: Vec<End> = (0..1000).map(|_| life.end()).collect();
        for end in [End::Leave, End::Goodbye, End::Killed, End::Reset, End::Silent] {
            assert!(ends.contains(&end), "{end}");
        }
        let manners: Vec<Manner> = (0..200_000).map(|_| life.manner()).collect();
        for manner in [Manner::AtOnce, Manner::Twice, Manner::Late, Manner::Never, Manner::Meddling] {
            assert!(manners.contains(&manner), "{manner:?}");
        }
    }
}
