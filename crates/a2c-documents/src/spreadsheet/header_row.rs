//! Whether a used range begins with a title and with a row of headers.

use super::cell_text::ValueKind;

/// How many rows at the beginning of a range are looked at.
pub(super) const HEAD_ROWS: u32 = 10;
/// The lines of a title that can stand above the headers.
const TITLE_ROWS: usize = 3;
/// A longer text is no header.
const HEADER_CHARS: usize = 120;

/// A cell as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeadCell<'a> {
    /// Its column, from 0 for the first of the range.
    pub(super) column: u32,
    pub(super) text: &'a str,
    pub(super) kind: ValueKind,
    pub(super) bold: bool,
}

/// What a range begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TableHead {
    /// The rows of its title.
    pub(super) titles: u32,
    /// Whether a row of headers follows.
    pub(super) headers: bool,
}

/// What a range of so many columns begins with. `known` is its row of headers, where the file says it.
pub(super) fn table_head(rows: &[Vec<HeadCell<'_>>], columns: u32, known: Option<u32>) -> TableHead {
    if let Some(row) = known.filter(|row| *row as usize <= TITLE_ROWS) {
        return TableHead { titles: row, headers: true };
    }
    let is_title =
        |row: &Vec<HeadCell<'_>>| matches!(&row[..], [only] if only.column == 0 && only.kind == ValueKind::Text);
    let above = rows.iter().take_while(|row| is_title(row)).count().min(TITLE_ROWS);
    if above > 0 && columns > 1 && is_header(&rows[above..], columns) {
        return TableHead { titles: above as u32, headers: true };
    }
    TableHead { titles: 0, headers: is_header(rows, columns) }
}

fn is_header(rows: &[Vec<HeadCell<'_>>], columns: u32) -> bool {
    let Some((first, below)) = rows.split_first().filter(|(first, below)| !first.is_empty() && !below.is_empty())
    else {
        return false;
    };
    // Most columns have a name; the first may have none, above the names of the rows.
    let named = first.iter().filter(|cell| cell.column > 0).count() as u32;
    let nameless = columns.saturating_sub(1).saturating_sub(named);
    if nameless * 2 >= columns.max(1) || !first.iter().all(is_name) {
        return false;
    }
    if !first.iter().any(|cell| cell.kind == ValueKind::Text) {
        return false;
    }
    let mut names: Vec<&str> = first.iter().map(|cell| cell.text).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return false;
    }
    let bold = |row: &[HeadCell<'_>]| row.iter().all(|cell| cell.bold);
    if bold(first) && !bold(&below[0]) {
        return true;
    }
    // A text above numbers is their name, and so is a year above numbers that are no years.
    let is_above_values = |name: &HeadCell<'_>| {
        let mut values = below.iter().flat_map(|row| row.iter().filter(|cell| cell.column == name.column)).peekable();
        let is_value = |cell: &HeadCell<'_>| match name.kind {
            ValueKind::Text => cell.kind != ValueKind::Text,
            _ => cell.kind == ValueKind::Number && !is_name(cell),
        };
        values.peek().is_some() && values.all(is_value)
    };
    if first.iter().any(is_above_values) {
        return true;
    }
    // Nothing but texts: a row that is full, and none of whose texts comes again below.
    let again =
        |name: &HeadCell<'_>| below.iter().flatten().any(|cell| cell.column == name.column && cell.text == name.text);
    columns > 1
        && below.len() > 1
        && first.len() as u32 == columns
        && first.iter().all(|cell| cell.kind == ValueKind::Text && !cell.text.trim_end().ends_with([':', '：']))
        && !first.iter().any(again)
}

/// Whether a cell can be a header: a text, a date, or a year.
fn is_name(cell: &HeadCell<'_>) -> bool {
    match cell.kind {
        ValueKind::Text => !cell.text.trim().is_empty() && cell.text.chars().count() <= HEADER_CHARS,
        ValueKind::Date => true,
        ValueKind::Number => cell.text.parse().is_ok_and(|year: u32| (1900..=2100).contains(&year)),
        ValueKind::Other => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head of a table whose cells are words: `*` before a bold one, `#` before a number, `-` for an empty cell.
    fn head(lines: &[&str]) -> TableHead {
        let cell = |(column, word): (usize, &'static str)| {
            let bold = word.starts_with('*');
            let text = word.trim_start_matches(['*', '#']);
            let kind = if word.contains('#') { ValueKind::Number } else { ValueKind::Text };
            (word != "-").then_some(HeadCell { column: column as u32, text, kind, bold })
        };
        let lines: Vec<&'static str> = lines.iter().map(|line| &*String::from(*line).leak()).collect();
        let rows: Vec<Vec<HeadCell<'_>>> =
            lines.iter().map(|line| line.split(' ').enumerate().filter_map(cell).collect()).collect();
        let columns = lines.iter().map(|line| line.split(' ').count()).max().unwrap_or(0);
        table_head(&rows, columns as u32, None)
    }

    #[test]
    fn headers_are_told_from_data() {
        for (lines, titles, headers) in [
            (&["name sum", "a #1", "b #2"][..], 0, true),
            (&["- sum", "a #1", "b #2"], 0, true),
            (&["name city", "a x", "b y"], 0, true),
            (&["name city", "a x"], 0, false),
            (&["*name *city", "a x"], 0, true),
            (&["*name *city", "*a *x", "b y"], 0, true),
            (&["a x", "b y", "a z"], 0, false),
            (&["Name: x", "City: y", "Age: z"], 0, false),
            (&["#1 #2", "#3 #4"], 0, false),
            (&["region #2023 #2024", "a #1 #2"], 0, true),
            (&["#2023 #2024", "#1 #2"], 0, false),
            (&["sum sum", "#1 #2"], 0, false),
            (&["name", "a", "b"], 0, false),
            (&["count", "#1", "#2"], 0, true),
            (&["Report", "name sum", "a #1"], 1, true),
            (&["Report", "2024", "name sum", "a #1"], 2, true),
            (&["Report", "#1 #2"], 0, false),
            (&["name sum"], 0, false),
        ] {
            assert_eq!(head(lines), TableHead { titles, headers }, "{lines:?}");
        }
    }
}
