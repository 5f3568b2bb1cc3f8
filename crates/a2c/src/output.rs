//! What goes to standard output, and how failures are told.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use a2c_protocol::ErrorCode;
use a2c_protocol::tool::CallToolResult;
use serde::Serialize;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Writes a line to standard output at once, also into a pipe. A reader that went away is no failure.
pub(crate) fn line(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}

/// Writes a value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(&json_text(value)?);
    Ok(())
}

/// Writes a value as JSON in several lines, for people.
pub(crate) fn pretty_json(value: &impl Serialize) -> anyhow::Result<()> {
    line(&harmless_json(&serde_json::to_string_pretty(value)?));
    Ok(())
}

/// A value as one line of JSON that cannot steer a terminal.
pub(crate) fn json_text(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(harmless_json(&serde_json::to_string(value)?))
}

/// The same JSON, with the characters spelt out that JSON allows in a string and a terminal obeys. They are nowhere but
/// in strings, so that a reader of JSON sees no difference.
pub(crate) fn harmless_json(json: &str) -> String {
    let mut seen = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // Between values; in strings the writer has spelt them out.
            '\n' | '\t' | '\r' => seen.push(c),
            c => push_harmless(&mut seen, c),
        }
    }
    seen
}

/// Resolves when standard output has no reader any more, where the system tells: a pipe whose other end was closed.
pub(crate) async fn reader_gone() {
    #[cfg(target_os = "linux")]
    {
        use tokio::io::Interest;
        use tokio::io::unix::AsyncFd;
        #[expect(deprecated, reason = "only descriptors that can change are unsound there, and standard output stays")]
        let stdout = AsyncFd::with_interest(std::io::stdout(), Interest::ERROR);
        // Files cannot be waited for; they can be read at any time.
        if let Ok(stdout) = stdout
            && stdout.ready(Interest::ERROR).await.is_ok()
        {
            return;
        }
    }
    std::future::pending().await
}

/// Writes a line to standard error, where people and logs read it.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable(text));
}

/// Tells a failure on standard error, to people.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    note(&format!("a2c: {}", explained(error)));
    ExitCode::FAILURE
}

/// Tells a failure on standard error, as the last line of the log.
pub(crate) fn log_failure(error: &anyhow::Error) -> ExitCode {
    tracing::error!("{}", explained(error));
    ExitCode::FAILURE
}

/// An error with each of its causes once.
fn explained(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // An error that quotes its cause has quoted all that is behind it, too.
        if text.contains(&cause) {
            break;
        }
        text = format!("{text}: {cause}");
    }
    text
}

/// Writes the result of a tool: its text, or the whole of it as JSON. A failed tool is a failed command.
pub(crate) fn tool_result(result: &CallToolResult) -> anyhow::Result<ExitCode> {
    if result.is_error {
        let code = result.error_code();
        let what = match code {
            Some(ErrorCode::ToolNotFound | ErrorCode::ToolForbidden | ErrorCode::ToolNeedsConfirmation) => "",
            _ => "the tool failed: ",
        };
        let code = code.map(|c| format!(" (code {c})")).unwrap_or_default();
        note(&format!("a2c: {what}{}{code}", result.text()));
        return Ok(ExitCode::FAILURE);
    }
    for block in &result.content {
        match block["text"].as_str() {
            Some(text) if std::io::stdout().is_terminal() => line(&printable(text)),
            Some(text) => line(text),
            None => json(block)?,
        }
    }
    if let (true, Some(structured)) = (result.content.is_empty(), &result.structured_content) {
        json(structured)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the contents of a resource: text as it is, anything else as JSON.
pub(crate) fn contents(contents: &[serde_json::Value]) -> anyhow::Result<()> {
    for part in contents {
        match part["text"].as_str() {
            Some(text) if std::io::stdout().is_terminal() => line(&printable(text)),
            Some(text) => {
                let mut stdout = std::io::stdout().lock();
                let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
            }
            None => json(part)?,
        }
    }
    Ok(())
}

/// Writes a text that may have several lines: harmless on a terminal, as it is elsewhere.
pub(crate) fn text(text: &str) {
    match std::io::stdout().is_terminal() {
        true => line(&printable(text)),
        false => line(text),
    }
}

/// Writes rows as aligned columns.
pub(crate) fn table(rows: &[Vec<String>]) {
    aligned(rows, None, &[]).iter().for_each(|row| line(row));
}

/// Writes rows as aligned columns that fit the terminal, as far as shortening the columns `flexible` can make them fit.
/// Elsewhere nothing is cut.
pub(crate) fn fitted_table(rows: &[Vec<String>], flexible: &[usize]) {
    aligned(rows, terminal_width(), flexible).iter().for_each(|row| line(row));
}

/// What stands between two columns.
const GAP: usize = 2;

/// A column that is shortened stays at least as wide as this, or as it was.
const NARROWEST: usize = 12;

fn aligned(rows: &[Vec<String>], fit: Option<usize>, flexible: &[usize]) -> Vec<String> {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let mut widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let whole = widths.iter().sum::<usize>() + GAP * columns.saturating_sub(1);
    let mut over = fit.map_or(0, |fit| whole.saturating_sub(fit));
    // The widest gives first, so that short columns stay readable.
    while over > 0 {
        let wide = flexible.iter().copied().filter(|&column| widths.get(column).is_some_and(|w| *w > NARROWEST));
        let Some(widest) = wide.max_by_key(|&column| widths[column]) else { break };
        widths[widest] -= 1;
        over -= 1;
    }
    let row = |row: &Vec<String>| {
        let mut text = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            if column > 0 {
                text.push_str(&" ".repeat(GAP));
            }
            let cell = cut(cell, width);
            text.push_str(&cell);
            text.push_str(&" ".repeat(width.saturating_sub(cell.width())));
        }
        text.trim_end().to_owned()
    };
    rows.iter().map(row).collect()
}

/// How many columns the terminal has, where standard output is one.
fn terminal_width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    #[cfg(unix)]
    let columns = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?.ws_col;
    #[cfg(not(unix))]
    let columns = crossterm::terminal::size().ok()?.0;
    // Terminals that do not know their size say 0.
    (columns > 0).then_some(columns.into())
}

