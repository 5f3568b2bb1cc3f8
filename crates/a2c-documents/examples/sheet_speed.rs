//! Reads every sheet of a workbook, all rows or the first ones only, and tells how long that takes.
//! Usage: `sheet_speed FILE [head]`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use a2c_document_model::{ElementContent, RowWindow};
use a2c_documents::{PageRequest, ReadLimits, Source, spreadsheet};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let Some(path) = arguments.next().map(PathBuf::from) else {
        println!("name a workbook");
        return Ok(());
    };
    let head_only = arguments.next().is_some();
    let limits = ReadLimits { element_bytes: usize::MAX, ..ReadLimits::default() };
    let rows = if head_only { RowWindow::OF_PAGE } else { RowWindow { offset: 0, limit: usize::MAX } };
    let request = PageRequest { rows, head_only, ..PageRequest::default() };
    let begin = Instant::now();
    let mut workbook = spreadsheet::open(&Source::open(&path)?, &limits)?;
    let mut cells = 0;
    for index in 0..workbook.pages().len() {
        let page = workbook.page(index, &request)?;
        for element in &page.elements {
            if let ElementContent::Table(table) = &element.content {
                cells += table.headers.len() + table.rows.iter().map(Vec::len).sum::<usize>();
            }
        }
    }
    let time = begin.elapsed();
    println!("{cells} cells in {time:?}: {:.0} cells/s", cells as f64 / time.as_secs_f64());
    Ok(())
}
