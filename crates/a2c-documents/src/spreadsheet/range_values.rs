//! What the cells of a few ranges show, for charts whose file does not remember it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use a2c_document_model::{CellPlace, CellRange, UnreadableFile};

use super::cell::{CellSource, CellVisitor, SheetCell};
use super::cell_text::{CellDisplay, ShownText};

/// The cells that are taken out of one sheet.
const CELLS: usize = 20_000;

/// What cells show.
#[derive(Debug, Default)]
pub(super) struct RangeValues(BTreeMap<CellPlace, String>);

impl RangeValues {
    /// Takes the cells of ranges out of a sheet.
    pub(super) fn read(
        source: &mut dyn CellSource,
        display: CellDisplay<'_>,
        ranges: &[CellRange],
    ) -> Result<Self, UnreadableFile> {
        let mut visitor = RangeVisitor { display, ranges, cells: BTreeMap::new() };
        source.visit(&mut visitor)?;
        let cells = visitor.cells;
        let last =
            cells.values().filter_map(|text| if let ShownText::Shared(index) = text { Some(*index) } else { None });
        if let Some(last) = last.max() {
            let strings = source.strings(last)?;
            let shown = cells.into_iter().map(|(place, text)| match text {
                ShownText::Own(text) => (place, text),
                ShownText::Shared(index) => (place, strings.get(index).to_owned()),
            });
            return Ok(Self(shown.collect()));
        }
        let own = cells.into_iter().filter_map(|(place, text)| match text {
            ShownText::Own(text) => Some((place, text)),
            ShownText::Shared(_) => None,
        });
        Ok(Self(own.collect()))
    }

    /// What the cells of a range show, row by row.
    pub(super) fn of(&self, range: CellRange) -> Vec<String> {
        let rows = range.first.row..=range.last.row;
        let cells =
            rows.flat_map(|row| (range.first.column..=range.last.column).map(move |column| CellPlace { row, column }));
        cells.map(|place| self.0.get(&place).cloned().unwrap_or_default()).collect()
    }
}

struct RangeVisitor<'a> {
    display: CellDisplay<'a>,
    ranges: &'a [CellRange],
    cells: BTreeMap<CellPlace, ShownText>,
}

impl CellVisitor for RangeVisitor<'_> {
    fn cell(&mut self, cell: &SheetCell<'_>) -> Result<ControlFlow<()>, UnreadableFile> {
        let CellPlace { row, column } = cell.place;
        let inside = |range: &CellRange| {
            (range.first.row..=range.last.row).contains(&row)
                && (range.first.column..=range.last.column).contains(&column)
        };
        if self.ranges.iter().any(inside) {
            self.cells.insert(cell.place, self.display.shown(cell).0);
        }
        let more = self.cells.len() < CELLS && self.ranges.iter().any(|range| row <= range.last.row);
        Ok(if more { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }
}
