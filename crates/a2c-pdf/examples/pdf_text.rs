//! Writes the text of PDF files into a folder, each as a file of its own: to compare it with what other programs read.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use a2c_documents::model::{IdAssigner, RowWindow, UnreadableFile, render};
use a2c_documents::{PageRequest, ReadLimits, Source};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = arguments.next().ok_or("usage: pdf_text FOLDER FILE…")?;
    for path in arguments {
        let text = text_of(&path).unwrap_or_else(|problem| format!("!{}: {problem}\n", problem.code.as_str()));
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        fs::write(folder.join(format!("{name}.txt")), text)?;
    }
    Ok(())
}

fn text_of(path: &Path) -> Result<String, UnreadableFile> {
    let mut reader = a2c_pdf::open(&Source::open(path)?, &ReadLimits::default())?;
    let request = PageRequest { rows: RowWindow::OF_ELEMENT, ..PageRequest::default() };
    let mut text = String::new();
    for index in 0..reader.pages().len() {
        match reader.page(index, &request) {
            Ok(page) => text.push_str(&render::text(&IdAssigner::default().page(index, page))),
            // Writing to a string does not fail.
            Err(problem) => drop(write!(text, "!{}: {problem}", problem.code.as_str())),
        }
        text.push('\u{c}');
    }
    Ok(text)
}
