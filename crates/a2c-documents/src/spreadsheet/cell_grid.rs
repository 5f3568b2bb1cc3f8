//! The cells of a sheet that another reader has read already.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use a2c_document_model::{CellPlace, CellRange, UnreadableFile};
use calamine::{Data, ExcelDateTime};

use super::bounds::{CELL_BYTES, SHEET_COLUMNS, SHEET_ROWS};
use super::cell::{CellFormula, CellSource, CellValue, CellVisitor, SheetCell, SheetLink, SheetTail};
use super::serial_date::{CalendarTime, DateSystem};
use super::shared_strings::SharedStrings;

/// The cells of one sheet, in memory.
#[derive(Debug, Default)]
pub(super) struct CellGrid {
    cells: BTreeMap<CellPlace, GridCell>,
    pub(super) merges: Vec<CellRange>,
    strings: SharedStrings,
}

#[derive(Debug, Default)]
struct GridCell {
    value: GridValue,
    style: u32,
    formula: Option<String>,
}

#[derive(Debug, Default)]
enum GridValue {
    #[default]
    Nothing,
    Number(String),
    Text(String),
    Flag(bool),
    Error(String),
    Date(String),
}

impl CellGrid {
    /// Adds a value. A date is a number where its style says how it looks.
    pub(super) fn add(&mut self, place: CellPlace, value: &Data, style: Option<u32>, dates: DateSystem) {
        let value = match value {
            Data::Empty => return,
            Data::Int(number) => GridValue::Number(number.to_string()),
            Data::Float(number) => GridValue::Number(number.to_string()),
            Data::String(text) => GridValue::Text(text[..text.floor_char_boundary(CELL_BYTES)].to_owned()),
            Data::Bool(flag) => GridValue::Flag(*flag),
            Data::Error(error) => GridValue::Error(error.to_string()),
            Data::DateTime(date) if style.is_some() => GridValue::Number(date.as_f64().to_string()),
            Data::DateTime(date) => date_value(date, dates),
            Data::DateTimeIso(text) | Data::DurationIso(text) => GridValue::Date(text.clone()),
        };
        if self.has_room(place) {
            let cell = self.cells.entry(place).or_default();
            (cell.value, cell.style) = (value, style.unwrap_or(u32::MAX));
        }
    }

    /// Adds a formula.
    pub(super) fn add_formula(&mut self, place: CellPlace, formula: &str) {
        if !formula.is_empty() && self.has_room(place) {
            let formula = &formula[..formula.floor_char_boundary(CELL_BYTES)];
            self.cells.entry(place).or_default().formula = Some(formula.to_owned());
        }
    }

    fn has_room(&self, place: CellPlace) -> bool {
        place.row < SHEET_ROWS && place.column < SHEET_COLUMNS
    }
}

fn date_value(date: &ExcelDateTime, dates: DateSystem) -> GridValue {
    let serial = date.as_f64();
    let time = CalendarTime::of_serial(serial, dates).filter(|_| !date.is_duration());
    match time {
        Some(time) if serial < 1.0 => GridValue::Date(time.time()),
        Some(time) => GridValue::Date(format!("{}T{}", time.date(), time.time())),
        None => GridValue::Number(serial.to_string()),
    }
}

impl CellSource for &mut CellGrid {
    fn visit(&mut self, visitor: &mut dyn CellVisitor) -> Result<Option<SheetTail>, UnreadableFile> {
        for (place, cell) in &self.cells {
            let value = match &cell.value {
                GridValue::Nothing => CellValue::Nothing,
                GridValue::Number(text) => CellValue::Number(text),
                GridValue::Text(text) => CellValue::Text(text),
                GridValue::Flag(flag) => CellValue::Flag(*flag),
                GridValue::Error(text) => CellValue::Error(text),
                GridValue::Date(text) => CellValue::Date(text),
            };
            let formula = cell.formula.as_deref().map(|text| CellFormula { text, shared: None });
            let cell = SheetCell { place: *place, style: cell.style, value, formula };
            if visitor.cell(&cell)? == ControlFlow::Break(()) {
                return Ok(None);
            }
        }
        Ok(Some(SheetTail { merges: self.merges.clone(), ..SheetTail::default() }))
    }

    fn strings(&mut self, _last: u32) -> Result<&SharedStrings, UnreadableFile> {
        Ok(&self.strings)
    }

    fn link_target(&self, _link: &SheetLink) -> Option<String> {
        None
    }
}
