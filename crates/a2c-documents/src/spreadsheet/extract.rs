//! Takes the wanted rows of used ranges out of a sheet, as texts. Nothing else of the sheet is held.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use a2c_document_model::{CellPlace, CellRange, UnreadableFile};
use serde_json::Value;

use super::cell::{CellValue, CellVisitor, SheetCell};
use super::cell_text::{CellDisplay, ShownText, ValueKind};
use super::formula;
use super::shared_strings::SharedStrings;

/// The formulas shared by several cells that are kept.
const SHARED_FORMULAS: usize = 65_536;
/// The bytes of all of these.
const SHARED_FORMULA_BYTES: usize = 16 << 20;
/// What a cell costs besides its text.
const CELL_COST: usize = 16;

/// Which rows are wanted of a range.
#[derive(Debug, Clone)]
pub(super) struct RowPlan {
    /// The range.
    pub(super) range: CellRange,
    /// The rows of the sheet that are wanted: those at the beginning, and those of a window.
    pub(super) rows: [Range<u32>; 2],
    /// Whether formulas and values are wanted too.
    pub(super) detail: bool,
}

impl RowPlan {
    fn wants(&self, row: u32) -> bool {
        self.rows.iter().any(|rows| rows.contains(&row))
    }

    fn end(&self) -> u32 {
        self.rows.iter().map(|rows| rows.end).max().unwrap_or(0).min(self.range.last.row + 1)
    }
}

/// What was taken out of a range.
#[derive(Debug, Default)]
pub(super) struct ExtractedRows {
    /// The rows that are not empty.
    pub(super) rows: Vec<ExtractedRow>,
    /// Formulas, of the wanted rows.
    pub(super) formulas: Vec<(CellPlace, String)>,
    /// Values that differ from the text.
    pub(super) values: Vec<(CellPlace, Value)>,
    /// Links that are formulas.
    pub(super) links: Vec<(CellPlace, String)>,
    /// Whether rows are missing because they would be too large.
    pub(super) cut: bool,
}

/// A row that was taken out.
#[derive(Debug)]
pub(super) struct ExtractedRow {
    /// Its number in the sheet.
    pub(super) row: u32,
    /// Its cells that are not empty.
    pub(super) cells: Vec<ExtractedCell>,
}

/// A cell that was taken out.
#[derive(Debug)]
pub(super) struct ExtractedCell {
    pub(super) text: ShownText,
    pub(super) column: u32,
    pub(super) style: u32,
    pub(super) kind: ValueKind,
}

/// Takes rows out of a sheet by plans, which are in the order of their first rows.
pub(super) struct RowExtractor<'a> {
    display: CellDisplay<'a>,
    plans: &'a [RowPlan],
    extracted: Vec<ExtractedRows>,
    /// The plans whose rows are being read.
    active: Vec<usize>,
    next: usize,
    row: Option<u32>,
    /// The bytes that may still be kept.
    budget: usize,
    last_shared: Option<u32>,
    formulas: HashMap<u32, (CellPlace, String)>,
    formula_bytes: usize,
}

impl<'a> RowExtractor<'a> {
    /// An extractor that keeps so many bytes.
    pub(super) fn new(display: CellDisplay<'a>, plans: &'a [RowPlan], budget: usize) -> Self {
        Self {
            display,
            plans,
            extracted: plans.iter().map(|_| ExtractedRows::default()).collect(),
            active: Vec::new(),
            next: 0,
            row: None,
            budget,
            last_shared: None,
            formulas: HashMap::new(),
            formula_bytes: 0,
        }
    }

    /// The number of the last shared text that is needed.
    pub(super) fn last_shared(&self) -> Option<u32> {
        self.last_shared
    }

    /// What was taken out, with the texts that cells share.
    pub(super) fn finish(self, strings: &SharedStrings) -> Vec<ExtractedRows> {
        let (display, mut budget) = (self.display, self.budget);
        let mut extracted = self.extracted;
        for range in &mut extracted {
            let mut whole = 0;
            for row in &mut range.rows {
                for cell in &mut row.cells {
                    let ShownText::Shared(index) = cell.text else { continue };
                    let text = strings.get(index);
                    // One long text may be that of every cell.
                    budget = budget.saturating_sub(text.len());
                    let text = if budget == 0 { String::new() } else { text.to_owned() };
                    cell.text = ShownText::Own(display.text(text, cell.style));
                }
                if budget == 0 {
                    range.cut = true;
                    break;
                }
                whole += 1;
            }
            range.rows.truncate(whole);
        }
        extracted
    }

