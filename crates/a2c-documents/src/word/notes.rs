//! Footnotes, endnotes and comments: their words by id, and the annotations that they become.

use crate::rich_text::CountFormat;
use std::collections::HashMap;

use a2c_document_model::{AnnotationKind, ElementContent, ElementDraft, InlineLink};

/// How much of a text a comment quotes.
const QUOTED: usize = 200;

/// A note as its part has it.
#[derive(Debug, Clone, Default)]
pub(super) struct WordNote {
    pub(super) text: String,
    pub(super) links: Vec<InlineLink>,
    pub(super) author: Option<String>,
    pub(super) date: Option<String>,
}

/// The notes of a document, and those that are mentioned so far.
#[derive(Debug, Default)]
pub(super) struct WordNotes {
    pub(super) footnotes: HashMap<String, WordNote>,
    pub(super) endnotes: HashMap<String, WordNote>,
    pub(super) comments: HashMap<String, WordNote>,
    footnotes_seen: i64,
    endnotes_seen: i64,
    /// The comments whose text is passing, with what was quoted so far and where it began in this paragraph.
    open_comments: Vec<(String, String, usize)>,
    quotes: HashMap<String, String>,
}

impl WordNotes {
    /// A footnote or an endnote is mentioned: the mark in the text, and the annotation.
    pub(super) fn mention(&mut self, id: &str, is_endnote: bool) -> Option<(String, ElementDraft)> {
        let (notes, seen, kind, format) = match is_endnote {
            false => (&mut self.footnotes, &mut self.footnotes_seen, AnnotationKind::Footnote, CountFormat::Decimal),
            true => (&mut self.endnotes, &mut self.endnotes_seen, AnnotationKind::Endnote, CountFormat::LowerRoman),
        };
        // A note is mentioned once; a second mention is a reference to the first.
        let note = notes.remove(id)?;
        *seen += 1;
        let mark = format!("[{}]", format.show(*seen));
        Some((mark.clone(), annotation(kind, note, Some(mark))))
    }

    /// The text of a comment begins at this place of the paragraph.
    pub(super) fn begin_comment(&mut self, id: String, at: usize) {
        if self.comments.contains_key(&id) && self.open_comments.len() < 64 {
            self.open_comments.push((id, String::new(), at));
        }
    }

    /// The text of a comment ends.
    pub(super) fn end_comment(&mut self, id: &str, paragraph: &str) {
        if let Some(at) = self.open_comments.iter().position(|(open, ..)| open == id) {
            let (id, mut quote, start) = self.open_comments.remove(at);
            add_quote(&mut quote, paragraph, start);
            self.quotes.insert(id, quote);
        }
    }

    /// A paragraph ends within the texts of comments.
    pub(super) fn end_paragraph(&mut self, paragraph: &str) {
        for (_, quote, start) in &mut self.open_comments {
            add_quote(quote, paragraph, *start);
            *start = 0;
        }
    }

    /// A comment is mentioned: its annotation.
    pub(super) fn comment(&mut self, id: &str) -> Option<ElementDraft> {
        let comment = self.comments.remove(id)?;
        let target = self.quotes.remove(id).map(|quote| quote.trim().to_owned()).filter(|quote| !quote.is_empty());
        Some(annotation(AnnotationKind::Comment, comment, target))
    }
}

fn add_quote(quote: &mut String, paragraph: &str, start: usize) {
    let text = paragraph.get(start..).unwrap_or_default();
    if !quote.is_empty() && !text.is_empty() {
        quote.push(' ');
    }
    let left = QUOTED.saturating_sub(quote.chars().count());
    quote.extend(text.chars().take(left));
}

fn annotation(kind: AnnotationKind, note: WordNote, target: Option<String>) -> ElementDraft {
    let WordNote { text, links, author, date } = note;
    let content = ElementContent::Annotation { kind, text, author, date, target, error: None };
    let mut draft = ElementDraft::from(content);
    draft.metadata.links = links;
    draft
}
