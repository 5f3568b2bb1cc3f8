//! Reads PDF files: shows one as Markdown, or tells how long each of several takes.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use a2c_documents::model::{IdAssigner, UnreadableFile, render};
use a2c_documents::{FormatReader, PageRequest, ReadLimits, Source};

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if let [path] = paths.as_slice() {
        let mut reader = open(path)?;
        println!("title: {:?}", reader.properties().title);
        for index in 0..reader.pages().len() {
            let page = reader.page(index, &PageRequest::default())?;
            let page = IdAssigner::default().page(index, page);
            println!("===== page {index}: {}", page.title);
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
            let opened = begun.elapsed().as_secs_f64() * 1000.0;
            let pages = reader.pages().len();
            let mut elements = 0;
            for index in 0..pages {
                elements += reader.page(index, &PageRequest::default())?.elements.len();
            }
            Ok(format!("opened in {opened:.2} ms, {pages} pages, {elements} elements"))
        });
        let read = read.unwrap_or_else(|problem| format!("{}: {problem}", problem.code.as_str()));
        println!("{:9.2} ms  {}: {read}", begun.elapsed().as_secs_f64() * 1000.0, path.display());
    }
    Ok(())
}

fn open(path: &Path) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    a2c_pdf::open(&Source::open(path)?, &ReadLimits::default())
}
