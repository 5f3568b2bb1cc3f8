//! Tables, and the addresses of their cells.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::skip::{is_false, is_zero};

/// A table, or a window on its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableContent {
    /// The row of headers; empty where it has none.
    pub headers: Vec<String>,
    /// The rows that are here, each as long as it has cells; cells are texts as a reader sees them.
    pub rows: Vec<Vec<String>>,
    /// The number of the first row that is here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset: usize,
    /// How many rows there are, without the headers; `None` where that is not known yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_rows: Option<usize>,
    /// How many columns there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_columns: Option<usize>,
    /// Whether rows are missing here.
    #[serde(default, skip_serializing_if = "is_false")]
    pub truncated: bool,
}

impl TableContent {
    /// A table that is here as a whole.
    pub fn whole(headers: Vec<String>, rows: Vec<Vec<String>>) -> Self {
        let columns = rows.iter().map(Vec::len).chain([headers.len()]).max().unwrap_or(0);
        let (total_rows, total_columns) = (Some(rows.len()), Some(columns));
        Self { headers, rows, offset: 0, total_rows, total_columns, truncated: false }
    }

    /// Keeps a window of the rows that are here.
    pub fn cut(&mut self, window: RowWindow) {
        let all = self.rows.len();
        let first = window.offset.min(all);
        let last = window.offset.saturating_add(window.limit).min(all);
        self.rows.truncate(last);
        self.rows.drain(..first);
        self.offset += first;
        self.truncated |= self.rows.len() < all;
    }

    /// How many columns the rows here have.
    pub fn columns(&self) -> usize {
        let here = self.rows.iter().map(Vec::len).chain([self.headers.len()]).max().unwrap_or(0);
        here.max(self.total_columns.unwrap_or(0))
    }
}

/// Which rows of a table are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowWindow {
    /// The first, counted from 0 below the headers.
    pub offset: usize,
    /// How many at most.
    pub limit: usize,
}

impl RowWindow {
    /// What a page shows of each of its tables.
    pub const OF_PAGE: Self = Self { offset: 0, limit: 20 };
    /// The most of one element.
    pub const OF_ELEMENT: Self = Self { offset: 0, limit: 5_000 };
}

/// The place of a cell in a sheet, from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellPlace {
    /// The row.
    pub row: u32,
    /// The column.
    pub column: u32,
}

impl CellPlace {
    /// Reads `B12`; dollars are allowed.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.as_bytes();
        let mut at = usize::from(text.first() == Some(&b'$'));
        let mut column: u32 = 0;
        let letters = at;
        while let Some(letter) = text.get(at).filter(|byte| byte.is_ascii_alphabetic()) {
            column = column.checked_mul(26)?.checked_add(u32::from(letter.to_ascii_uppercase() - b'A') + 1)?;
            at += 1;
        }
        if at == letters {
            return None;
        }
        at += usize::from(text.get(at) == Some(&b'$'));
        let digits = text.get(at..).filter(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))?;
        let row: u32 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some(Self { row: row.checked_sub(1)?, column: column - 1 })
    }
}

impl fmt::Display for CellPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut letters, mut column) = (Vec::new(), self.column);
        loop {
            letters.push(b'A' + (column % 26) as u8);
            match (column / 26).checked_sub(1) {
                Some(next) => column = next,
                None => break,
            }
        }
        letters.iter().rev().try_for_each(|letter| write!(f, "{}", char::from(*letter)))?;
        write!(f, "{}", self.row + 1)
    }
}

/// A rectangle of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellRange {
    /// The upper left corner.
    pub first: CellPlace,
    /// The lower right corner.
    pub last: CellPlace,
}

impl CellRange {
    /// Reads `A1:C3`, or `A1` for a single cell.
    pub fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once(':').unwrap_or((text, text));
        let (a, b) = (CellPlace::parse(first)?, CellPlace::parse(last)?);
        Some(Self {
            first: CellPlace { row: a.row.min(b.row), column: a.column.min(b.column) },
            last: CellPlace { row: a.row.max(b.row), column: a.column.max(b.column) },
        })
    }
}

impl fmt::Display for CellRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => self.first.fmt(f),
            false => write!(f, "{}:{}", self.first, self.last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_written() {
        for (text, row, column) in [("A1", 0, 0), ("Z9", 8, 25), ("AA10", 9, 26), ("XFD1048576", 1_048_575, 16_383)] {
            let place = CellPlace { row, column };
            assert_eq!(CellPlace::parse(text), Some(place), "{text}");
            assert_eq!(place.to_string(), text);
        }
        assert_eq!(CellPlace::parse("$b$2"), CellPlace::parse("B2"));
        for text in ["", "A", "1", "A0", "A-1", "$", "A1x", "ZZZZZZZZ1", "A99999999999"] {
            assert_eq!(CellPlace::parse(text), None, "{text}");
        }
    }

    #[test]
    fn ranges_are_read_whichever_corner_comes_first() {
        assert_eq!(CellRange::parse("C3:A1").unwrap().to_string(), "A1:C3");
        assert_eq!(CellRange::parse("B2").unwrap().to_string(), "B2");
        assert_eq!(CellRange::parse("A:C"), None);
    }

    #[test]
    fn a_window_cuts_rows_and_says_so() {
        let rows: Vec<Vec<String>> = (0..5).map(|n| vec![n.to_string()]).collect();
        let mut table = TableContent::whole(vec!["n".into()], rows);
        table.cut(RowWindow { offset: 1, limit: 2 });
        assert_eq!(
            (table.rows, table.offset, table.total_rows, table.truncated),
            (vec![vec!["1".to_owned()], vec!["2".to_owned()]], 1, Some(5), true)
        );
        let mut short = TableContent::whole(vec![], vec![vec!["a".into()]]);
        short.cut(RowWindow::OF_PAGE);
        assert!(!short.truncated);
        short.cut(RowWindow { offset: 9, limit: usize::MAX });
        assert!(short.truncated && short.rows.is_empty());
    }
}
