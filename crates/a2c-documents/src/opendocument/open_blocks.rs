//! The blocks of a text: paragraphs, headings, lists, and what holds them.

use a2c_document_model::{InlineLink, UnreadableFile};

use super::changed_regions::read_changes;
use super::open_body::{OpenBody, is_shape};
use super::open_paragraph::OpenParagraph;
use super::open_styles::{OpenStyle, StyleFamily};
use crate::rich_text::{BULLET, DocumentFlow, FlowForm, ListItem, PlacedParagraph, RunToggles};
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// The list that the entries of a table of contents are.
const CONTENTS_LIST: u32 = u32::MAX;

impl OpenBody<'_> {
    /// Reads the words of what began last.
    pub(crate) fn lines(&mut self, xml: &mut XmlReader<'_>) -> Result<(String, Vec<InlineLink>), UnreadableFile> {
        let mut flow = DocumentFlow::new(FlowForm::Lines);
        self.blocks(xml, &mut flow)?;
        let (text, links, _) = flow.into_lines();
        Ok((text, links))
    }

    /// Reads the blocks within the element that began last.
    pub(crate) fn blocks(&mut self, xml: &mut XmlReader<'_>, flow: &mut DocumentFlow) -> Result<(), UnreadableFile> {
        let depth = xml.depth();
        while let Some(event) = xml.within(depth)? {
            if let XmlEvent::Start(tag) = event {
                self.block(xml, &tag, flow)?;
            }
        }
        Ok(())
    }

    /// Reads a block, or enters what holds blocks.
    pub(crate) fn block(
        &mut self,
        xml: &mut XmlReader<'_>,
        tag: &XmlTag<'_>,
        flow: &mut DocumentFlow,
    ) -> Result<(), UnreadableFile> {
        match tag.name() {
            b"p" => self.paragraph(xml, tag, flow)?,
            b"h" => self.heading(xml, tag, flow, None)?,
            b"list" => self.list(xml, tag, flow, 0, "")?,
            b"table" => self.deeper(xml, |body, xml| body.table(xml, tag, flow))?,
            b"soft-page-break" => flow.rendered_break(),
            b"section" if tag.attribute("display").as_deref() == Some("none") => xml.skip()?,
            b"tracked-changes" => self.changes = read_changes(xml)?,
            b"table-of-content" => {
                self.in_contents = true;
                let outcome = self.blocks(xml, flow);
                self.in_contents = false;
                outcome?;
            }
            b"annotation" => {
                if let Some(comment) = self.comment(xml)? {
                    self.budget.take_draft(&comment);
                    flow.note(comment);
                }
            }
            b"forms" | b"event-listeners" | b"notes" | b"par" => xml.skip()?,
            name if name.ends_with(b"-source") => xml.skip()?,
            name if is_shape(name) => {
                if let Some(equation) = self.shape(xml, tag, flow)? {
                    self.put(PlacedParagraph::Formulas(vec![equation]), flow);
                }
            }
            _ => {}
        }
        match self.budget.is_spent() {
            true => Err(UnreadableFile::too_large("the text is too long to be kept: the rest of it is not shown")),
            false => Ok(()),
        }
    }

    fn paragraph(
        &mut self,
        xml: &mut XmlReader<'_>,
        tag: &XmlTag<'_>,
        flow: &mut DocumentFlow,
    ) -> Result<(), UnreadableFile> {
        let style = self.styles.get(StyleFamily::Paragraph, &tag.attribute("style-name").unwrap_or_default());
        self.begin_block(&style, flow);
        let mut read = self.inline(xml, flow.form, body_run(&style))?;
        let placed = match style.contents_level.filter(|_| self.in_contents) {
            Some(level) if !read.text.text().trim().is_empty() => {
                let (text, metadata) = std::mem::take(&mut read.text).finish();
                let (label, links) = (BULLET.to_owned(), metadata.links);
                PlacedParagraph::Item(ListItem {
                    text,
                    links,
                    label,
                    list: CONTENTS_LIST,
                    level,
                    ..ListItem::default()
                })
            }
            _ => placed(&mut read, &style),
        };
        self.finish_block(placed, read, &style, flow);
        Ok(())
    }

    /// Puts a block with what stands beside it into the flow.
    pub(super) fn finish_block(
        &mut self,
        placed: PlacedParagraph,
        read: OpenParagraph,
        style: &OpenStyle,
        flow: &mut DocumentFlow,
    ) {
        if read.has_break {
            flow.rendered_break();
        }
        self.put(placed, flow);
        take_aside(read.aside, flow);
        for note in read.notes {
            self.budget.take_draft(&note);
            flow.note(note);
        }
        if style.break_after && flow.form == FlowForm::Elements && self.is_at_top() {
            flow.page_break();
        }
    }

    pub(super) fn heading(
        &mut self,
        xml: &mut XmlReader<'_>,
        tag: &XmlTag<'_>,
        flow: &mut DocumentFlow,
        list_label: Option<String>,
    ) -> Result<(), UnreadableFile> {
        let style = self.styles.get(StyleFamily::Paragraph, &tag.attribute("style-name").unwrap_or_default());
        self.begin_block(&style, flow);
        let level: u8 = tag.number("outline-level").or(style.heading).unwrap_or(1).clamp(1, 9);
        let is_unnumbered = tag.attribute("is-list-header").as_deref() == Some("true");
        let run = RunToggles { hidden: style.run.hidden, ..RunToggles::default() };
        let mut read = self.inline(xml, flow.form, run)?;
        let (text, metadata) = std::mem::take(&mut read.text).finish();
        let placed = match text.is_empty() {
            true => PlacedParagraph::Nothing,
            false => {
                let label = list_label.unwrap_or_else(|| self.heading_label(level, is_unnumbered));
                let label = if label == BULLET { String::new() } else { label };
                PlacedParagraph::Heading { level, label, text: text.replace(['\n', '\t'], " "), metadata }
            }
        };
        self.finish_block(placed, read, &style, flow);
        Ok(())
    }

    fn heading_label(&mut self, level: u8, is_unnumbered: bool) -> String {
        let at = usize::from(level) - 1;
        let start = self.styles.outline.level(at).map(|level| level.start);
        let Some(start) = start.filter(|_| !is_unnumbered) else { return String::new() };
        self.headings.item(at, None, start);
        self.styles.outline.label(self.headings.counts())
    }
}

