//! The blocks of a text: paragraphs, tables, and what holds them.

use a2c_document_model::{InlineLink, UnreadableFile};

use super::context::WordContext;
use super::drawing::DrawnThing;
use super::numbering::WordNumbering;
use super::paragraph::{BreakKind, ReadParagraph, read_paragraph};
use super::paragraph_properties::{SectionProperties, read_section};
use super::placing::classify;
use crate::ooxml::AlternateForms;
use crate::rich_text::{
    DocumentFlow, FlowForm, FlowItem, GridCell, MemoryBudget, PlacedParagraph, TableGrid, VerticalMerge,
};
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// How many tables and text boxes may stand in each other.
const NESTING: usize = 24;

/// Reads texts of a document.
pub(super) struct WordBody<'p> {
    pub(super) context: WordContext<'p>,
    pub(super) numbering: WordNumbering,
    pub(super) budget: MemoryBudget,
    nesting: usize,
    /// The sections that ended so far, whose headers and footers are read later.
    pub(super) sections: Vec<SectionProperties>,
}

/// A table while its rows are read.
#[derive(Default)]
struct ReadTable {
    grid: TableGrid,
    /// What stands in its cells and is no text: pictures, notes.
    aside: Vec<FlowItem>,
    /// Whether a page ended before it, or within it.
    break_before: bool,
    break_after: bool,
}

/// What the properties of a cell say.
#[derive(Default)]
struct CellProperties {
    span: usize,
    vertical: VerticalMerge,
}

impl<'p> WordBody<'p> {
    pub(super) fn new(context: WordContext<'p>, numbering: WordNumbering, budget: MemoryBudget) -> Self {
        Self { context, numbering, budget, nesting: 0, sections: Vec::new() }
    }

    /// Reads the words of what began last.
    pub(super) fn lines(&mut self, xml: &mut XmlReader<'_>) -> Result<(String, Vec<InlineLink>), UnreadableFile> {
        let mut flow = DocumentFlow::new(FlowForm::Lines);
        let depth = xml.depth();
        self.blocks(xml, depth, &mut flow)?;
        let (text, links, _) = flow.into_lines();
        Ok((text, links))
    }

    /// Reads blocks to the end of the element at this depth.
    pub(super) fn blocks(
        &mut self,
        xml: &mut XmlReader<'_>,
        depth: usize,
        flow: &mut DocumentFlow,
    ) -> Result<(), UnreadableFile> {
        self.cell_blocks(xml, depth, flow).map(drop)
    }

    fn cell_blocks(
        &mut self,
        xml: &mut XmlReader<'_>,
        depth: usize,
        flow: &mut DocumentFlow,
    ) -> Result<CellProperties, UnreadableFile> {
        let (mut properties, mut forms) =
            (CellProperties { span: 1, ..CellProperties::default() }, AlternateForms::default());
        while let Some(event) = xml.within(depth)? {
            let tag = match event {
                XmlEvent::Start(tag) => tag,
                XmlEvent::End(end) => {
                    forms.end(end.name());
                    continue;
                }
                _ => continue,
            };
            if forms.passes_over(tag.name()) {
                xml.skip()?;
                continue;
            }
            match tag.name() {
                b"p" => {
                    let read = read_paragraph(xml, &mut self.context)?;
                    self.place(read, flow)?;
                }
                b"tbl" => self.table(xml, flow)?,
                b"tcPr" => properties = cell_properties(xml)?,
                b"sectPr" => {
                    let section = read_section(xml)?;
                    self.end_section(section, flow);
                }
                b"oMathPara" | b"oMath" => {
                    let equation = crate::ooxml::read_equation(xml)?;
                    self.put(PlacedParagraph::Formulas(vec![equation]), flow);
                }
                b"altChunk" => {
                    let problem =
                        UnreadableFile::corrupt("a text in another format is embedded in the file and not read");
                    self.context.warn(&problem);
                }
                b"sdtPr" | b"sdtEndPr" | b"pPr" | b"rPr" => xml.skip()?,
                // Controls, accepted changes, custom XML: what is in them counts.
                _ => {}
            }
            if self.budget.is_spent() {
                return Err(UnreadableFile::too_large("the text is too long to be kept: the rest of it is not shown"));
            }
        }
        Ok(properties)
    }

