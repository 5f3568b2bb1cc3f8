//! Characters that a reader does not see but a language model, or a terminal, does.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Why a character is not what it looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unseen {
    /// Ends a line, moves the cursor, starts an escape sequence.
    Control,
    /// Changes the direction in which the text around it is shown.
    Direction,
    /// Has no width, or looks like a space and is a letter.
    Invisible,
    /// Unicode's tag characters: a copy of ASCII that nothing draws.
    Tag,
    /// Joins or styles its neighbours: part of emoji and of several scripts, so usual by itself.
    Joiner,
}

/// What a character hides, if anything. A newline and a tab are plain.
pub(super) fn unseen(c: char) -> Option<Unseen> {
    match c {
        '\n' | '\t' => None,
        '\u{2028}' | '\u{2029}' => Some(Unseen::Control),
        c if c.is_control() => Some(Unseen::Control),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(Unseen::Direction)
        }
        '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' => Some(Unseen::Joiner),
        '\u{e0000}'..='\u{e007f}' => Some(Unseen::Tag),
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
        | '\u{e0100}'..='\u{e01ef}' => Some(Unseen::Invisible),
        _ => None,
    }
}

/// The text with every character that cannot be seen replaced by its number, as in `\u{202e}`.
pub(super) fn spelled_out(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| unseen(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut spelled = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if unseen(c).is_some() {
            // Writing into a String cannot fail.
            let _ = write!(spelled, "{}", c.escape_unicode());
        } else {
            spelled.push(c);
        }
    }
    Cow::Owned(spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stays_unseen() {
        assert!(matches!(spelled_out("plain, 汉字, é\n\ttext"), Cow::Borrowed(_)));
        assert_eq!(spelled_out("a\u{1b}[2Jb\u{e0041}\r"), "a\\u{1b}[2Jb\\u{e0041}\\u{d}");
        for (c, kind) in [
            ('\u{1b}', Unseen::Control),
            ('\u{9b}', Unseen::Control),
            ('\u{202e}', Unseen::Direction),
            ('\u{200b}', Unseen::Invisible),
            ('\u{e0020}', Unseen::Tag),
            ('\u{200d}', Unseen::Joiner),
        ] {
            assert_eq!(unseen(c), Some(kind), "{c:?}");
        }
    }
}
