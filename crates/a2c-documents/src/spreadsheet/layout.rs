//! Where the cells of a sheet are: its used ranges, split by empty rows and columns.
//!
//! What is kept of a sheet is the columns in use, for each run of rows that use the same ones; a regular sheet of a million
//! cells is one run. The split is done on these runs, again and again, until no range has an empty row or column within.

use std::ops::{ControlFlow, Range};

use a2c_document_model::{CellPlace, CellRange, UnreadableFile};

use super::cell::{CellVisitor, SheetCell};

/// The spans that are kept; in rows beyond, all columns between the first and the last count as used.
const SPANS: usize = 4 << 20;
/// How often a range is split again.
const DEPTH: usize = 16;

/// The cells in use of a sheet, or of its first rows.
#[derive(Debug, Default)]
pub(super) struct SheetLayout {
    runs: Vec<RowRun>,
    spans: Vec<ColumnSpan>,
}

/// Rows below each other that use the same columns.
#[derive(Debug, Clone)]
struct RowRun {
    first: u32,
    last: u32,
    spans: Range<u32>,
}

/// Columns beside each other that are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ColumnSpan {
    first: u16,
    last: u16,
    formulas: bool,
}

/// A used range without an empty row or column in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UsedBlock {
    /// Its cells.
    pub(super) range: CellRange,
    /// Whether there are formulas in it.
    pub(super) formulas: bool,
}

/// Learns the layout of a sheet from its cells.
#[derive(Debug, Default)]
pub(super) struct LayoutBuilder {
    layout: SheetLayout,
    row: u32,
    open: Vec<ColumnSpan>,
    rows: usize,
    /// After how many rows it is enough.
    enough: Option<usize>,
}

impl LayoutBuilder {
    /// A builder that looks at the first rows only.
    pub(super) fn of_rows(enough: usize) -> Self {
        Self { enough: Some(enough), ..Self::default() }
    }

    /// What was learnt.
    pub(super) fn finish(mut self) -> SheetLayout {
        self.end_row();
        self.layout
    }

    fn end_row(&mut self) {
        let (Some(first), Some(last)) = (self.open.first(), self.open.last()) else { return };
        let SheetLayout { runs, spans } = &mut self.layout;
        if spans.len() + self.open.len() > SPANS {
            let formulas = self.open.iter().any(|span| span.formulas);
            self.open = vec![ColumnSpan { first: first.first, last: last.last, formulas }];
        }
        match runs.last_mut() {
            Some(run) if run.last + 1 == self.row && spans[indices(&run.spans)] == self.open[..] => run.last = self.row,
            _ => {
                let from = spans.len() as u32;
                spans.append(&mut self.open);
                runs.push(RowRun { first: self.row, last: self.row, spans: from..spans.len() as u32 });
            }
        }
        self.open.clear();
        self.rows += 1;
    }
}

