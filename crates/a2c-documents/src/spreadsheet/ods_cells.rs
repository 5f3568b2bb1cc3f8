//! The cells of a sheet of an OpenDocument spreadsheet, one row after the other.

use std::io::Read;
use std::ops::ControlFlow;

use a2c_document_model::{CellPlace, CellRange, UnreadableFile};

use super::bounds::{CELL_BYTES, SHEET_COLUMNS, SHEET_ROWS};
use super::byte_scanner::{ByteScanner, MarkupToken, TagAttributes};
use super::cell::{CellFormula, CellValue, CellVisitor, SheetCell, SheetLink, SheetTail};
use super::comments::CellComment;
use crate::limits::ReadLimits;

/// The cells that stand for several and are not empty; a file can say "a million times" in a few bytes.
const REPEATED_CELLS: u64 = 4 << 20;
/// The links, comments and pictures of a sheet that are kept.
const OBJECTS: usize = 20_000;

/// What a sheet has besides its cells.
#[derive(Debug, Default)]
pub(super) struct OdsTail {
    pub(super) sheet: SheetTail,
    pub(super) comments: Vec<CellComment>,
    pub(super) pictures: Vec<OdsPicture>,
}

/// A picture on a sheet.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct OdsPicture {
    pub(super) place: CellPlace,
    pub(super) part: String,
    pub(super) alt: Option<String>,
}

/// Gives the cells of the sheet with this number to a visitor.
pub(super) fn visit_ods(
    reader: impl Read,
    index: usize,
    limits: &ReadLimits,
    visitor: &mut dyn CellVisitor,
) -> Result<Option<OdsTail>, UnreadableFile> {
    let mut scanner = ByteScanner::new(reader, "content.xml");
    let mut walk = OdsWalk { left: REPEATED_CELLS, ..OdsWalk::default() };
    let (mut seen, mut depth) = (0, 0_usize);
    loop {
        match scanner.token()? {
            MarkupToken::Open(b"table", _) => {
                depth += 1;
                seen += usize::from(depth == 1);
            }
            MarkupToken::Close(b"table") => {
                depth = depth.saturating_sub(1);
                if depth == 0 && seen == index + 1 {
                    return Ok(Some(walk.tail));
                }
            }
            MarkupToken::End => return Ok(Some(walk.tail)),
            _ if depth != 1 || seen != index + 1 => {}
            MarkupToken::Open(name, attributes) => walk.open(name, attributes, limits)?,
            MarkupToken::Empty(name, attributes) => {
                walk.open(name, attributes, limits)?;
                if walk.close(name, visitor)?.is_break() {
                    return Ok(None);
                }
            }
            MarkupToken::Close(name) => {
                if walk.close(name, visitor)?.is_break() {
                    return Ok(None);
                }
            }
            MarkupToken::Text(text) => walk.text(&crate::xml::resolve(text)),
            MarkupToken::Verbatim(text) => walk.text(&String::from_utf8_lossy(text)),
        }
    }
}

/// A cell while its row is read.
#[derive(Debug, Default)]
struct OdsCell {
    column: u32,
    repeat: u32,
    kind: Vec<u8>,
    value: String,
    text: String,
    formula: Option<String>,
}

#[derive(Debug, Default)]
struct OdsWalk {
    tail: OdsTail,
    row: u32,
    row_repeat: u32,
    column: u32,
    cells: Vec<OdsCell>,
    open: Option<OdsCell>,
    comment: Option<CellComment>,
    picture: Option<OdsPicture>,
    /// The element whose text is being read, besides that of the cell.
    field: Vec<u8>,
    in_paragraph: bool,
    left: u64,
}

impl OdsWalk {
    fn place(&self) -> CellPlace {
        CellPlace { row: self.row, column: self.column }
    }

