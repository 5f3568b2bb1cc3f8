//! Reads Word documents and slides: shows one as Markdown, or tells how long each of several takes.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use a2c_documents::model::{IdAssigner, render};
use a2c_documents::{FileType, FormatReader, PageRequest, ReadLimits, Source};

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if let [path] = paths.as_slice() {
        let mut reader = open(path)?;
        let mut ids = IdAssigner::default();
        for index in 0..reader.pages().len() {
            let page = ids.page(index, reader.page(index, &PageRequest::default())?);
            println!("===== page {index}: {}{}", page.title, if page.hidden { " (hidden)" } else { "" });
            println!("{}", render::markdown(&page));
        }
        for warning in reader.warnings() {
            println!("warning: {warning}");
        }
        return Ok(());
    }
    for path in paths {
        let begun = Instant::now();
        let read = open(&path).and_then(|mut reader| {
            let pages = reader.pages().len();
            let mut elements = 0;
            for index in 0..pages {
                elements += reader.page(index, &PageRequest::default())?.elements.len();
            }
            Ok(format!("{pages} pages, {elements} elements"))
        });
        let read = read.unwrap_or_else(|problem| format!("{problem}"));
        println!("{:9.2} ms  {}: {read}", begun.elapsed().as_secs_f64() * 1000.0, path.display());
    }
    Ok(())
}

fn open(path: &Path) -> Result<Box<dyn FormatReader>, a2c_documents::model::UnreadableFile> {
    let (source, limits) = (Source::open(path)?, ReadLimits::default());
    match FileType::of_name(path) {
        Some(FileType::Pptx) => a2c_documents::slides::open(&source, &limits),
        _ => a2c_documents::word::open(&source, &limits),
    }
}
