//! A text that is put together run by run, with its formatting and its links.

use a2c_document_model::{ElementMetadata, InlineLink, TextSpan};

/// The most spans and links of one text. What comes after them is plain.
const MARKS: usize = 10_000;

/// How a run of text looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RunFormat {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) underline: bool,
    pub(crate) strike: bool,
    pub(crate) code: bool,
}

/// A text under construction.
#[derive(Debug, Default)]
pub(crate) struct RichText {
    text: String,
    spans: Vec<TextSpan>,
    links: Vec<InlineLink>,
    /// The link that is open: its address, and where it began.
    open: Option<(String, usize)>,
}

impl RichText {
    /// The text so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Adds a run.
    pub(crate) fn push(&mut self, text: &str, format: RunFormat) {
        if text.is_empty() {
            return;
        }
        let start = self.text.len();
        self.text.push_str(text);
        if format == RunFormat::default() && self.open.is_none() {
            return;
        }
        let url = self.open.as_ref().map(|(url, _)| url);
        let RunFormat { bold, italic, underline, strike, code } = format;
        // A link is underlined anyhow.
        let underline = underline && url.is_none();
        if let Some(last) = self.spans.last_mut() {
            let alike = (last.bold, last.italic, last.underline, last.strike, last.code)
                == (bold, italic, underline, strike, code)
                && last.url.as_ref() == url;
            // Two links to one address stay two links.
            let same_link = self.open.as_ref().is_none_or(|(_, begin)| last.start >= *begin);
            if alike && same_link && last.start + last.length == start {
                last.length += text.len();
                return;
            }
        }
        if self.spans.len() >= MARKS {
            return;
        }
        let url = url.cloned();
        self.spans.push(TextSpan { start, length: text.len(), bold, italic, underline, strike, code, url });
    }

    /// Begins a link.
    pub(crate) fn begin_link(&mut self, url: String) {
        self.end_link();
        self.open = Some((url, self.text.len()));
    }

    /// Ends the link that is open, if one is.
    pub(crate) fn end_link(&mut self) {
        let Some((url, start)) = self.open.take() else { return };
        let text = self.text.get(start..).unwrap_or_default().trim();
        if !text.is_empty() && self.links.len() < MARKS {
            self.links.push(InlineLink { text: text.to_owned(), url, cell: None });
        }
    }

    /// Whether all words are in a font of fixed width.
    pub(crate) fn is_all_code(&self) -> bool {
        let mut at = 0;
        let blank = |from: usize, to: usize| self.text.get(from..to).unwrap_or_default().trim().is_empty();
        for span in self.spans.iter().filter(|span| span.code) {
            if !blank(at, span.start) {
                return false;
            }
            at = span.start + span.length;
        }
        at > 0 && blank(at, self.text.len())
    }

    /// The link that the whole text is, if it is one.
    pub(crate) fn sole_link(&self) -> Option<&InlineLink> {
        match self.links.as_slice() {
            [link] if link.text == self.text.trim() => Some(link),
            _ => None,
        }
    }

    /// The text and its metadata, without blanks around the text.
    pub(crate) fn finish(mut self) -> (String, ElementMetadata) {
        self.end_link();
        let end = self.text.trim_end().len();
        let cut = end - self.text[..end].trim_start().len();
        self.text.truncate(end);
        self.text.drain(..cut);
        let spans = self.spans.into_iter().filter_map(|mut span| {
            let (first, last) = (span.start.max(cut), (span.start + span.length).min(end));
            span.start = first.checked_sub(cut)?;
            span.length = last.checked_sub(first).filter(|length| *length > 0)?;
            Some(span)
        });
        let spans = spans.collect();
        (self.text, ElementMetadata { links: self.links, spans, ..ElementMetadata::default() })
    }

    /// The text as it stands, blanks included, with its links.
    pub(crate) fn into_plain(mut self) -> (String, Vec<InlineLink>) {
        self.end_link();
        (self.text, self.links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOLD: RunFormat = RunFormat { bold: true, italic: false, underline: false, strike: false, code: false };
    const CODE: RunFormat = RunFormat { bold: false, italic: false, underline: false, strike: false, code: true };

    #[test]
    fn runs_alike_are_one_span_and_blanks_around_are_cut() {
        let mut text = RichText::default();
        text.push("  ", BOLD);
        text.push("a", BOLD);
        text.push("b", BOLD);
        text.push(" c ", RunFormat::default());
        text.push(" ", BOLD);
        let (text, metadata) = text.finish();
        assert_eq!(text, "ab c");
        assert_eq!(metadata.spans, [TextSpan { start: 0, length: 2, bold: true, ..TextSpan::default() }]);
    }

    #[test]
    fn links_are_spans_with_an_address() {
        let mut text = RichText::default();
        text.push("see ", RunFormat::default());
        text.begin_link("http://a".into());
        text.push("here", RunFormat { underline: true, ..RunFormat::default() });
        text.end_link();
        assert!(text.sole_link().is_none());
        let (text, metadata) = text.finish();
        assert_eq!(text, "see here");
        assert_eq!(metadata.links, [InlineLink { text: "here".into(), url: "http://a".into(), cell: None }]);
        let url = Some("http://a".into());
        assert_eq!(metadata.spans, [TextSpan { start: 4, length: 4, url, ..TextSpan::default() }]);
    }

    #[test]
    fn only_a_text_without_other_words_is_all_code() {
        let mut text = RichText::default();
        assert!(!text.is_all_code());
        text.push("let", CODE);
        text.push(" ", RunFormat::default());
        text.push("x", CODE);
        assert!(text.is_all_code());
        text.push("y", BOLD);
        assert!(!text.is_all_code());
    }
}