    /// Puts a paragraph with all that belongs to it into the flow.
    fn place(&mut self, mut read: ReadParagraph<'_>, flow: &mut DocumentFlow) -> Result<(), UnreadableFile> {
        let drawn = std::mem::take(&mut read.drawn);
        let notes = std::mem::take(&mut read.notes);
        let section = read.properties.section.take();
        let style = read.properties.style.as_deref().and_then(|id| self.context.styles.get(id));
        let begins_page = read.properties.page_break_before;
        let begins_page = begins_page.or_else(|| style?.paragraph.page_break_before) == Some(true);
        add_break(if begins_page { BreakKind::Wanted } else { read.break_before }, flow);
        let (break_after, has_drawings) = (read.break_after, !drawn.is_empty());
        let placed = classify(read, &self.context.styles, &mut self.numbering);
        // The rule below a picture is its frame.
        if !(has_drawings && matches!(placed, PlacedParagraph::Separator)) {
            self.put(placed, flow);
        }
        for thing in drawn {
            match thing {
                DrawnThing::Element(draft) => {
                    self.budget.take_draft(&draft);
                    flow.element(*draft);
                }
                DrawnThing::TextBox(bytes) => self.text_box(bytes, flow)?,
            }
        }
        for note in notes {
            self.budget.take_draft(&note);
            flow.note(note);
        }
        add_break(break_after, flow);
        if let Some(section) = section {
            self.end_section(section, flow);
        }
        Ok(())
    }

    fn put(&mut self, placed: PlacedParagraph, flow: &mut DocumentFlow) {
        if placed.afford(&mut self.budget, flow.form) {
            placed.put(flow);
        }
    }

    fn end_section(&mut self, section: SectionProperties, flow: &mut DocumentFlow) {
        if flow.form == FlowForm::Elements && self.nesting == 0 {
            flow.section_end();
            self.sections.push(section);
        }
    }

    fn text_box(&mut self, bytes: &[u8], flow: &mut DocumentFlow) -> Result<(), UnreadableFile> {
        if self.nesting >= NESTING {
            return Ok(());
        }
        self.nesting += 1;
        let limits = self.context.package.limits().clone();
        let read = self.blocks(&mut XmlReader::new(bytes, "of a text box", &limits), 0, flow);
        self.nesting -= 1;
        read
    }

    fn table(&mut self, xml: &mut XmlReader<'_>, flow: &mut DocumentFlow) -> Result<(), UnreadableFile> {
        if self.nesting >= NESTING {
            let problem =
                UnreadableFile::too_large("tables stand in each other too deeply: the innermost are not shown");
            self.context.warn(&problem);
            return xml.skip();
        }
        self.nesting += 1;
        let mut read = ReadTable::default();
        // The rows before a mistake are kept.
        let outcome = self.rows(xml, &mut read);
        self.nesting -= 1;
        let ReadTable { mut grid, aside, break_before, break_after } = read;
        grid.first_row_differs &= grid.may_have_headers;
        if break_before {
            flow.rendered_break();
        }
        match flow.form {
            FlowForm::Lines => flow.line(&grid.lines(), Vec::new()),
            FlowForm::Elements => {
                if let Some(draft) = grid.finish() {
                    self.budget.take_element(0, 0);
                    flow.element(draft);
                }
            }
        }
        flow.take_over(aside);
        if break_after {
            flow.rendered_break();
        }
        outcome
    }

