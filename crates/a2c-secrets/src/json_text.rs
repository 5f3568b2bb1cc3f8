//! The texts in a JSON text, found without building a tree of it.

use std::ops::Range;

/// Where each text stands, with its quotation marks. One that does not end is left out.
pub(crate) fn texts(json: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + memchr::memchr(b'"', &bytes[at..])?;
        at = start + 1;
        loop {
            at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
            if bytes[at] == b'"' {
                at += 1;
                return Some(start..at);
            }
            // What is escaped is no end, whatever it is.
            at += 2;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_with_what_is_escaped_in_them() {
        for (json, expected) in [
            (r#"{"a": "b", "c": 1}"#, &[r#""a""#, r#""b""#, r#""c""#][..]),
            (r#"["\"", "\\", "\\\""]"#, &[r#""\"""#, r#""\\""#, r#""\\\"""#]),
            ("[1]", &[]),
            (r#"["a", "b"#, &[r#""a""#]),
            (r#"["a\"#, &[]),
        ] {
            let found: Vec<_> = texts(json).map(|range| &json[range]).collect();
            assert_eq!(found, expected, "{json}");
        }
    }
}