    /// A row begins: says whether there is anything more to take.
    fn begin_row(&mut self, row: u32) -> bool {
        self.row = Some(row);
        let plans = self.plans;
        self.active.retain(|at| plans[*at].end() > row);
        while let Some(plan) = plans.get(self.next).filter(|plan| plan.range.first.row <= row) {
            if plan.end() > row {
                self.active.push(self.next);
            }
            self.next += 1;
        }
        !self.active.is_empty() || self.next < plans.len()
    }

    /// The formula of a cell, with that which it shares.
    fn formula(&mut self, cell: &SheetCell<'_>) -> Option<String> {
        let formula = cell.formula?;
        match formula.shared.and_then(|shared| self.formulas.get(&shared)) {
            Some((from, text)) if formula.text.is_empty() => Some(formula::moved(text, *from, cell.place)),
            _ => Some(formula.text.to_owned()),
        }
    }

    fn learn_formula(&mut self, cell: &SheetCell<'_>) {
        let Some(formula) = cell.formula.filter(|formula| !formula.text.is_empty()) else { return };
        let Some(shared) = formula.shared else { return };
        let bytes = self.formula_bytes + formula.text.len();
        if self.formulas.len() < SHARED_FORMULAS && bytes <= SHARED_FORMULA_BYTES {
            self.formulas.insert(shared, (cell.place, formula.text.to_owned()));
            self.formula_bytes = bytes;
        }
    }

    fn keep(&mut self, at: usize, cell: &SheetCell<'_>) {
        let (mut text, kind) = self.display.shown(cell);
        let formula = self.formula(cell);
        if let (CellValue::Nothing, Some(formula)) = (cell.value, &formula) {
            // It was never computed: what it would compute says more than an empty cell.
            text = ShownText::Own(format!("={formula}"));
        }
        let size = match &text {
            ShownText::Own(text) => text.len(),
            ShownText::Shared(index) => {
                self.last_shared = self.last_shared.max(Some(*index));
                0
            }
        };
        let range = &mut self.extracted[at];
        self.budget = self.budget.saturating_sub(size + CELL_COST);
        if self.budget == 0 {
            range.cut = true;
            // A row is here as a whole or not at all.
            range.rows.pop_if(|row| row.row == cell.place.row);
            return;
        }
        if let Some(formula) = formula {
            if let Some(url) = formula::hyperlink(&formula) {
                range.links.push((cell.place, url.to_owned()));
            }
            if self.plans[at].detail {
                self.budget = self.budget.saturating_sub(formula.len());
                range.formulas.push((cell.place, format!("={formula}")));
            }
        }
        if self.plans[at].detail {
            range.values.extend(self.display.value(cell).map(|value| (cell.place, value)));
        }
        let cell_place = cell.place;
        let cell = ExtractedCell { text, column: cell_place.column, style: cell.style, kind };
        match range.rows.last_mut() {
            Some(row) if row.row == cell_place.row => row.cells.push(cell),
            before => {
                let likely = before.map_or(4, |row| row.cells.len());
                let mut cells = Vec::with_capacity(likely);
                cells.push(cell);
                range.rows.push(ExtractedRow { row: cell_place.row, cells });
            }
        }
    }
}

impl CellVisitor for RowExtractor<'_> {
    fn cell(&mut self, cell: &SheetCell<'_>) -> Result<ControlFlow<()>, UnreadableFile> {
        let CellPlace { row, column } = cell.place;
        if self.row != Some(row) && !self.begin_row(row) {
            return Ok(ControlFlow::Break(()));
        }
        self.learn_formula(cell);
        let plans = self.plans;
        let inside = |at: &&usize| {
            let range = &plans[**at].range;
            (range.first.column..=range.last.column).contains(&column)
        };
        if let Some(at) = self.active.iter().find(inside).copied()
            && plans[at].wants(row)
            && !self.extracted[at].cut
        {
            self.keep(at, cell);
        }
        Ok(ControlFlow::Continue(()))
    }
}
