//! Tables on slides.

use a2c_document_model::{ElementDraft, UnreadableFile};

use crate::ooxml::{LinkResolver, read_drawing_text};
use crate::rich_text::{GridCell, MemoryBudget, TableGrid, VerticalMerge};
use crate::xml::{XmlEvent, XmlReader};

/// Reads the table that began last; `None` where it has no words.
pub(super) fn read_slide_table(
    xml: &mut XmlReader<'_>,
    link: LinkResolver<'_>,
    budget: &mut MemoryBudget,
) -> Result<Option<ElementDraft>, UnreadableFile> {
    let (depth, mut grid) = (xml.depth(), TableGrid::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"tblPr" => grid.first_row_repeats = tag.attribute("firstRow").is_some() && tag.is_on("firstRow"),
            b"tr" => {
                budget.take_row();
                let cells = row(xml, link, budget)?;
                grid.push_row(0, cells);
            }
            b"tblGrid" => xml.skip()?,
            _ => {}
        }
        // The rows so far are kept; the slide ends with the budget.
        if budget.is_spent() {
            break;
        }
    }
    Ok(grid.finish())
}

fn row(
    xml: &mut XmlReader<'_>,
    link: LinkResolver<'_>,
    budget: &mut MemoryBudget,
) -> Result<Vec<GridCell>, UnreadableFile> {
    let (depth, mut cells) = (xml.depth(), Vec::<GridCell>::new());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        if tag.name() != b"tc" || cells.len() >= TableGrid::COLUMNS {
            continue;
        }
        let on = |name: &str| tag.attribute(name).is_some() && tag.is_on(name);
        // The cells that a wide one covers are there too, and say so.
        let covered = on("hMerge");
        let vertical = match (on("vMerge"), tag.number::<u32>("rowSpan").unwrap_or(1) > 1) {
            (true, _) => VerticalMerge::Continues,
            (false, true) => VerticalMerge::Begins,
            (false, false) => VerticalMerge::None,
        };
        let span: usize = tag.number("gridSpan").unwrap_or(1);
        let cell = cell(xml, link)?;
        if covered && !cells.is_empty() {
            continue;
        }
        budget.take_cell(span.min(TableGrid::COLUMNS), cell.text.capacity());
        if budget.is_spent() {
            break;
        }
        cells.push(GridCell { span, vertical, ..cell });
    }
    Ok(cells)
}

fn cell(xml: &mut XmlReader<'_>, link: LinkResolver<'_>) -> Result<GridCell, UnreadableFile> {
    let (depth, mut cell) = (xml.depth(), GridCell::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"txBody" => {
                let read = read_drawing_text(xml, link)?;
                for paragraph in read.paragraphs {
                    let (text, metadata) = paragraph.text.finish();
                    if !cell.text.is_empty() && !text.is_empty() {
                        cell.text.push('\n');
                    }
                    cell.text.push_str(&text);
                    cell.links.extend(metadata.links);
                }
            }
            b"tcPr" => xml.skip()?,
            _ => {}
        }
    }
    Ok(cell)
}
