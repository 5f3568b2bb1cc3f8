//! The text of glyphs, as people write it: without ligatures and without what cannot be seen. Pure.

/// Adds the text of a glyph to a word.
pub(super) fn push_text(word: &mut String, text: &str) {
    for c in text.chars() {
        push_character(word, c);
    }
}

/// Adds one character to a word.
pub(super) fn push_character(word: &mut String, c: char) {
    match c {
        'ﬀ' => word.push_str("ff"),
        'ﬁ' => word.push_str("fi"),
        'ﬂ' => word.push_str("fl"),
        'ﬃ' => word.push_str("ffi"),
        'ﬄ' => word.push_str("ffl"),
        'ﬅ' | 'ﬆ' => word.push_str("st"),
        // A radical of the dictionary looks like the character that is meant.
        '\u{2f00}'..='\u{2fd5}' => word.push(plain_radical(c)),
        '\t' | '\n' | '\r' => word.push(' '),
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{feff}' => {}
        _ if c.is_control() => {}
        _ => word.push(c),
    }
}

/// Whether a text is nothing but blanks.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{a0}')
}

/// The commonest radicals that fonts give for characters.
fn plain_radical(c: char) -> char {
    const PAIRS: [(char, char); 24] = [
        ('⼀', '一'),
        ('⼆', '二'),
        ('⼈', '人'),
        ('⼊', '入'),
        ('⼋', '八'),
        ('⼒', '力'),
        ('⼗', '十'),
        ('⼝', '口'),
        ('⼟', '土'),
        ('⼤', '大'),
        ('⼥', '女'),
        ('⼦', '子'),
        ('⼩', '小'),
        ('⼭', '山'),
        ('⼯', '工'),
        ('⼼', '心'),
        ('⼿', '手'),
        ('⽅', '方'),
        ('⽇', '日'),
        ('⽉', '月'),
        ('⽂', '文'),
        ('⽤', '用'),
        ('⽬', '目'),
        ('⾏', '行'),
    ];
    PAIRS.iter().find(|(radical, _)| *radical == c).map_or(c, |(_, plain)| *plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ligatures_are_letters_and_controls_are_nothing() {
        let mut word = String::new();
        push_text(&mut word, "eﬃ\u{200b}cient\u{7}⽂");
        assert_eq!(word, "efficient文");
        assert!(is_blank("\u{a0} ") && !is_blank("a"));
    }
}
