//! When a document last changed, in a form that can be compared.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

/// Reads an ISO 8601 time as a point in time.
///
/// Lenient where the meaning is clear: a date alone is its first moment, a time without an offset is UTC, and `t`, `z`
/// and a space for the `T` are read too. Digits of a fraction beyond nanoseconds are cut off, and the last day of the
/// year 9999, which some write for "never", is as late as can be. A time zone given by its name alone is not looked up:
/// such a text, as any other that cannot be read, is `None`.
pub(super) fn instant(text: &str) -> Option<Timestamp> {
    let text = to_nanoseconds(text.trim());
    let pieces = Pieces::parse(text.as_ref()).ok()?;
    let offset = match pieces.to_numeric_offset() {
        Some(offset) => offset,
        None if pieces.time_zone_annotation().is_some() => return None,
        None => Offset::UTC,
    };
    let time = pieces.date().to_datetime(pieces.time().unwrap_or_default());
    Some(offset.to_timestamp(time).unwrap_or(if time.year() > 0 { Timestamp::MAX } else { Timestamp::MIN }))
}

/// The text without the digits of its fraction that stand for less than a nanosecond.
fn to_nanoseconds(text: &str) -> Cow<'_, str> {
    const NANOSECOND_DIGITS: usize = 9;
    let Some(point) = text.find(['.', ',']) else {
        return text.into();
    };
    let (before, fraction) = text.split_at(point + 1);
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    if digits <= NANOSECOND_DIGITS {
        return text.into();
    }
    format!("{before}{}{}", &fraction[..NANOSECOND_DIGITS], &fraction[digits..]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_spellings_of_one_moment_are_equal() {
        let expected: Timestamp = "2026-01-15T08:30:00Z".parse().unwrap();
        for text in [
            "2026-01-15T08:30:00Z",
            "2026-01-15T08:30:00z",
            "2026-01-15t08:30:00z",
            "2026-01-15 08:30:00Z",
            "2026-01-15T08:30:00",
            "2026-01-15 08:30:00",
            "2026-01-15T08:30",
            "2026-01-15T08:30Z",
            "2026-01-15T08:30:00.000Z",
            "2026-01-15T08:30:00.000000000000Z",
            "2026-01-15T08:30:00,0Z",
            "2026-01-15T08:30:00+00:00",
            "2026-01-15T08:30:00-00:00",
            "2026-01-15T16:30:00+08:00",
            "2026-01-15T16:30:00+0800",
            "2026-01-15T16:30:00+08",
            "2026-01-14T22:30:00-10:00",
            "2026-01-15T14:00:00+05:30",
            "2026-01-15T16:30:00+08:00[Asia/Shanghai]",
            "20260115T083000Z",
            " 2026-01-15T08:30:00Z\n",
        ] {
            assert_eq!(instant(text), Some(expected), "{text}");
        }
        assert_eq!(instant("2026-01-15"), instant("2026-01-15T00:00:00Z"));
    }

    #[test]
    fn moments_are_ordered_and_not_their_texts() {
        let ascending = [
            "-000001-01-01",
            "0001-01-01T00:00:00Z",
            "1969-12-31T23:59:59.9Z",
            "1970-01-01",
            "2026-01-15T09:30:00+02:00",
            "2026-01-15T08:00:00Z",
            "2026-01-15T08:00:00.000000001Z",
            "2026-01-15T08:00:00.05Z",
            "2026-01-15T08:00:00.1Z",
            "2026-01-15T05:00:00.2-03:00",
            "9999-12-30T12:00:00Z",
            "9999-12-31T23:59:59Z",
        ];
        assert!(ascending.iter().all(|text| instant(text).is_some()));
        assert!(ascending.is_sorted_by_key(|text| instant(text)), "{:?}", ascending.map(instant));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            " ",
            "yesterday",
            "1768465800",
            "2026",
            "2026-13-01T00:00:00Z",
            "2026-02-30",
            "2026-01-15T25:00:00Z",
            "2026-01-15T08:30:00+99:00",
            "2026-01-15T08:30:00[Europe/Berlin]",
            "2026-01-15T08:30:00Z and more",
            "2026-01-15T08:30:00.1234567890123x",
            "99999-01-01T00:00:00Z",
            "财务",
        ] {
            assert_eq!(instant(text), None, "{text}");
        }
    }
}
