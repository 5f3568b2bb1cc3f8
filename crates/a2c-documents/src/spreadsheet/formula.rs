//! Formulas that several cells share: written for the first of them, and moved for the others.

use a2c_document_model::CellPlace;

use super::bounds::{SHEET_COLUMNS, SHEET_ROWS};

/// A formula that was written for one cell, as it reads in another: references without a dollar move along.
pub(super) fn moved(formula: &str, from: CellPlace, to: CellPlace) -> String {
    let by = (i64::from(to.row) - i64::from(from.row), i64::from(to.column) - i64::from(from.column));
    let bytes = formula.as_bytes();
    let (mut written, mut at) = (String::with_capacity(formula.len() + 8), 0);
    while at < bytes.len() {
        let begin = at;
        match bytes[at] {
            // A text, or the name of a sheet.
            quote @ (b'"' | b'\'') => {
                at += memchr::memchr(quote, &bytes[at + 1..]).map_or(bytes.len() - at, |end| end + 2)
            }
            // A column of a table, or another workbook.
            b'[' => at += memchr::memchr(b']', &bytes[at..]).map_or(bytes.len() - at, |end| end + 1),
            byte if is_word(byte) => {
                at += bytes[at..].iter().position(|byte| !is_word(*byte)).unwrap_or(bytes.len() - at);
                // A function or a sheet may be called as a cell is.
                if !matches!(bytes.get(at), Some(b'(' | b'!'))
                    && let Some(reference) = moved_reference(&formula[begin..at], by)
                {
                    written.push_str(&reference);
                    continue;
                }
            }
            _ => at += formula[at..].chars().next().map_or(1, char::len_utf8),
        }
        written.push_str(&formula[begin..at]);
    }
    written
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'$' | b'_' | b'.' | b'\\') || byte >= 0x80
}

/// A reference such as `$B12`, moved; `None` for any other word.
fn moved_reference(word: &str, (rows, columns): (i64, i64)) -> Option<String> {
    let (fixed_column, rest) = word.strip_prefix('$').map_or((false, word), |rest| (true, rest));
    let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, rest) = rest.split_at(letters);
    let (fixed_row, digits) = rest.strip_prefix('$').map_or((false, rest), |rest| (true, rest));
    if !(1..=3).contains(&letters.len()) || !(1..=7).contains(&digits.len()) {
        return None;
    }
    let place = CellPlace::parse(&format!("{letters}{digits}"))?;
    let shift = |value: u32, by: i64, fixed: bool, size: u32| match fixed {
        true => value,
        false => (i64::from(value) + by).rem_euclid(i64::from(size)) as u32,
    };
    let row = shift(place.row, rows, fixed_row, SHEET_ROWS);
    let column = shift(place.column, columns, fixed_column, SHEET_COLUMNS);
    let cell = CellPlace { row, column }.to_string();
    let split = cell.bytes().take_while(u8::is_ascii_alphabetic).count();
    let dollar = |fixed| if fixed { "$" } else { "" };
    Some(format!("{}{}{}{}", dollar(fixed_column), &cell[..split], dollar(fixed_row), &cell[split..]))
}

/// The address and the text of a formula that is a link: `HYPERLINK("https://…","text")`.
pub(super) fn hyperlink(formula: &str) -> Option<&str> {
    let begin = formula.get(..10).filter(|begin| begin.eq_ignore_ascii_case("HYPERLINK("))?;
    let address = formula[begin.len()..].trim_start().strip_prefix('"')?;
    address.split_once('"').map(|(address, _)| address).filter(|address| !address.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_move_along_unless_they_are_fixed() {
        let place = |cell| CellPlace::parse(cell).unwrap();
        for (formula, to, expected) in [
            ("A1+B2", "A2", "A2+B3"),
            ("$A1*B$2", "B2", "$A2*C$2"),
            ("SUM(A1:A9)", "C1", "SUM(C1:C9)"),
            ("\"A1\"&A1", "A2", "\"A1\"&A2"),
            ("'Sheet A1'!A1", "A2", "'Sheet A1'!A2"),
            ("Q1!A1", "A2", "Q1!A2"),
            ("LOG10(A1)", "A2", "LOG10(A2)"),
            ("Table1[A1]+A1", "A2", "Table1[A1]+A2"),
            ("A1.B+name_1", "A2", "A1.B+name_1"),
            ("年A1+A1", "A2", "年A1+A2"),
            ("\"open A1", "A2", "\"open A1"),
        ] {
            assert_eq!(moved(formula, place("A1"), place(to)), expected, "{formula}");
        }
        assert_eq!(moved("A1", place("B2"), place("A1")), "XFD1048576", "references go round, as they do in Excel");
    }

    #[test]
    fn the_address_of_a_link_is_a_text() {
        assert_eq!(hyperlink("HYPERLINK(\"https://a.example/\",\"a\")"), Some("https://a.example/"));
        assert_eq!(hyperlink("HYPERLINK(A1)"), None);
        assert_eq!(hyperlink("年年年年年"), None);
    }
}
