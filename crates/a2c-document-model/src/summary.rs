//! The first sentences of a text, as many as fit. Pure.

/// A beginning of these paragraphs of at most `most` characters: whole sentences, or as much of the first as fits.
pub fn first_sentences<'a>(paragraphs: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let (mut written, mut length) = (String::new(), 0);
    for paragraph in paragraphs {
        let paragraph = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        for sentence in sentences(&paragraph) {
            let size = sentence.chars().count();
            let gap = usize::from(!written.is_empty() && !ends_tightly(&written));
            if length + gap + size > most {
                return match written.is_empty() {
                    true => shortened(sentence, most),
                    false => written,
                };
            }
            if gap > 0 {
                written.push(' ');
            }
            written.push_str(sentence);
            length += gap + size;
        }
    }
    written
}

/// Whether no blank follows: Chinese has none between sentences.
fn ends_tightly(text: &str) -> bool {
    text.ends_with(['。', '！', '？', '；', '：'])
}

/// The sentences of a paragraph.
fn sentences(paragraph: &str) -> Vec<&str> {
    let (mut sentences, mut start) = (Vec::new(), 0);
    for (at, c) in paragraph.char_indices() {
        let end = at + c.len_utf8();
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' | '…' => {
                let rest = &paragraph[end..];
                let begins_anew = rest.trim_start().chars().next().is_none_or(|next| !next.is_lowercase());
                let breaks = rest.is_empty() || rest.starts_with(char::is_whitespace);
                breaks && begins_anew && !(c == '.' && is_abbreviated(&paragraph[start..at]))
            }
            _ => false,
        };
        if ends {
            sentences.push(paragraph[start..end].trim());
            start = end;
        }
    }
    sentences.push(paragraph[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Whether a point after this text is one of an abbreviation or a number: `z.B.`, `Dr.`, `3.`.
fn is_abbreviated(before: &str) -> bool {
    const KNOWN: [&str; 14] =
        ["dr", "mr", "mrs", "ms", "prof", "st", "vs", "bzw", "ca", "etc", "inc", "nr", "usw", "fig"];
    let word = before.rsplit([' ', '(']).next().unwrap_or_default();
    let last = word.rsplit('.').next().unwrap_or_default();
    let is_number = !last.is_empty() && last.chars().all(|c| c.is_ascii_digit()) && last.len() <= 2;
    (last.chars().count() == 1 && last.chars().all(char::is_alphabetic))
        || is_number
        || KNOWN.contains(&word.to_lowercase().as_str())
}

/// A text that ends at a word, and says that it goes on.
fn shortened(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most.saturating_sub(1)) else { return text.to_owned() };
    let cut = &text[..end];
    // A word in the last quarter gives way; a text without blanks is cut anywhere.
    let at_word = cut.rfind(' ').filter(|blank| *blank * 4 >= end * 3).unwrap_or(end);
    format!("{}…", cut[..at_word].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_people_end_them() {
        for (text, expected) in [
            ("One. Two! Three? four", vec!["One.", "Two!", "Three? four"]),
            (
                "Dr. Who paid 3.50 Euro, z. B. gestern. Dann nichts.",
                vec!["Dr. Who paid 3.50 Euro, z. B. gestern.", "Dann nichts."],
            ),
            ("今天下雨。明天晴！后天呢？好", vec!["今天下雨。", "明天晴！", "后天呢？", "好"]),
            ("Am 3. Mai begann es. Ende", vec!["Am 3. Mai begann es.", "Ende"]),
            ("", vec![]),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }

    #[test]
    fn whole_sentences_are_taken_while_they_fit() {
        assert_eq!(first_sentences(["One  two.\nThree.", "Four five six."], 20), "One two. Three.");
        assert_eq!(first_sentences(["今天下雨。明天晴！", "后天呢？"], 11), "今天下雨。明天晴！");
        assert_eq!(first_sentences(["A sentence that is much too long for this"], 20), "A sentence that is…");
        assert_eq!(first_sentences(["很长的句子没有空格也没有结尾"], 6), "很长的句子…");
        assert_eq!(first_sentences([], 10), "");
    }
}
