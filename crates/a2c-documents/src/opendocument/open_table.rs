//! Tables of a text or a slide.

use a2c_document_model::UnreadableFile;

use super::open_body::OpenBody;
use super::open_styles::StyleFamily;
use crate::rich_text::{DocumentFlow, FlowForm, FlowItem, GridCell, TableGrid, VerticalMerge};
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// How often one row stands for several.
const REPEATED_ROWS: usize = 1_000;

/// A table while its rows are read.
#[derive(Default)]
struct ReadTable {
    grid: TableGrid,
    /// What stands in its cells and is no text: pictures, notes.
    aside: Vec<FlowItem>,
    /// The cells of former rows that go on: their column, their width, and for how many rows.
    tall: Vec<(usize, usize, usize)>,
    rows: usize,
    in_headers: bool,
}

/// What a cell says about the cells that it covers.
#[derive(Clone, Copy)]
struct CellSpan {
    columns: usize,
    rows: usize,
    repeat: usize,
    covered: bool,
}

impl OpenBody<'_> {
    /// Reads the table that began last.
    pub(super) fn table(
        &mut self,
        xml: &mut XmlReader<'_>,
        tag: &XmlTag<'_>,
        flow: &mut DocumentFlow,
    ) -> Result<(), UnreadableFile> {
        let style = self.styles.get(StyleFamily::Table, &tag.attribute("style-name").unwrap_or_default());
        if self.is_outermost_table() {
            self.begin_table(&style, flow);
        }
        let mut read = ReadTable::default();
        read.grid.may_have_headers = true;
        read.grid.first_row_differs = tag.attribute("use-first-row-styles").as_deref() == Some("true");
        // The rows before a mistake are kept.
        let outcome = self.rows(xml, &mut read);
        match flow.form {
            FlowForm::Lines => flow.line(&read.grid.lines(), Vec::new()),
            FlowForm::Elements => {
                if let Some(draft) = read.grid.finish() {
                    self.budget.take_element(0, 0);
                    flow.element(draft);
                }
            }
        }
        flow.take_over(read.aside);
        outcome
    }

    fn rows(&mut self, xml: &mut XmlReader<'_>, read: &mut ReadTable) -> Result<(), UnreadableFile> {
        let depth = xml.depth();
        while let Some(event) = xml.within(depth)? {
            match event {
                XmlEvent::Start(tag) => match tag.name() {
                    b"table-row" => self.row(xml, &tag, read)?,
                    b"table-header-rows" => read.in_headers = true,
                    b"table-columns" | b"table-header-columns" | b"table-column" | b"shapes" => xml.skip()?,
                    _ => {}
                },
                XmlEvent::End(end) if end.name() == b"table-header-rows" => read.in_headers = false,
                _ => {}
            }
            if self.budget.is_spent() {
                return Err(UnreadableFile::too_large("a table is too long to be kept: the rest of it is not shown"));
            }
        }
        Ok(())
    }

    fn row(&mut self, xml: &mut XmlReader<'_>, tag: &XmlTag<'_>, read: &mut ReadTable) -> Result<(), UnreadableFile> {
        let (depth, mut cells, mut column) = (xml.depth(), Vec::new(), 0);
        // Up to which column the last cell of this row reaches.
        let mut reached = 0;
        let mut begun = Vec::new();
        let repeat: usize = tag.number("number-rows-repeated").unwrap_or(1).clamp(1, REPEATED_ROWS);
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            if !matches!(tag.name(), b"table-cell" | b"covered-table-cell") {
                continue;
            }
            let span = cell_span(&tag);
            let mut flow = DocumentFlow::new(FlowForm::Lines);
            self.blocks(xml, &mut flow)?;
            let (text, links, items) = flow.into_lines();
            read.aside.extend(items);
            for _ in 0..span.repeat {
                if column >= TableGrid::COLUMNS {
                    break;
                }
                if span.covered && column < reached {
                    column += 1;
                    continue;
                }
                let above = read.tall.iter().find(|(at, ..)| *at == column).copied();
                let (width, vertical) = match above {
                    Some((_, width, _)) if span.covered => (width, VerticalMerge::Continues),
                    _ if span.rows > 1 => {
                        begun.push((column, span.columns, span.rows));
                        (span.columns, VerticalMerge::Begins)
                    }
                    _ => (span.columns, VerticalMerge::None),
                };
                self.budget.take_cell(width, text.capacity());
                reached = column + width;
                column += 1;
                cells.push(GridCell { text: text.clone(), links: links.clone(), span: width, vertical });
                if self.budget.is_spent() {
                    return Ok(());
                }
            }
        }
        read.tall.iter_mut().for_each(|(.., rows)| *rows -= 1);
        read.tall.extend(begun);
        read.tall.retain(|(.., rows)| *rows > 1);
        // Repeated rows without words are padding.
        let repeat = if cells.iter().all(|cell| cell.text.is_empty()) { 1 } else { repeat };
        for _ in 1..repeat {
            self.budget.take_row();
            let copy = |cell: &GridCell| GridCell {
                text: cell.text.clone(),
                links: Vec::new(),
                span: cell.span,
                vertical: cell.vertical,
            };
            for cell in &cells {
                self.budget.take_cell(cell.span, cell.text.len());
            }
            if self.budget.is_spent() {
                break;
            }
            read.grid.push_row(0, cells.iter().map(copy).collect());
        }
        self.budget.take_row();
        read.grid.first_row_repeats |= read.in_headers && read.rows == 0;
        read.rows += repeat;
        read.grid.push_row(0, cells);
        Ok(())
    }
}

fn cell_span(tag: &XmlTag<'_>) -> CellSpan {
    let number = |name: &str| tag.number::<usize>(name).unwrap_or(1).clamp(1, TableGrid::COLUMNS);
    CellSpan {
        columns: number("number-columns-spanned"),
        rows: number("number-rows-spanned"),
        repeat: number("number-columns-repeated"),
        covered: tag.name() == b"covered-table-cell",
    }
}
