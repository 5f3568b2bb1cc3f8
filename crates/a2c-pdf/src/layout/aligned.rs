//! Tables without rules: rows whose pieces stand in the same columns.

use super::lines::LinePiece;
use super::tables::PageTable;

/// The fewest rows of such a table.
const ROWS: usize = 3;
/// The most columns.
const COLUMNS: usize = 40;
/// A column whose cells are longer than this, in the middle, is prose.
const PROSE: usize = 34;

/// A line of a column of the page: the pieces that stand on one baseline.
pub(super) type RowPieces = Vec<LinePiece>;

/// A table, or a line that belongs to none.
pub(super) enum TableOrRow {
    Table(PageTable),
    Row(RowPieces),
}

/// Finds the tables among rows that stand one below the other.
pub(super) fn find_tables(rows: Vec<RowPieces>) -> Vec<TableOrRow> {
    let mut out = Vec::new();
    let mut run: Vec<RowPieces> = Vec::new();
    for row in rows {
        if !goes_on(&run, &row) {
            close_run(std::mem::take(&mut run), &mut out);
        }
        if row.len() >= 2 || !run.is_empty() {
            run.push(row);
        } else {
            out.push(TableOrRow::Row(row));
        }
    }
    close_run(run, &mut out);
    out
}

/// Whether a row may belong to the table that the rows before it are.
fn goes_on(run: &[RowPieces], row: &RowPieces) -> bool {
    let (Some(last), Some(piece)) = (run.last().and_then(|last| last.first()), row.first()) else {
        return run.is_empty();
    };
    let step = piece.baseline - last.baseline;
    let size = piece.size.max(last.size);
    if !(0.0..=2.6 * size).contains(&step) {
        return false;
    }
    if row.len() >= 2 {
        return true;
    }
    // A row of one piece: the rest of a cell that is longer than its column, within one column and close to its row.
    let is_close = step <= 1.45 * size;
    let cells: usize =
        run.iter().rev().take(3).map(|row| row.iter().filter(|cell| overlaps(cell, piece)).count()).max().unwrap_or(0);
    let starts = run.iter().rev().take(3).flatten().any(|cell| (cell.place.x0 - piece.place.x0).abs() < 0.5 * size);
    is_close && cells == 1 && starts
}

fn overlaps(a: &LinePiece, b: &LinePiece) -> bool {
    a.place.x0 < b.place.x1 && b.place.x0 < a.place.x1
}

fn close_run(mut run: Vec<RowPieces>, out: &mut Vec<TableOrRow>) {
    // Rows of one piece at the end are the next paragraph.
    let end = run.iter().rposition(|row| row.len() >= 2).map_or(0, |last| last + 1);
    let rest = run.split_off(end);
    match table_of(&run) {
        Some(table) => out.push(TableOrRow::Table(table)),
        None => out.extend(run.into_iter().map(TableOrRow::Row)),
    }
    out.extend(rest.into_iter().map(TableOrRow::Row));
}

fn table_of(rows: &[RowPieces]) -> Option<PageTable> {
    let full = rows.iter().filter(|row| row.len() >= 2).count();
    if full < ROWS {
        return None;
    }
    let columns = columns_of(rows)?;
    let mut cells: Vec<Vec<Vec<LinePiece>>> = Vec::new();
    for row in rows {
        let begins = row.len() >= 2 || cells.is_empty();
        if begins {
            cells.push(vec![Vec::new(); columns.len()]);
        }
        let here = cells.last_mut()?;
        for piece in row {
            let column = columns.iter().position(|(from, to)| piece.place.x0 < *to && *from < piece.place.x1)?;
            here[column].push(piece.clone());
        }
    }
    let filled = cells.iter().flatten().filter(|cell| !cell.is_empty()).count();
    if filled * 10 < cells.len() * columns.len() * 6 {
        return None;
    }
    // Columns of prose side by side are no table.
    let length = |column: usize| {
        let mut lengths: Vec<usize> =
            cells.iter().filter_map(|row| row[column].first()).map(LinePiece::length).collect();
        let middle = lengths.len() / 2;
        if lengths.is_empty() { 0 } else { *lengths.select_nth_unstable(middle).1 }
    };
    let prose = (0..columns.len()).filter(|column| length(*column) > PROSE).count();
    (prose < 2).then(|| PageTable::aligned(cells))
}

/// The columns of rows: where their pieces overlap. `None` where a piece spans columns.
fn columns_of(rows: &[RowPieces]) -> Option<Vec<(f32, f32)>> {
    let mut spans: Vec<(f32, f32)> = rows.iter().flatten().map(|piece| (piece.place.x0, piece.place.x1)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut columns: Vec<(f32, f32)> = Vec::new();
    for (from, to) in spans {
        match columns.last_mut() {
            Some(last) if from < last.1 => last.1 = last.1.max(to),
            _ => columns.push((from, to)),
        }
    }
    // Two pieces of one row in one column: the columns are none.
    let shares = |row: &RowPieces| {
        let column_of = |piece: &LinePiece| columns.partition_point(|(from, _)| *from <= piece.place.x0);
        row.windows(2).any(|pair| column_of(&pair[0]) == column_of(&pair[1]))
    };
    let sharing = rows.iter().filter(|row| shares(row)).count();
    ((2..=COLUMNS).contains(&columns.len()) && sharing == 0).then_some(columns)
}
