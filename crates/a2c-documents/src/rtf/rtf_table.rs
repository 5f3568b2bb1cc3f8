//! Tables: cells that end at distances from the margin, which make the columns. Pure.

use a2c_document_model::{ElementDraft, InlineLink};

use crate::rich_text::{GridCell, TableGrid, VerticalMerge};

/// Edges that are closer than that, in twentieths of a point, are one.
const CLOSE: i32 = 20;

/// Where a cell ends, and how it is merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CellBound {
    pub(super) right: i32,
    /// Whether it goes on from the cell on its left.
    pub(super) covered: bool,
    pub(super) vertical: VerticalMerge,
}

/// A row as it is written.
#[derive(Debug, Default)]
pub(super) struct RtfRow {
    pub(super) bounds: Vec<CellBound>,
    pub(super) cells: Vec<(String, Vec<InlineLink>)>,
    pub(super) is_header: bool,
}

/// The rows of a table.
#[derive(Debug, Default)]
pub(super) struct RtfTable {
    rows: Vec<RtfRow>,
}

impl RtfTable {
    pub(super) fn push(&mut self, row: RtfRow) {
        self.rows.push(row);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn grid(self) -> TableGrid {
        let edges = self.edges();
        let mut grid = TableGrid::default();
        grid.may_have_headers = true;
        grid.first_row_repeats = self.rows.first().is_some_and(|row| row.is_header);
        for row in self.rows {
            let (mut column, mut cells) = (0, Vec::<GridCell>::new());
            for (number, (text, links)) in row.cells.into_iter().enumerate().take(TableGrid::COLUMNS) {
                let bound = row.bounds.get(number).copied();
                let end =
                    bound.map(|bound| edges.partition_point(|edge| *edge < bound.right.saturating_sub(CLOSE)) + 1);
                let end = end.unwrap_or(column + 1).clamp(column + 1, TableGrid::COLUMNS.max(column + 1));
                let span = end - column;
                column = end;
                match cells.last_mut().filter(|_| bound.is_some_and(|bound| bound.covered)) {
                    Some(last) => last.span += span,
                    None => {
                        let vertical = bound.map(|bound| bound.vertical).unwrap_or_default();
                        cells.push(GridCell { text, links, span, vertical });
                    }
                }
            }
            grid.push_row(0, cells);
        }
        grid
    }

    /// The right edges of all cells, from the left.
    fn edges(&self) -> Vec<i32> {
        let mut edges: Vec<i32> = self.rows.iter().flat_map(|row| row.bounds.iter().map(|bound| bound.right)).collect();
        edges.sort_unstable();
        edges.dedup_by(|next, kept| next.saturating_sub(*kept) <= CLOSE);
        edges.truncate(TableGrid::COLUMNS);
        edges
    }

    /// The table as an element; `None` where it has no words.
    pub(super) fn finish(self) -> Option<ElementDraft> {
        self.grid().finish()
    }

    /// The table as lines.
    pub(super) fn lines(self) -> String {
        self.grid().lines()
    }
}

#[cfg(test)]
mod tests {
    use a2c_document_model::ElementContent;

    use super::*;

    fn row(cells: &[(&str, i32)]) -> RtfRow {
        RtfRow {
            bounds: cells.iter().map(|(_, right)| CellBound { right: *right, ..CellBound::default() }).collect(),
            cells: cells.iter().map(|(text, _)| ((*text).to_owned(), Vec::new())).collect(),
            is_header: false,
        }
    }

    #[test]
    fn edges_make_columns_and_wide_cells_cover_several() {
        let mut table = RtfTable::default();
        table.push(row(&[("wide", 2010), ("c", 3000)]));
        table.push(row(&[("a", 1000), ("b", 2000), ("c", 3000)]));
        let draft = table.finish().unwrap();
        assert_eq!(draft.metadata.merges, ["A1:B1"]);
        let ElementContent::Table(content) = draft.content else { panic!("a table") };
        assert_eq!(content.rows, [["wide", "", "c"], ["a", "b", "c"]]);
    }

    #[test]
    fn cells_without_bounds_and_bounds_out_of_order_do_no_harm() {
        let mut table = RtfTable::default();
        table.push(row(&[("a", i32::MAX), ("b", i32::MIN), ("c", 0)]));
        table.push(RtfRow { cells: vec![("x".into(), Vec::new()); 5], ..RtfRow::default() });
        assert!(table.finish().is_some());
    }
}
