//! The cells of a sheet of an xlsx file, one after the other.

use std::io::Read;
use std::ops::ControlFlow;

use a2c_document_model::{CellPlace, CellRange, UnreadableFile};

use super::bounds::{CELL_BYTES, SHEET_COLUMNS, SHEET_ROWS};
use super::byte_scanner::{ByteScanner, MarkupToken, TagAttributes};
use super::cell::{CellFormula, CellValue, CellVisitor, SheetCell, SheetLink, SheetTail};
use crate::limits::ReadLimits;

/// The links of a sheet; Excel allows 65,530.
const SHEET_LINKS: usize = 65_536;

/// Gives the cells of a sheet to a visitor, and returns what stands below them unless the visitor ended the reading.
pub(super) fn visit_sheet(
    reader: impl Read,
    part: &str,
    limits: &ReadLimits,
    visitor: &mut dyn CellVisitor,
) -> Result<Option<SheetTail>, UnreadableFile> {
    let mut scanner = ByteScanner::new(reader, part);
    let (mut open, mut tail) = (OpenCell::default(), TailBuilder::default());
    loop {
        match scanner.token()? {
            MarkupToken::Open(name, attributes) => match name {
                b"c" => open.begin(attributes),
                b"v" => open.target = Target::Value,
                b"f" => open.begin_formula(attributes),
                b"is" => open.inline = true,
                b"t" if open.inline && !open.phonetic => open.target = Target::Value,
                b"rPh" => open.phonetic = true,
                b"row" => open.begin_row(attributes),
                _ => tail.tag(name, attributes, limits)?,
            },
            MarkupToken::Empty(name, attributes) => match name {
                // A cell that has only a style is empty.
                b"c" => open.pass(attributes),
                b"f" => {
                    open.begin_formula(attributes);
                    open.target = Target::None;
                }
                b"row" => open.begin_row(attributes),
                b"v" | b"t" | b"is" | b"rPh" => {}
                _ => tail.tag(name, attributes, limits)?,
            },
            MarkupToken::Text(text) => match open.target {
                Target::None => tail.text(text),
                Target::Value => append(&mut open.value, text),
                Target::Formula => append(&mut open.formula, text),
            },
            MarkupToken::Verbatim(text) => match open.target {
                Target::None => {}
                Target::Value => open.value.extend_from_slice(&text[..text.len().min(CELL_BYTES)]),
                Target::Formula => open.formula.extend_from_slice(&text[..text.len().min(CELL_BYTES)]),
            },
            MarkupToken::Close(name) => match name {
                b"v" | b"f" | b"t" => open.target = Target::None,
                b"c" => {
                    if open.emit(visitor)?.is_break() {
                        return Ok(None);
                    }
                }
                b"rPh" => open.phonetic = false,
                _ => tail.close(),
            },
            MarkupToken::End => return Ok(Some(tail.tail)),
        }
    }
}

/// Adds a piece of text, with its entities resolved, to a text that cannot grow without end.
fn append(to: &mut Vec<u8>, text: &[u8]) {
    let room = CELL_BYTES.saturating_sub(to.len());
    if memchr::memchr(b'&', text).is_none() {
        to.extend_from_slice(&text[..text.len().min(room)]);
    } else {
        let text = crate::xml::resolve(text);
        to.extend_from_slice(&text.as_bytes()[..text.len().min(room)]);
    }
}

/// Where text belongs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Target {
    #[default]
    None,
    Value,
    Formula,
}

/// What the type of a cell says of its value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ValueType {
    #[default]
    Number,
    Shared,
    Text,
    Flag,
    Error,
    Date,
}

/// The cell that is being read. Its buffers serve all cells.
#[derive(Debug, Default)]
struct OpenCell {
    row: Option<u32>,
    column: Option<u32>,
    style: u32,
    value_type: ValueType,
    value: Vec<u8>,
    has_formula: bool,
    shared: Option<u32>,
    formula: Vec<u8>,
    inline: bool,
    phonetic: bool,
    target: Target,
}

impl OpenCell {
    /// Rows count upwards, whatever their numbers say: what was read cannot be sorted in again.
    fn begin_row(&mut self, attributes: TagAttributes<'_>) {
        let next = self.row.map_or(0, |row| row.saturating_add(1));
        let said = attributes.raw(b"r").and_then(number).and_then(|row| row.checked_sub(1));
        self.row = Some(said.filter(|row| *row >= next).unwrap_or(next));
        self.column = None;
    }

