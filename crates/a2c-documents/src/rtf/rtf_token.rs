//! The tokens of RTF: groups, control words, and text. Pure.

/// One token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RtfToken<'a> {
    Open,
    Close,
    /// A control word with its number.
    Word(&'a [u8], Option<i32>),
    /// A control sign, such as `\~`.
    Sign(u8),
    /// A byte that is written in hex.
    Byte(u8),
    /// Bytes as they are.
    Text(&'a [u8]),
    /// Bytes that are no text: where they begin and end.
    Binary(usize, usize),
}

/// Reads tokens one after the other.
pub(super) struct RtfTokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> RtfTokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Where the next token begins.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn control(&mut self) -> Option<RtfToken<'a>> {
        let rest = self.rest();
        let first = *rest.first()?;
        if !first.is_ascii_alphabetic() {
            self.at += 1;
            if first != b'\'' {
                // A line break after a backslash ends a paragraph.
                return Some(if matches!(first, b'\n' | b'\r') {
                    RtfToken::Word(b"par", None)
                } else {
                    RtfToken::Sign(first)
                });
            }
            let hex = rest.get(1..3).and_then(|hex| std::str::from_utf8(hex).ok());
            let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
            self.at += if byte.is_some() { 2 } else { 0 };
            return Some(RtfToken::Byte(byte.unwrap_or(b'?')));
        }
        let length = rest.iter().take(32).take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (word, after) = rest.split_at(length);
        let sign = usize::from(after.first() == Some(&b'-'));
        let digits = after.iter().skip(sign).take(10).take_while(|byte| byte.is_ascii_digit()).count();
        let number = (digits > 0).then(|| &after[..sign + digits]);
        self.at += length + number.map_or(0, <[u8]>::len);
        // One blank after a word belongs to it.
        self.at += usize::from(self.rest().first() == Some(&b' '));
        let number = number.and_then(|number| std::str::from_utf8(number).ok()?.parse().ok());
        if word == b"bin" {
            let start = self.at;
            let wanted = number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0);
            self.at = start.saturating_add(wanted).min(self.bytes.len());
            return Some(RtfToken::Binary(start, self.at));
        }
        Some(RtfToken::Word(word, number))
    }
}

impl<'a> Iterator for RtfTokens<'a> {
    type Item = RtfToken<'a>;

    fn next(&mut self) -> Option<RtfToken<'a>> {
        loop {
            let rest = self.rest();
            let first = *rest.first()?;
            match first {
                b'{' | b'}' => {
                    self.at += 1;
                    return Some(if first == b'{' { RtfToken::Open } else { RtfToken::Close });
                }
                b'\\' => {
                    self.at += 1;
                    return self.control();
                }
                b'\r' | b'\n' | 0 => self.at += 1,
                _ => {
                    let length = rest.iter().take_while(|byte| !b"{}\\\r\n\0".contains(byte)).count();
                    self.at += length;
                    return Some(RtfToken::Text(&rest[..length]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_bytes_are_told_apart() {
        let tokens: Vec<RtfToken<'_>> = RtfTokens::new(b"{\\rtf1\\b0 x\r\n y\\'e9\\~\\u-10 ?\\bin3 {}}z\\").collect();
        assert_eq!(
            tokens,
            [
                RtfToken::Open,
                RtfToken::Word(b"rtf", Some(1)),
                RtfToken::Word(b"b", Some(0)),
                RtfToken::Text(b"x"),
                RtfToken::Text(b" y"),
                RtfToken::Byte(0xe9),
                RtfToken::Sign(b'~'),
                RtfToken::Word(b"u", Some(-10)),
                RtfToken::Text(b"?"),
                RtfToken::Binary(34, 37),
                RtfToken::Text(b"z"),
            ]
        );
        let hostile = RtfTokens::new(b"\\bin99999999999 x\\'zz\\u999999999999").count();
        assert_eq!(hostile, 6);
    }
}
