//! The tables of a sheet: its used ranges as elements.
//!
//! A sheet is read twice: once for where its cells are, once for the texts of the rows that are wanted. The second reading
//! ends with the last wanted row.

use std::collections::BTreeMap;
use std::ops::Range;

use a2c_document_model::{
    CellPlace, CellRange, ElementContent, ElementDraft, ElementMetadata, InlineLink, RowWindow, TableContent,
    UnreadableFile,
};

use super::cell::{CellSource, SheetTail};
use super::cell_text::{CellDisplay, ShownText};
use super::extract::{ExtractedRow, ExtractedRows, RowExtractor, RowPlan};
use super::header_row::{HEAD_ROWS, HeadCell, TableHead, table_head};
use super::layout::{LayoutBuilder, UsedBlock};
use super::shared_strings::SharedStrings;
use crate::limits::ReadLimits;

/// Rows that can stand between the first of a range and the first of its data.
const ROWS_ABOVE_DATA: u32 = 4;

/// Where the cells of a sheet are.
#[derive(Debug)]
pub(super) struct SheetScan {
    /// The used ranges.
    pub(super) blocks: Vec<UsedBlock>,
    /// What stands below the cells; `None` where only the first rows were looked at.
    pub(super) tail: Option<SheetTail>,
    /// The last row that was looked at.
    last_row: Option<u32>,
    /// Where the links of cells lead.
    links: BTreeMap<CellPlace, String>,
}

/// How a sheet is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct SheetView<'a> {
    pub(super) display: CellDisplay<'a>,
    pub(super) limits: &'a ReadLimits,
    /// The rows of headers that the file tells.
    pub(super) header_rows: &'a [CellRange],
}

/// An element and where it stands in its sheet.
#[derive(Debug)]
pub(super) struct PlacedElement {
    pub(super) place: CellPlace,
    pub(super) draft: ElementDraft,
    /// The range that it shows, and what that begins with.
    pub(super) origin: Option<(CellRange, TableHead)>,
}

/// Looks where the cells of a sheet are, in all rows or in the first ones.
pub(super) fn scan_sheet(
    source: &mut dyn CellSource,
    limits: &ReadLimits,
    rows: Option<usize>,
) -> Result<SheetScan, UnreadableFile> {
    let mut builder = rows.map_or_else(LayoutBuilder::default, LayoutBuilder::of_rows);
    let tail = source.visit(&mut builder)?;
    let layout = builder.finish();
    let links = tail.iter().flat_map(|tail| &tail.links);
    let links = links.filter_map(|link| Some((link.place, source.link_target(link)?))).collect();
    let blocks = layout.blocks(limits.page_elements / 2);
    Ok(SheetScan { blocks, tail, last_row: layout.last_row(), links })
}

