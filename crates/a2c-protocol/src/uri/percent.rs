//! Percent-encoding of one path segment: strict when reading, canonical when writing.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;
use std::fmt;

use super::Flaw;

/// Everything but the unreserved characters of RFC 3986, as `quote(text, safe="")` in Python and most others do it.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Decodes a piece of a URI that was already cut at its delimiters.
pub(super) fn decode(encoded: &str) -> Result<Cow<'_, str>, Flaw> {
    let bytes = encoded.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        if byte.is_ascii_control() {
            return Err(Flaw::ControlCharacter);
        }
        let is_escape = || bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        if byte == b'%' && !is_escape() {
            return Err(Flaw::PercentEncoding);
        }
    }
    percent_decode_str(encoded).decode_utf8().map_err(|_| Flaw::NotUtf8)
}

/// Writes `/` and a decoded segment.
pub(super) fn write_segment(f: &mut fmt::Formatter<'_>, segment: &str) -> fmt::Result {
    match segment {
        "." => f.write_str("/%2E"),
        ".." => f.write_str("/%2E%2E"),
        _ => write!(f, "/{}", utf8_percent_encode(segment, RESERVED)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Flaw, decode};

    fn check(encoded: &str, expected: Result<&str, Flaw>) {
        assert_eq!(decode(encoded).as_deref(), expected.as_deref(), "{encoded:?}");
    }

    #[test]
    fn decoding_is_strict_about_escapes_and_lenient_about_the_rest() {
        check("", Ok(""));
        check("a%2Fb%2fc", Ok("a/b/c"));
        check("%25%32%35", Ok("%25"));
        check("a b+c", Ok("a b+c"));
        check("年度%E6%8A%A5告", Ok("年度报告"));
        check("%00", Ok("\0"));
        for broken in ["%", "a%", "%2", "%zz", "%%41", "%4é", "%é", "%+1"] {
            check(broken, Err(Flaw::PercentEncoding));
        }
        for not_utf8 in ["%FF", "%C3", "%ED%A0%80", "%C0%AF"] {
            check(not_utf8, Err(Flaw::NotUtf8));
        }
        for control in ["a\nb", "\0", "\u{7f}"] {
            check(control, Err(Flaw::ControlCharacter));
        }
    }
}
