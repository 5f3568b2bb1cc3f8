//! What goes to standard output, and how failures are told.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use a2c_protocol::ErrorCode;
use a2c_protocol::tool::CallToolResult;
use serde::Serialize;

/// Writes a line to standard output at once, also into a pipe. A reader that went away is no failure.
pub(crate) fn line(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}

/// Writes a value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string(value)?);
    Ok(())
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

/// Writes rows as aligned columns.
pub(crate) fn table(rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        line(printable(cells.join("  ").trim_end()).as_str());
    }
}

/// A text from elsewhere that cannot steer a terminal: control characters are spelt out.
pub(crate) fn printable(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => seen.push(c),
            c if c.is_control() || is_direction(c) => seen.extend(c.escape_unicode()),
            c => seen.push(c),
        }
    }
    seen
}

/// Characters that make text read in another order than it is written.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_not_steered_by_what_is_printed() {
        assert_eq!(printable("a\tb\n世界"), "a\tb\n世界");
        assert_eq!(printable("\x1b[31mred\x07"), "\\u{1b}[31mred\\u{7}");
        assert_eq!(printable("\u{202e}evil"), "\\u{202e}evil");
    }
}
