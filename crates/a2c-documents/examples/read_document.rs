//! Reads documents: shows one as Markdown, or tells how long each of several takes.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use a2c_documents::model::render;
use a2c_documents::{NotInDocument, OpenDocument, ReadLimits};

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        paths.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    }
    if let [path] = paths.as_slice() {
        let mut document = OpenDocument::open(path, &ReadLimits::default())?;
        for index in 0..document.pages().len() {
            println!("{}\n", render::markdown(&document.page(index)?));
        }
        for warning in document.warnings() {
            println!("warning: {warning}");
        }
        return Ok(());
    }
    for path in paths {
        let begun = Instant::now();
        let told = read(&path).unwrap_or_else(|problem| problem.to_string());
        println!("{:9.2} ms  {}: {told}", begun.elapsed().as_secs_f64() * 1000.0, path.display());
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, NotInDocument> {
    let mut document = OpenDocument::open(path, &ReadLimits::default())?;
    let pages = document.pages().len();
    let mut elements = 0;
    for index in 0..pages {
        elements += document.page(index)?.elements.len();
    }
    Ok(format!("{pages} pages, {elements} elements"))
}
