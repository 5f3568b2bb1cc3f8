//! The cells of a table as a grid: merged cells, headers, links. Pure.

use a2c_document_model::{CellPlace, CellRange, ElementContent, ElementDraft, InlineLink, TableContent};

/// How a cell continues one above it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum VerticalMerge {
    #[default]
    None,
    Begins,
    Continues,
}

/// A cell as the file has it.
#[derive(Debug, Default)]
pub(crate) struct GridCell {
    pub(crate) text: String,
    pub(crate) links: Vec<InlineLink>,
    /// How many columns it covers.
    pub(crate) span: usize,
    pub(crate) vertical: VerticalMerge,
}

/// A table under construction.
#[derive(Debug, Default)]
pub(crate) struct TableGrid {
    rows: Vec<Vec<String>>,
    links: Vec<InlineLink>,
    /// Merged cells: the first row and column, and the last ones.
    merges: Vec<[usize; 4]>,
    /// The vertical merges that may go on, by their column.
    open: Vec<(usize, usize)>,
    /// Whether the file declares the first row as headers.
    pub(crate) first_row_repeats: bool,
    /// Whether the first row looks different.
    pub(crate) first_row_differs: bool,
    /// Whether the first row may be one of headers, if it looks like one.
    pub(crate) may_have_headers: bool,
}

impl TableGrid {
    /// The most columns of a table. Word itself allows 63.
    pub(crate) const COLUMNS: usize = 1_024;

    /// Adds a row whose first `skipped` columns are empty.
    pub(crate) fn push_row(&mut self, skipped: usize, cells: Vec<GridCell>) {
        let row = self.rows.len();
        let mut texts: Vec<String> = vec![String::new(); skipped.min(Self::COLUMNS)];
        let mut open = Vec::new();
        for cell in cells {
            let column = texts.len();
            if column >= Self::COLUMNS {
                break;
            }
            let last = (column + cell.span.max(1)).min(Self::COLUMNS) - 1;
            let above = self.open.iter().find(|(at, _)| *at == column).map(|(_, merge)| *merge);
            match (cell.vertical, above) {
                (VerticalMerge::Continues, Some(merge)) => {
                    self.merges[merge][2] = row;
                    open.push((column, merge));
                }
                (VerticalMerge::None, _) if last == column => {}
                (vertical, _) => {
                    self.merges.push([row, column, row, last]);
                    if vertical != VerticalMerge::None {
                        open.push((column, self.merges.len() - 1));
                    }
                }
            }
            let place = place(row, column).to_string();
            let links = cell.links.into_iter().map(|link| InlineLink { cell: Some(place.clone()), ..link });
            self.links.extend(links);
            texts.push(cell.text);
            texts.resize(last + 1, String::new());
        }
        self.open = open;
        self.rows.push(texts);
    }

    /// The table as lines, for a cell that holds it.
    pub(crate) fn lines(&self) -> String {
        let line = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('\n', " ")).collect();
            cells.join("\t").trim().to_owned()
        };
        self.rows.iter().map(line).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// The table as an element; `None` where it has no words.
    pub(crate) fn finish(mut self) -> Option<ElementDraft> {
        if self.rows.iter().flatten().all(|cell| cell.is_empty()) {
            return None;
        }
        let with_headers = self.has_headers();
        let headers = if with_headers { self.rows.remove(0) } else { Vec::new() };
        let mut draft = ElementDraft::from(ElementContent::Table(TableContent::whole(headers, self.rows)));
        let merged = self.merges.into_iter().filter(|[top, left, bottom, right]| top != bottom || left != right);
        draft.metadata.merges = merged
            .map(|[top, left, bottom, right]| {
                CellRange { first: place(top, left), last: place(bottom, right) }.to_string()
            })
            .collect();
        draft.metadata.links = self.links;
        Some(draft)
    }

    /// Whether the first row holds headers. Word sets the mark for a first row that differs on nearly every table: what the
    /// row says has to agree with it.
    fn has_headers(&self) -> bool {
        let Some((first, body)) = self.rows.split_first().filter(|(_, body)| !body.is_empty()) else { return false };
        if self.first_row_repeats || self.first_row_differs {
            return true;
        }
        let short = first.iter().all(|cell| !cell.is_empty() && cell.chars().count() <= 60 && !is_number(cell));
        let distinct = first.iter().enumerate().all(|(at, cell)| !first[..at.min(64)].contains(cell));
        let numbers_below = |column: usize| {
            let mut cells = body.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty()).peekable();
            cells.peek().is_some() && cells.all(|cell| is_number(cell))
        };
        self.may_have_headers && short && distinct && (first.len() > 2 || (0..first.len()).any(numbers_below))
    }
}

fn place(row: usize, column: usize) -> CellPlace {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    CellPlace { row: number(row), column: number(column) }
}

fn is_number(cell: &str) -> bool {
    cell.bytes().any(|byte| byte.is_ascii_digit())
        && cell.chars().all(|c| c.is_ascii_digit() || " .,+-−%()€$£¥/:".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str, span: usize, vertical: VerticalMerge) -> GridCell {
        GridCell { text: text.into(), span, vertical, links: Vec::new() }
    }

    fn plain(texts: &[&str]) -> Vec<GridCell> {
        texts.iter().map(|text| cell(text, 1, VerticalMerge::None)).collect()
    }

    #[test]
    fn merged_cells_hold_their_value_once() {
        let mut grid = TableGrid::default();
        grid.push_row(0, vec![cell("wide", 2, VerticalMerge::None), cell("tall", 1, VerticalMerge::Begins)]);
        grid.push_row(1, vec![cell("b", 1, VerticalMerge::None), cell("", 1, VerticalMerge::Continues)]);
        grid.push_row(0, plain(&["1", "2", "3"]));
        let draft = grid.finish().unwrap();
        assert_eq!(draft.metadata.merges, ["A1:B1", "C1:C2"]);
        let ElementContent::Table(table) = draft.content else { panic!("a table") };
        assert_eq!(table.rows, [["wide", "", "tall"], ["", "b", ""], ["1", "2", "3"]]);
        assert!(table.headers.is_empty());
    }

    #[test]
    fn headers_are_declared_or_look_like_headers() {
        for (rows, repeats, may, expected) in [
            (vec![vec!["a", "b"], vec!["c", "d"]], true, false, true),
            (vec![vec!["Name", "Sum"], vec!["x", "1,250"]], false, true, true),
            (vec![vec!["Name", "Bob"], vec!["Town", "Rome"]], false, true, false),
            (vec![vec!["a", "b", "c"], vec!["d", "e", "f"]], false, true, true),
            (vec![vec!["a", "", "c"], vec!["d", "e", "f"]], false, true, false),
            (vec![vec!["a", "b", "c"]], true, true, false),
        ] {
            let mut grid = TableGrid { first_row_repeats: repeats, may_have_headers: may, ..TableGrid::default() };
            rows.iter().for_each(|row| grid.push_row(0, plain(row)));
            assert_eq!(grid.has_headers(), expected, "{rows:?}");
        }
    }

    #[test]
    fn a_cell_that_covers_everything_is_bounded() {
        let mut grid = TableGrid::default();
        grid.push_row(usize::MAX, plain(&["x"]));
        grid.push_row(0, vec![cell("x", usize::MAX / 2, VerticalMerge::None)]);
        assert!(grid.rows.iter().all(|row| row.len() <= TableGrid::COLUMNS));
    }
}
