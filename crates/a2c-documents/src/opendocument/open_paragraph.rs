//! What stands in a paragraph: runs of text, links, notes, comments, changes, and things that are drawn beside it.

use a2c_document_model::{AnnotationKind, ElementContent, ElementDraft, UnreadableFile};

use super::changed_regions::ChangedRegion;
use super::open_body::{OpenBody, is_shape};
use super::open_styles::StyleFamily;
use crate::rich_text::{CountFormat, DocumentFlow, FlowForm, RichText, RunToggles};
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// The blanks that one mark stands for at most.
const BLANKS: usize = 1_000;

/// How much of a text a comment quotes, in characters.
const QUOTED: usize = 200;

/// The comments and changes of a paragraph that are open at once.
const OPEN: usize = 64;

/// A paragraph that was read.
pub(super) struct OpenParagraph {
    pub(super) text: RichText,
    /// The equations that stand in it.
    pub(super) equations: Vec<String>,
    pub(super) notes: Vec<ElementDraft>,
    /// What is drawn beside it.
    pub(super) aside: DocumentFlow,
    /// Whether the program that wrote the file ended a page in it.
    pub(super) has_break: bool,
    /// Whether a blank is to be passed over: the text begins, or a blank came before.
    after_blank: bool,
    open_comments: Vec<(String, usize, usize)>,
    open_changes: Vec<(String, usize, ChangedRegion)>,
    changes: Vec<(ChangedRegion, String)>,
}

