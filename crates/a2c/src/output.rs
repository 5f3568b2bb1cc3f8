//! What goes to standard output, and how failures are told.

use std::io::Write as _;
use std::process::ExitCode;

use a2c_protocol::tool::CallToolResult;
use serde::Serialize;

/// Writes a line to standard output at once, also into a pipe. A reader that went away is no failure.
#[expect(clippy::print_stdout, reason = "this is where output goes through")]
pub(crate) fn line(text: &str) {
    println!("{text}");
    let _ = std::io::stdout().flush();
}

/// Writes a value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string(value)?);
    Ok(())
}

/// Tells a failure on standard error.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("a2c: {error:#}");
    ExitCode::FAILURE
}

/// Writes the result of a tool: its text, or the whole of it as JSON. A failed tool is a failed command.
pub(crate) fn tool_result(result: &CallToolResult) -> anyhow::Result<ExitCode> {
    if result.is_error {
        let code = result.error_code().map(|c| format!(" (code {c})")).unwrap_or_default();
        eprintln!("a2c: the tool failed{code}: {}", result.text());
        return Ok(ExitCode::FAILURE);
    }
    for block in &result.content {
        match block["text"].as_str() {
            Some(text) => line(text),
            None => json(block)?,
        }
    }
    if let (true, Some(structured)) = (result.content.is_empty(), &result.structured_content) {
        json(structured)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes rows as aligned columns.
pub(crate) fn table(rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        line(cells.join("  ").trim_end());
    }
}
