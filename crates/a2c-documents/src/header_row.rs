//! Whether the first row of a table names its columns.

/// Whether `first` is a row of headers above `rest`: words in every column that has something below, no two alike, and
/// something below that is not alike in kind, or simply words above rows.
pub fn is_header(first: &[String], rest: &[Vec<String>]) -> bool {
    let names: Vec<&str> = first.iter().map(|cell| cell.trim()).collect();
    let last = rest.iter().map(Vec::len).max().unwrap_or(0).min(names.len());
    let named = names.iter().take(last.max(1)).filter(|name| !name.is_empty()).count();
    if rest.is_empty() || names.len() < 2 || named * 4 < last.max(1) * 3 {
        return false;
    }
    if names.iter().any(|name| is_value(name) || name.chars().count() > 100) {
        return false;
    }
    let mut seen = std::collections::HashSet::new();
    names.iter().filter(|name| !name.is_empty()).all(|name| seen.insert(name.to_lowercase()))
}

/// Whether a cell is a number, a date, a share or a truth: such things name no column.
fn is_value(cell: &str) -> bool {
    let has_digit = cell.bytes().any(|byte| byte.is_ascii_digit());
    let only_marks = cell.chars().all(|c| c.is_ascii_digit() || " .,:+-/−%()€$£¥T".contains(c));
    // A year above a column is its name.
    let is_year = cell.len() == 4 && cell.parse::<u32>().is_ok_and(|year| (1900..2100).contains(&year));
    (has_digit && only_marks && !is_year) || ["true", "false"].contains(&cell.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_above_rows_are_headers() {
        let row = |cells: &str| cells.split('|').map(str::to_owned).collect::<Vec<_>>();
        for (first, below, expected) in [
            ("name|kg", "a|1", true),
            ("name|city", "a|b", true),
            ("1|2", "3|4", false),
            ("name|2", "a|4", false),
            ("name|name", "a|b", false),
            ("|kg", "a|1", false),
            ("id|name|kg|", "1|a|2|x", true),
            ("Region|2024|2025", "North|1|2", true),
            ("2026-01-02|x", "2026-01-03|y", false),
            ("title", "x", false),
        ] {
            assert_eq!(is_header(&row(first), &[row(below)]), expected, "{first}");
        }
        assert!(!is_header(&row("a|b"), &[]));
    }
}
