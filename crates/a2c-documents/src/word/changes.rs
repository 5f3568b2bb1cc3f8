//! Tracked changes: the text is shown as if they were accepted, and an annotation tells each of them.

use a2c_document_model::{AnnotationKind, ElementContent, ElementDraft};

use crate::xml::XmlTag;

/// How much of a change, and of the paragraph that it stands in, an annotation quotes.
const QUOTED: usize = 400;
const TARGET: usize = 80;

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeKind {
    Inserted,
    Deleted,
    MovedHere,
    MovedAway,
}

impl ChangeKind {
    fn hides_text(self) -> bool {
        matches!(self, Self::Deleted | Self::MovedAway)
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Inserted => "inserted",
            Self::Deleted => "deleted",
            Self::MovedHere => "moved here",
            Self::MovedAway => "moved away",
        }
    }
}

#[derive(Debug)]
struct TrackedChange {
    kind: ChangeKind,
    author: Option<String>,
    date: Option<String>,
    text: String,
}

/// The changes of a paragraph.
#[derive(Debug, Default)]
pub(super) struct ParagraphChanges {
    open: Vec<TrackedChange>,
    done: Vec<TrackedChange>,
    /// Whether unchanged text came after the last change.
    apart: bool,
}

impl ParagraphChanges {
    /// Takes the beginning of a change; `false` for any other element.
    pub(super) fn begin(&mut self, tag: &XmlTag<'_>) -> bool {
        let kind = match tag.name() {
            b"ins" => ChangeKind::Inserted,
            b"del" => ChangeKind::Deleted,
            b"moveTo" => ChangeKind::MovedHere,
            b"moveFrom" => ChangeKind::MovedAway,
            _ => return false,
        };
        if self.open.len() < 16 {
            let (author, date) = (tag.attribute("author"), tag.attribute("date"));
            self.open.push(TrackedChange { kind, author, date, text: String::new() });
        }
        true
    }

    /// Takes the end of a change.
    pub(super) fn end(&mut self, name: &[u8]) {
        if !matches!(name, b"ins" | b"del" | b"moveTo" | b"moveFrom") {
            return;
        }
        let Some(change) = self.open.pop().filter(|change| !change.text.is_empty()) else { return };
        // Word writes a change run by run: those of one author side by side are one.
        match self.done.last_mut() {
            Some(last) if !self.apart && last.kind == change.kind && last.author == change.author => {
                quote(&mut last.text, &change.text);
            }
            _ => self.done.push(change),
        }
        self.apart = false;
    }

    /// Sees a text; `false` where the text is gone once the changes are accepted.
    pub(super) fn see(&mut self, text: &str) -> bool {
        match self.open.last_mut() {
            Some(change) => quote(&mut change.text, text),
            None => self.apart = true,
        }
        !self.open.iter().any(|change| change.kind.hides_text())
    }

    /// The annotations, for the paragraph that has this text now.
    pub(super) fn annotations(self, paragraph: &str) -> Vec<ElementDraft> {
        let target: String = paragraph.trim().chars().take(TARGET).collect();
        let target = Some(target).filter(|target| !target.is_empty());
        let shown = |change: TrackedChange| {
            ElementContent::Annotation {
                kind: AnnotationKind::TrackedChange,
                text: format!("{}: {}", change.kind.verb(), change.text.trim()),
                author: change.author,
                date: change.date,
                target: target.clone(),
                error: None,
            }
            .into()
        };
        self.done.into_iter().filter(|change| !change.text.trim().is_empty()).map(shown).collect()
    }
}

fn quote(quoted: &mut String, text: &str) {
    if quoted.len() < QUOTED {
        quoted.extend(text.chars().take(QUOTED));
    }
}