/// How a paragraph formats its runs. That a heading is bold goes without saying.
fn body_run(style: &OpenStyle) -> RunToggles {
    match style.heading {
        Some(_) => RunToggles { hidden: style.run.hidden, ..RunToggles::default() },
        None => style.run,
    }
}

/// Adds what is drawn beside a paragraph.
fn take_aside(aside: DocumentFlow, flow: &mut DocumentFlow) {
    match flow.form {
        FlowForm::Elements => flow.take_over(aside.into_items()),
        FlowForm::Lines => {
            let (text, links, items) = aside.into_lines();
            flow.line(&text, links);
            flow.take_over(items);
        }
    }
}

/// What a paragraph is that stands in no list.
fn placed(read: &mut OpenParagraph, style: &OpenStyle) -> PlacedParagraph {
    let is_code = style.code || style.run.code == Some(true);
    if read.text.text().trim().is_empty() {
        let has_drawings = !read.aside.is_empty();
        return match style.rule_below && !has_drawings {
            true => PlacedParagraph::Separator,
            false if is_code => PlacedParagraph::EmptyLine,
            false => PlacedParagraph::Nothing,
        };
    }
    if read.is_only_equations() {
        return PlacedParagraph::Formulas(std::mem::take(&mut read.equations));
    }
    let text = std::mem::take(&mut read.text);
    if let Some(level) = style.heading {
        let (text, metadata) = text.finish();
        return PlacedParagraph::Heading {
            level,
            label: String::new(),
            text: text.replace(['\n', '\t'], " "),
            metadata,
        };
    }
    if is_code || text.is_all_code() {
        return PlacedParagraph::Code(text.into_plain().0.trim_end().to_owned());
    }
    if let Some(link) = text.sole_link() {
        return PlacedParagraph::Link(link.clone());
    }
    let (text, metadata) = text.finish();
    PlacedParagraph::Text(text, metadata)
}
