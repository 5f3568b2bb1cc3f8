//! Tables: words in the cells of a grid of rules, or in columns that are aligned.

use std::collections::BTreeMap;

use a2c_document_model::{CellPlace, CellRange, ElementContent, ElementDraft, InlineLink, TableContent};

use super::lines::{LinePiece, line_pieces};
use super::rich::WordText;
use super::rule_grid::RuleGrid;
use crate::content::PageWord;
use crate::geometry::PageBox;
use crate::links::PageLinks;

/// A cell with more words than this, in a grid of a few cells, is a page in a frame.
const FRAMED_WORDS: usize = 120;

/// A table on a page.
#[derive(Debug, Clone)]
pub(crate) struct PageTable {
    pub(crate) place: PageBox,
    /// The lines of each cell, row by row.
    rows: Vec<Vec<Vec<LinePiece>>>,
    merges: Vec<CellRange>,
}

impl PageTable {
    /// The table of a grid and the words in it; gives the words back where it is no table.
    pub(crate) fn ruled(grid: &RuleGrid, words: Vec<PageWord>) -> Result<Self, Vec<PageWord>> {
        let (rows, columns) = (grid.rows(), grid.columns());
        let roots = grid.merged_cells();
        let mut cells: Vec<Vec<PageWord>> = vec![Vec::new(); rows * columns];
        for word in &words {
            if let Some((row, column)) = grid.cell_at(word.place.center()) {
                cells[roots[row * columns + column]].push(word.clone());
            }
        }
        let count = roots.iter().enumerate().filter(|(cell, root)| cell == *root).count();
        let filled = cells.iter().filter(|cell| !cell.is_empty()).count();
        let is_framed = count <= 6 && cells.iter().any(|cell| cell.len() > FRAMED_WORDS);
        if filled < 2 || filled * 5 < count || count < 3 || is_framed || rows < 2 {
            return Err(words);
        }
        let mut merges: BTreeMap<usize, usize> = BTreeMap::new();
        for (cell, root) in roots.iter().enumerate().filter(|(cell, root)| cell != *root) {
            merges.insert(*root, cell);
        }
        let place_of = |cell: usize| CellPlace { row: (cell / columns) as u32, column: (cell % columns) as u32 };
        let merges = merges.into_iter().map(|(first, last)| CellRange { first: place_of(first), last: place_of(last) });
        let mut cells = cells.into_iter().map(line_pieces);
        let rows = (0..rows).map(|_| cells.by_ref().take(columns).collect()).collect();
        Ok(Self { place: grid.place(), rows, merges: merges.collect() }.without_empty())
    }

    /// The table of rows of cells.
    pub(super) fn aligned(rows: Vec<Vec<Vec<LinePiece>>>) -> Self {
        let pieces = || rows.iter().flatten().flatten();
        let mut place = pieces().next().map(|piece| piece.place).unwrap_or_default();
        pieces().for_each(|piece| place.add(piece.place));
        Self { place, rows, merges: Vec::new() }
    }

    /// Without rows and columns in which nothing stands, where nothing is merged.
    fn without_empty(mut self) -> Self {
        if self.merges.is_empty() {
            let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
            for column in (0..columns).rev() {
                if self.rows.iter().all(|row| row.get(column).is_none_or(Vec::is_empty)) {
                    self.rows.iter_mut().filter(|row| column < row.len()).for_each(|row| drop(row.remove(column)));
                }
            }
            self.rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        }
        self
    }

    /// The table as an element.
    pub(crate) fn draft(self, links: &PageLinks) -> ElementDraft {
        let is_bold = |row: &[Vec<LinePiece>]| {
            let mut pieces = row.iter().flatten().peekable();
            pieces.peek().is_some() && pieces.all(LinePiece::is_bold)
        };
        let bold_head =
            self.rows.first().is_some_and(|row| is_bold(row)) && !self.rows.iter().skip(1).all(|row| is_bold(row));
        let mut targets = Vec::new();
        let mut rows: Vec<Vec<String>> = Vec::with_capacity(self.rows.len());
        for (row, cells) in self.rows.into_iter().enumerate() {
            let texts = cells.into_iter().enumerate().map(|(column, lines)| {
                let mut text = WordText::new(links);
                lines.iter().for_each(|line| text.line(&line.words));
                let (text, metadata) = text.finish();
                let cell = CellPlace { row: row as u32, column: column as u32 }.to_string();
                targets.extend(metadata.links.into_iter().map(|link| InlineLink { cell: Some(cell.clone()), ..link }));
                text
            });
            rows.push(texts.collect());
        }
        let has_head = rows.len() > 1 && (bold_head || a2c_documents::is_header(&rows[0], &rows[1..]));
        let headers = if has_head { rows.remove(0) } else { Vec::new() };
        let mut draft = ElementDraft::from(ElementContent::Table(TableContent::whole(headers, rows)));
        draft.metadata.merges = self.merges.iter().map(ToString::to_string).collect();
        draft.metadata.links = targets;
        draft
    }
}
