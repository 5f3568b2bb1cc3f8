//! PDF files that other programs wrote, files written here byte by byte, and hostile ones.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod hand_written;
mod hostile;
mod raw_file;
mod reportlab;

use a2c_documents::model::{IdAssigner, ReadPage, UnreadableFile, render};
use a2c_documents::{FormatReader, PageRequest, ReadLimits, Source};

/// Opens bytes.
fn open_bytes(bytes: Vec<u8>) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    a2c_pdf::open(&Source::Bytes(bytes.into()), &ReadLimits::default())
}

/// A page with the ids of its elements.
fn page(reader: &mut dyn FormatReader, index: usize) -> ReadPage {
    let draft = reader.page(index, &PageRequest::default()).unwrap_or_else(|problem| panic!("page {index}: {problem}"));
    IdAssigner::default().page(index, draft)
}

/// A page as Markdown.
fn markdown(reader: &mut dyn FormatReader, index: usize) -> String {
    render::markdown(&page(reader, index))
}
