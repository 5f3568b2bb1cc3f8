//! A paragraph with all that stands in it.

use a2c_document_model::{ElementDraft, UnreadableFile};

use super::changes::ParagraphChanges;
use super::context::WordContext;
use super::drawing::{DrawnThing, read_drawing};
use super::paragraph_properties::{ParagraphProperties, read_paragraph_properties};
use super::run_format::read_run_properties;
use crate::ooxml::{AlternateForms, read_equation};
use crate::rich_text::{RichText, RunFormat, RunToggles, link_address};
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// Where a page ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BreakKind {
    #[default]
    None,
    /// Where the program that wrote the file ended it.
    Rendered,
    /// Where the author ended it.
    Wanted,
}

/// A paragraph that was read.
#[derive(Debug, Default)]
pub(super) struct ReadParagraph<'a> {
    pub(super) properties: ParagraphProperties,
    pub(super) text: RichText,
    pub(super) equations: Vec<String>,
    pub(super) drawn: Vec<DrawnThing<'a>>,
    pub(super) notes: Vec<ElementDraft>,
    pub(super) break_before: BreakKind,
    pub(super) break_after: BreakKind,
    changes: ParagraphChanges,
    /// The format of the run that is read, and whether it is hidden.
    format: RunFormat,
    hidden: bool,
}

impl ReadParagraph<'_> {
    /// Whether there is nothing but equations.
    pub(super) fn is_only_equations(&self) -> bool {
        let equations: usize = self.equations.iter().map(|equation| equation.len() + 2).sum();
        let words: usize = self.text.text().split_whitespace().map(str::len).sum();
        let blanks: usize = self.equations.iter().map(|equation| equation.matches(char::is_whitespace).count()).sum();
        equations > 0 && words + blanks == equations
    }

    fn push(&mut self, text: &str) {
        if self.changes.see(text) && !self.hidden {
            self.text.push(text, self.format);
        }
    }

    fn note_break(&mut self, kind: BreakKind) {
        let began = !self.text.text().trim().is_empty() || !self.drawn.is_empty();
        let place = if began { &mut self.break_after } else { &mut self.break_before };
        *place = kind.max(*place);
    }
}

/// Reads the paragraph that began last.
pub(super) fn read_paragraph<'a>(
    xml: &mut XmlReader<'a>,
    context: &mut WordContext<'_>,
) -> Result<ReadParagraph<'a>, UnreadableFile> {
    let (depth, mut read, mut forms) = (xml.depth(), ReadParagraph::default(), AlternateForms::default());
    while let Some(event) = xml.within(depth)? {
        match event {
            XmlEvent::Start(tag) if forms.passes_over(tag.name()) => xml.skip()?,
            XmlEvent::Start(tag) => start(xml, context, &mut read, &tag)?,
            XmlEvent::End(end) => {
                match end.name() {
                    b"hyperlink" | b"fldSimple" => read.text.end_link(),
                    b"rt" => read.push(")"),
                    _ => {}
                }
                forms.end(end.name());
                read.changes.end(end.name());
            }
            _ => {}
        }
    }
    read.text.end_link();
    context.fields.end_paragraph();
    context.notes.end_paragraph(read.text.text());
    let changes = std::mem::take(&mut read.changes).annotations(read.text.text());
    read.notes.extend(changes);
    Ok(read)
}

