//! Whole numbers within a range, with the same words for a file, the environment and a flag.

use std::fmt;
use std::ops::RangeInclusive;

/// A type of whole numbers that a setting can have: `u8` to `u64` and `i8` to `i64`.
pub trait Integer: Copy + Into<i128> + TryFrom<i128> {}

impl<T: Copy + Into<i128> + TryFrom<i128>> Integer for T {}

/// The value is no whole number, or is outside of the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write a whole number from {min} to {max}")]
pub struct NotInRange {
    /// The smallest number.
    pub min: i128,
    /// The largest number.
    pub max: i128,
}

/// The value is outside of the range, and the nearest end is used instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clamped {
    /// The end of the range that is used.
    pub limit: i128,
    /// Whether the value is above that end, and not below.
    pub is_above: bool,
}

impl fmt::Display for Clamped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, is_above } = self;
        write!(f, "is {} {limit}: {limit} is used", if *is_above { "above" } else { "below" })
    }
}

/// Reads a text, such as an environment variable; a number outside of the range is an error.
pub fn parse<T: Integer>(text: &str, range: RangeInclusive<T>) -> Result<T, NotInRange> {
    text.parse().ok().and_then(|number| within(number, &range)).ok_or_else(|| not_in(&range))
}

/// Reads a text, such as an environment variable; a number outside of the range becomes the nearest end.
pub fn parse_clamped<T: Integer>(text: &str, range: RangeInclusive<T>) -> Result<(T, Option<Clamped>), NotInRange> {
    text.parse().map(|number| clamp(number, &range)).map_err(|_| not_in(&range))
}

/// The number, if it is in the range.
pub(crate) fn within<T: Integer>(number: i128, range: &RangeInclusive<T>) -> Option<T> {
    let (min, max) = ((*range.start()).into(), (*range.end()).into());
    (min..=max).contains(&number).then(|| T::try_from(number).ok()).flatten()
}

/// The number, or the nearest end of the range and a word about it.
pub(crate) fn clamp<T: Integer>(number: i128, range: &RangeInclusive<T>) -> (T, Option<Clamped>) {
    match within(number, range) {
        Some(number) => (number, None),
        None => {
            let is_above = number > (*range.end()).into();
            let end = if is_above { *range.end() } else { *range.start() };
            (end, Some(Clamped { limit: end.into(), is_above }))
        }
    }
}

pub(crate) fn not_in<T: Integer>(range: &RangeInclusive<T>) -> NotInRange {
    NotInRange { min: (*range.start()).into(), max: (*range.end()).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_taken_refused_or_clamped() {
        for (text, strict, clamped) in [
            ("1", Some(1), Some((1, ""))),
            ("64", Some(64), Some((64, ""))),
            ("0", None, Some((1, "is below 1: 1 is used"))),
            ("-7", None, Some((1, "is below 1: 1 is used"))),
            ("65", None, Some((64, "is above 64: 64 is used"))),
            ("99999999999999999999", None, Some((64, "is above 64: 64 is used"))),
            ("1.5", None, None),
            ("", None, None),
            ("many", None, None),
        ] {
            assert_eq!(parse(text, 1..=64_u8).ok(), strict, "{text}");
            let told =
                |(number, note): (u8, Option<Clamped>)| (number, note.map(|n| n.to_string()).unwrap_or_default());
            let expected = clamped.map(|(number, note): (u8, &str)| (number, note.to_owned()));
            assert_eq!(parse_clamped(text, 1..=64_u8).ok().map(told), expected, "{text}");
        }
        assert_eq!(parse("x", -5..=5_i64).unwrap_err().to_string(), "write a whole number from -5 to 5");
        assert_eq!(parse(&u64::MAX.to_string(), 0..=u64::MAX), Ok(u64::MAX));
    }
}