impl SheetView<'_> {
    /// The elements of the used ranges, with a window of the rows of each.
    pub(super) fn tables(
        &self,
        source: &mut dyn CellSource,
        scan: &SheetScan,
        window: RowWindow,
    ) -> Result<Vec<PlacedElement>, UnreadableFile> {
        let plan = |block: &UsedBlock| {
            let first = block.range.first.row;
            let begin = first.saturating_add(clamped(window.offset));
            let end = begin.saturating_add(clamped(window.limit)).saturating_add(ROWS_ABOVE_DATA);
            RowPlan { range: block.range, rows: [first..first + HEAD_ROWS, begin..end], detail: false }
        };
        let plans: Vec<RowPlan> = scan.blocks.iter().map(plan).collect();
        let extracted = self.extract(source, &plans)?;
        let mut elements = Vec::new();
        for (block, extracted) in scan.blocks.iter().zip(extracted) {
            self.add_block(scan, *block, extracted, window, &mut elements);
        }
        Ok(elements)
    }

    /// An element again, with all that is known of it and other rows.
    pub(super) fn detail(
        &self,
        source: &mut dyn CellSource,
        scan: &SheetScan,
        element: &PlacedElement,
        window: RowWindow,
    ) -> Result<Option<ElementDraft>, UnreadableFile> {
        let Some((range, head)) = element.origin else { return Ok(None) };
        let data = range.first.row + head.titles + u32::from(head.headers);
        let begin = data.saturating_add(clamped(window.offset));
        let rows = begin..begin.saturating_add(clamped(window.limit)).min(range.last.row.saturating_add(1));
        let plan = RowPlan { range, rows: [range.first.row..data + 1, rows.clone()], detail: true };
        let Some(mut extracted) = self.extract(source, std::slice::from_ref(&plan))?.pop() else { return Ok(None) };
        let shown = |place: &CellPlace| rows.contains(&place.row) || place.row < data;
        let formulas = std::mem::take(&mut extracted.formulas);
        let values = std::mem::take(&mut extracted.values);
        let formulas = formulas.into_iter().filter(|(place, _)| shown(place));
        let formulas = formulas.map(|(place, formula)| (place.to_string(), formula)).collect();
        let values = values.into_iter().filter(|(place, _)| shown(place));
        let values = values.map(|(place, value)| (place.to_string(), value)).collect();
        let merges = scan.tail.iter().flat_map(|tail| &tail.merges);
        let merges = merges.filter(|merge| overlap(merge, &range)).map(ToString::to_string).collect();
        let block = UsedBlock { range, formulas: element.draft.metadata.has_formulas };
        let mut draft = match element.draft.content {
            ElementContent::Table(_) => self.table(scan, block, extracted, head, window),
            _ => match self.lone_cell(scan, range.first, extracted, usize::MAX) {
                Some(draft) => draft,
                None => return Ok(None),
            },
        };
        draft.metadata = ElementMetadata { formulas, values, merges, ..draft.metadata };
        draft.metadata.has_formulas = block.formulas;
        Ok(Some(draft))
    }

    fn extract(&self, source: &mut dyn CellSource, plans: &[RowPlan]) -> Result<Vec<ExtractedRows>, UnreadableFile> {
        let mut extractor = RowExtractor::new(self.display, plans, self.limits.element_bytes);
        source.visit(&mut extractor)?;
        match extractor.last_shared() {
            Some(last) => Ok(extractor.finish(source.strings(last)?)),
            None => Ok(extractor.finish(&SharedStrings::none())),
        }
    }

    fn add_block(
        &self,
        scan: &SheetScan,
        block: UsedBlock,
        mut extracted: ExtractedRows,
        window: RowWindow,
        elements: &mut Vec<PlacedElement>,
    ) {
        let CellRange { first, last } = block.range;
        if first == last {
            let Some(mut draft) = self.lone_cell(scan, first, extracted, self.limits.page_text) else { return };
            draft.metadata.has_formulas = block.formulas;
            elements.push(PlacedElement { place: first, draft, origin: Some((block.range, TableHead::default())) });
            return;
        }
        let head = self.head(block.range, &extracted.rows);
        for row in first.row..first.row + head.titles {
            let title = extracted.rows.iter().position(|extracted| extracted.row == row);
            let Some(title) = title.map(|at| extracted.rows.remove(at)) else { continue };
            let column = title.cells.first().map_or(first.column, |cell| cell.column);
            let place = CellPlace { row, column };
            let links = extracted.links.extract_if(.., |(at, _)| *at == place).collect();
            let title = ExtractedRows { rows: vec![title], links, ..ExtractedRows::default() };
            if let Some(draft) = self.lone_cell(scan, place, title, self.limits.page_text) {
                let range = CellRange { first: place, last: place };
                elements.push(PlacedElement { place, draft, origin: Some((range, TableHead::default())) });
            }
        }
        let draft = self.table(scan, block, extracted, head, window);
        let place = CellPlace { row: first.row + head.titles, ..first };
        elements.push(PlacedElement { place, draft, origin: Some((block.range, head)) });
    }

    /// What a range begins with.
    fn head(&self, range: CellRange, rows: &[ExtractedRow]) -> TableHead {
        let head: Vec<Vec<HeadCell<'_>>> = (range.first.row..range.first.row + HEAD_ROWS)
            .take_while(|row| *row <= range.last.row)
            .map(|row| {
                let cells = rows.iter().take(HEAD_ROWS as usize).find(|other| other.row == row);
                let cells = cells.into_iter().flat_map(|row| &row.cells);
                cells
                    .map(|cell| HeadCell {
                        column: cell.column - range.first.column,
                        text: if let ShownText::Own(text) = &cell.text { text } else { "" },
                        kind: cell.kind,
                        bold: self.display.styles.is_bold(cell.style),
                    })
                    .collect()
            })
            .collect();
        let columns = range.last.column - range.first.column + 1;
        let known = self.header_rows.iter().filter(|header| overlap(header, &range)).map(|header| header.first.row);
        let known = known.min().and_then(|row| row.checked_sub(range.first.row));
        table_head(&head, columns, known.filter(|row| range.first.row + row < range.last.row))
    }

    fn table(
        &self,
        scan: &SheetScan,
        block: UsedBlock,
        extracted: ExtractedRows,
        head: TableHead,
        window: RowWindow,
    ) -> ElementDraft {
        let CellRange { first, last } = block.range;
        let top = first.row + head.titles;
        let data = top + u32::from(head.headers);
        let open_ended = scan.tail.is_none() && scan.last_row == Some(last.row);
        let total = (last.row + 1).saturating_sub(data) as usize;
        let begin = data.saturating_add(clamped(window.offset.min(total)));
        let wanted = begin..begin.saturating_add(clamped(window.limit)).min(last.row + 1);
        let ExtractedRows { rows, links: mut found, cut, .. } = extracted;
        let (mut headers, mut first_row, mut taken) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            if row.row < top {
                continue;
            }
            let (at, is_wanted) = (row.row, wanted.contains(&row.row));
            if !is_wanted && at > data {
                continue;
            }
            let cells = texts(row, first.column);
            if head.headers && at == top {
                headers = cells;
            } else if is_wanted {
                if at == data {
                    first_row.clone_from(&cells);
                }
                // Ranges that were not split finely have empty rows.
                taken.resize((at - wanted.start) as usize, Vec::new());
                taken.push(cells);
            } else {
                first_row = cells;
            }
        }
        if !cut {
            taken.resize(wanted.len(), Vec::new());
        }
        let truncated = open_ended || taken.len() < total;
        let shown = (wanted.start..wanted.start + taken.len() as u32, top..data);
        let is_shown = |place: &CellPlace| {
            (shown.0.contains(&place.row) || shown.1.contains(&place.row))
                && (first.column..=last.column).contains(&place.column)
        };
        let rows_of_links =
            scan.links.range(CellPlace { row: top, column: 0 }..CellPlace { row: last.row + 1, column: 0 });
        found.extend(rows_of_links.map(|(place, url)| (*place, url.clone())));
        found.retain(|(place, _)| is_shown(place));
        let text = |place: &CellPlace| {
            let row = match shown.1.contains(&place.row) {
                true => Some(&headers),
                false => taken.get((place.row - shown.0.start) as usize),
            };
            row.and_then(|row| row.get((place.column - first.column) as usize)).cloned().unwrap_or_default()
        };
        let links = found.iter().map(|(place, url)| InlineLink {
            text: text(place),
            url: url.clone(),
            cell: Some(place.to_string()),
        });
        let links = links.collect();
        let range = CellRange { first: CellPlace { row: top, ..first }, last };
        let metadata = ElementMetadata {
            links,
            source_range: (!open_ended).then(|| range.to_string()),
            has_formulas: block.formulas,
            ..ElementMetadata::default()
        };
        // A table without headers is known by its first row, whichever rows are here.
        let identity = headers.is_empty().then(|| first_row.join("\0"));
        let content = ElementContent::Table(TableContent {
            headers,
            rows: taken,
            offset: (wanted.start - data) as usize,
            total_rows: (!open_ended).then_some(total),
            total_columns: Some((last.column - first.column) as usize + 1),
            truncated,
        });
        ElementDraft { metadata, identity, ..ElementDraft::from(content) }
    }

    /// A cell that stands alone: a text, or a link.
    fn lone_cell(
        &self,
        scan: &SheetScan,
        place: CellPlace,
        extracted: ExtractedRows,
        most: usize,
    ) -> Option<ElementDraft> {
        let ExtractedRows { rows, links, .. } = extracted;
        let cell = rows.into_iter().next()?.cells.into_iter().next()?;
        let ShownText::Own(mut text) = cell.text else { return None };
        if text.trim().is_empty() {
            return None;
        }
        let url = links.into_iter().next().map(|(_, url)| url).or_else(|| scan.links.get(&place).cloned());
        let content = match url {
            Some(url) => ElementContent::Link { text, url },
            None => {
                let truncated = text.len() > most;
                text.truncate(text.floor_char_boundary(most));
                ElementContent::Text { text, truncated }
            }
        };
        let metadata = ElementMetadata { source_range: Some(place.to_string()), ..ElementMetadata::default() };
        Some(ElementDraft { metadata, ..ElementDraft::from(content) })
    }
}

fn clamped(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn overlap(a: &CellRange, b: &CellRange) -> bool {
    let meet = |a: Range<u32>, b: Range<u32>| a.start < b.end && b.start < a.end;
    meet(a.first.row..a.last.row + 1, b.first.row..b.last.row + 1)
        && meet(a.first.column..a.last.column + 1, b.first.column..b.last.column + 1)
}

/// The texts of a row, from the first column of its range; none behind the last cell.
fn texts(row: ExtractedRow, first: u32) -> Vec<String> {
    let length = row.cells.last().map_or(0, |cell| cell.column - first + 1);
    let mut texts = Vec::with_capacity(length as usize);
    for cell in row.cells {
        texts.resize((cell.column - first) as usize, String::new());
        texts.push(if let ShownText::Own(text) = cell.text { text } else { String::new() });
    }
    texts
}