    fn pass(&mut self, attributes: TagAttributes<'_>) {
        self.step(attributes.raw(b"r"));
        self.target = Target::None;
    }

    fn step(&mut self, reference: Option<&[u8]>) {
        let next = self.column.map_or(0, |column| column.saturating_add(1));
        let said = reference.and_then(column_of);
        self.column = Some(said.filter(|column| *column >= next).unwrap_or(next));
    }

    fn begin(&mut self, attributes: TagAttributes<'_>) {
        let (mut reference, mut value_type) = (None, ValueType::Number);
        self.style = 0;
        for (name, value) in attributes.iter() {
            match name {
                b"r" => reference = Some(value),
                b"s" => self.style = number(value).unwrap_or(0),
                b"t" => {
                    value_type = match value {
                        b"s" => ValueType::Shared,
                        b"str" | b"inlineStr" => ValueType::Text,
                        b"b" => ValueType::Flag,
                        b"e" => ValueType::Error,
                        b"d" => ValueType::Date,
                        _ => ValueType::Number,
                    };
                }
                _ => {}
            }
        }
        self.step(reference);
        self.value_type = value_type;
        self.value.clear();
        self.formula.clear();
        (self.has_formula, self.shared, self.inline, self.phonetic) = (false, None, false, false);
        self.target = Target::None;
    }

    fn begin_formula(&mut self, attributes: TagAttributes<'_>) {
        self.has_formula = true;
        self.target = Target::Formula;
        if attributes.raw(b"t") == Some(b"shared") {
            self.shared = attributes.raw(b"si").and_then(number);
        }
    }

    fn emit(&mut self, visitor: &mut dyn CellVisitor) -> Result<ControlFlow<()>, UnreadableFile> {
        self.target = Target::None;
        if self.value.is_empty() && !self.has_formula {
            return Ok(ControlFlow::Continue(()));
        }
        let (row, column) = (self.row.unwrap_or(0), self.column.unwrap_or(0));
        if row >= SHEET_ROWS || column >= SHEET_COLUMNS {
            return Ok(ControlFlow::Continue(()));
        }
        let text = valid(&self.value);
        let value = match self.value_type {
            // `<v/>` in a cell of type `str` is the empty text; elsewhere nothing was computed.
            ValueType::Text => CellValue::Text(text),
            _ if text.is_empty() => CellValue::Nothing,
            ValueType::Number => CellValue::Number(text.trim()),
            ValueType::Shared => number(text.trim().as_bytes()).map_or(CellValue::Nothing, CellValue::Shared),
            ValueType::Flag => CellValue::Flag(text.trim() != "0"),
            ValueType::Error => CellValue::Error(text),
            ValueType::Date => CellValue::Date(text.trim()),
        };
        let formula = self.has_formula.then(|| CellFormula { text: valid(&self.formula), shared: self.shared });
        visitor.cell(&SheetCell { place: CellPlace { row, column }, style: self.style, value, formula })
    }
}