    fn rows(&mut self, xml: &mut XmlReader<'_>, read: &mut ReadTable) -> Result<(), UnreadableFile> {
        let (depth, mut rows) = (xml.depth(), 0);
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            match tag.name() {
                b"tr" => {
                    let has_break = self.row(xml, rows, &mut read.grid, &mut read.aside)?;
                    let at = if rows == 0 { &mut read.break_before } else { &mut read.break_after };
                    *at |= has_break;
                    rows += 1;
                }
                b"tblLook" => read.grid.may_have_headers = marks_first_row(&tag),
                b"tblStyle" => {
                    let style = tag.attribute("val").unwrap_or_default();
                    let style = self.context.styles.get(&style);
                    read.grid.first_row_differs = style.is_some_and(|style| style.marks_first_row);
                }
                b"tblGrid" | b"tblPrChange" | b"sdtPr" => xml.skip()?,
                _ => {}
            }
            if self.budget.is_spent() {
                return Err(UnreadableFile::too_large("a table is too long to be kept: the rest of it is not shown"));
            }
        }
        Ok(())
    }

    /// Reads a row; whether a page ends within it.
    fn row(
        &mut self,
        xml: &mut XmlReader<'_>,
        number: usize,
        grid: &mut TableGrid,
        aside: &mut Vec<FlowItem>,
    ) -> Result<bool, UnreadableFile> {
        let (depth, mut cells, mut skipped) = (xml.depth(), Vec::new(), 0);
        let (mut has_break, mut deleted) = (false, false);
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            match tag.name() {
                b"tc" if cells.len() >= TableGrid::COLUMNS => xml.skip()?,
                b"tc" => {
                    let mut flow = DocumentFlow::new(FlowForm::Lines);
                    let depth = xml.depth();
                    let CellProperties { span, vertical } = self.cell_blocks(xml, depth, &mut flow)?;
                    has_break |= flow.has_break();
                    let (text, links, items) = flow.into_lines();
                    self.budget.take_cell(span.min(TableGrid::COLUMNS), text.capacity());
                    aside.extend(items);
                    cells.push(GridCell { text, links, span, vertical });
                }
                b"gridBefore" => skipped = tag.number("val").unwrap_or(0),
                b"tblHeader" if number == 0 => grid.first_row_repeats = tag.is_on("val"),
                b"del" => deleted = true,
                b"trPrChange" | b"tblPrEx" | b"sdtPr" => xml.skip()?,
                _ => {}
            }
        }
        if !deleted {
            self.budget.take_row();
            self.budget.take_cell(skipped.min(TableGrid::COLUMNS), 0);
            grid.push_row(skipped, cells);
        }
        Ok(has_break)
    }
}

fn add_break(kind: BreakKind, flow: &mut DocumentFlow) {
    match kind {
        BreakKind::None => {}
        BreakKind::Wanted if flow.form == FlowForm::Elements => flow.page_break(),
        BreakKind::Rendered | BreakKind::Wanted => flow.rendered_break(),
    }
}

/// Whether the look of a table marks its first row: a switch of its own, or a bit in older files.
fn marks_first_row(tag: &XmlTag<'_>) -> bool {
    match tag.attribute("firstRow") {
        Some(_) => tag.is_on("firstRow"),
        None => {
            let bits = tag.attribute("val").and_then(|bits| u32::from_str_radix(&bits, 16).ok());
            bits.unwrap_or(0) & 0x20 != 0
        }
    }
}

fn cell_properties(xml: &mut XmlReader<'_>) -> Result<CellProperties, UnreadableFile> {
    let (depth, mut read) = (xml.depth(), CellProperties { span: 1, ..CellProperties::default() });
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"gridSpan" => read.span = tag.number("val").unwrap_or(1),
            b"vMerge" => {
                let begins = tag.attribute("val").as_deref() == Some("restart");
                read.vertical = if begins { VerticalMerge::Begins } else { VerticalMerge::Continues };
            }
            b"tcPrChange" => xml.skip()?,
            _ => {}
        }
    }
    Ok(read)
}
