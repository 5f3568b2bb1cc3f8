//! The records of an old workbook, as far as they tell how cells look and how large sheets are.

use std::collections::HashMap;

use a2c_document_model::{CellPlace, UnreadableCode, UnreadableFile};

use super::number_format::{NumberFormat, built_in};
use super::styles::CellStyles;

/// The cells of all sheets together, with the empty ones between them: the reader behind holds a place for each.
const CELLS: u64 = 4 << 20;

/// What the records of a workbook tell.
#[derive(Debug, Default)]
pub(super) struct BiffOutline {
    pub(super) styles: CellStyles,
    /// For each sheet, the styles of its cells.
    pub(super) sheets: Vec<HashMap<CellPlace, u32>>,
}

/// The records of a stream from a place on: their kind and their bytes.
fn records(stream: &[u8], mut at: usize) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let head = stream.get(at..at + 4)?;
        let (kind, size) = (short(head, 0), usize::from(short(head, 2)));
        let bytes = stream.get(at + 4..at + 4 + size)?;
        at += 4 + size;
        Some((kind, bytes))
    })
}

fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |pair| u16::from_le_bytes([pair[0], pair[1]]))
}

/// Reads the outline of a workbook, and refuses one that is encrypted or too large.
pub(super) fn read_outline(stream: &[u8]) -> Result<BiffOutline, UnreadableFile> {
    let (mut formats, mut fonts, mut looks, mut sheets) = (HashMap::new(), Vec::new(), Vec::new(), Vec::new());
    let mut is_8 = true;
    for (kind, bytes) in records(stream, 0) {
        match kind {
            0x0809 => is_8 = short(bytes, 0) >= 0x0600,
            0x002f => {
                return Err(UnreadableFile::new(
                    UnreadableCode::Encrypted,
                    "the workbook is encrypted: it wants a password",
                ));
            }
            0x041e => _ = formats.insert(short(bytes, 0), format_code(bytes, is_8)),
            0x0031 => fonts.push(short(bytes, 6) >= 700),
            0x00e0 => looks.push((short(bytes, 0), short(bytes, 2))),
            0x0085 => sheets.push(short(bytes, 0) as usize | (short(bytes, 2) as usize) << 16),
            0x000a => break,
            _ => {}
        }
    }
    let mut outline = BiffOutline::default();
    for (font, format) in looks {
        let code = formats.get(&format).map_or_else(|| built_in(u32::from(format)), String::as_str);
        // There is no font 4.
        let font = usize::from(if font >= 4 { font - 1 } else { font });
        outline.styles.add(NumberFormat::parse(code), fonts.get(font).copied().unwrap_or(false));
    }
    let mut all = 0;
    for begin in sheets {
        let (cells, size) = sheet_styles(stream, begin);
        all += size;
        if all > CELLS {
            return Err(UnreadableFile::too_large(format!("the sheets have more than {CELLS} cells")));
        }
        outline.sheets.push(cells);
    }
    Ok(outline)
}

/// The styles of the cells of a sheet, and how many cells the range around them has.
fn sheet_styles(stream: &[u8], begin: usize) -> (HashMap<CellPlace, u32>, u64) {
    let (mut cells, mut depth) = (HashMap::new(), 0);
    let (mut rows, mut columns) = ((u32::MAX, 0), (u32::MAX, 0));
    for (kind, bytes) in records(stream, begin) {
        match kind {
            0x0809 => depth += 1,
            0x000a => {
                depth -= 1;
                if depth <= 0 {
                    break;
                }
            }
            0x0006 | 0x00bd | 0x00d6 | 0x00fd | 0x0203 | 0x0204 | 0x0205 | 0x027e => {
                let (row, first) = (u32::from(short(bytes, 0)), u32::from(short(bytes, 2)));
                let count = if kind == 0x00bd { bytes.len().saturating_sub(6) / 6 } else { 1 };
                rows = (rows.0.min(row), rows.1.max(row));
                columns = (columns.0.min(first), columns.1.max(first + count.max(1) as u32 - 1));
                for at in 0..count.min(256) {
                    let style = u32::from(short(bytes, 4 + at * 6));
                    cells.insert(CellPlace { row, column: first + at as u32 }, style);
                }
            }
            _ => {}
        }
    }
    let size = |(least, most): (u32, u32)| u64::from((most + 1).saturating_sub(least.min(most + 1)));
    (cells, size(rows) * size(columns))
}

/// The code of a number format, whose number stands before it.
fn format_code(bytes: &[u8], is_8: bool) -> String {
    if !is_8 {
        let length = usize::from(bytes.get(2).copied().unwrap_or(0));
        return bytes.iter().skip(3).take(length).map(|byte| char::from(*byte)).collect();
    }
    let (length, wide) = (usize::from(short(bytes, 2)), bytes.get(4).is_some_and(|flags| flags & 1 == 1));
    let text = bytes.get(5..).unwrap_or_default();
    if !wide {
        return text.iter().take(length).map(|byte| char::from(*byte)).collect();
    }
    let units = text.chunks_exact(2).take(length).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u16, bytes: &[u8]) -> Vec<u8> {
        [&kind.to_le_bytes()[..], &(bytes.len() as u16).to_le_bytes(), bytes].concat()
    }

    fn workbook(records: &[Vec<u8>]) -> Vec<u8> {
        let mut stream = [record(0x0809, &[0, 6, 5, 0]), record(0x0085, &[0; 8]), record(0x000a, &[])].concat();
        let begin = stream.len() as u32;
        stream[12..16].copy_from_slice(&begin.to_le_bytes());
        stream.extend(record(0x0809, &[0, 6, 16, 0]));
        stream.extend(records.concat());
        stream
    }

    #[test]
    fn a_sheet_with_two_far_cells_is_refused() {
        let near = [record(0x0203, &[0; 14]), record(0x0203, &[1; 14])];
        assert_eq!(read_outline(&workbook(&near)).unwrap().sheets[0].len(), 2);
        let far = [record(0x0203, &[0; 14]), record(0x0203, &[0xff, 0xff, 0xff, 0, 0, 0])];
        assert_eq!(read_outline(&workbook(&far)).unwrap_err().code, UnreadableCode::TooLarge);
    }

    #[test]
    fn an_encrypted_workbook_says_so() {
        let stream = [record(0x0809, &[0, 6, 5, 0]), record(0x002f, &[1, 0])].concat();
        assert_eq!(read_outline(&stream).unwrap_err().code, UnreadableCode::Encrypted);
        assert!(read_outline(&[1, 2, 3]).unwrap().sheets.is_empty());
    }
}