    fn open(&mut self, name: &[u8], attributes: TagAttributes<'_>, limits: &ReadLimits) -> Result<(), UnreadableFile> {
        let number = |name: &[u8]| attributes.text(name).and_then(|text| text.parse::<u32>().ok());
        match name {
            b"table-row" => {
                self.row_repeat = number(b"number-rows-repeated").unwrap_or(1).max(1);
                self.column = 0;
                self.cells.clear();
            }
            b"table-cell" | b"covered-table-cell" => {
                let repeat = number(b"number-columns-repeated").unwrap_or(1).max(1);
                let text = |name: &[u8]| attributes.text(name).map(|text| text.into_owned());
                let values: [&[u8]; 4] = [b"value", b"date-value", b"boolean-value", b"time-value"];
                let value = values.into_iter().find_map(text).unwrap_or_default();
                let kind = attributes.raw(b"value-type").unwrap_or_default().to_vec();
                let formula = text(b"formula").map(|formula| plain_formula(&formula));
                let spans =
                    (number(b"number-rows-spanned").unwrap_or(1), number(b"number-columns-spanned").unwrap_or(1));
                if spans.0.max(spans.1) > 1 {
                    self.merge(spans, limits)?;
                }
                self.open = Some(OdsCell { column: self.column, repeat, kind, value, text: String::new(), formula });
            }
            b"annotation" => {
                let cell = self.place().to_string();
                self.comment = Some(CellComment { cell, text: String::new(), author: None, date: None });
            }
            b"p" => {
                self.in_paragraph = true;
                let text = self.target();
                if let Some(text) = text.filter(|text| !text.is_empty()) {
                    text.push('\n');
                }
            }
            b"s" => {
                let blanks = number(b"c").unwrap_or(1).min(1000);
                self.text(&" ".repeat(blanks as usize));
            }
            b"tab" => self.text("\t"),
            b"line-break" => self.text("\n"),
            b"a" if self.tail.sheet.links.len() < OBJECTS => {
                let location = attributes.text(b"href").map(|text| text.into_owned());
                self.tail.sheet.links.push(SheetLink { place: self.place(), relationship: None, location });
            }
            b"frame" => self.picture = Some(OdsPicture { place: self.place(), ..OdsPicture::default() }),
            b"image" => {
                if let Some(picture) = self.picture.as_mut().filter(|picture| picture.part.is_empty()) {
                    picture.part = attributes.text(b"href").map(|text| text.into_owned()).unwrap_or_default();
                }
            }
            b"title" | b"desc" | b"creator" | b"date" => self.field = name.to_vec(),
            _ => {}
        }
        Ok(())
    }

    fn merge(&mut self, (rows, columns): (u32, u32), limits: &ReadLimits) -> Result<(), UnreadableFile> {
        if self.tail.sheet.merges.len() >= limits.merges {
            return Err(UnreadableFile::too_large(format!("a sheet has more than {} merged ranges", limits.merges)));
        }
        let first = self.place();
        let last = CellPlace {
            row: first.row.saturating_add(rows.max(1) - 1).min(SHEET_ROWS - 1),
            column: first.column.saturating_add(columns.max(1) - 1).min(SHEET_COLUMNS - 1),
        };
        self.tail.sheet.merges.push(CellRange { first, last });
        Ok(())
    }

    /// Where the text of a paragraph belongs.
    fn target(&mut self) -> Option<&mut String> {
        match (&mut self.comment, &self.picture) {
            (Some(comment), _) => Some(&mut comment.text),
            (None, Some(_)) => None,
            (None, None) => self.open.as_mut().map(|cell| &mut cell.text),
        }
    }

    fn text(&mut self, text: &str) {
        let place = match self.field.as_slice() {
            b"title" | b"desc" => self.picture.as_mut().map(|picture| picture.alt.get_or_insert_default()),
            b"creator" => self.comment.as_mut().map(|comment| comment.author.get_or_insert_default()),
            b"date" => self.comment.as_mut().map(|comment| comment.date.get_or_insert_default()),
            _ if self.in_paragraph => self.target(),
            _ => None,
        };
        if let Some(place) = place {
            let room = CELL_BYTES.saturating_sub(place.len());
            place.push_str(&text[..text.floor_char_boundary(room)]);
        }
    }

