//! What characters are, as far as lines and words depend on it. Pure.

/// Whether a character belongs to a script that is written without blanks.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2fdf}' | '\u{3001}'..='\u{303f}' | '\u{3040}'..='\u{30ff}' | '\u{3100}'..='\u{312f}'
        | '\u{31a0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ff65}' | '\u{20000}'..='\u{323af}')
}

/// Whether a character belongs to a script that runs to the left.
pub(super) fn runs_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Whether a text runs to the left, by most of its letters.
pub(super) fn text_runs_left<'t>(texts: impl Iterator<Item = &'t str>) -> bool {
    let (mut left, mut right) = (0_usize, 0_usize);
    for c in texts.flat_map(str::chars) {
        if runs_left(c) {
            left += 1;
        } else if c.is_alphabetic() {
            right += 1;
        }
    }
    left > right
}

/// How wide a text is to the eye: characters of unspaced scripts count twice.
pub(super) fn visual_length(text: &str) -> usize {
    text.chars().map(|c| if is_unspaced(c) { 2 } else { 1 }).sum()
}
