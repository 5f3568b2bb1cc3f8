//! Time limits as they travel: whole seconds between one and an hour.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A time limit of 1…3600 whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Number", into = "u64")]
pub struct Seconds(u16);

impl Seconds {
    /// The shortest limit.
    pub const MIN: Self = Self(1);
    /// The longest limit.
    pub const MAX: Self = Self(3600);
    /// What a `client:*` request without a limit of its own gets.
    pub const DEFAULT: Self = Self(30);

    /// A limit of `seconds`, where that is in range.
    pub fn new(seconds: u64) -> Result<Self, SecondsOutOfRange> {
        match u16::try_from(seconds) {
            Ok(s) if (Self::MIN.0..=Self::MAX.0).contains(&s) => Ok(Self(s)),
            _ => Err(SecondsOutOfRange { given: seconds.to_string() }),
        }
    }

    /// The nearest limit that is not shorter than `duration`, kept in range.
    pub fn covering(duration: Duration) -> Self {
        let whole = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
        let clamped = whole.clamp(u64::from(Self::MIN.0), u64::from(Self::MAX.0));
        Self(u16::try_from(clamped).unwrap_or(Self::MAX.0))
    }

    /// The number of seconds.
    pub fn get(self) -> u64 {
        u64::from(self.0)
    }

    /// The limit as a duration.
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.get())
    }
}

/// A limit that is no whole number of seconds between 1 and 3600.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given} is out of range: give whole seconds from 1 to 3600")]
pub struct SecondsOutOfRange {
    given: String,
}

impl TryFrom<serde_json::Number> for Seconds {
    type Error = SecondsOutOfRange;

    fn try_from(number: serde_json::Number) -> Result<Self, Self::Error> {
        // Python and JavaScript write 30.0 as readily as 30: a float without a fraction is a whole number.
        let whole = number
            .as_u64()
            .or_else(|| number.as_f64().filter(|f| f.fract() == 0.0 && (0.0..=1e6).contains(f)).map(|f| f as u64));
        match whole {
            Some(seconds) => Self::new(seconds),
            None => Err(SecondsOutOfRange { given: number.to_string() }),
        }
    }
}

impl From<Seconds> for u64 {
    fn from(seconds: Seconds) -> Self {
        seconds.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_is_one_second_to_one_hour() {
        let parse = |text: &str| serde_json::from_str::<Seconds>(text);
        for (text, seconds) in [("1", 1), ("30", 30), ("3600", 3600), ("30.0", 30)] {
            assert_eq!(parse(text).unwrap().get(), seconds, "{text}");
        }
        for text in ["0", "3601", "-1", "1.5", "1e9", "\"30\"", "null", "true", "65537"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn covering_rounds_up_and_stays_in_range() {
        for (millis, seconds) in [(0, 1), (1, 1), (1000, 1), (1001, 2), (10_000_000, 3600)] {
            assert_eq!(Seconds::covering(Duration::from_millis(millis)).get(), seconds, "{millis} ms");
        }
    }
}