    fn close(&mut self, name: &[u8], visitor: &mut dyn CellVisitor) -> Result<ControlFlow<()>, UnreadableFile> {
        match name {
            b"p" => self.in_paragraph = false,
            b"title" | b"desc" | b"creator" | b"date" => self.field.clear(),
            b"annotation" => {
                self.in_paragraph = false;
                self.tail.comments.extend(self.comment.take());
                self.tail.comments.truncate(OBJECTS);
            }
            b"frame" => {
                let picture = self.picture.take().filter(|picture| !picture.part.is_empty());
                self.tail.pictures.extend(picture);
                self.tail.pictures.truncate(OBJECTS);
            }
            b"table-cell" | b"covered-table-cell" => {
                if let Some(cell) = self.open.take() {
                    self.column = self.column.saturating_add(cell.repeat);
                    if !(cell.text.is_empty() && cell.value.is_empty() && cell.formula.is_none()) {
                        self.cells.push(cell);
                    }
                }
            }
            b"table-row" => return self.end_row(visitor),
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn end_row(&mut self, visitor: &mut dyn CellVisitor) -> Result<ControlFlow<()>, UnreadableFile> {
        let first = self.row;
        self.row = self.row.saturating_add(self.row_repeat);
        if self.cells.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        for row in first..self.row.min(SHEET_ROWS) {
            for cell in &self.cells {
                let end = cell.column.saturating_add(cell.repeat).min(SHEET_COLUMNS);
                for column in cell.column..end {
                    if row > first || column > cell.column {
                        self.left = self.left.saturating_sub(1);
                        if self.left == 0 {
                            return Ok(ControlFlow::Continue(()));
                        }
                    }
                    if visitor.cell(&cell.at(CellPlace { row, column }))?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl OdsCell {
    fn at(&self, place: CellPlace) -> SheetCell<'_> {
        let value = match self.kind.as_slice() {
            b"float" | b"currency" | b"percentage" if self.text.is_empty() => CellValue::Number(&self.value),
            b"float" | b"currency" | b"percentage" => CellValue::Shown { text: &self.text, number: &self.value },
            b"date" => CellValue::Date(&self.value),
            b"boolean" => CellValue::Flag(self.value == "true"),
            _ => CellValue::Text(&self.text),
        };
        let formula = self.formula.as_deref().map(|text| CellFormula { text, shared: None });
        SheetCell { place, style: u32::MAX, value, formula }
    }
}

/// A formula of OpenDocument, `of:=SUM([.A1:.B2])`, as spreadsheets show it: `SUM(A1:B2)`.
fn plain_formula(formula: &str) -> String {
    let formula = formula.split_once(":=").map_or(formula, |(_, formula)| formula).trim_start_matches('=');
    let (mut written, mut rest) = (String::new(), &formula[..formula.floor_char_boundary(CELL_BYTES)]);
    while let Some((before, reference)) = rest.split_once('[') {
        let (reference, after) = reference.split_once(']').unwrap_or((reference, ""));
        written.push_str(before);
        let ends = reference.split(':').map(|end| match end.rsplit_once('.') {
            Some(("", cell)) => cell.to_owned(),
            Some((sheet, cell)) => format!("{}!{cell}", sheet.trim_start_matches('$')),
            None => end.to_owned(),
        });
        written.push_str(&ends.collect::<Vec<_>>().join(":"));
        rest = after;
    }
    written + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_lose_their_brackets() {
        assert_eq!(plain_formula("of:=SUM([.A1:.B2])*[$Data.C3]"), "SUM(A1:B2)*Data!C3");
        assert_eq!(plain_formula("=1+1"), "1+1");
    }
}