/// The beginning that is UTF-8: a text that was cut may end within a character.
fn valid(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// A number of digits alone.
fn number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u32, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u32::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// The column of `B12`, from 0.
fn column_of(reference: &[u8]) -> Option<u32> {
    let letters = reference.iter().take_while(|byte| byte.is_ascii_alphabetic()).take(4);
    let column = letters.fold(0_u32, |column, letter| column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1);
    column.checked_sub(1)
}

/// What stands below the cells, while it is read.
#[derive(Debug, Default)]
struct TailBuilder {
    tail: SheetTail,
    /// Which text is being read.
    open: Option<bool>,
}

impl TailBuilder {
    fn tag(&mut self, name: &[u8], attributes: TagAttributes<'_>, limits: &ReadLimits) -> Result<(), UnreadableFile> {
        let tail = &mut self.tail;
        match name {
            b"mergeCell" => {
                if tail.merges.len() >= limits.merges {
                    return Err(UnreadableFile::too_large(format!(
                        "a sheet has more than {} merged ranges",
                        limits.merges
                    )));
                }
                tail.merges.extend(attributes.text(b"ref").and_then(|range| CellRange::parse(&range)));
            }
            b"hyperlink" if tail.links.len() < SHEET_LINKS => {
                let Some(range) = attributes.text(b"ref").and_then(|range| CellRange::parse(&range)) else {
                    return Ok(());
                };
                let relationship = attributes.text(b"id").map(Into::into);
                let location = attributes.text(b"location").map(Into::into);
                tail.links.push(SheetLink { place: range.first, relationship, location });
            }
            b"drawing" => tail.drawing = attributes.text(b"id").map(Into::into),
            b"oddHeader" => self.open = Some(true),
            b"oddFooter" => self.open = Some(false),
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &[u8]) {
        let place = match self.open {
            Some(true) => &mut self.tail.header,
            Some(false) => &mut self.tail.footer,
            None => return,
        };
        let place = place.get_or_insert_default();
        if place.len() < CELL_BYTES {
            place.push_str(&crate::xml::resolve(text));
        }
    }

    fn close(&mut self) {
        self.open = None;
    }
}

#[cfg(test)]
mod tests {
    use a2c_document_model::UnreadableCode;

    use super::*;

    #[derive(Default)]
    struct Seen(Vec<String>);

    impl CellVisitor for Seen {
        fn cell(&mut self, cell: &SheetCell<'_>) -> Result<ControlFlow<()>, UnreadableFile> {
            let formula = cell.formula.map(|formula| format!(" ={}{:?}", formula.text, formula.shared));
            self.0.push(format!("{} {:?}{}", cell.place, cell.value, formula.unwrap_or_default()));
            Ok(ControlFlow::Continue(()))
        }
    }

    fn cells(rows: &str) -> Vec<String> {
        let text = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
        let mut seen = Seen::default();
        visit_sheet(text.as_bytes(), "s.xml", &ReadLimits::default(), &mut seen).unwrap();
        seen.0
    }

    #[test]
    fn cells_have_their_place_and_type() {
        let seen = cells(
            r#"<row r="2"><c r="B2" s="1"><v>1.5</v></c><c r="C2" s="3"/><c r="D2" t="s"><v>7</v></c>
               <c t="inlineStr"><is><r><t>a &lt;</t></r><r><t>b</t></r><rPh><t>x</t></rPh></is></c><c r="AA2" t="b"><v>1</v></c></row>
               <row><c t="e"><v>#N/A</v></c><c t="str"><f>A1&amp;""</f><v></v></c><c><f t="shared" si="3"/><v>2</v></c><c><v/></c></row>"#,
        );
        assert_eq!(
            seen,
            [
                "B2 Number(\"1.5\")",
                "D2 Shared(7)",
                "E2 Text(\"a <b\")",
                "AA2 Flag(true)",
                "A3 Error(\"#N/A\")",
                "B3 Text(\"\") =A1&\"\"None",
                "C3 Number(\"2\") =Some(3)",
            ]
        );
    }

    #[test]
    fn places_out_of_order_or_out_of_the_sheet_do_no_harm() {
        let seen = cells(
            r#"<row r="5"><c r="C5"><v>1</v></c><c r="A5"><v>2</v></c></row><row r="2"><c r="A2"><v>3</v></c></row>
               <row r="99999999"><c><v>4</v></c></row><row r="99999999999"><c r="ZZZZZ1"><v>5</v></c></row>"#,
        );
        assert_eq!(seen, ["C5 Number(\"1\")", "D5 Number(\"2\")", "A6 Number(\"3\")"]);
    }

    #[test]
    fn what_stands_below_the_cells_is_read() {
        let text = r#"<x:worksheet><x:sheetData/><x:mergeCells><x:mergeCell ref="A1:XFD1048576"/></x:mergeCells>
            <x:hyperlinks><x:hyperlink ref="B2" r:id="rId1"/><x:hyperlink ref="B3" location="Two!A1"/></x:hyperlinks>
            <x:headerFooter><x:oddHeader>&amp;CPlan</x:oddHeader></x:headerFooter><x:drawing r:id="rId2"/></x:worksheet>"#;
        let limits = ReadLimits::default();
        let tail = visit_sheet(text.as_bytes(), "s.xml", &limits, &mut Seen::default()).unwrap().unwrap();
        assert_eq!(tail.merges[0].to_string(), "A1:XFD1048576");
        assert_eq!(tail.links[0].relationship.as_deref(), Some("rId1"));
        assert_eq!(tail.links[1].location.as_deref(), Some("Two!A1"));
        assert_eq!((tail.header.as_deref(), tail.drawing.as_deref()), (Some("&CPlan"), Some("rId2")));
        let many = format!("<worksheet>{}</worksheet>", "<mergeCell ref=\"A1:B2\"/>".repeat(3));
        let few = ReadLimits { merges: 2, ..limits };
        let refused = visit_sheet(many.as_bytes(), "s.xml", &few, &mut Seen::default());
        assert_eq!(refused.unwrap_err().code, UnreadableCode::TooLarge);
    }
}
