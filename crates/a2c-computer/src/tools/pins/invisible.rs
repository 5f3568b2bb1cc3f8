//! Characters that a reader does not see, but a language model or a terminal interprets.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What an invisible character does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvisibleKind {
    /// Ends a line, moves the cursor, starts an escape sequence.
    Control,
    /// Changes the direction in which the text around it is shown.
    Direction,
    /// Has no width, or looks like a space and is a letter.
    Invisible,
    /// Unicode's tag characters: a copy of ASCII that nothing draws.
    Tag,
    /// Joins or styles its neighbours: part of emoji and of several scripts, so not odd by itself.
    Joiner,
}

/// The kind of an invisible character; `None` for a visible one. A newline and a tab are not odd.
pub(super) fn invisible_kind(c: char) -> Option<InvisibleKind> {
    match c {
        '\n' | '\t' => None,
        '\u{2028}' | '\u{2029}' => Some(InvisibleKind::Control),
        c if c.is_control() => Some(InvisibleKind::Control),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(InvisibleKind::Direction)
        }
        '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' => Some(InvisibleKind::Joiner),
        '\u{e0000}'..='\u{e007f}' => Some(InvisibleKind::Tag),
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0100}'..='\u{e01ef}' => Some(InvisibleKind::Invisible),
        _ => None,
    }
}

/// The text with every invisible character replaced by its number, as in `\u{202e}`.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| invisible_kind(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if invisible_kind(c).is_some() {
            // Writing into a String cannot fail.
            let _ = write!(escaped, "{}", c.escape_unicode());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped() {
        assert!(matches!(escaped("plain, 汉字, é\n\ttext"), Cow::Borrowed(_)));
        assert_eq!(escaped("a\u{1b}[2Jb\u{e0041}\r"), "a\\u{1b}[2Jb\\u{e0041}\\u{d}");
        for (c, kind) in [
            ('\u{1b}', InvisibleKind::Control),
            ('\u{9b}', InvisibleKind::Control),
            ('\u{202e}', InvisibleKind::Direction),
            ('\u{200b}', InvisibleKind::Invisible),
            ('\u{e0020}', InvisibleKind::Tag),
            ('\u{200d}', InvisibleKind::Joiner),
        ] {
            assert_eq!(invisible_kind(c), Some(kind), "{c:?}");
        }
    }
}