/// A text in at most so many columns of a terminal; what is left out is an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (mut short, mut used) = (String::new(), 0);
    for c in text.chars() {
        let more = c.width().unwrap_or(0);
        if used + more + 1 > width {
            break;
        }
        short.push(c);
        used += more;
    }
    if width > 0 {
        short.push('…');
    }
    short
}

/// A text from elsewhere as one harmless line.
pub(crate) fn one_line(text: &str) -> String {
    match text.contains(['\n', '\t', '\r']) {
        true => printable(&text.split_whitespace().collect::<Vec<_>>().join(" ")),
        false => printable(text),
    }
}

/// A number with its thousands set apart.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in bytes, for people.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let (mut scaled, mut unit) = (bytes as f64, "B");
    for larger in units {
        if scaled < 1024.0 {
            break;
        }
        (scaled, unit) = (scaled / 1024.0, larger);
    }
    match unit {
        "B" => format!("{bytes} B"),
        unit => format!("{scaled:.1} {unit}"),
    }
}

/// A point in time as the clock on the wall here shows it; what is none is left as it is.
pub(crate) fn date(iso: &str) -> String {
    match iso.parse::<jiff::Timestamp>() {
        Ok(instant) => instant.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => iso.to_owned(),
    }
}

/// A text from elsewhere that cannot steer a terminal: control characters are spelt out.
pub(crate) fn printable(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => seen.push(c),
            c => push_harmless(&mut seen, c),
        }
    }
    seen
}

/// A character, or its number as JSON spells it where it would steer a terminal: C0 and C1 controls, DEL, and what changes
/// the direction of text.
fn push_harmless(text: &mut String, c: char) {
    if c.is_control() || is_direction(c) {
        // All of them have four digits.
        text.push_str(&format!("\\u{:04x}", u32::from(c)));
    } else {
        text.push(c);
    }
}

/// Characters that make text read in another order than it is written.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

/// A word as a shell takes it.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_not_steered_by_what_is_printed() {
        assert_eq!(printable("a\tb\n世界"), "a\tb\n世界");
        assert_eq!(printable("\x1b[31mred\x07"), "\\u001b[31mred\\u0007");
        assert_eq!(printable("\u{202e}evil \u{9b}2J\u{7f}"), "\\u202eevil \\u009b2J\\u007f");
    }

    #[test]
    fn json_does_not_steer_a_terminal_and_stays_the_same_value() {
        let value = serde_json::json!({"a\u{9b}2J": ["\u{7f}\u{202e}x\u{2066}\u{61c}", "\x1b\n\"\\", "世界 🌍"]});
        for text in [json_text(&value).unwrap(), harmless_json(&serde_json::to_string_pretty(&value).unwrap())] {
            let steers = |c: char| c != '\n' && (c.is_control() || is_direction(c));
            assert!(!text.contains(steers) && text.contains("世界 🌍"), "{text:?}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        }
    }

    #[test]
    fn a_word_is_quoted_for_the_shell_where_needed() {
        for (word, expected) in
            [("c1", "c1"), ("a/b:c", "a/b:c"), ("", "''"), ("a b", "'a b'"), ("$(x)", "'$(x)'"), ("a'b", r"'a'\''b'")]
        {
            assert_eq!(shell_word(word), expected);
        }
    }

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        let rows = [vec!["年度报告".into(), "pdf".into(), "end".into()], vec!["ab".into(), "x".into()]];
        assert_eq!(aligned(&rows, None, &[]), ["年度报告  pdf  end", "ab        x"]);
        let steering = [vec!["a\nb\u{1b}[2J".into(), "x".into()]];
        assert_eq!(aligned(&steering, None, &[]), ["a b\\u001b[2J  x"]);
    }

    #[test]
    fn only_flexible_columns_give_way() {
        let rows = [vec!["a title that is long".to_owned(), "dpe://host/document-reference".to_owned()]];
        let check = |fit, flexible: &[usize], expected: &str| {
            assert_eq!(aligned(&rows, Some(fit), flexible), [expected], "{fit} {flexible:?}");
        };
        check(51, &[0], "a title that is long  dpe://host/document-reference");
        check(46, &[0], "a title that i…  dpe://host/document-reference");
        check(10, &[0], "a title tha…  dpe://host/document-reference");
        check(10, &[], "a title that is long  dpe://host/document-reference");
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let check = |text, width, expected: &str| assert_eq!(cut(text, width), expected, "{text} {width}");
        check("abc", 3, "abc");
        check("abcd", 3, "ab…");
        check("年度报告", 8, "年度报告");
        check("年度报告", 7, "年度报…");
        check("年度报告", 6, "年度…");
        check("年度", 1, "…");
        check("ab", 0, "");
    }

    #[test]
    fn numbers_are_for_people() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), text);
        }
        for (bytes, text) in [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 30, "5.0 GiB")] {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(date("yesterday"), "yesterday");
    }
}
