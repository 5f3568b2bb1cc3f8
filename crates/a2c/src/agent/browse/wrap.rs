//! Text in lines that fit: broken between words where there are some, else between characters, by what they take up on
//! the screen.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::output;

/// The lines of a text from elsewhere, harmless, none wider than `width`.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let text = output::printable(text).replace('\t', "    ");
    text.lines().flat_map(|line| wrap_line(line, width.max(2))).collect()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let (mut lines, mut current, mut used) = (Vec::new(), String::new(), 0);
    for c in line.chars() {
        let more = c.width().unwrap_or(0);
        if used + more > width {
            // The last word goes along, unless it is the whole line.
            let rest = match current.rfind(' ') {
                Some(space) if c != ' ' && !current[..space].trim().is_empty() => current.split_off(space + 1),
                _ => String::new(),
            };
            lines.push(current.trim_end().to_owned());
            current = rest;
            used = current.width();
            if c == ' ' && current.is_empty() {
                continue;
            }
        }
        current.push(c);
        used += more;
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_nothing_is_lost() {
        let check = |text: &str, width, expected: &[&str]| assert_eq!(wrap(text, width), expected, "{text:?} {width}");
        check("", 5, &[]);
        check("abc", 5, &["abc"]);
        check("one two three", 8, &["one two", "three"]);
        check("one two three", 3, &["one", "two", "thr", "ee"]);
        check("abcdefgh", 3, &["abc", "def", "gh"]);
        check("年度报告书", 4, &["年度", "报告", "书"]);
        check("年度报告", 1, &["年", "度", "报", "告"]);
        check("a\n\nb", 5, &["a", "", "b"]);
        check("\x1b[2J", 20, &["\\u001b[2J"]);
        check("  indented text", 10, &["  indented", "text"]);
        for width in 0..12 {
            for line in wrap("mixed 年度 words, somewhatlonger 报告书 ones", width) {
                assert!(line.width() <= width.max(2), "{line:?} is wider than {width}");
            }
        }
    }
}
