//! Recognising a value in a text that may have been percent-encoded or escaped on the way, any part of it.
//!
//! The value is compared character by character; each may stand for itself, as `%XX` per byte of UTF-8, as `\uXXXX`,
//! `\u{X}` or `\xXX`, or behind any number of backslashes. No list of encoders has to be right for that.
//!
//! The author of the text may want the search to be slow. So nothing is allocated where only one reading is possible,
//! and a run of backslashes, of any length, is measured once however often it is come across.

use std::cell::Cell;
use std::ops::Range;

/// A text that is searched.
pub(super) struct Text<'a> {
    text: &'a str,
    /// The run of backslashes that was measured last.
    run: Cell<(usize, usize)>,
}

/// How far the comparison has come on one way of reading the text.
struct Reading {
    wanted: usize,
    at: usize,
    behind_backslash: bool,
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, run: Cell::new((0, 0)) }
    }

    /// Where the value ends, if any spelling of it begins at `start` of the text. `start` is on a character.
    pub(super) fn end_of(&self, value: &str, start: usize) -> Option<usize> {
        // A `%` may stand for itself or begin `%25`: where one reading leads nowhere, the next one is tried.
        let mut open = Vec::new();
        let mut reading = Reading { wanted: 0, at: start, behind_backslash: false };
        loop {
            let Reading { wanted, at, behind_backslash } = reading;
            let Some(c) = value[wanted..].chars().next() else { return Some(at) };
            let mut next = None;
            if c == '\\' {
                // A run of backslashes: escaping only makes it longer.
                let run = value[wanted..].bytes().take_while(|b| *b == b'\\').count();
                let end = self.backslashes(at, run);
                next = end.map(|at| Reading { wanted: wanted + run, at, behind_backslash: true });
            } else {
                let ends = self.ends_of(c, at, behind_backslash);
                for (index, end) in ends.iter().enumerate() {
                    // The same end twice would double the work at every such place.
                    let Some(at) = end.filter(|_| !ends[..index].contains(end)) else { continue };
                    let way = Reading { wanted: wanted + c.len_utf8(), at, behind_backslash: false };
                    open.extend(next.replace(way));
                }
            }
            reading = next.or_else(|| open.pop())?;
        }
    }

    /// Where a character other than a backslash may end, the least likely way of reading it first.
    fn ends_of(&self, c: char, at: usize, behind_backslash: bool) -> [Option<usize>; 4] {
        let rest = &self.text[at..];
        let behind = if behind_backslash { self.escaped(c, at) } else { None };
        let itself = rest.starts_with(c).then(|| at + c.len_utf8());
        match rest.as_bytes().first() {
            Some(b'+') if c == ' ' => [behind, Some(at + 1), None, itself],
            Some(b'%' | b'\\') => {
                let escaped = self.backslashes(at, 1).and_then(|end| self.escaped(c, end));
                [behind, escaped, self.percent(c, at), itself]
            }
            _ => [behind, None, None, itself],
        }
    }

    /// The end of a run of at least so many backslashes, each as itself or as `%5C`.
    pub(super) fn backslashes(&self, at: usize, at_least: usize) -> Option<usize> {
        let mut end = at;
        for _ in 0..at_least {
            end += self.backslash(end)?;
        }
        let (start, known) = self.run.get();
        if (start..known).contains(&at) {
            return Some(known);
        }
        while let Some(length) = self.backslash(end) {
            end += length;
        }
        self.run.set((at, end));
        Some(end)
    }

    fn backslash(&self, at: usize) -> Option<usize> {
        match self.text.as_bytes().get(at)? {
            b'\\' => Some(1),
            b'%' if self.percent_byte(at) == Some(b'\\') => Some(3),
            _ => None,
        }
    }

    /// The byte that `%XX` stands for.
    fn percent_byte(&self, at: usize) -> Option<u8> {
        let digits = self.text.get(at..)?.strip_prefix('%')?.get(..2)?;
        hex(digits).and_then(|byte| u8::try_from(byte).ok())
    }

    /// `%XX` for every byte.
    fn percent(&self, c: char, at: usize) -> Option<usize> {
        let mut buffer = [0; 4];
        let mut end = at;
        for byte in c.encode_utf8(&mut buffer).bytes() {
            (self.percent_byte(end)? == byte).then_some(())?;
            end += 3;
        }
        Some(end)
    }

    /// The end of what stands behind backslashes for a character.
    fn escaped(&self, c: char, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        if rest.bytes().next().and_then(control).is_some_and(|control| char::from(control) == c) {
            return Some(at + 1);
        }
        let itself = || rest.starts_with(c).then(|| at + c.len_utf8());
        self.unicode(c, at).or_else(itself).or_else(|| self.percent(c, at))
    }

    /// A number that is the character, or two of them, with backslashes between, beyond the first plane.
    fn unicode(&self, c: char, at: usize) -> Option<usize> {
        let (number, end) = self.number(at)?;
        if number == u32::from(c) {
            return Some(end);
        }
        let mut units = [0; 2];
        let [high, low] = *c.encode_utf16(&mut units) else { return None };
        (number == u32::from(high)).then_some(())?;
        let (number, end) = self.number(self.backslashes(end, 1)?)?;
        (number == u32::from(low)).then_some(end)
    }

    /// `uXXXX`, `u{X}` or `xXX`, and where it ends.
    fn number(&self, at: usize) -> Option<(u32, usize)> {
        let rest = &self.text[at..];
        if let Some(rest) = rest.strip_prefix("u{") {
            let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
            rest[length..].starts_with('}').then_some(())?;
            return Some((hex(&rest[..length])?, at + length + 3));
        }
        let length = match rest.bytes().next()? {
            b'u' => 4,
            b'x' => 2,
            _ => return None,
        };
        Some((hex(rest.get(1..=length)?)?, at + 1 + length))
    }

    /// By which bytes a value can begin that begins at `start` of the text in some spelling. Backslashes are looked
    /// behind only where a run of them begins: from within it, the same is found again.
    pub(super) fn firsts(&self, start: usize, run_begins: bool) -> [Range<u8>; 4] {
        const NONE: Range<u8> = 0..0;
        let only = |byte: Option<u8>| byte.map_or(NONE, |byte| byte..byte.saturating_add(1));
        let byte = self.text.as_bytes().get(start).copied();
        let mut firsts = [only(byte), NONE, NONE, NONE];
        match byte {
            Some(b'+') => firsts[1] = only(Some(b' ')),
            Some(b'%' | b'\\') if run_begins => {
                firsts[1] = only(self.percent_byte(start));
                if let Some(behind) = self.backslashes(start, 1) {
                    let byte = self.text.as_bytes().get(behind).copied();
                    firsts[2] = only(byte);
                    firsts[3] = match (self.number(behind), self.percent_byte(behind)) {
                        (Some((number, _)), _) => match char::from_u32(number) {
                            Some(c) => only(c.encode_utf8(&mut [0; 4]).bytes().next()),
                            // Half of a character beyond the first plane.
                            None => 0xf0..0xf5,
                        },
                        (None, Some(byte)) => only(Some(byte)),
                        (None, None) => only(byte.and_then(control)),
                    };
                }
            }
            _ => {}
        }
        firsts
    }
}

/// The control character that a letter stands for behind a backslash.
fn control(letter: u8) -> Option<u8> {
    match letter {
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'b' => Some(8),
        b'f' => Some(12),
        _ => None,
    }
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
            assert_eq!(Text::new(text).end_of(value, 0), end, "{value:?} in {text:?}");
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
        check("é", r"\u{0000e9}", Some(10));
        check("é", r"\u{e9", None);
        check("😀", r"\ud83d\\\ude00", Some(14));
        check("😀", r"\ud83d", None);
    }

    #[test]
    fn a_path_that_differs_at_its_end_is_read_once() {
        // Two ways to read each part would be 2^64 for all of them.
        let path = r"\a".repeat(64);
        assert_eq!(Text::new(&format!("{path}x")).end_of(&format!("{path}y"), 0), None);
    }
}
