//! How large a sheet can be.

/// The rows that a sheet can have; Excel has no more.
pub(super) const SHEET_ROWS: u32 = 1 << 20;
/// The columns that a sheet can have.
pub(super) const SHEET_COLUMNS: u32 = 1 << 14;
/// The bytes of the longest text of a cell: Excel allows 32,767 characters.
pub(super) const CELL_BYTES: usize = 128 << 10;
/// The rows that are looked at where only the beginning of a sheet is wanted, besides those of the table.
pub(super) const ROWS_OF_BEGINNING: usize = 44;
