//! Texts out of words: blanks where they belong, hyphens at the ends of lines undone, formatting and links kept.

use a2c_document_model::{ElementMetadata, InlineLink, TextSpan};

use super::script::is_unspaced;
use crate::content::PageWord;
use crate::links::PageLinks;

/// The gap between two words that a blank stands for, by the size of the letters.
const BLANK_GAP: f32 = 0.14;
/// The most spans and links of one text.
const MARKS: usize = 2_000;

/// A text under construction.
pub(crate) struct WordText<'l> {
    links: &'l PageLinks,
    text: String,
    spans: Vec<TextSpan>,
    targets: Vec<InlineLink>,
    /// The link that the last word belongs to, and where it began.
    open: Option<(usize, usize)>,
    last: Option<&'l PageWord>,
}

impl<'l> WordText<'l> {
    pub(crate) fn new(links: &'l PageLinks) -> Self {
        Self { links, text: String::new(), spans: Vec::new(), targets: Vec::new(), open: None, last: None }
    }

    /// Adds the words of a line.
    pub(crate) fn line(&mut self, words: impl IntoIterator<Item = &'l PageWord>) {
        for (place, word) in words.into_iter().enumerate() {
            self.word(word, place == 0);
        }
    }

    fn word(&mut self, word: &'l PageWord, begins_line: bool) {
        if let Some(last) = self.last.take() {
            match begins_line {
                true => self.line_end(word),
                false => {
                    if has_blank(last, word) {
                        self.text.push(' ');
                    }
                }
            }
        }
        let link = self.links.of_word(word);
        if self.open.map(|(open, _)| open) != link {
            self.end_link();
            self.open = link.map(|link| (link, self.text.len()));
        }
        let start = self.text.len();
        word.text.chars().filter(|c| *c != '\u{ad}').for_each(|c| self.text.push(c));
        if word.text.ends_with('\u{ad}') {
            self.text.push('\u{ad}');
        }
        self.span(word, link, start);
        self.last = Some(word);
    }

    /// What stands between the end of a line and the next one.
    fn line_end(&mut self, next: &PageWord) {
        let first = next.text.chars().next().unwrap_or(' ');
        let mut end = self.text.chars().rev();
        match (end.next(), end.next()) {
            (Some('\u{ad}'), _) => self.drop_last(),
            (Some('-' | '\u{2010}'), Some(before)) if before.is_alphabetic() && first.is_lowercase() => {
                self.drop_last()
            }
            (Some(last), _) if is_unspaced(last) || is_unspaced(first) => {}
            _ => self.text.push(' '),
        }
    }

    fn drop_last(&mut self) {
        self.text.pop();
        let length = self.text.len();
        if let Some(span) = self.spans.last_mut() {
            span.length = span.length.min(length.saturating_sub(span.start));
        }
    }

    fn span(&mut self, word: &PageWord, link: Option<usize>, start: usize) {
        let style = word.style;
        let url = link.map(|link| self.links.url(link));
        if !(style.bold || style.italic || style.fixed || url.is_some()) {
            return;
        }
        let length = self.text.len() - start;
        if let Some(last) = self.spans.last_mut() {
            let alike = (last.bold, last.italic, last.code) == (style.bold, style.italic, style.fixed)
                && last.url.as_deref() == url;
            // Nothing but a blank between the two.
            if alike && start - (last.start + last.length) <= 1 {
                last.length = start + length - last.start;
                return;
            }
        }
        if self.spans.len() < MARKS {
            let url = url.map(str::to_owned);
            let (bold, italic, code) = (style.bold, style.italic, style.fixed);
            self.spans.push(TextSpan { start, length, bold, italic, code, url, ..TextSpan::default() });
        }
    }

    fn end_link(&mut self) {
        if let Some((link, start)) = self.open.take()
            && self.targets.len() < MARKS
        {
            let text = self.text.get(start..).unwrap_or_default().trim().to_owned();
            self.targets.push(InlineLink { text, url: self.links.url(link).to_owned(), cell: None });
        }
    }

    /// The text and what is known of it.
    pub(crate) fn finish(mut self) -> (String, ElementMetadata) {
        self.end_link();
        if self.text.ends_with('\u{ad}') {
            self.drop_last();
            self.text.push('-');
        }
        let length = self.text.len();
        self.spans.retain(|span| span.length > 0 && span.start + span.length <= length);
        (self.text, ElementMetadata { links: self.targets, spans: self.spans, ..ElementMetadata::default() })
    }
}

/// Whether a blank stands between two words of a line.
pub(super) fn has_blank(word: &PageWord, next: &PageWord) -> bool {
    // To the left where the script runs there.
    let gap = match next.place.x0 >= word.place.x0 {
        true => next.place.x0 - word.place.x1,
        false => word.place.x0 - next.place.x1,
    };
    let size = word.gap_size.max(next.gap_size);
    let between_unspaced =
        word.text.chars().next_back().is_some_and(is_unspaced) && next.text.chars().next().is_some_and(is_unspaced);
    match between_unspaced {
        true => gap > 0.6 * size,
        false => gap > BLANK_GAP * size || (word.blank_after && gap > -0.2 * size),
    }
}

/// The plain text of lines.
pub(crate) fn plain_text<'w>(lines: impl IntoIterator<Item = &'w [PageWord]>) -> String {
    let links = PageLinks::default();
    let mut text = WordText::new(&links);
    lines.into_iter().for_each(|line| text.line(line));
    text.finish().0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{ContentRole, ReadingFrame};
    use crate::font::FontStyle;
    use crate::geometry::PageBox;

    fn word(text: &str, x0: f32, x1: f32) -> PageWord {
        PageWord {
            text: text.into(),
            place: PageBox { x0, y0: 0.0, x1, y1: 10.0 },
            baseline: 8.0,
            size: 10.0,
            gap_size: 10.0,
            style: FontStyle::default(),
            frame: ReadingFrame::RIGHT,
            role: ContentRole::Body,
            blank_after: false,
        }
    }

    #[test]
    fn lines_are_joined_as_people_read_them() {
        for (first, second, expected) in [
            ("one", "two", "one two"),
            ("hyphen-", "ation", "hyphenation"),
            ("Jean-", "Paul", "Jean- Paul"),
            ("soft\u{ad}", "Ware", "softWare"),
            ("中文", "文字", "中文文字"),
            ("使用", "Rust", "使用Rust"),
            ("5-", "ten", "5- ten"),
        ] {
            let (a, b) = ([word(first, 0.0, 20.0)], [word(second, 0.0, 20.0)]);
            assert_eq!(plain_text([&a[..], &b[..]]), expected);
        }
    }

    #[test]
    fn gaps_are_blanks_where_the_script_has_blanks() {
        let line = [word("a", 0.0, 5.0), word("b", 5.5, 10.0), word("c", 13.0, 18.0)];
        assert_eq!(plain_text([&line[..]]), "ab c");
        let line = [word("中", 0.0, 10.0), word("文", 13.0, 23.0), word("x", 26.0, 30.0)];
        assert_eq!(plain_text([&line[..]]), "中文 x");
    }
}