impl CellVisitor for LayoutBuilder {
    fn cell(&mut self, cell: &SheetCell<'_>) -> Result<ControlFlow<()>, UnreadableFile> {
        if cell.place.row != self.row {
            self.end_row();
            self.row = cell.place.row;
            if self.enough.is_some_and(|enough| self.rows >= enough) {
                return Ok(ControlFlow::Break(()));
            }
        }
        let (column, formulas) = (cell.place.column as u16, cell.formula.is_some());
        match self.open.last_mut() {
            Some(span) if u32::from(span.last) + 1 == cell.place.column => {
                span.last = column;
                span.formulas |= formulas;
            }
            _ => self.open.push(ColumnSpan { first: column, last: column, formulas }),
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn indices(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// Runs of rows, and the columns of them that belong to a range.
#[derive(Debug, Clone)]
struct Region {
    runs: Range<usize>,
    first: u16,
    last: u16,
    depth: usize,
}

impl SheetLayout {
    /// The used ranges in reading order. Where there are more than `most`, the sheet is split less finely.
    pub(super) fn blocks(&self, most: usize) -> Vec<UsedBlock> {
        let Some(whole) = self.whole() else { return Vec::new() };
        let bands = self.split_rows(&whole);
        if bands.len() > most {
            return self.block(&whole).into_iter().collect();
        }
        let mut blocks = Vec::new();
        let mut waiting = bands.clone();
        while let Some(region) = waiting.pop() {
            if blocks.len() + waiting.len() >= most {
                blocks = bands.iter().filter_map(|band| self.block(band)).collect();
                break;
            }
            let columns = self.split_columns(&region);
            if columns.len() == 1 || region.depth >= DEPTH {
                blocks.extend(self.block(&region));
            } else {
                waiting.extend(columns.iter().flat_map(|columns| self.split_rows(columns)));
            }
        }
        blocks.sort_by_key(|block| block.range.first);
        blocks
    }

    /// The last row that is in use.
    pub(super) fn last_row(&self) -> Option<u32> {
        self.runs.last().map(|run| run.last)
    }

    fn whole(&self) -> Option<Region> {
        let first = self.spans.iter().map(|span| span.first).min()?;
        let last = self.spans.iter().map(|span| span.last).max()?;
        Some(Region { runs: 0..self.runs.len(), first, last, depth: 0 })
    }

    /// The spans of a run that lie in a region.
    fn spans_in(&self, run: &RowRun, region: &Region) -> &[ColumnSpan] {
        let spans = &self.spans[indices(&run.spans)];
        let from = spans.partition_point(|span| span.last < region.first);
        let to = spans.partition_point(|span| span.first <= region.last);
        spans.get(from..to).unwrap_or_default()
    }

    /// The parts of a region between its empty rows.
    fn split_rows(&self, region: &Region) -> Vec<Region> {
        let (mut parts, mut last): (Vec<Region>, Option<u32>) = (Vec::new(), None);
        for at in region.runs.clone() {
            let run = &self.runs[at];
            if self.spans_in(run, region).is_empty() {
                continue;
            }
            match parts.last_mut() {
                Some(part) if last.is_some_and(|last| last + 1 == run.first) => part.runs.end = at + 1,
                _ => parts.push(Region { runs: at..at + 1, depth: region.depth + 1, ..*region }),
            }
            last = Some(run.last);
        }
        parts
    }

    /// The parts of a region between its empty columns.
    fn split_columns(&self, region: &Region) -> Vec<Region> {
        // How many spans begin at a column, less those that ended before it.
        let mut changes = vec![0_i32; usize::from(region.last - region.first) + 2];
        for run in &self.runs[region.runs.clone()] {
            for span in self.spans_in(run, region) {
                changes[usize::from(span.first.max(region.first) - region.first)] += 1;
                changes[usize::from(span.last.min(region.last) - region.first) + 1] -= 1;
            }
        }
        let (mut parts, mut used, mut begin) = (Vec::new(), 0, None);
        for (column, change) in changes.iter().enumerate() {
            used += change;
            match (used > 0, begin) {
                (true, None) => begin = Some(column as u16),
                (false, Some(first)) => {
                    let (first, last) = (region.first + first, region.first + (column as u16) - 1);
                    parts.push(Region { first, last, ..region.clone() });
                    begin = None;
                }
                _ => {}
            }
        }
        parts
    }

    /// The smallest range around what is used of a region.
    fn block(&self, region: &Region) -> Option<UsedBlock> {
        let mut found: Option<UsedBlock> = None;
        for run in &self.runs[region.runs.clone()] {
            let spans = self.spans_in(run, region);
            let (Some(left), Some(right)) = (spans.first(), spans.last()) else { continue };
            let first = CellPlace { row: run.first, column: u32::from(left.first.max(region.first)) };
            let last = CellPlace { row: run.last, column: u32::from(right.last.min(region.last)) };
            let formulas = spans.iter().any(|span| span.formulas);
            match &mut found {
                None => found = Some(UsedBlock { range: CellRange { first, last }, formulas }),
                Some(block) => {
                    block.range.first.column = block.range.first.column.min(first.column);
                    block.range.last.column = block.range.last.column.max(last.column);
                    block.range.last.row = last.row;
                    block.formulas |= formulas;
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell::CellValue;
    use super::*;

    /// The blocks of a drawing: a letter is a cell, `f` one with a formula.
    fn blocks(drawing: &[&str], most: usize) -> Vec<String> {
        let mut builder = LayoutBuilder::default();
        for (row, line) in drawing.iter().enumerate() {
            for (column, letter) in line.chars().enumerate().filter(|(_, letter)| *letter != '.') {
                let place = CellPlace { row: row as u32, column: column as u32 };
                let formula = (letter == 'f').then_some(super::super::cell::CellFormula { text: "A1", shared: None });
                let cell = SheetCell { place, style: 0, value: CellValue::Flag(true), formula };
                assert!(builder.cell(&cell).unwrap().is_continue());
            }
        }
        let show = |block: &UsedBlock| format!("{}{}", block.range, if block.formulas { "=" } else { "" });
        builder.finish().blocks(most).iter().map(show).collect()
    }

    #[test]
    fn empty_rows_and_columns_split_a_sheet() {
        assert_eq!(blocks(&[], 9), [""; 0]);
        assert_eq!(blocks(&["xx", "xf"], 9), ["A1:B2="]);
        assert_eq!(blocks(&["xx.xf", "xx.xx", ".....", "xx"], 9), ["A1:B2", "D1:E2=", "A4:B4"]);
        assert_eq!(blocks(&["x.x", ".x.", "x.x"], 9), ["A1:C3"], "no row and no column is empty");
    }

    #[test]
    fn ranges_beside_a_long_one_are_split_too() {
        let drawing = ["xx.xx", "xx.xx", "xx...", "xx.x.", "xx...", "xx.xx"];
        assert_eq!(blocks(&drawing, 9), ["A1:B6", "D1:E2", "D4", "D6:E6"]);
        let nested = ["xxxx.x", "....", "x.xx.x", "x...", "x.xx.x"];
        assert_eq!(blocks(&nested, 9), ["A1:D1", "F1", "A3:A5", "C3:D3", "F3", "C5:D5", "F5"]);
    }

    #[test]
    fn too_many_ranges_are_split_less_finely() {
        let drawing = ["x.x", "...", "x.x", "...", "x.x"];
        assert_eq!(blocks(&drawing, 9).len(), 6);
        assert_eq!(blocks(&drawing, 4), ["A1:C1", "A3:C3", "A5:C5"]);
        assert_eq!(blocks(&drawing, 2), ["A1:C5"]);
    }
}
