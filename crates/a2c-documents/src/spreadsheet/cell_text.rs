//! What a cell shows, and its value where that is something else.

use serde_json::Value;

use super::cell::{CellValue, SheetCell};
use super::number_display::general;
use super::serial_date::{CalendarTime, DateSystem};
use super::shared_strings::unescaped;
use super::styles::CellStyles;

/// The text of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ShownText {
    /// Its own.
    Own(String),
    /// One that cells share, by its number.
    Shared(u32),
}

/// What kind of value a cell has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// Words.
    Text,
    /// A number.
    Number,
    /// A date or a time.
    Date,
    /// True, false, or an error.
    Other,
}

/// How cells are shown in a workbook.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellDisplay<'a> {
    pub(super) styles: &'a CellStyles,
    pub(super) dates: DateSystem,
}

impl CellDisplay<'_> {
    /// What a cell shows, and what kind of value it has.
    pub(super) fn shown(&self, cell: &SheetCell<'_>) -> (ShownText, ValueKind) {
        match cell.value {
            CellValue::Number(text) => {
                let (shown, kind) = self.number(text, cell.style);
                (ShownText::Own(shown), kind)
            }
            CellValue::Shown { text, .. } => (ShownText::Own(text.to_owned()), ValueKind::Number),
            CellValue::Shared(index) => (ShownText::Shared(index), ValueKind::Text),
            CellValue::Text(text) => {
                let plain = unescaped(text).unwrap_or_else(|| text.to_owned());
                (ShownText::Own(self.text(plain, cell.style)), ValueKind::Text)
            }
            CellValue::Flag(flag) => (ShownText::Own(if flag { "TRUE" } else { "FALSE" }.to_owned()), ValueKind::Other),
            CellValue::Error(text) => (ShownText::Own(text.to_owned()), ValueKind::Other),
            CellValue::Date(text) => (ShownText::Own(iso_shown(text)), ValueKind::Date),
            CellValue::Nothing => (ShownText::Own(String::new()), ValueKind::Other),
        }
    }

    /// A text as its format shows it.
    pub(super) fn text(&self, text: String, style: u32) -> String {
        self.styles.format(style).and_then(|format| format.text(&text)).unwrap_or(text)
    }

    fn number(&self, text: &str, style: u32) -> (String, ValueKind) {
        let Some(format) = self.styles.format(style) else {
            let shown = if is_shown_as_written(text) {
                text.to_owned()
            } else {
                text.parse().map_or_else(|_| text.to_owned(), general)
            };
            return (shown, ValueKind::Number);
        };
        let Ok(value) = text.parse::<f64>() else { return (text.to_owned(), ValueKind::Text) };
        let kind = if format.is_date() { ValueKind::Date } else { ValueKind::Number };
        (format.number(value, self.dates), kind)
    }

    /// The value of a cell, where its text does not tell it.
    pub(super) fn value(&self, cell: &SheetCell<'_>) -> Option<Value> {
        match cell.value {
            CellValue::Flag(flag) => Some(Value::Bool(flag)),
            CellValue::Number(text) => {
                let value: f64 = text.parse().ok()?;
                let (shown, kind) = self.number(text, cell.style);
                if kind == ValueKind::Date
                    && let Some(time) = CalendarTime::of_serial(value, self.dates)
                {
                    let whole = match time.is_midnight() {
                        true => time.date(),
                        false => format!("{}T{}", time.date(), time.time()),
                    };
                    return (whole.replace('T', " ") != shown).then_some(Value::String(whole));
                }
                number_behind(&shown, value)
            }
            CellValue::Shown { text, number } => number_behind(text, number.parse().ok()?),
            _ => None,
        }
    }
}

/// A number, where its text does not tell it.
fn number_behind(shown: &str, value: f64) -> Option<Value> {
    if shown.parse() == Ok(value) {
        return None;
    }
    match value == value.trunc() && value.abs() < 9e15 {
        true => Some(Value::from(value as i64)),
        false => serde_json::Number::from_f64(value).map(Value::Number),
    }
}

/// Whether a number is written as it would be shown: most are, and need not be computed.
fn is_shown_as_written(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let decimal = match memchr::memchr(b'.', digits) {
        None => digits.len() <= 15,
        Some(point) => point > 0 && digits.len() <= 11 && !matches!(digits.last(), Some(b'0' | b'.')),
    };
    decimal
        && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        && (matches!(digits, [b'1'..=b'9', ..] | [b'0'])
            || (digits.starts_with(b"0.") && !digits.starts_with(b"0.0000")))
}

/// A date in ISO 8601 as it is shown.
fn iso_shown(text: &str) -> String {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let text = text.strip_suffix("T00:00:00").or(text.strip_suffix("T00:00:00.000")).unwrap_or(text);
    text.replacen('T', " ", 1)
}

#[cfg(test)]
mod tests {
    use super::super::number_format::NumberFormat;
    use super::*;

    #[test]
    fn cells_show_their_text_and_keep_their_value_where_it_differs() {
        let mut styles = CellStyles::default();
        let [plain, percent, date] =
            ["General", "+0%", "m/d/yy"].map(|code| styles.add(NumberFormat::parse(code), false));
        let display = CellDisplay { styles: &styles, dates: DateSystem::Since1900 };
        for (value, style, text, kind, json) in [
            (CellValue::Number("1250"), plain, "1250", ValueKind::Number, "null"),
            (CellValue::Number("5.0"), plain, "5", ValueKind::Number, "null"),
            (CellValue::Number("1E3"), plain, "1000", ValueKind::Number, "null"),
            (CellValue::Number("007"), plain, "7", ValueKind::Number, "null"),
            (CellValue::Number("0.30000000000000004"), plain, "0.3", ValueKind::Number, "0.30000000000000004"),
            (CellValue::Number("0.12"), percent, "+12%", ValueKind::Number, "0.12"),
            (CellValue::Number("45366"), date, "2024-03-15", ValueKind::Date, "null"),
            (CellValue::Number("45366.5"), date, "2024-03-15", ValueKind::Date, "\"2024-03-15T12:00:00\""),
            (CellValue::Number("x"), date, "x", ValueKind::Text, "null"),
            (CellValue::Flag(true), plain, "TRUE", ValueKind::Other, "true"),
            (CellValue::Date("2024-03-15T00:00:00"), plain, "2024-03-15", ValueKind::Date, "null"),
            (CellValue::Text("a_x000D_\nb"), plain, "a\nb", ValueKind::Text, "null"),
        ] {
            let place = a2c_document_model::CellPlace { row: 0, column: 0 };
            let cell = SheetCell { place, style, value, formula: None };
            assert_eq!(display.shown(&cell), (ShownText::Own(text.to_owned()), kind), "{value:?}");
            assert_eq!(display.value(&cell).unwrap_or(Value::Null).to_string(), json, "{value:?}");
        }
    }
}