impl OpenParagraph {
    fn new(form: FlowForm) -> Self {
        Self {
            text: RichText::default(),
            equations: Vec::new(),
            notes: Vec::new(),
            aside: DocumentFlow::new(form),
            has_break: false,
            after_blank: true,
            open_comments: Vec::new(),
            open_changes: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Adds a text whose blanks and line breaks count as one blank.
    fn push(&mut self, text: &str, run: RunToggles) {
        if run.hidden == Some(true) {
            return;
        }
        let mut written = String::with_capacity(text.len());
        for c in text.chars() {
            let blank = matches!(c, ' ' | '\t' | '\r' | '\n');
            if !blank {
                written.push(c);
            } else if !self.after_blank {
                written.push(' ');
            }
            self.after_blank = blank;
        }
        self.text.push(&written, run.format());
    }

    /// Adds a text as it is.
    fn push_exactly(&mut self, text: &str, run: RunToggles) {
        if run.hidden != Some(true) {
            self.text.push(text, run.format());
            self.after_blank = false;
        }
    }

    fn quote_from(&self, start: usize) -> String {
        self.text.text().get(start..).unwrap_or_default().trim().chars().take(QUOTED).collect()
    }

    fn end_comment(&mut self, name: &str) {
        let Some(at) = self.open_comments.iter().position(|(open, ..)| open == name) else { return };
        let (_, start, note) = self.open_comments.remove(at);
        let quote = self.quote_from(start);
        if let Some(ElementContent::Annotation { target, .. }) = self.notes.get_mut(note).map(|note| &mut note.content)
        {
            *target = Some(quote).filter(|quote| !quote.is_empty());
        }
    }

    fn end_change(&mut self, id: &str) {
        let Some(at) = self.open_changes.iter().position(|(open, ..)| open == id) else { return };
        let (_, start, change) = self.open_changes.remove(at);
        let inserted = self.text.text().get(start..).unwrap_or_default().to_owned();
        self.changes.push((change, inserted));
    }

    /// What is still open ends with the paragraph.
    fn finish(&mut self) {
        while let Some((name, ..)) = self.open_comments.first().cloned() {
            self.end_comment(&name);
        }
        while let Some((id, ..)) = self.open_changes.first().cloned() {
            self.end_change(&id);
        }
        let changes = std::mem::take(&mut self.changes);
        let told = changes.into_iter().filter_map(|(change, inserted)| change.annotation(&inserted, self.text.text()));
        self.notes.extend(told);
    }

    /// Whether there is nothing but equations in it.
    pub(super) fn is_only_equations(&self) -> bool {
        let all: String = self.equations.iter().map(|equation| format!("${equation}$")).collect();
        let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
        !self.equations.is_empty() && without_blanks(&all) == without_blanks(self.text.text())
    }
}

impl OpenBody<'_> {
    /// Reads the paragraph that began last, whose style formats its runs so.
    pub(super) fn inline(
        &mut self,
        xml: &mut XmlReader<'_>,
        form: FlowForm,
        run: RunToggles,
    ) -> Result<OpenParagraph, UnreadableFile> {
        let (depth, mut read, mut runs) = (xml.depth(), OpenParagraph::new(form), vec![run]);
        while let Some(event) = xml.within(depth)? {
            let run = runs.last().copied().unwrap_or_default();
            match event {
                XmlEvent::Text(text) => read.push(&text, run),
                XmlEvent::End(end) => {
                    if end.name() == b"a" {
                        read.text.end_link();
                    }
                    runs.pop();
                }
                XmlEvent::Start(tag) => {
                    if let Some(inner) = self.inline_element(xml, &tag, &mut read, run)? {
                        runs.push(inner);
                    }
                }
                XmlEvent::Eof => {}
            }
        }
        read.finish();
        Ok(read)
    }

    /// Reads the beginning of an element, or all of it. What comes back is the formatting of what it holds.
    fn inline_element(
        &mut self,
        xml: &mut XmlReader<'_>,
        tag: &XmlTag<'_>,
        read: &mut OpenParagraph,
        run: RunToggles,
    ) -> Result<Option<RunToggles>, UnreadableFile> {
        let attribute = |name: &str| tag.attribute(name).unwrap_or_default();
        match tag.name() {
            b"span" => {
                let style = self.styles.get(StyleFamily::Text, &attribute("style-name"));
                let mut inner = style.run.over(run);
                inner.code = if style.code { Some(true) } else { inner.code };
                return Ok(Some(inner));
            }
            b"a" => read.text.begin_link(attribute("href")),
            b"s" => {
                let count = tag.number("c").unwrap_or(1).min(BLANKS);
                read.push_exactly(&" ".repeat(count), run);
            }
            b"tab" => read.push_exactly("\t", run),
            b"line-break" => {
                read.push_exactly("\n", run);
                read.after_blank = true;
            }
            b"soft-page-break" => read.has_break = true,
            b"note" => {
                let is_endnote = attribute("note-class") == "endnote";
                if let Some((mark, note)) = self.note(xml, is_endnote)? {
                    read.push_exactly(&mark, run);
                    read.notes.push(note);
                }
                return Ok(None);
            }
            b"annotation" => {
                let name = attribute("name");
                let comment = self.comment(xml)?;
                if let Some(comment) = comment {
                    if !name.is_empty() && read.open_comments.len() < OPEN {
                        read.open_comments.push((name, read.text.text().len(), read.notes.len()));
                    }
                    read.notes.push(comment);
                }
                return Ok(None);
            }
            b"annotation-end" => read.end_comment(&attribute("name")),
            b"change" => {
                let change = self.changes.remove(&attribute("change-id"));
                read.changes.extend(change.filter(|change| change.is_deletion).map(|change| (change, String::new())));
            }
            b"change-start" => {
                let id = attribute("change-id");
                if let Some(change) = self.changes.remove(&id).filter(|_| read.open_changes.len() < OPEN) {
                    read.open_changes.push((id, read.text.text().len(), change));
                }
            }
            b"change-end" => read.end_change(&attribute("change-id")),
            b"ruby-text" | b"script" | b"event-listeners" | b"note-citation" => {
                xml.skip()?;
                return Ok(None);
            }
            name if is_shape(name) => {
                if let Some(equation) = self.shape(xml, tag, &mut read.aside)? {
                    read.push_exactly(&format!("${equation}$"), RunToggles::default());
                    read.equations.push(equation);
                }
                return Ok(None);
            }
            _ => {}
        }
        Ok(Some(run))
    }

    /// A footnote or an endnote: the mark in the text, and the annotation.
    fn note(
        &mut self,
        xml: &mut XmlReader<'_>,
        is_endnote: bool,
    ) -> Result<Option<(String, ElementDraft)>, UnreadableFile> {
        let (depth, mut words) = (xml.depth(), None);
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            match tag.name() {
                b"note-body" => words = Some(self.lines(xml)?),
                _ => xml.skip()?,
            }
        }
        let Some((text, links)) = words else { return Ok(None) };
        let (seen, kind, format) = match is_endnote {
            false => (&mut self.footnotes_seen, AnnotationKind::Footnote, CountFormat::Decimal),
            true => (&mut self.endnotes_seen, AnnotationKind::Endnote, CountFormat::LowerRoman),
        };
        *seen += 1;
        let mark = format!("[{}]", format.show(*seen));
        let target = Some(mark.clone());
        let content = ElementContent::Annotation { kind, text, author: None, date: None, target, error: None };
        let mut draft = ElementDraft::from(content);
        draft.metadata.links = links;
        Ok(Some((mark, draft)))
    }

    /// A comment; `None` where it has no words.
    pub(super) fn comment(&mut self, xml: &mut XmlReader<'_>) -> Result<Option<ElementDraft>, UnreadableFile> {
        let (depth, mut author, mut date) = (xml.depth(), None, None);
        let mut flow = DocumentFlow::new(FlowForm::Lines);
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            match tag.name() {
                b"creator" => author = Some(xml.text()?).filter(|name| !name.trim().is_empty()),
                b"date" => date = Some(xml.text()?).filter(|date| !date.trim().is_empty()),
                b"p" | b"list" => self.block(xml, &tag, &mut flow)?,
                _ => {}
            }
        }
        let (text, links, _) = flow.into_lines();
        if text.trim().is_empty() {
            return Ok(None);
        }
        let kind = AnnotationKind::Comment;
        let content = ElementContent::Annotation { kind, text, author, date, target: None, error: None };
        let mut draft = ElementDraft::from(content);
        draft.metadata.links = links;
        Ok(Some(draft))
    }
}
