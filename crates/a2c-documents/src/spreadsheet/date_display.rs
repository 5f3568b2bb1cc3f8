//! Dates and times as they are shown: in ISO order, with what their format shows of them.

use super::format_sections::FormatPiece;
use super::serial_date::{CalendarTime, DateSystem};

/// A number as the date or the time that a format shows of it. The parts are those of the format, their order and their
/// signs those of ISO 8601: a reader in another country, and a program, understand them. `None` for a number that is no
/// date.
pub(super) fn date(pieces: &[FormatPiece], value: f64, system: DateSystem) -> Option<String> {
    let has = |letters: &[char]| {
        pieces.iter().any(|piece| matches!(piece, FormatPiece::DateLetter(letter, _) if letters.contains(letter)))
    };
    if let Some(unit) = pieces.iter().find_map(|piece| match piece {
        FormatPiece::Elapsed(letter) => Some(*letter),
        _ => None,
    }) {
        return elapsed(unit, value, has(&['s']) || unit == 's', has(&['n']));
    }
    let time = CalendarTime::of_serial(value, system)?;
    let with_time = has(&['h', 'n', 's']) || pieces.contains(&FormatPiece::HalfDay);
    let with_day = has(&['d', 'a']);
    let (with_month, with_year) = (has(&['m']), has(&['y', 'e', 'b', 'g']));
    let date = match (with_year, with_month, with_day) {
        (false, false, false) => None,
        (true, false, false) if !with_time => Some(format!("{:04}", time.year)),
        (true, true, false) if !with_time => Some(format!("{:04}-{:02}", time.year, time.month)),
        _ => Some(time.date()),
    };
    Some(match (date, with_time) {
        (Some(date), true) => format!("{date} {}", time.time()),
        (Some(date), false) => date,
        (None, _) => time.time(),
    })
}

/// A time that does not begin again after a day.
fn elapsed(unit: char, value: f64, with_seconds: bool, with_minutes: bool) -> Option<String> {
    if !value.is_finite() || value.abs() > 1e9 {
        return None;
    }
    let sign = if value < 0.0 { "-" } else { "" };
    let seconds = (value.abs() * 86_400.0).round() as u64;
    let (hours, minutes) = (seconds / 3600, seconds / 60);
    Some(match (unit, with_minutes, with_seconds) {
        ('h', _, true) => format!("{sign}{hours:02}:{:02}:{:02}", minutes % 60, seconds % 60),
        ('h', true, false) => format!("{sign}{hours:02}:{:02}", minutes % 60),
        ('h', false, false) => format!("{sign}{hours}"),
        ('m', _, true) => format!("{sign}{minutes:02}:{:02}", seconds % 60),
        ('m', _, false) => format!("{sign}{minutes}"),
        _ => format!("{sign}{seconds}"),
    })
}
