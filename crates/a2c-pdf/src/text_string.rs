//! The strings and dates of a file's own dictionaries, as text. Pure.

use hayro_syntax::object::{self, Dict};

/// What the bytes 0x18–0x1f and 0x80–0xa0 stand for in strings of dictionaries.
const LOW: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
const HIGH: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł', 'Œ',
    'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
];

/// The most characters of such a string.
const LONGEST: usize = 1 << 20;

/// The text of a string: UTF-16 or UTF-8 where it says so, else the encoding of PDF's own.
pub(crate) fn text_string(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(LONGEST)];
    let text: String = match bytes {
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|byte| pdf_character(*byte)).collect(),
    };
    clean(&text)
}

fn utf16(bytes: &[u8], read: impl Fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
    char::decode_utf16(units).map(|unit| unit.unwrap_or('\u{fffd}')).collect()
}

fn pdf_character(byte: u8) -> char {
    match byte {
        0x18..=0x1f => LOW[usize::from(byte - 0x18)],
        0x80..=0xa0 => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Without what cannot be seen: control characters, and the marks of languages in UTF-16.
fn clean(text: &str) -> String {
    let mut within_escape = false;
    let kept = text.chars().filter(|c| {
        if *c == '\u{1b}' {
            within_escape = !within_escape;
        }
        !within_escape && (!c.is_control() || matches!(c, '\n' | '\r' | '\t'))
    });
    kept.collect::<String>().replace("\r\n", "\n").replace('\r', "\n").trim().to_owned()
}

/// The text of an entry; `None` where there is none or it is empty.
pub(crate) fn text_entry(dict: &Dict<'_>, key: &str) -> Option<String> {
    let string = dict.get::<object::String<'_>>(key)?;
    Some(text_string(string.as_bytes())).filter(|text| !text.is_empty())
}

/// A date such as `D:20260102030405+01'00'` in ISO 8601, as far as it goes.
pub(crate) fn iso_date(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches("D:");
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let part = |from: usize, to: usize| text.get(from..to).filter(|_| digits >= to);
    let number = |from: usize, to: usize| part(from, to)?.parse::<u32>().ok();
    let mut date = part(0, 4)?.to_owned();
    if !number(4, 6).is_some_and(|month| (1..=12).contains(&month)) {
        return Some(date);
    }
    date = format!("{date}-{}", part(4, 6)?);
    if !number(6, 8).is_some_and(|day| (1..=31).contains(&day)) {
        return Some(date);
    }
    date = format!("{date}-{}", part(6, 8)?);
    let (Some(hour), Some(minute)) = (number(8, 10), number(10, 12)) else { return Some(date) };
    let second = number(12, 14).unwrap_or(0);
    if hour > 23 || minute > 59 || second > 59 {
        return Some(date);
    }
    let zone = text.get(digits..).unwrap_or_default();
    let zone_digits: String = zone.chars().filter(char::is_ascii_digit).collect();
    let zone = match (zone.chars().next(), zone_digits.get(..2)) {
        (Some('Z'), _) => "Z".to_owned(),
        (Some(sign @ ('+' | '-')), Some(hours)) => format!("{sign}{hours}:{}", zone_digits.get(2..4).unwrap_or("00")),
        _ => String::new(),
    };
    Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{zone}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_say_their_encoding() {
        assert_eq!(text_string(b"plain \x80 \x92"), "plain • ™");
        assert_eq!(text_string(b"\xfe\xff\x4e\x2d\x65\x87"), "中文");
        assert_eq!(text_string(b"\xff\xfe\x2d\x4e"), "中");
        assert_eq!(text_string("\u{feff}größe".as_bytes()), "größe");
        assert_eq!(text_string(b"a\x00\x07b\r\nc"), "ab\nc");
        assert_eq!(text_string(b"\xfe\xff\x00\x1b\x00e\x00n\x00\x1b\x00A"), "A");
    }

    #[test]
    fn dates_are_read_as_far_as_they_go() {
        for (text, expected) in [
            ("D:20260102030405+01'00'", Some("2026-01-02T03:04:05+01:00")),
            ("D:20260102030405Z", Some("2026-01-02T03:04:05Z")),
            ("D:20260102", Some("2026-01-02")),
            ("20261399", Some("2026")),
            ("D:2026", Some("2026")),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(iso_date(text).as_deref(), expected, "{text}");
        }
    }
}
