//! Recognising a value in a text that may have been percent-encoded or escaped on the way, any part of it.
//!
//! The value is compared character by character; each may stand for itself, as `%XX` per byte of UTF-8, as `\uXXXX`,
//! `\u{X}` or `\xXX`, or behind any number of backslashes. No list of encoders has to be right for that.

/// Where the value ends, if any spelling of it begins at `start` of the text. `start` is on a character.
pub(super) fn end_of(value: &str, text: &str, start: usize) -> Option<usize> {
    // A `%` may stand for itself or begin `%25`: where one reading leads nowhere, the next one is tried.
    let mut open = vec![Reading { wanted: 0, at: start, behind_backslash: false }];
    while let Some(Reading { wanted, at, behind_backslash }) = open.pop() {
        let Some(c) = value[wanted..].chars().next() else { return Some(at) };
        let rest = &text[at..];
        if c == '\\' {
            // A run of backslashes: escaping only makes it longer.
            let run = value[wanted..].bytes().take_while(|b| *b == b'\\').count();
            if let Some(length) = backslashes(rest, run) {
                open.push(Reading { wanted: wanted + run, at: at + length, behind_backslash: true });
            }
            continue;
        }
        let mut go_on = |length: Option<usize>| {
            let next = |length| Reading { wanted: wanted + c.len_utf8(), at: at + length, behind_backslash: false };
            open.extend(length.map(next));
        };
        if behind_backslash {
            go_on(escaped(c, rest));
        }
        match rest.as_bytes().first() {
            Some(b'+') if c == ' ' => go_on(Some(1)),
            Some(b'%' | b'\\') => {
                go_on(backslashes(rest, 1).and_then(|run| Some(run + escaped(c, &rest[run..])?)));
                go_on(percent(c, rest));
            }
            _ => {}
        }
        go_on(rest.starts_with(c).then(|| c.len_utf8()));
    }
    None
}

/// How far the comparison has come on one way of reading the text.
struct Reading {
    wanted: usize,
    at: usize,
    behind_backslash: bool,
}

/// The length of a run of at least so many backslashes, each as itself or as `%5C`.
fn backslashes(text: &str, at_least: usize) -> Option<usize> {
    let (mut length, mut seen) = (0, 0);
    loop {
        length += match text.get(length..) {
            Some(rest) if rest.starts_with('\\') => 1,
            Some(rest) => match percent('\\', rest) {
                Some(encoded) => encoded,
                None => break,
            },
            None => break,
        };
        seen += 1;
    }
    (seen >= at_least).then_some(length)
}

/// `%XX` for every byte.
fn percent(c: char, text: &str) -> Option<usize> {
    let mut buffer = [0; 4];
    let mut length = 0;
    for byte in c.encode_utf8(&mut buffer).bytes() {
        let digits = text.get(length..)?.strip_prefix('%')?.get(..2)?;
        (hex(digits)? == u32::from(byte)).then_some(())?;
        length += 3;
    }
    Some(length)
}

/// What stands behind backslashes for a character.
fn escaped(c: char, text: &str) -> Option<usize> {
    let short = match c {
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        '\u{8}' => Some('b'),
        '\u{c}' => Some('f'),
        _ => None,
    };
    if short.is_some_and(|short| text.starts_with(short)) {
        return Some(1);
    }
    unicode(c, text).or_else(|| text.starts_with(c).then(|| c.len_utf8())).or_else(|| percent(c, text))
}

/// `uXXXX` (two of them, with backslashes between, beyond the first plane), `u{X}` or `xXX`.
fn unicode(c: char, text: &str) -> Option<usize> {
    if let Some(digits) = text.strip_prefix("u{").and_then(|rest| rest.split_once('}')).map(|(digits, _)| digits)
        && hex(digits) == Some(c.into())
    {
        return Some(digits.len() + 3);
    }
    if let Some(digits) = text.strip_prefix('x').and_then(|rest| rest.get(..2))
        && hex(digits) == Some(c.into())
    {
        return Some(3);
    }
    let mut units = [0; 2];
    let mut length = 0;
    for (index, unit) in c.encode_utf16(&mut units).iter().enumerate() {
        if index > 0 {
            length += backslashes(text.get(length..)?, 1)?;
        }
        let digits = text.get(length..)?.strip_prefix('u')?.get(..4)?;
        (hex(digits)? == u32::from(*unit)).then_some(())?;
        length += 5;
    }
    Some(length)
}

/// A number of hexadecimal digits alone: `from_str_radix` would also take a sign.
fn hex(digits: &str) -> Option<u32> {
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    plain.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_end_where_the_value_ends() {
        let check = |value: &str, text: &str, end: Option<usize>| {
            assert_eq!(end_of(value, text, 0), end, "{value:?} in {text:?}");
        };
        check("abc", "abcd", Some(3));
        check("abc", "abd", None);
        check("abc", "ab", None);
        check("a/b", "a%2Fb", Some(5));
        check("a/b", "a%2", None);
        check("a/b", r"a\/b", Some(4));
        check("a\\b", r"a\\b", Some(4));
        check("a\\\"b", r#"a\\\"b"#, Some(6));
        check("ü", "%C3%BC", Some(6));
        check("ü", "%C3", None);
        check("é", r"\u00e9", Some(6));
        check("é", r"\xe9", Some(4));
        check("\t", r"\t", Some(2));
        check("a b", "a+b", Some(3));
        check("a%b", "a%25b", Some(5));
        check("a%b", "a%b", Some(3));
        check("a\\", "a%5C", Some(4));
        check("a%x", "a%25x", Some(5));
        check("a%25x", "a%25x", Some(5));
        check("a%25x", "a%2525x", Some(7));
        check("a\\\nb", r"a\\\nb", Some(6));
    }
}