fn start<'a>(
    xml: &mut XmlReader<'a>,
    context: &mut WordContext<'_>,
    read: &mut ReadParagraph<'a>,
    tag: &XmlTag<'_>,
) -> Result<(), UnreadableFile> {
    match tag.name() {
        b"t" | b"delText" => text(xml, context, read)?,
        b"r" => (read.format, read.hidden) = (RunFormat::default(), false),
        b"rPr" => {
            let (toggles, style) = read_run_properties(xml)?;
            let style = style.and_then(|style| character_style(context, &style)).unwrap_or_default();
            let toggles = toggles.over(style);
            read.hidden = toggles.hidden == Some(true);
            read.format = toggles.format();
            read.format.code &= !context.styles.all_fixed_width;
        }
        b"pPr" => read.properties = read_paragraph_properties(xml)?,
        b"tab" | b"ptab" => read.push("\t"),
        b"cr" => read.push("\n"),
        b"br" => match tag.attribute("type").as_deref() {
            Some("page") => read.note_break(BreakKind::Wanted),
            Some("column") => {}
            _ => read.push("\n"),
        },
        b"lastRenderedPageBreak" => read.note_break(BreakKind::Rendered),
        b"noBreakHyphen" => read.push("-"),
        b"sym" => symbol(read, tag),
        // The reading of a character stands above it.
        b"rt" => read.push("("),
        b"hyperlink" => {
            if let Some(url) = hyperlink(context, tag) {
                read.text.begin_link(url);
            }
        }
        b"fldSimple" => {
            if let Some(url) = tag.attribute("instr").and_then(|instruction| link_address(&instruction)) {
                read.text.begin_link(url);
            }
        }
        b"fldChar" => field_character(context, read, tag),
        b"instrText" => {
            let instruction = xml.text()?;
            context.fields.instruct(&instruction);
        }
        b"oMath" => {
            let equation = read_equation(xml)?;
            if !equation.is_empty() {
                read.push(&format!("${equation}$"));
                read.equations.push(equation);
            }
        }
        name @ (b"footnoteReference" | b"endnoteReference") => {
            let id = tag.attribute("id").unwrap_or_default();
            if let Some((mark, note)) = context.notes.mention(&id, name == b"endnoteReference") {
                read.push(&mark);
                read.notes.push(note);
            }
        }
        b"commentRangeStart" => {
            let id = tag.attribute("id").unwrap_or_default();
            context.notes.begin_comment(id, read.text.text().len());
        }
        b"commentRangeEnd" => {
            context.notes.end_comment(&tag.attribute("id").unwrap_or_default(), read.text.text());
        }
        b"commentReference" => {
            read.notes.extend(context.notes.comment(&tag.attribute("id").unwrap_or_default()));
        }
        b"drawing" | b"pict" | b"object" => read_drawing(xml, context, &mut read.drawn)?,
        b"sdtPr" | b"rPrChange" | b"rubyPr" => xml.skip()?,
        _ => drop(read.changes.begin(tag)),
    }
    Ok(())
}

fn text(
    xml: &mut XmlReader<'_>,
    context: &WordContext<'_>,
    read: &mut ReadParagraph<'_>,
) -> Result<(), UnreadableFile> {
    let (depth, shown) = (xml.depth(), context.fields.shows_text());
    while let Some(event) = xml.within(depth)? {
        if let XmlEvent::Text(text) = event
            && shown
        {
            read.push(&text);
        }
    }
    Ok(())
}

fn character_style(context: &WordContext<'_>, id: &str) -> Option<RunToggles> {
    let style = context.styles.get(id)?;
    let code = if style.code { Some(true) } else { style.run.code };
    Some(RunToggles { code, ..style.run })
}

fn hyperlink(context: &WordContext<'_>, tag: &XmlTag<'_>) -> Option<String> {
    let address = tag.attribute("id").and_then(|id| context.relationships.address(&id).map(str::to_owned));
    match (address, tag.attribute("anchor")) {
        (Some(address), Some(anchor)) if !address.contains('#') => Some(format!("{address}#{anchor}")),
        (Some(address), _) => Some(address),
        (None, Some(anchor)) => Some(format!("#{anchor}")),
        (None, None) => None,
    }
}

fn field_character(context: &mut WordContext<'_>, read: &mut ReadParagraph<'_>, tag: &XmlTag<'_>) {
    match tag.attribute("fldCharType").as_deref() {
        Some("begin") => context.fields.begin(),
        Some("separate") => {
            if let Some(url) = context.fields.separate() {
                read.text.begin_link(url);
            }
        }
        Some("end") if context.fields.end() => read.text.end_link(),
        _ => {}
    }
}

/// A character of a symbol font. Those that people know by their look are shown; the others stand in a private range where
/// they mean nothing.
fn symbol(read: &mut ReadParagraph<'_>, tag: &XmlTag<'_>) {
    let code = tag.attribute("char").and_then(|code| u32::from_str_radix(&code, 16).ok()).unwrap_or_default();
    let shown = match code {
        0xf0fc | 0xf0fe => "✓",
        0xf0fb | 0xf0fd => "✗",
        0xf0a8 | 0xf06f => "☐",
        0xf0e0 | 0xf0e8 => "→",
        0xf0b7 | 0xf06c | 0xf06e => "•",
        0xe000..=0xf8ff => return,
        _ => "",
    };
    match shown {
        "" => {
            let character = char::from_u32(code).filter(|c| !c.is_control()).map(String::from).unwrap_or_default();
            read.push(&character);
        }
        shown => read.push(shown),
    }
}
